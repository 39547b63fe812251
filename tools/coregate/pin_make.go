package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/patches"
	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// pinRecipe are the flags of pin make.
type pinRecipe struct {
	source, commit, name, out, like, patch string
	further, also, urls                    []string
	asJSON                                 bool
}

func newPinMakeCmd() *cobra.Command {
	var r pinRecipe
	cmd := &cobra.Command{
		Use:   "make --source DIR --commit ID --name NAME --out DIR [--further LABEL=FILE]...",
		Short: "Make a pin of your own fork: NAME.json and NAME.manifest",
		Long: `Make a pin of a whisper.cpp of your own, for whisper.fork of the module extension (docs/fork.md): NAME.json and
NAME.manifest in the folder --out.

--source is a clone that holds the commit (its work tree is not looked at), or the unpacked archive of it, without
patches. The compatibility patch is this project's unless --patch LABEL=FILE names another; --further LABEL=FILE adds a
patch of your own on top, and may be repeated. LABEL is what the build names the file by, such as //whisper:mine.patch.
Each patch has to fit exactly at its lines. The build may read the files that the pin --like lists, and those of --also.

The pin says that it is not supported: receipts say so too, and a release gate takes them only on demand.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, m, err := r.make()
			if err != nil {
				return err
			}
			return r.write(cmd, p, m)
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.source, "source", "", "clone or unpacked archive of your whisper.cpp")
	f.StringVar(&r.commit, "commit", "", "the commit: of a clone also a tag or branch, of an archive its full id")
	f.StringVar(&r.name, "name", "", "what the pin is called, in receipts too")
	f.StringVar(&r.out, "out", "", "folder to write to; it needs a BUILD file")
	f.StringVar(&r.like, "like", pins.Names()[0], "known pin whose list of files is taken")
	f.StringVar(&r.patch, "patch", "", "LABEL=FILE of another compatibility patch")
	f.StringArrayVar(&r.further, "further", nil, "LABEL=FILE of a patch of your own on top; repeat for more")
	f.StringArrayVar(&r.also, "also", nil, "path of one more file that the build may read; repeat for more")
	f.StringArrayVar(&r.urls, "url", nil, "where an archive of the commit may be had; repeat for more")
	f.BoolVar(&r.asJSON, "json", false, "print one JSON object")
	mustHave(cmd, "source", "commit", "name", "out")
	return cmd
}

var pinName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (r *pinRecipe) make() (*pin.Pin, pin.Manifest, error) {
	if !pinName.MatchString(r.name) {
		return nil, nil, fmt.Errorf("--name: expected letters, digits, dots, dashes and underscores, found %q", r.name)
	}
	like, err := pins.Load(r.like)
	if err != nil {
		return nil, nil, fmt.Errorf("--like: %w", err)
	}
	commit := r.commit
	if pin.IsClone(r.source) {
		if commit, err = pin.Resolve(r.source, r.commit); err != nil {
			return nil, nil, err
		}
	}
	src, err := openSource(r.source, commit)
	if err != nil {
		return nil, nil, err
	}
	recipe := pin.Recipe{
		Name: r.name, Commit: commit, URLs: r.urls, Source: src, Paths: append(like.Manifest.Paths(), r.also...),
		Patch: pin.LabelledPatch{Label: patches.Module + like.Pin.Patch.Label, Data: like.Patch},
	}
	if r.patch != "" {
		if recipe.Patch, err = labelled("--patch", r.patch); err != nil {
			return nil, nil, err
		}
	}
	for _, text := range r.further {
		p, err := labelled("--further", text)
		if err != nil {
			return nil, nil, err
		}
		recipe.Patches = append(recipe.Patches, p)
	}
	return pin.Make(recipe)
}

// labelled reads the patch of LABEL=FILE.
func labelled(flag, text string) (pin.LabelledPatch, error) {
	label, file, ok := strings.Cut(text, "=")
	if !ok || !strings.HasPrefix(label, "//") || !strings.Contains(label, ":") || file == "" {
		return pin.LabelledPatch{}, fmt.Errorf("%s: expected LABEL=FILE with a label such as //whisper:mine.patch, found %q", flag, text)
	}
	data, err := readPatch(file)
	return pin.LabelledPatch{Label: label, Data: data}, err
}

func (r *pinRecipe) write(cmd *cobra.Command, p *pin.Pin, m pin.Manifest) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{p.Manifest.File: m.Format(), p.Name + ".json": append(data, '\n')} {
		if err := os.WriteFile(filepath.Join(r.out, name), content, 0o644); err != nil {
			return fmt.Errorf("write pin: %w", err)
		}
	}
	if r.asJSON {
		return printJSON(cmd.OutOrStdout(), p)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "pin %s: commit %s, tree %s, %d files, %d patches of its own; not supported\n", p.Name, p.Commit, p.Tree, len(m), len(p.Patches))
	return nil
}
