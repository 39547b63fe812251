package session

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/specialised"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/supervisor"
)

// watchBefore is over how long the machine is watched before each run.
const watchBefore = 300 * time.Millisecond

// running is a session under way.
type running struct {
	*Plan
	dirs []string
	s    *measure.Submission
	n    int
	idle float64
}

// Run does what the plan says. Whatever a run did is in the submission; an error is of what could not be started. When the
// context is cancelled the submission holds what was measured, as interrupted.
func Run(ctx context.Context, p *Plan) (*measure.Submission, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	// A model whose header cannot be read is the runtime's to refuse.
	if h, err := fit.ReadHeader(p.Model); err == nil {
		if err := fit.Assess(fit.LowerBound(h, fit.Run), fit.Now(), fit.DefaultReserve).Refusal(); err != nil {
			return nil, err
		}
	}
	// Its supervisor removes the folder where this process was killed and cannot; each run has another, which ends the program.
	guard, err := supervisor.Start()
	if err != nil {
		return nil, fmt.Errorf("make staging folder: %w", err)
	}
	defer guard.Close()
	root := guard.Dir
	defer os.RemoveAll(root)
	r := &running{Plan: p}
	p.started = time.Now()
	if p.homes == nil {
		if home, err := os.UserHomeDir(); err == nil {
			p.homes = []string{home}
		}
	}
	if p.window == 0 {
		p.window = watchBefore
	}
	if p.settle == 0 {
		p.settle = memory.SettleMilliseconds * time.Millisecond
	}
	if err := r.begin(root); err != nil {
		return nil, err
	}
	if p.Mode == measure.Energy {
		if err := r.baseline(ctx); err != nil {
			return nil, err
		}
	}
	order := p.order()
	for _, st := range order {
		if ctx.Err() != nil {
			break
		}
		if err := r.one(ctx, st, len(order)); err != nil {
			return nil, err
		}
	}
	if p.Mode == measure.Sustained {
		if err := r.sustain(ctx); err != nil {
			return nil, err
		}
	}
	r.s.Status = measure.Complete
	if ctx.Err() != nil {
		r.s.Status = measure.Interrupted
	}
	r.s.Drift = drift(r.s, p.Last)
	if _, err := measure.EncodeSubmission(r.s); err != nil {
		return nil, err
	}
	return r.s, nil
}

// begin stages the arms and writes the submission's head.
func (r *running) begin(root string) error {
	audio, _, err := tree.HashFile(r.Audio)
	if err != nil {
		return fmt.Errorf("audio: %w", err)
	}
	r.s = &measure.Submission{
		Schema: measure.Schema, Protocol: r.Protocol.Ref, Mode: r.Mode, Status: measure.Interrupted, StartedAt: r.started.UTC().Format(time.RFC3339),
		Lane: r.Lane, Machine: r.Machine, Ceiling: r.Ceiling, Control: r.Control, Arms: []measure.Arm{},
		Work: measure.Work{AudioSHA256: audio, Language: r.Language, Threads: r.Threads, Arguments: r.arguments(), Environment: r.environment("$STAGE", &Source{}), DeadlineSeconds: int(r.Deadline / time.Second)},
	}
	for i := range r.Sources {
		src := &r.Sources[i]
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := r.stage(dir, src); err != nil {
			return err
		}
		r.dirs = append(r.dirs, dir)
		r.s.Arms = append(r.s.Arms, measure.Arm{Name: src.Name, Program: src.Program, Artifact: src.Artifact, Runs: []measure.Run{}})
	}
	return nil
}

// baseline reads the idle machine's power for as long as the protocol demands.
func (r *running) baseline(ctx context.Context) error {
	window, err := r.Power.Begin()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(r.Protocol.EnergyTime * float64(time.Second))):
	}
	reading, _, err := window.End()
	r.idle = reading.MeanWatts
	return err
}

