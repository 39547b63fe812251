package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/binary"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/binary/here"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

func newBinaryCmd() *cobra.Command {
	var want binary.Want
	var asJSON, onThis bool
	cmd := &cobra.Command{
		Use:   "binary WHISPER-CLI",
		Short: "Say what a whisper-cli is, without running it",
		Long: `Say what a whisper-cli is, without running it: format, platform, oldest system, libraries, signature, and
what of Core ML is in it. What is demanded by flags is checked.

The instruction sets are those that ggml's own functions report (what whisper-cli prints as system_info), and those
of the level of x86-64 in a GNU note. They are not known of a program that is stripped or has ggml in a library, nor of
what else is in the program. --here compares them with this machine's processor, and the libraries and versions of their
interfaces that an ELF needs with those that the loader would find here.

No file can tell whether a Core ML build falls back when a load fails, or whether it was patched: that is what
the negative control is for.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if onThis {
				if err := wantHere(&want); err != nil {
					return err
				}
			}
			if err := checkWant(&want); err != nil {
				return err
			}
			path, remove, err := spooled(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			defer remove()
			id, err := binary.Inspect(path)
			if err != nil {
				return reportReason(cmd, args[0], err, nil, asJSON)
			}
			r := report{verdict.From(binary.Check(args[0], id, want)...), map[string]any{
				"sha256": id.SHA256, "format": id.Format, "platform": id.OS + " " + id.Arch, "min_os": id.MinOS, "sdk": id.SDK, "id": id.ID,
				"loader": id.Loader, "libraries": id.Libraries, "library_versions": id.Versions, "rpaths": id.RPaths, "loader_environment": id.Environment, "instructions": id.Instructions, "instructions_from": id.InstructionsFrom, "instructions_complete": id.AllInstructions, "coreml_symbols": id.Symbols, "coreml_texts": len(id.Texts),
				"coreml_framework": id.LinksCoreML(), "coreml_double": id.Double, "coreml_stand_in": id.StandIn, "signature": id.Signature, "signature_broken": id.Broken, "bytes_behind_signature": id.Behind, "cdhash": id.CDHash,
			}}
			return r.print(cmd.OutOrStdout(), args[0], asJSON)
		},
	}
	cmd.Flags().StringVar(&want.Flavour, "flavour", "", "ggml, or any Core ML flavour")
	cmd.Flags().StringVar(&want.Lane, "lane", "", "physical or emulated")
	cmd.Flags().StringVar(&want.OS, "os", "", "linux or macos")
	cmd.Flags().StringVar(&want.Arch, "arch", "", "x86_64 or arm64")
	cmd.Flags().BoolVar(&onThis, "here", false, "a program for this machine: its system, architecture, processor's instructions, and libraries")
	cmd.Flags().StringVar(&want.SDK, "sdk", "", "the SDK version that a Mach-O must be built with, such as 15.5")
	cmd.Flags().StringVar(&want.MinOS, "min-os", "", "the oldest system that a Mach-O must name, such as 14.0")
	cmd.Flags().StringVar(&want.SHA256, "sha256", "", "digest of the file that was built")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// maxProgram bounds a program that is read from standard input, in bytes.
const maxProgram = 1 << 30

// spooled is a file to open by its name: the one of that name, or a copy of standard input, which remove deletes.
func spooled(stdin io.Reader, path string) (name string, remove func(), err error) {
	if path != "-" {
		return path, func() {}, nil
	}
	data, err := readInput(stdin, path, maxProgram)
	if err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp("", "coregate-*")
	if err != nil {
		return "", nil, err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", nil, errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), func() { _ = os.Remove(f.Name()) }, nil
}

// checkWant refuses a demand that no program can meet or that would not be looked at: a misspelt lane demands nothing.
func checkWant(want *binary.Want) error {
	for _, f := range []struct {
		flag, value string
		known       []string
	}{
		{"flavour", want.Flavour, whispercpp.Flavours},
		{"lane", want.Lane, []string{string(evidence.LanePhysical), string(evidence.LaneEmulated)}},
		{"os", want.OS, []string{"linux", "macos"}},
		{"arch", want.Arch, []string{"x86_64", "arm64"}},
	} {
		if f.value != "" && !slices.Contains(f.known, f.value) {
			return fmt.Errorf("--%s: expected %s, found %q", f.flag, strings.Join(f.known, ", "), f.value)
		}
	}
	want.SHA256 = strings.ToLower(want.SHA256)
	if raw, err := hex.DecodeString(want.SHA256); want.SHA256 != "" && (err != nil || len(raw) != sha256.Size) {
		return fmt.Errorf("--sha256: expected 64 hexadecimal digits, found %q", want.SHA256)
	}
	return nil
}

// machine is the system and architecture of this machine, as programs name them.
func machine() (system, arch string) {
	system, arch = map[string]string{"darwin": "macos"}[runtime.GOOS], map[string]string{"amd64": "x86_64"}[runtime.GOARCH]
	return cmp.Or(system, runtime.GOOS), cmp.Or(arch, runtime.GOARCH)
}

// wantHere demands what runs on this machine. Another system or architecture beside it is a contradiction.
func wantHere(want *binary.Want) error {
	system, arch := machine()
	if want.OS != "" && want.OS != system || want.Arch != "" && want.Arch != arch {
		return fmt.Errorf("--here: this machine is %s %s, and --os or --arch demands another: leave one of them out", system, arch)
	}
	want.OS, want.Arch, want.Lacks = system, arch, processor.Lacks
	want.Lacking = here.Machine{LibraryPath: os.Getenv("LD_LIBRARY_PATH")}.Lacking
	return nil
}

// refusePrograms looks at the programs that an experiment with the negative control is about to run, and returns why one
// of them is none that could show anything: no whisper-cli, for another machine, or without Core ML.
func refusePrograms(paths ...string) ([]reason.Reason, error) {
	want := binary.Want{Flavour: "coreml"}
	if err := wantHere(&want); err != nil {
		return nil, err
	}
	var out []reason.Reason
	for _, path := range paths {
		id, err := binary.Inspect(path)
		var unfit *reason.Error
		switch {
		case errors.As(err, &unfit):
			out = append(out, unfit.Reason)
			continue
		case err != nil:
			return nil, err
		}
		for _, r := range verdict.From(binary.Check(path, id, want)...).Reasons {
			// Where its libraries come from is no matter of an experiment; a program that does not tell its instructions is tried.
			if r.Code != reason.BinaryLibraryPath && r.Code != reason.BinaryUntold {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// printRefused says that nothing ran, and why.
func printRefused(w io.Writer, title string, reasons []reason.Reason, asJSON bool) error {
	return report{verdict.From(reasons...), map[string]any{"started": false}}.print(w, title, asJSON)
}
