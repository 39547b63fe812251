package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/transcript"
	"github.com/coreml-gate/rules_coreml_gate/tools/words"
)

type transcriptsFlags struct {
	spec, policy string
	asJSON       bool
}

func newTranscriptsCmd() *cobra.Command {
	var f transcriptsFlags
	cmd := &cobra.Command{
		Use:   "transcripts DIR",
		Short: "Compare three transcripts of each recording: source model, ggml encoder, Core ML encoder",
		Long: `Judge what whisper-cli heard with ggml's own encoder and with the Core ML encoder, against each other and against the
source model's transcript. DIR holds a report and the evidence of every run, as the build action gate_words writes
them. With --spec the runs are made first, and DIR is written (docs/transcripts.md says what a spec holds).

The load conditions are judged on every Core ML run, and the independent marker on every ggml run. Words of recordings
that are not public are never written or printed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	cmd.Flags().StringVar(&f.spec, "spec", "", "a words spec: run it first and write DIR")
	cmd.Flags().StringVar(&f.policy, "policy", "words_v1", "a frozen policy of kind transcript")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (f transcriptsFlags) run(ctx context.Context, stdout io.Writer, dir string) error {
	frozen, err := policy.Frozen(f.policy)
	if err != nil {
		return err
	}
	if frozen.Kind != "transcript" {
		return fmt.Errorf("policy %s is of kind %s, expected transcript", frozen.Name, frozen.Kind)
	}
	thresholds, err := transcript.PolicyFrom(frozen.Thresholds)
	if err != nil {
		return err
	}
	if f.spec != "" {
		if err := runWords(ctx, f.spec, dir); err != nil {
			return err
		}
	}
	outcome, err := words.Read(dir)
	if err != nil {
		return err
	}
	r := judgeWords(outcome, thresholds)
	r.Facts["policy"], r.Facts["policy_sha256"] = frozen.Name, frozen.SHA256
	if !f.asJSON {
		printSides(stdout, outcome.Report.Comparisons)
	}
	return r.print(stdout, "transcripts", f.asJSON)
}

// runWords makes the runs of a spec. The folder must be new: files of another outcome in it would be judged with these.
func runWords(ctx context.Context, spec, dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: give a folder that is new", dir)
	}
	s, err := words.ReadSpec(spec)
	if err != nil {
		return err
	}
	outcome, err := words.Run(ctx, s)
	if err != nil {
		return err
	}
	return outcome.Write(dir)
}

// judgeWords judges the words by policy, and every run by its markers: words say nothing about an encoder that did not
// run.
func judgeWords(o *words.Outcome, p transcript.Policy) report {
	j := transcript.Judge(o.Report.Comparisons, p)
	r := report{Reasons: j.Reasons, Notes: j.Notes, Facts: map[string]any{
		"provisional": j.Provisional, "fixtures": j.Totals.Fixtures,
		"coreml_source_rate": j.Totals.CoreMLSource.Rate(), "ggml_source_rate": j.Totals.GGMLSource.Rate(), "coreml_ggml_rate": j.Totals.CoreMLGGML.Rate(),
		"coreml_source_edits": j.Totals.CoreMLSource.Edits(), "ggml_source_edits": j.Totals.GGMLSource.Edits(), "coreml_ggml_edits": j.Totals.CoreMLGGML.Edits(),
		"source_units": j.Totals.CoreMLSource.Reference(),
	}}
	verdicts := []reason.Verdict{j.Verdict}
	for i, pair := range o.Runs {
		for _, side := range []struct {
			name string
			run  *judge.Run
		}{{"coreml", judge.FromEvidence(pair.CoreML)}, {"ggml", judge.FromEvidence(pair.GGML)}} {
			m := judge.Judge(side.run)
			for _, found := range m.Reasons {
				found.Where = fmt.Sprintf("%s, %s: %s", o.Report.Comparisons[i].Fixture, side.name, found.Where)
				r.Reasons = append(r.Reasons, found)
			}
			verdicts = append(verdicts, m.Verdict)
		}
	}
	r.Verdict = worst(verdicts)
	return r
}

// worst is fail if any fails, else inconclusive if any is not a pass.
func worst(verdicts []reason.Verdict) reason.Verdict {
	v := reason.Pass
	for _, next := range verdicts {
		switch {
		case next == reason.Failed:
			return next
		case next != reason.Pass:
			v = reason.Unknown
		}
	}
	return v
}

// printSides writes a line for each recording: units and edits, never words.
func printSides(w io.Writer, comparisons []transcript.Comparison) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "recording\tlanguage\tunits\thybrid/source\thybrid/ggml\tggml/source\thybrid/human")
	for _, c := range comparisons {
		units := "-"
		if c.CoreML != nil {
			units = fmt.Sprintf("%d %ss", c.CoreML.Units, c.Unit)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Fixture, c.Language, units,
			editsIn(c.CoreMLSource), editsIn(c.CoreMLGGML), editsIn(c.GGMLSource), editsIn(c.CoreMLHuman))
	}
	t.Flush()
}

func editsIn(d *transcript.Delta) string {
	if d == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", d.Units.Edits(), d.Units.Reference())
}
