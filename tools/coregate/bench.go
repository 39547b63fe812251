package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/power"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/session"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

// benchFlags are what a session is asked.
type benchFlags struct {
	arms                               []string
	control, protocol, mode, lane      string
	cli, ggmlCLI, defines, ggmlDefines string
	identity, model, audio, evaluator  string
	language, units, last, out         string
	threads, pairs, deadline           int
	sustained                          int
	specialisation                     string
	asJSON                             bool
}

func newBenchCmd() *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "bench --arm NAME=ENCODER.mlmodelc [--arm …] --cli CLI --model MODEL.bin --audio AUDIO --out FILE.json",
		Short: "Measure what encoders cost, under a named protocol, and write a submission",
		Long: `Measure what encoders cost: time, memory and, where the machine can tell, power. Each --arm is an encoder; NAME=ggml is
ggml's own, run by --ggml-cli. The arms' runs are interleaved in one session, which is written as one submission: one cold
run an arm, one that is discarded, three warm ones, then --pairs pairs. Ctrl-C keeps what was measured, as interrupted.

It exits 0 if every arm passed the filter, 3 if runs were kept but excluded, and 1 if a rate is implausible, the
submission is refused, or a sustained session was shorter than the protocol's (--sustained-seconds).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&b.arms, "arm", nil, "NAME=ENCODER.mlmodelc, or NAME=ggml; may be repeated")
	f.StringVar(&b.control, "control", "", "the arm that every session has, by name (the first if left out)")
	f.StringVar(&b.protocol, "protocol", measure.DefaultProtocol, "the frozen protocol")
	f.StringVar(&b.mode, "mode", "burst", "burst, sustained or energy")
	f.StringVar(&b.lane, "lane", "emulated", "emulated or physical")
	f.StringVar(&b.identity, "lane-identity", "", "JSON file with what the toolchain says about itself")
	f.StringVar(&b.cli, "cli", "", "whisper-cli of flavour coreml")
	f.StringVar(&b.defines, "defines", "", "the definitions of its compile actions, as the rule whisper_cli writes them")
	f.StringVar(&b.ggmlCLI, "ggml-cli", "", "whisper-cli of flavour ggml, for an arm NAME=ggml")
	f.StringVar(&b.ggmlDefines, "ggml-defines", "", "the definitions of its compile actions")
	f.StringVar(&b.model, "model", "", "the ggml model, a .bin file")
	f.StringVar(&b.audio, "audio", "", "the recording")
	f.StringVar(&b.evaluator, "evaluator", "", "gate_evaluator, on the emulated lane")
	f.StringVar(&b.language, "language", "en", "spoken language")
	f.StringVar(&b.units, "units", "all", "the compute units that the bridge asks for")
	f.StringVar(&b.last, "last", "", "the last session's submission on this machine, for the control arm's drift")
	f.StringVar(&b.out, "out", "", "where the submission goes")
	f.IntVar(&b.threads, "threads", 1, "whisper-cli's -t; never all processors, and fewer in heat or low-power mode")
	f.IntVar(&b.pairs, "pairs", 0, "how many interleaved pairs; 0, or at least the protocol's 8")
	f.IntVar(&b.sustained, "sustained-seconds", 0, "shorten --mode sustained, to try it: what is shorter than the protocol's time makes no sustained figure")
	f.StringVar(&b.specialisation, "specialisation", "keep", "what macOS compiled for whisper-cli before, on the physical lane: keep, or clear it before each cold run")
	f.IntVar(&b.deadline, "deadline", 900, "seconds until a run is stopped")
	f.BoolVar(&b.asJSON, "json", false, "print one JSON object")
	return cmd
}

// run makes one session and judges it.
func (b *benchFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	if b.out == "" {
		return errors.New("--out is missing: name the file that the submission goes to")
	}
	plan, err := b.plan(stderr)
	if err == nil {
		var s *measure.Submission
		if s, err = session.Run(ctx, plan); err == nil {
			if err := writeSubmission(b.out, s); err != nil {
				return err
			}
			return b.print(stdout, plan, s)
		}
	}
	var refused *reason.Error
	if errors.As(err, &refused) {
		return report{verdict.From(refused.Reason), map[string]any{"started": false}}.print(stdout, "refused", b.asJSON)
	}
	return err
}

func writeSubmission(path string, s *measure.Submission) error {
	data, err := measure.EncodeSubmission(s)
	if err != nil {
		return err
	}
	return wholefile.Bytes(path, data)
}

// plan reads what the flags name.
func (b *benchFlags) plan(progress io.Writer) (*session.Plan, error) {
	if b.specialisation != "keep" && b.specialisation != "clear" {
		return nil, fmt.Errorf("--specialisation %q: expected keep or clear", b.specialisation)
	}
	protocol, err := measure.LoadProtocol(b.protocol)
	if err != nil {
		return nil, err
	}
	p := &session.Plan{
		Protocol: protocol, Mode: measure.Mode(b.mode), Lane: b.lane, Machine: environment.CaptureMachine(runner.MachineID()), Control: b.control,
		Model: b.model, Audio: b.audio, Evaluator: b.evaluator, Language: b.language, Threads: b.threads,
		Deadline: time.Duration(b.deadline) * time.Second, Pairs: b.pairs, SustainedFor: time.Duration(b.sustained) * time.Second, Progress: progress,
		ClearSpecialised: b.specialisation == "clear",
		Save:             func(s *measure.Submission) error { return writeSubmission(b.out, s) },
	}
	if p.Mode == measure.Energy {
		// Without an instrument the plan is refused with the reason; nothing is estimated in its place.
		if p.Power, err = power.Find(); err != nil && !errors.Is(err, power.ErrNone) {
			return nil, err
		}
	}
	if p.Sources, err = b.sources(); err != nil {
		return nil, err
	}
	if p.Control == "" && len(p.Sources) > 0 {
		p.Control = p.Sources[0].Name
	}
	if b.last != "" {
		if p.Last, err = readLast(b.last); err != nil {
			return nil, err
		}
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	p.Ceiling = measureCeiling(p)
	return p, nil
}

func readLast(path string) (*measure.Submission, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	subs, err := measure.DecodeAny(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return subs[len(subs)-1], nil
}

// print shows what a session gave, and returns what the command returns.
func (b *benchFlags) print(w io.Writer, plan *session.Plan, s *measure.Submission) error {
	p, f := plan.Protocol, verdict.New()
	f.AddAll(p.Implausible(s))
	facts := map[string]any{"session": s.Session, "submission": b.out, "protocol": p.Ref.Name}
	for _, c := range p.Cells([]*measure.Submission{s}) {
		f.AddAll(p.Standing(c))
		for _, e := range c.Entries {
			f.AddAll(e.Excluded)
			f.AddAll(p.Notes(e))
			facts["warm "+c.Name] = measure.Line(e.Warm)
			facts["cold "+c.Name] = measure.Line(e.Cold)
			if s.Mode == measure.Sustained {
				facts["sustained "+c.Name] = p.Retained(e.Arm).String()
				if s.Status == measure.Complete {
					f.AddAll(p.Short(s, e.Arm))
				}
			}
		}
	}
	for i := 1; i < len(s.Arms) && b.pairs > 0; i++ {
		c := p.Compare(s, s.Arms[i].Name, s.Arms[0].Name, measure.Encode)
		// That excluded pairs make no comparison follows from their exclusion, which is a reason already.
		facts[fmt.Sprintf("encode, %s over %s", c.Of, c.Than)] = c.String()
	}
	if plan.Last == nil {
		facts["drift of the control arm"] = "no earlier session was given (--last)"
	} else if s.Drift == nil {
		_, why := measure.DriftOf(s, plan.Last)
		facts["drift of the control arm"] = "none: " + why
	} else {
		f.Add(reason.ControlDrift, s.Session+" "+s.Control, "the time of session "+s.Drift.Session, fmt.Sprintf("%.3f times that", s.Drift.Ratio))
	}
	return report{f, facts}.print(w, "bench "+strings.Join(b.arms, ", "), b.asJSON)
}
