package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

func newDeriveCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "derive MODEL…",
		Short: "Print where the runtime looks for a model's Core ML encoder",
		Long: `Print the path at which whisper.cpp opens the Core ML encoder of the model that is given as -m,
one line for each MODEL, spelled as the runtime spells it. Nothing is read; the model need not exist.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "") {
				return errors.New("MODEL is empty: expected a path, such as ggml-base.en.bin; a shell variable may not be set")
			}
			if asJSON {
				return deriveJSON(cmd, args)
			}
			for _, m := range args {
				if s := whispercpp.EncoderPathSurprise(m); s != "" {
					fmt.Fprintf(cmd.ErrOrStderr(), "coregate: %s: %s\n", m, s)
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), whispercpp.EncoderPath(m)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// derivation is one answer of derive --json.
type derivation struct {
	Model    string `json:"model"`
	Encoder  string `json:"encoder"`
	Package  string `json:"package"`
	Surprise string `json:"surprise"`
}

func deriveJSON(cmd *cobra.Command, models []string) error {
	var all []derivation
	for _, m := range models {
		e := whispercpp.EncoderPath(m)
		all = append(all, derivation{Model: m, Encoder: e,
			Package: filepath.Join(filepath.Dir(e), whispercpp.EncoderPackage(m)), Surprise: whispercpp.EncoderPathSurprise(m)})
	}
	return report{Findings: verdict.New(),
		Facts: map[string]any{"derivations": all}}.print(cmd.OutOrStdout(), "derive", true)
}
