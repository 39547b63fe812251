package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/hardvalues"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
)

func newMilCmd() *cobra.Command {
	return &cobra.Command{Use: "mil", Short: "What the evaluator of Core ML programs supports"}
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
			out, err := checkProgram(args[0])
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), "mil check", asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// checkProgram looks at the artifact first, since a program without its weights is not evaluated either, then at every
// function of its program.
func checkProgram(path string) (*report, error) {
	unreadable, err := artifact.Unreadable(path)
	if err != nil {
		return nil, err
	}
	out := &report{verdict.From(unreadable...), map[string]any{}}
	a, err := bundle.Open(path)
	if err != nil {
		if len(unreadable) > 0 {
			return out, nil
		}
		return nil, err
	}
	defer a.Close()
	switch {
	case a.Program != nil:
	case len(unreadable) > 0:
		return out, nil
	default:
		out.Add(reason.NotMLProgram, path, "an ML program", fmt.Sprint(a.Kind))
		return out, nil
	}
	for _, f := range a.Program.Functions {
		obstacles, warnings := eval.Check(a.Program, f.Name), []eval.Obstacle(nil)
		if len(obstacles)+len(unreadable) == 0 {
			if obstacles, warnings, err = compiles(a, f.Name); err != nil {
				return nil, fmt.Errorf("%s, function %s: %w", path, f.Name, err)
			}
		}
		out.Facts[f.Name] = fmt.Sprintf("%d obstacle(s)", len(obstacles))
		for _, o := range obstacles {
			out.AddReason(evaluation.Unsupported("function "+f.Name, o))
		}
		for _, w := range warnings {
			out.AddReason(evaluation.Flagged("function "+f.Name, w))
		}
	}
	return out, nil
}

// compiles says what only the values of constants tell.
func compiles(a *bundle.Artifact, function string) (obstacles, warnings []eval.Obstacle, err error) {
	plan, err := eval.Compile(a.Program, function, a, eval.Options{})
	var u *eval.Unsupported
	if errors.As(err, &u) {
		return u.Obstacles, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return nil, plan.Warnings, nil
}

func newMilHardCmd() *cobra.Command {
	var asJSON, persistent bool
	var program, macOS string
	var deadline time.Duration
	cmd := &cobra.Command{
		Use:   "hard",
		Short: "Run the corpus of hard values through the evaluator, or through Core ML",
		Long: `Run small programs on values that implementations get wrong (package tools/encoder/hardvalues) through
the evaluator, or with --probe, on a Mac, through coremlc and Core ML. A difference fails unless
it is listed as known, and one that is listed fails when it is there no more. With --persistent the
inputs stay where they are and the model predicts from them again and again, also at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			known, err := hardvalues.Known()
			if err != nil {
				return err
			}
			side, predict, cases := hardvalues.Evaluator, hardvalues.Evaluate, hardvalues.Cases()
			facts := map[string]any{"kernel_path": kernel.Path()}
			if persistent && program == "" {
				return errors.New("--persistent needs --probe: the evaluator keeps no memory of its caller's")
			}
			if program != "" {
				if macOS == "" {
					out, err := exec.CommandContext(cmd.Context(), "sw_vers", "-productVersion").Output()
					if err != nil {
						return fmt.Errorf("ask for the version of macOS (sw_vers); --macos gives it: %w", err)
					}
					macOS = strings.TrimSpace(string(out))
				}
				if cases, err = hardvalues.On(cases, macOS); err != nil {
					return err
				}
				side, predict, facts = hardvalues.CoreML, hardvalues.Probe(program, hardvalues.Coremlc, deadline), map[string]any{"macos": macOS, "persistent": persistent}
				if persistent {
					predict = hardvalues.Persistent(program, hardvalues.Coremlc, deadline)
				}
			}
			r, err := hardvalues.Run(cmd.Context(), side, cases, known, predict)
			if err != nil {
				return err
			}
			facts["side"], facts["cases"], facts["differ_as_listed"] = side, r.Cases, r.Expected
			out := report{r.Findings, facts}
			return out.print(cmd.OutOrStdout(), "mil hard", asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&program, "probe", "", "the coremlprobe to predict with, on a Mac")
	f.BoolVar(&persistent, "persistent", false, "with --probe: predict again and again from inputs that stay where they are")
	f.StringVar(&macOS, "macos", "", "the version of macOS, which must refuse newer operation sets (asked for by default)")
	f.DurationVar(&deadline, "probe-deadline", evaluation.DefaultDeadline, "how long Core ML may take for one case")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
