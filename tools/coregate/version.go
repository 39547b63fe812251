package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	module "github.com/coreml-gate/rules_coreml_gate"
	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
)

// pinned is what version says of one pin.
type pinned struct {
	Name           string `json:"name"`
	Supported      bool   `json:"supported"`
	Commit         string `json:"commit"`
	Tree           string `json:"tree"`
	ManifestSHA256 string `json:"manifest_sha256"`
	PatchSHA256    string `json:"patch_sha256"`
}

func newVersionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print this program's version and the pins of whisper.cpp that it knows",
		Long: `Print this program's version, which is its module's, and the pins of whisper.cpp that are compiled in: the
supported one first. A pin's digest is the SHA-256 of its content manifest, which names every upstream file by
SHA-256.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []pinned
			for _, name := range pins.Names() {
				e, err := pins.Load(name)
				if err != nil {
					return err
				}
				p := e.Pin
				all = append(all, pinned{p.Name, p.Supported, p.Commit, p.Tree, p.Manifest.SHA256, p.Patch.SHA256})
			}
			w := cmd.OutOrStdout()
			if asJSON {
				return printJSON(w, map[string]any{"version": module.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "pins": all})
			}
			fmt.Fprintf(w, "coregate %s\n", module.Version)
			for _, p := range all {
				status := "supported"
				if !p.Supported {
					status = "not supported"
				}
				fmt.Fprintf(w, "pin %s (%s)\n  commit  %s\n  sha256  %s\n", p.Name, status, p.Commit, p.ManifestSHA256)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
