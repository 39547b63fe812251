package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/patches"
	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/patch"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

func newPinCmd() *cobra.Command {
	return &cobra.Command{Use: "pin", Short: "Make, verify and judge pins of upstream whisper.cpp"}
}

// openSource takes a clone for the commit in it, and any other folder for what it holds.
func openSource(dir, commit string) (pin.Source, error) {
	if commit != "" && pin.IsClone(dir) {
		return pin.OpenClone(dir, commit)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open source: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open source: %s is not a folder: give a clone or an unpacked archive", dir)
	}
	return pin.Dir(dir), nil
}

func newPinManifestCmd() *cobra.Command {
	var source, commit, like string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "manifest --source DIR [--commit ID] --like MANIFEST",
		Short: "Print the content manifest of an upstream revision",
		Long: `Print the content manifest of an upstream revision: SHA-256 and path of every file that the build may read.

--like names a manifest (or any file with a path in the last column of each line): its paths are taken,
its digests are not. With --commit, content comes from that commit of the clone at --source, and the work
tree is not looked at.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			paths, err := pathsOf(like)
			if err != nil {
				return err
			}
			src, err := openSource(source, commit)
			if err != nil {
				return err
			}
			m, err := pin.MakeManifest(src, paths)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"manifest_sha256": m.Digest(), "files": fileList(m)})
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "coregate: %d files, SHA-256 of the manifest %s\n", len(m), m.Digest())
			_, err = cmd.OutOrStdout().Write(m.Format())
			return err
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "clone or unpacked archive of whisper.cpp")
	cmd.Flags().StringVar(&commit, "commit", "", "commit of the clone to read")
	cmd.Flags().StringVar(&like, "like", "", "file that lists the paths")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	mustHave(cmd, "source", "like")
	return cmd
}

// fileList is a manifest for machines.
func fileList(m pin.Manifest) []pin.FileRef {
	out := []pin.FileRef{}
	for _, e := range m {
		out = append(out, pin.FileRef(e))
	}
	return out
}

// mustHave marks flags as required; their names are constants of the caller.
func mustHave(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

func pathsOf(file string) ([]string, error) {
	data, err := regular.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read list of paths: %w", err)
	}
	var paths []string
	for _, line := range strings.Split(string(bytes.TrimSpace(data)), "\n") {
		_, path, found := strings.Cut(line, "  ")
		if !found {
			path = line
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// pinFlags are the flags of the commands that compare a source with a pin.
type pinFlags struct {
	pin, source, patch string
	further            []string
	asJSON             bool
}

func (f *pinFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pin, "pin", pins.Names()[0], "a known pin ("+strings.Join(pins.Names(), ", ")+"), or the file of one")
	cmd.Flags().StringVar(&f.source, "source", "", "clone or unpacked archive of whisper.cpp")
	cmd.Flags().StringVar(&f.patch, "patch", "", "compatibility patch, if it is not the known one")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	mustHave(cmd, "source")
}

// addFurther adds the flag of the commands that read the patches of a pin's owner.
func (f *pinFlags) addFurther(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.further, "further", nil, "LABEL=FILE of a patch of the pin's owner that is not where its label says; repeat for more")
}

// readFurther reads the patches of the pin's owner, in the pin's order: from the file that --further names, or that the label
// names in the pin's own repository.
func (f *pinFlags) readFurther(p *pin.Pin) ([][]byte, error) {
	given := map[string][]byte{}
	for _, text := range f.further {
		l, err := labelled("--further", text)
		if err != nil {
			return nil, err
		}
		if _, twice := given[l.Label]; twice || !slices.ContainsFunc(p.Patches, func(q pin.FurtherPatch) bool { return q.Label == l.Label }) {
			return nil, fmt.Errorf("--further: expected each label of a patch of pin %s at most once, found %q", p.Name, l.Label)
		}
		given[l.Label] = l.Data
	}
	var out [][]byte
	for _, q := range p.Patches {
		data, ok := given[q.Label]
		if !ok {
			var err error
			if data, err = readLabel(f.pin, q.Label); err != nil {
				return nil, fmt.Errorf("%w; name the file by --further %s=FILE", err, q.Label)
			}
		}
		out = append(out, data)
	}
	return out, nil
}

// readLabel reads the patch that a label names: one in the repository of the pin at pinPath, or one of this project's.
func readLabel(pinPath, label string) ([]byte, error) {
	if strings.HasPrefix(label, patches.Module) {
		return patches.Read(label)
	}
	file, err := pin.PatchFile(pinPath, label)
	if err == nil {
		var data []byte
		if data, err = readPatch(file); err == nil {
			return data, nil
		}
	}
	// A pin of this project that was copied elsewhere.
	if data, ours := patches.Read(label); ours == nil {
		return data, nil
	}
	return nil, err
}

// read finds the pin, its manifest and its patch: compiled in, or from files. A manifest that is not the pin's is
// a [*reason.Error]; the pin is returned beside it.
func (f *pinFlags) read() (*pins.Entry, error) {
	if slices.Contains(pins.Names(), f.pin) {
		e, err := pins.Load(f.pin)
		if err != nil || f.patch == "" {
			return e, err
		}
		e.Patch, err = readPatch(f.patch)
		return e, err
	}
	p, err := pin.ReadPin(f.pin)
	if err != nil {
		return nil, err
	}
	e := &pins.Entry{Pin: p}
	if f.patch != "" {
		e.Patch, err = readPatch(f.patch)
	} else {
		e.Patch, err = readLabel(f.pin, p.Patch.Label)
		if err != nil {
			err = fmt.Errorf("%w; name the file by --patch", err)
		}
	}
	if err != nil {
		return nil, err
	}
	e.Manifest, err = p.ReadManifest(f.pin)
	return e, err
}

func readPatch(path string) ([]byte, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	return data, nil
}

// reportReason prints a pass, or the one reason that err carries; any other error is the caller's.
func reportReason(cmd *cobra.Command, title string, err error, facts map[string]any, asJSON bool) error {
	r := report{verdict.New(), facts}
	var found *reason.Error
	switch {
	case errors.As(err, &found):
		r.AddReason(found.Reason)
	case err != nil:
		return err
	}
	return r.print(cmd.OutOrStdout(), title, asJSON)
}

func newPinVerifyCmd() *cobra.Command {
	var f pinFlags
	cmd := &cobra.Command{
		Use:   "verify --source DIR [--pin PIN]",
		Short: "Tie a pin to the upstream commit, by git's own object ids",
		Long: `Tie a pin to the upstream commit. The commit, the tree and each file of the manifest are hashed again as
git hashes them (SHA-1) and as the manifest does (SHA-256); each patch, the compatibility patch and those of
the pin's owner, is checked byte for byte and applied in memory, and so is each file that it leaves. --source
is a clone that holds the commit (its work tree is not looked at), or the unpacked archive of it.

A patch is the file that its label names in the repository of the pin, unless --patch or --further names another.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := f.read()
			if e == nil {
				return err
			}
			p := e.Pin
			src, openErr := openSource(f.source, p.Commit)
			if openErr != nil {
				return openErr
			}
			if err == nil {
				err = pin.Verify(p, e.Manifest, src)
			}
			further, furtherErr := f.readFurther(p)
			if furtherErr != nil {
				return furtherErr
			}
			if err == nil {
				err = pin.VerifyPatches(p, e.Manifest, e.Patch, further, src)
			}
			return reportReason(cmd, "pin "+p.Name, err, map[string]any{
				"commit": p.Commit, "tree": p.Tree, "supported": p.Supported, "files": len(e.Manifest),
				"manifest_sha256": p.Manifest.SHA256, "patch_sha256": p.Patch.SHA256, "patched_file_sha256": p.PatchedFile.SHA256,
				"further_patches": len(further),
			}, f.asJSON)
		},
	}
	f.add(cmd)
	f.addFurther(cmd)
	return cmd
}

