package main

import (
	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
)

func newABCmd() *cobra.Command {
	var c ab.Config
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ab --unpatched CLI --patched CLI --model M.bin --audio A",
		Short: "Compare an unpatched whisper-cli with a patched one on the negative control",
		Long: `Compare an unpatched whisper-cli with a patched one: the negative control (a model without an encoder),
--n times each, interleaved, under several settings of the heap. Prints a table of exits and signals with the
interval of 95 % (Wilson) in which each true rate lies. The verdict is about the patched one: each of its
runs must be a clean refusal.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			wrong, err := refusePrograms(c.Unpatched, c.Patched)
			if err != nil {
				return err
			}
			if len(wrong) > 0 {
				return printRefused(cmd.OutOrStdout(), "ab", wrong, asJSON)
			}
			c.Progress = counting(cmd.ErrOrStderr(), "runs")
			r, err := ab.Run(cmd.Context(), c)
			if err != nil {
				return err
			}
			if !asJSON {
				if err := r.Table(cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			return report{Findings: r.Findings,
				Facts: map[string]any{"fault_shown": r.FaultShown, "rows": rowsFact(r, asJSON)}}.print(cmd.OutOrStdout(), "ab", asJSON)
		},
	}
	cmd.Flags().StringVar(&c.Unpatched, "unpatched", "", "whisper-cli without the patch")
	cmd.Flags().StringVar(&c.Patched, "patched", "", "whisper-cli with it")
	cmd.Flags().StringVar(&c.Model, "model", "", "a ggml model")
	cmd.Flags().StringVar(&c.Audio, "audio", "", "an audio file that exists")
	cmd.Flags().IntVar(&c.N, "n", 100, "runs of each under each heap setting")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	mustHave(cmd, "unpatched", "patched", "model", "audio")
	return cmd
}

// rowsFact is the whole table for machines; people have read it above already.
func rowsFact(r *ab.Report, asJSON bool) any {
	if asJSON {
		return r.Rows
	}
	return len(r.Rows)
}
