package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/sanitize"
)

func newSanitizeCmd() *cobra.Command {
	var c sanitize.Config
	var builds []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sanitize --build KIND=UNPATCHED,PATCHED --model M.bin --audio A",
		Short: "Ask memory checkers about the negative control, unpatched and patched",
		Long: `Ask memory checkers about the negative control (a model without an encoder), of an unpatched whisper-cli and of a
patched one. KIND says how the two were built: address (AddressSanitizer and UndefinedBehaviorSanitizer), memory
(MemorySanitizer) or plain (run under valgrind). tools/upstream/sanitize/run builds all three.

The verdict is about the patched one: no checker may report the free of its batch. It is inconclusive if no checker
sees the fault of the unpatched one. A checker that does not see it is named.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pairs := map[string]**sanitize.Pair{"address": &c.Address, "memory": &c.Memory, "plain": &c.Plain}
			var all []string
			for _, b := range builds {
				kind, programs, _ := strings.Cut(b, "=")
				unpatched, patched, ok := strings.Cut(programs, ",")
				if pairs[kind] == nil || *pairs[kind] != nil || !ok || unpatched == "" || patched == "" {
					return fmt.Errorf("--build: expected address, memory or plain, once each, as KIND=UNPATCHED,PATCHED; found %q", b)
				}
				all = append(all, unpatched, patched)
				*pairs[kind] = &sanitize.Pair{Unpatched: unpatched, Patched: patched}
			}
			wrong, err := refusePrograms(all...)
			if err != nil {
				return err
			}
			if len(wrong) > 0 {
				return printRefused(cmd.OutOrStdout(), "sanitize", wrong, asJSON)
			}
			r, err := sanitize.Run(cmd.Context(), c)
			if err != nil {
				return err
			}
			if !asJSON {
				if err := r.Table(cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			out := report{Findings: r.Findings, Facts: map[string]any{}}
			if asJSON {
				out.Facts["rows"] = r.Rows
			}
			return out.print(cmd.OutOrStdout(), "sanitize", asJSON)
		},
	}
	cmd.Flags().StringArrayVar(&builds, "build", nil, "two whisper-cli, built with Core ML and without fallback; may be repeated")
	cmd.Flags().StringVar(&c.Valgrind, "valgrind", "/usr/bin/valgrind", "the valgrind to run the plain ones under")
	cmd.Flags().StringVar(&c.Model, "model", "", "a ggml model")
	cmd.Flags().StringVar(&c.Audio, "audio", "", "an audio file that exists")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	mustHave(cmd, "build", "model", "audio")
	return cmd
}