func newPatchCmd() *cobra.Command {
	return &cobra.Command{Use: "patch", Short: "Check the compatibility patch on a tree of whisper.cpp"}
}

func newPatchVerifyCmd() *cobra.Command {
	var f pinFlags
	cmd := &cobra.Command{
		Use:   "verify --source DIR [--pin PIN]",
		Short: "Say whether a tree is the pinned one with the pinned patch and nothing else",
		Long: `Say whether a tree is the pinned one with the pinned patch and nothing else: before a build, and again
after it. Files are hashed as they are on disk: tracked, untracked and ignored ones, modes and links all
count, and no setting of git takes part. Build in a folder outside of the tree.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := f.read()
			if err != nil {
				return err
			}
			p := e.Pin
			if len(p.Patches) > 0 {
				return fmt.Errorf("pin %s has %d patches of its owner, and a tree with the compatibility patch alone is none of its: check source and patches by coregate pin verify", p.Name, len(p.Patches))
			}
			return reportReason(cmd, "patch on "+f.source, patch.VerifyTree(p, e.Manifest, e.Patch, f.source), map[string]any{
				"pin": p.Name, "tree": p.Tree, "patch_sha256": p.Patch.SHA256, "patched_file_sha256": p.PatchedFile.SHA256,
			}, f.asJSON)
		},
	}
	f.add(cmd)
	return cmd
}
