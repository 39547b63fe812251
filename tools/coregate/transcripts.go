package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/accuracy"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/recordings"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
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
	cmd.Flags().StringVar(&f.policy, "policy", accuracy.DefaultPolicy, "a frozen policy of kind transcript")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (f transcriptsFlags) run(ctx context.Context, stdout io.Writer, dir string) error {
	if f.spec != "" {
		if err := runWords(ctx, f.spec, dir); err != nil {
			return err
		}
	}
	outcome, err := recordings.Read(dir)
	if err != nil {
		return err
	}
	verdict, err := accuracy.Judge(outcome, f.policy)
	if err != nil {
		return err
	}
	if !f.asJSON {
		printSides(stdout, outcome.Report.Comparisons)
	}
	return printJudgement(stdout, verdict, f.asJSON)
}

// runWords makes the runs of a spec. The folder must be new: files of another outcome in it would be judged with these.
func runWords(ctx context.Context, spec, dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: give a folder that is new", dir)
	}
	s, err := recordings.ReadSpec(spec)
	if err != nil {
		return err
	}
	outcome, err := recordings.Run(ctx, s)
	if err != nil {
		return err
	}
	return outcome.Write(dir)
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", reason.Visible(c.Fixture), c.Language, units,
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
