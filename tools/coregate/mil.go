package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
)

func newMilCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mil",
		Short: "What the evaluator of Core ML programs supports",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newMilOpsCmd(), newMilCheckCmd())
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
