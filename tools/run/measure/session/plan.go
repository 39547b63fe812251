// Package session makes submissions: it runs whisper-cli under a protocol, arm by arm in turn, and follows each run's memory.
//
// What one session is:
//   - every arm is staged once: program, model, encoder, audio and evaluator, side by side under neutral names;
//   - each arm's first run is cold, its files dropped from the page cache where the system lets one; the next is discarded;
//   - the warm runs follow, arm by arm in turn; then the pairs, the order of whose sides alternates;
//   - before and after every run the state of the machine is captured;
//   - a run that fails stays; a session that is stopped keeps what it has, as interrupted.
package session

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/ceiling"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/power"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/pressure"
)

// Source is one arm's files, with what is known of them.
type Source struct {
	Name string
	// CLI is whisper-cli; Encoder the .mlmodelc, "" for ggml's own.
	CLI, Encoder string
	Program      environment.Program
	Artifact     measure.Artifact
}

// Plan is one session.
type Plan struct {
	Protocol *measure.Protocol
	Mode     measure.Mode
	Lane     string
	Machine  environment.Machine
	Ceiling  ceiling.Ceiling
	Sources  []Source
	// Control names the source that every session has.
	Control                 string
	Model, Audio, Evaluator string
	Language                string
	Threads                 int
	Deadline                time.Duration
	// SustainedFor shortens the sustained part of a sustained session; 0 for the protocol's time. What is shorter makes no sustained figure,
	// which follows from the submission itself.
	SustainedFor time.Duration
	// ClearSpecialised removes, before each cold run of Core ML, what macOS compiled for whisper-cli before.
	ClearSpecialised bool
	// Pairs are how many pairs are run; 0 for none.
	Pairs int
	// Last is the last session of this machine with the same control, for the drift; nil without one.
	Last *measure.Submission
	// Power is the instrument of an energy session.
	Power power.Instrument
	// Progress gets a line a run; Save the submission so far after each run.
	Progress io.Writer
	Save     func(*measure.Submission) error

	// started is when the session began, window over how long the machine is watched before a run, and settle how long it is
	// given after one.
	started        time.Time
	window, settle time.Duration
	// homes are those whose caches the program may take for its own, beside the staged one.
	homes []string
}

// Check compares a plan with its protocol before anything starts.
func (p *Plan) Check() error {
	refuse := func(where, expected, found string) error {
		return reason.Errorf(reason.MeasurementRefused, where, expected, "%s", found)
	}
	names := []string{}
	for _, s := range p.Sources {
		if s.Name == "" || slices.Contains(names, s.Name) {
			return refuse("arms", "a name of its own for each", strconv.Quote(s.Name))
		}
		names = append(names, s.Name)
	}
	switch {
	case len(p.Sources) == 0:
		return refuse("arms", "at least one", "none")
	case !slices.Contains(names, p.Control):
		return refuse("control", fmt.Sprintf("one of the arms %q", names), strconv.Quote(p.Control))
	case p.Pairs > 0 && p.Pairs < p.Protocol.Pairs:
		return reason.Errorf(reason.ComparisonPairs, "pairs", fmt.Sprintf("at least %d, or none", p.Protocol.Pairs), "%d", p.Pairs)
	case p.Pairs > 0 && len(p.Sources) < 2:
		return refuse("pairs", "two arms", "one")
	case p.Mode == measure.Energy && p.Power == nil:
		return reason.Errorf(reason.EnergyUnmeasured, "mode energy", "an instrument", "%v", power.ErrNone)
	case p.SustainedFor != 0 && p.Mode != measure.Sustained:
		return refuse("sustained seconds", "mode sustained", "mode "+string(p.Mode))
	case p.SustainedFor < 0 || p.SustainedFor.Seconds() > p.Protocol.SustainedTime:
		return refuse("sustained seconds", fmt.Sprintf("at most the protocol's %.0f", p.Protocol.SustainedTime), p.SustainedFor.String())
	case p.ClearSpecialised && p.Lane != "physical":
		return refuse("specialisation clear", "the physical lane: nothing else compiles for a device", p.Lane)
	case p.Threads < 1 || p.Threads > 512:
		return refuse("threads", "1 to 512", strconv.Itoa(p.Threads))
	}
	return pressure.CheckThreads(p.Threads, p.Machine.Cores.Logical, strain(), pressure.KeepOne)
}

// strain is what the machine says of itself; tests answer in its place.
var strain = pressure.Strained

// arguments is whisper-cli's whole argument list, as the runner has it.
func (p *Plan) arguments() []string {
	return []string{"whisper-cli", "-m", stagedModel, "-f", stagedAudio, "-l", p.Language, "-t", strconv.Itoa(p.Threads),
		"--no-timestamps", "--temperature", "0", "--temperature-inc", "0"}
}

// sustainedSeconds is how long the sustained part lasts.
func (p *Plan) sustainedSeconds() float64 {
	if p.SustainedFor > 0 {
		return p.SustainedFor.Seconds()
	}
	return p.Protocol.SustainedTime
}

// step is one run of the order.
type step struct {
	source int
	kind   measure.Kind
	pair   int
}

// order lists the runs of a session but for the sustained ones, which go on until their time is over.
func (p *Plan) order() []step {
	var out []step
	round := func(kind measure.Kind, n, pair int) {
		for i := range p.Sources {
			at := i
			if n%2 == 1 {
				at = len(p.Sources) - 1 - i
			}
			out = append(out, step{at, kind, pair})
		}
	}
	for n := range p.Protocol.ColdRuns {
		round(measure.Cold, n, 0)
	}
	for n := range p.Protocol.WarmUps {
		round(measure.WarmUp, n, 0)
	}
	if p.Mode == measure.Sustained {
		return out
	}
	for n := range p.Protocol.WarmRuns {
		round(measure.Warm, n, 0)
	}
	for n := range p.Pairs {
		round(measure.Paired, n, n+1)
	}
	return out
}
