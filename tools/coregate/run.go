package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

func newRunCmd() *cobra.Command {
	var (
		spec           runner.Spec
		kind, lane     string
		specFile       string
		out            runner.Outputs
		silent, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "run [flags] [-- ARGUMENTS OF WHISPER-CLI]",
		Short: "Run whisper-cli once in isolation, write its evidence, and judge it",
		RunE: func(cmd *cobra.Command, args []string) error {
			s := &spec
			s.Schema, s.Kind, s.Lane, s.Arguments = 1, evidence.Kind(kind), evidence.Lane(lane), args
			if specFile != "" {
				read, err := runner.Prepare(specFile, out)
				if err != nil {
					return err
				}
				s = read
			} else if err := out.Ready(s); err != nil {
				return err
			} else if err := named(s); err != nil {
				return err
			}
			return runOnce(cmd.Context(), cmd.OutOrStdout(), s, out, silent, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&specFile, "spec", "", "a run spec file, in place of the flags below")
	f.StringVar(&out.Evidence, "evidence", "", "where evidence.json goes (nowhere if left out)")
	f.StringVar(&out.Observations, "observations", "", "where observations.json goes (nowhere if left out)")
	f.StringVar(&kind, "kind", "coreml", "coreml, canary or contrast")
	f.StringVar(&lane, "lane", "emulated", "emulated or physical")
	f.StringVar(&spec.LaneIdentityFile, "lane-identity", "", "JSON file with what the toolchain says about itself")
	f.StringVar(&spec.Flavour, "flavour", "coreml", "how whisper-cli was built")
	f.StringVar(&spec.Pin, "pin", "", "pin.json of the source")
	f.StringVar(&spec.CLI, "cli", "", "whisper-cli")
	f.StringVar(&spec.Model, "model", "", "the ggml model, a .bin file")
	f.StringVar(&spec.Encoder, "encoder", "", "the .mlmodelc directory, for a coreml run")
	f.StringVar(&spec.Audio, "audio", "", "the fixture")
	f.StringVar(&spec.Language, "language", "", "spoken language; required for multilingual models")
	f.IntVar(&spec.Threads, "threads", 1, "whisper-cli's -t")
	f.IntVar(&spec.DeadlineSeconds, "deadline", 900, "seconds until the run is stopped")
	f.StringVar(&spec.Evaluator, "evaluator", "", "gate_evaluator, on the emulated lane")
	f.StringVar(&spec.Fault, "fault", "none", "a fault of the emulated double, for tests")
	f.BoolVar(&spec.Public, "public", false, "keep the fixture's words in the evidence")
	f.BoolVar(&spec.WarmUp, "warm-up", false, "run once before, on the physical lane")
	f.BoolVar(&silent, "silence", false, "the fixture holds no words, so an empty transcript is right")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// runOnce runs and judges. A refused spec is a verdict too: nothing ran, and that is a failure.
func runOnce(ctx context.Context, stdout io.Writer, s *runner.Spec, out runner.Outputs, silent, asJSON bool) error {
	result, err := runner.Run(ctx, s)
	var refusal *reason.Error
	if errors.As(err, &refusal) {
		return report{verdict.From(refusal.Reason), map[string]any{"started": false}}.print(stdout, "refused", asJSON)
	}
	if err != nil {
		return err
	}
	if err := result.Write(out); err != nil {
		return err
	}
	r := judge.FromEvidence(result.Evidence)
	r.Words = !silent
	if s.Public && !asJSON {
		printHeard(stdout, r.Stdout)
	}
	j := judge.Judge(r)
	if !asJSON && j.Has(reason.LoaderFailed, reason.ProgramNotStarted, reason.LogForeign, reason.ExitCode) {
		printLastLines(stdout, result.Stderr)
	}
	return printJudgement(stdout, j, asJSON)
}

// named refuses a run without the inputs that every run has.
func named(s *runner.Spec) error {
	for _, f := range []struct{ flag, value string }{{"--cli", s.CLI}, {"--model", s.Model}, {"--audio", s.Audio}, {"--pin", s.Pin}} {
		if f.value == "" {
			return fmt.Errorf("%s is missing: a run has a whisper-cli, a model, a recording and the pin.json of its source", f.flag)
		}
	}
	if s.Kind == evidence.KindCoreML && s.Encoder == "" {
		return errors.New("--encoder is missing: a coreml run has an .mlmodelc folder; --kind canary and --kind contrast have none")
	}
	if s.Kind == evidence.KindCanary && s.Lane == evidence.LaneEmulated {
		s.HeapFill = canaryHeapFill
	}
	return nil
}

// canaryHeapFill is the byte that fresh memory of a negative control is filled with, as in a gate.
const canaryHeapFill = 0xaa

// printLastLines shows what a program that did not get to its log said itself.
func printLastLines(w io.Writer, stderr []byte) {
	lines := strings.Split(strings.TrimSpace(string(stderr)), "\n")
	for _, line := range lines[max(0, len(lines)-5):] {
		fmt.Fprintf(w, "  | %s\n", reason.Visible(line))
	}
}

// printHeard shows what a run wrote, which is text of a model.
func printHeard(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, reason.Visible(line))
	}
}
