// Command gate_inspect judges a model and its compiled encoder in a build action:
//
//	gate_inspect --model=M.bin --encoder=DIR.mlmodelc --out=CONTRACT.json [--minimum_macos=13.0 | --identity=FILE.json]
//
// The encoder must be readable by the macOS that --minimum_macos names, or by the one of the worker that an identity
// describes (its os_version); without either it is held to none.
//
// It writes the judgement "contract", in the form that gates and receipts read, whatever the verdict
// is. Names and places are judged as they ship: the two side by side, each under its own name. Exit
// codes: 0 judged, 1 the inputs cannot be read, 2 wrong usage.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/actions/internal/stage"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_inspect", flag.ContinueOnError)
	flags.SetOutput(stderr)
	model := flags.String("model", "", "the ggml `file`")
	encoder := flags.String("encoder", "", "the compiled encoder, a `folder`")
	out := flags.String("out", "", "where the judgement goes")
	minimum := flags.String("minimum_macos", "", "the oldest macOS that must read the encoder")
	identity := flags.String("identity", "", "the worker's identity `file`, whose os_version is the oldest macOS")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *model == "" || *encoder == "" || *out == "" || flags.NArg() != 0 {
		fmt.Fprintln(stderr, "gate_inspect: --model, --encoder and --out are needed, and nothing else")
		return 2
	}
	if *minimum != "" && *identity != "" {
		fmt.Fprintln(stderr, "gate_inspect: --minimum_macos and --identity both name the oldest macOS: give one")
		return 2
	}
	if err := (artifact.Options{MinimumMacOS: *minimum}).Check(); err != nil {
		fmt.Fprintf(stderr, "gate_inspect: %s\n", reason.Visible(err.Error()))
		return 2
	}
	err := func() error {
		if *identity != "" {
			var err error
			if *minimum, err = osVersion(*identity); err != nil {
				return err
			}
		}
		return inspect(*model, *encoder, *out, *minimum)
	}()
	if err != nil {
		fmt.Fprintf(stderr, "gate_inspect: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

// osVersion is the version of macOS that a worker's identity names.
func osVersion(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read --identity: %w", err)
	}
	identity := map[string]string{}
	if err := json.Unmarshal(data, &identity); err != nil {
		return "", fmt.Errorf("identity %s: expected one object of strings: %w", filepath.Base(path), err)
	}
	if identity["os_version"] == "" {
		return "", fmt.Errorf("identity %s: expected os_version, the worker's macOS, found none: describe the worker with core_ml_worker", filepath.Base(path))
	}
	return identity["os_version"], nil
}

func inspect(model, encoder, out, minimum string) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(out), ".inspect-")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	m, e := filepath.Join(dir, filepath.Base(model)), filepath.Join(dir, filepath.Base(encoder))
	if err := stage.Stage(model, m); err != nil {
		return err
	}
	if err := stage.Stage(encoder, e); err != nil {
		return err
	}
	r, err := artifact.Inspect(m, e, artifact.Options{MinimumMacOS: minimum, Frugal: true})
	if err != nil {
		return err
	}
	j := r.Judgement()
	if minimum != "" {
		j.Facts[artifact.FactHeldToMacOS] = minimum
	}
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	// A judgement names things as they ship, not where they were looked at.
	b = bytes.ReplaceAll(b, []byte(dir+string(filepath.Separator)), nil)
	b = bytes.ReplaceAll(b, []byte(dir), []byte("."))
	return os.WriteFile(out, append(b, '\n'), 0o644)
}
