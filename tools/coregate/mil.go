package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/hardvalues"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/parity/check"
	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
)

func newMilCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mil",
		Short: "What the evaluator of Core ML programs supports",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newMilOpsCmd(), newMilCheckCmd(), newMilHardCmd())
	return cmd
}

func newMilOpsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ops",
		Short: "List the operations that are evaluated",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			if asJSON {
				return printJSON(w, map[string]any{"kernel_path": kernel.Path(), "operations": eval.Operations()})
			}
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			for _, o := range eval.Operations() {
				fmt.Fprintf(t, "%s(%s)\t%s\n", o.Op, strings.Join(o.Arguments, ", "), o.Scope)
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newMilCheckCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check ENCODER",
		Short: "List what keeps an encoder's program from being evaluated here",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := bundle.Open(args[0])
			if err != nil {
				return err
			}
			defer a.Close()
			if a.Program == nil {
				if err := a.Check(); err != nil {
					return err
				}
				return fmt.Errorf("%s: no ML program, but %v", args[0], a.Kind)
			}
			out := report{Verdict: reason.Pass, Reasons: []reason.Reason{}, Notes: []reason.Reason{}, Facts: map[string]any{}}
			for _, f := range a.Program.Functions {
				obstacles := eval.Check(a.Program, f.Name)
				out.Facts[f.Name] = fmt.Sprintf("%d obstacle(s)", len(obstacles))
				for _, o := range obstacles {
					out.Verdict = reason.Unknown
					out.Reasons = append(out.Reasons, reason.Reason{Code: "EVALUATION_UNSUPPORTED", Where: fmt.Sprintf("function %s, line %d", f.Name, o.Line),
						Expected: "operations that are evaluated (coregate mil ops)", Found: o.String()})
				}
			}
			return out.print(cmd.OutOrStdout(), "mil check", asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newMilHardCmd() *cobra.Command {
	var asJSON bool
	var program string
	var deadline time.Duration
	cmd := &cobra.Command{
		Use:   "hard",
		Short: "Run the corpus of hard values through the evaluator, or through Core ML",
		Long: `Run small programs on values that implementations get wrong (package tools/hardvalues) through
the evaluator, or with --probe, on a Mac, through coremlc and Core ML. A difference fails unless
it is listed as known, and one that is listed fails when it is there no more.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			known, err := hardvalues.Known()
			if err != nil {
				return err
			}
			side, predict := hardvalues.Evaluator, hardvalues.Evaluate
			facts := map[string]any{"kernel_path": kernel.Path()}
			if program != "" {
				side, predict, facts = hardvalues.CoreML, hardvalues.Probe(program, hardvalues.Coremlc, deadline), map[string]any{}
			}
			r, err := hardvalues.Run(cmd.Context(), side, hardvalues.Cases(), known, predict)
			if err != nil {
				return err
			}
			facts["side"], facts["cases"], facts["differ_as_listed"] = side, r.Cases, r.Expected
			out := report{hardvalues.Reasons.Verdict(r.Reasons), r.Reasons, []reason.Reason{}, facts}
			return out.print(cmd.OutOrStdout(), "mil hard", asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&program, "probe", "", "the coremlprobe to predict with, on a Mac")
	f.DurationVar(&deadline, "probe-deadline", check.DefaultDeadline, "how long Core ML may take for one case")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