// sustain runs each arm again and again until the time is over.
func (r *running) sustain(ctx context.Context) error {
	if r.SustainedFor > 0 && r.sustainedSeconds() < r.Protocol.SustainedTime {
		fmt.Fprintf(r.Progress, "sustained for %.0f s only: no sustained figure, which takes %.0f s\n", r.sustainedSeconds(), r.Protocol.SustainedTime)
	}
	for i := range r.Sources {
		begin := time.Now()
		for time.Since(begin).Seconds() < r.sustainedSeconds() && ctx.Err() == nil {
			if err := r.one(ctx, step{i, measure.Steady, 0}, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// one makes one run and saves what there is.
func (r *running) one(ctx context.Context, st step, total int) error {
	src, arm := &r.Sources[st.source], &r.s.Arms[st.source]
	run := measure.Run{Kind: st.kind, Index: r.n, Pair: st.pair, PageCache: "kept"}
	r.n++
	if st.kind == measure.Cold {
		run.PageCache = dropFiles(r.dirs[st.source])
	}
	around, err := r.specialised(st)
	if err != nil {
		return err
	}
	run.Before = environment.Capture(r.dirs[st.source], r.window)
	run.SecondsIn = seconds(time.Since(r.started))
	mark, end := r.power()
	busy, all, ok := environment.Times()
	p := process{r.dirs[st.source], r.arguments(), r.environment(r.dirs[st.source], src), r.Deadline, mark}
	out, err := p.run(ctx)
	if err != nil {
		return err
	}
	if busy2, all2, ok2 := environment.Times(); ok && ok2 && all2 > all {
		share := thousandths(math.Max(0, busy2-busy-out.processor) / (all2 - all))
		run.OthersShare = &share
	}
	r.fill(&run, out, end)
	if around != nil {
		around.After = specialised.Read(r.homesOf(st), stagedCLI)
	}
	run.Specialised = around
	run.After = environment.Capture(r.dirs[st.source], r.window)
	run.Excluded = r.Protocol.Excluded(r.Machine, src.Program, &run)
	arm.Runs = append(arm.Runs, run)
	r.tell(src, &run, total, out.stderr)
	if r.Save == nil {
		return nil
	}
	if _, err := measure.EncodeSubmission(r.s); err != nil {
		return err
	}
	return r.Save(r.s)
}

// specialised is what macOS keeps of compiled models before a cold run of Core ML, once it is cleared if that is asked for; nil for any other run.
func (r *running) specialised(st step) (*specialised.Around, error) {
	if r.Lane != "physical" || st.kind != measure.Cold || r.Sources[st.source].Program.Flavour == "ggml" {
		return nil, nil
	}
	if r.ClearSpecialised {
		if err := specialised.Clear(r.homesOf(st), stagedCLI); err != nil {
			return nil, err
		}
	}
	return &specialised.Around{Before: specialised.Read(r.homesOf(st), stagedCLI), Cleared: r.ClearSpecialised}, nil
}

// homesOf are the staged home of a run, and the user's own, which Core ML asks the system for.
func (r *running) homesOf(st step) []string {
	return append([]string{filepath.Join(r.dirs[st.source], "home")}, r.homes...)
}

// fill writes what a process gave into a run.
func (r *running) fill(run *measure.Run, out *ended, end func(encodes int) *measure.Power) {
	run.Exit, run.WallSeconds, run.Timings = out.exit, seconds(out.wall), measure.ReadTimings(out.stderr)
	heard := evidence.CountWords(string(out.stdout))
	run.Words = measure.Words{Count: heard.Count, SHA256: heard.SHA256}
	run.Power = end(run.Timings.Encode.Runs)
	f := out.followed
	run.Memory = measure.Memory{
		BeforeLoad: out.before, AtLoad: out.atLoad, AfterWords: out.words, Series: f.Series,
		PeakResidentBytes: f.PeakResident, PeakFootprintBytes: f.PeakFootprint, ProgramPeakResidentBytes: out.peakResident,
		LimitBytes: out.limit, OutOfProcess: "none",
	}
	if run.Memory.Series == nil {
		run.Memory.Series = []memory.Reading{}
	}
	if r.Lane == "physical" {
		run.Memory.OutOfProcess = "Core ML's own processes, which are in neither peak"
	}
	// A peak between two readings is seen by the system's own account alone.
	if f.PeakResident != nil && out.peakResident != nil && *out.peakResident > *f.PeakResident {
		run.Memory.PeakResidentBytes = out.peakResident
	}
	if p := run.Memory.PeakResidentBytes; p != nil && out.limit != nil && *out.limit > 0 {
		ratio := thousandths(float64(*p) / float64(*out.limit))
		run.Memory.Overcommit = &ratio
	}
	time.Sleep(r.settle)
	run.Memory.Recovery = memory.Recover(f.Last.AvailableBytes, memory.Available().Bytes)
}

// power begins a reading, if the session is one of energy. mark is called when the model was loaded.
func (r *running) power() (mark func(), end func(encodes int) *measure.Power) {
	mark, end = func() {}, func(int) *measure.Power { return nil }
	if r.Mode != measure.Energy {
		return mark, end
	}
	window, err := r.Power.Begin()
	if err != nil {
		return mark, end
	}
	return window.Mark, func(encodes int) *measure.Power {
		all, after, err := window.End()
		if err != nil {
			return nil
		}
		p := &measure.Power{Instrument: r.Power.Name(), MeanWatts: all.MeanWatts, IdleWatts: r.idle, Seconds: all.Seconds, Samples: all.Samples,
			Inferences: encodes, IncludesLoad: true, WholeSystem: true}
		if after.Samples > 0 {
			p.AfterLoad = &measure.PowerPart{MeanWatts: after.MeanWatts, Seconds: after.Seconds, Samples: after.Samples}
		}
		return p
	}
}

// tell prints a line about a run.
func (r *running) tell(src *Source, run *measure.Run, total int, stderr []byte) {
	of := ""
	if total > 0 {
		of = fmt.Sprintf(" of %d", total)
	}
	what := run.Idle(src.Program.Flavour) + lastLine(stderr)
	if run.Idle(src.Program.Flavour) == "" {
		n, s := run.Timings.Tokens()
		what = fmt.Sprintf("encode %.3f s, decode %d in %.2f s, wall %.2f s, peak %s resident, %s footprint", measure.Encode.Of(run), n, s, run.WallSeconds,
			memory.ShowMaybe(run.Memory.PeakResidentBytes), memory.ShowMaybe(run.Memory.PeakFootprintBytes))
	}
	excluded := ""
	if len(run.Excluded) > 0 {
		excluded = "; excluded: " + strings.Join(slices.Sorted(slices.Values(run.Excluded)), ", ")
	}
	fmt.Fprintf(r.Progress, "run %d%s, %s %s: %s%s\n", run.Index+1, of, src.Name, run.Kind, what, excluded)
}

// lastLine is what a program that failed said last.
func lastLine(stderr []byte) string {
	text := strings.TrimSpace(string(stderr))
	if text == "" {
		return ""
	}
	return ": " + reason.Visible(text[strings.LastIndexByte(text, '\n')+1:])
}

// seconds rounds to a tenth of a millisecond: more is noise.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e4) / 1e4 }

func thousandths(v float64) float64 { return math.Round(v*1e3) / 1e3 }

// drift compares the control arm's warm encode time with the last session's.
func drift(now, last *measure.Submission) *measure.Drift {
	if last == nil {
		return nil
	}
	ratio, why := measure.DriftOf(now, last)
	if why != "" {
		return nil
	}
	return &measure.Drift{Session: last.Session, Ratio: ratio}
}
