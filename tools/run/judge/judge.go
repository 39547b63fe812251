// Package judge turns evidence into verdicts. Every judgement is a pure function of evidence (and a
// policy, where there are thresholds): no clock, no file, no environment.
//
// A judgement reads the log as the program writes it. Load lines count only as whole lines on
// stderr; COREML's value is read as a word of the line that begins with "system_info:"; a line
// "compute buffer (encode)" is a marker of its own, since ggml sets its encoder up only when Core ML
// is not used. Missing, cut or contradicting evidence fails; a run that was stopped by a limit or
// that was blinded is inconclusive; and inconclusive never passes.
package judge

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Names of the judgements of this package.
const (
	Markers    = judgements.Markers
	Canary     = judgements.Canary
	Contrast   = judgements.Contrast
	Transcript = judgements.Transcript
)

// Run is what a judge reads of one run. A gate's run comes from evidence ([FromEvidence]), an existing log
// from [ParseLog].
type Run struct {
	Kind evidence.Kind
	// Lane is "" where nothing is known about it.
	Lane evidence.Lane
	// CoreML is what the lane's identity says Core ML is; "" where it says nothing.
	CoreML string
	// Exit is nil where nothing is known about it.
	Exit   *evidence.Exit
	Stderr []string
	// StderrNumbers are the places of Stderr's lines in the file that they come from, from 1; nil if Stderr is whole.
	StderrNumbers []int
	// Stdout is meaningful when StdoutKnown.
	Stdout      []string
	StdoutKnown bool
	Truncated   bool
	// Flavour and Defines are what the binary is said to be and what its compiler was given; Defines is
	// nil where nothing is known about it.
	Flavour string
	Defines []string
	// Argv is nil where nothing is known about it; without the program's name.
	Argv []string
	// EncoderPath is nil where nothing is known about it.
	EncoderPath *evidence.EncoderPath
	// Attempts and WarmUps are 0 where nothing is known about them.
	Attempts, WarmUps int
	Fault             string
	// Words says that an empty transcript is a fault; false for fixtures of silence.
	Words bool
	// Withheld replaces the words on stdout of a run whose stdout is not known; nil where nothing does.
	Withheld *evidence.WordCount
	// Evidence is what the run was captured as; nil for a log.
	Evidence *evidence.Evidence
	// Mixed names what shows that a log holds more than one run; "" where nothing does.
	Mixed string
}

// FromEvidence is the run that evidence describes.
func FromEvidence(e *evidence.Evidence) *Run {
	r := &Run{
		Kind: e.Kind, Lane: e.Lane, CoreML: e.LaneIdentity["core_ml"], Exit: &e.Exit, Stderr: e.Stderr.Lines, Stdout: e.Stdout.Lines, StdoutKnown: e.Stdout.Complete,
		Truncated: e.Stderr.Truncated || e.Stdout.Truncated, EncoderPath: &e.EncoderPath, Attempts: e.Attempts, WarmUps: e.WarmUps, Fault: e.Fault,
		Flavour: e.Flavour, Defines: e.Defines, Withheld: e.Words, Evidence: e,
	}
	if len(e.Argv) > 0 {
		r.Argv = e.Argv[1:]
	}
	return r
}

// Judge judges one run by its kind.
func Judge(r *Run) *verdict.Judgement {
	f := verdict.NewJudgement(Markers)
	m := readMarkers(r.Stderr, r.StderrNumbers)
	m.facts(f, r.Exit)
	switch r.Kind {
	case evidence.KindCanary:
		f.Name = Canary
		judgeCanary(f, m, r)
	case evidence.KindContrast:
		f.Name = Contrast
		judgeContrast(f, m, r)
	default:
		judgeMarkers(f, m, r)
	}
	if r.Mixed != "" {
		f.Add(reason.StaleLog, "log", "the log of one run", "a second "+r.Mixed)
	}
	faults(f, m, r)
	together(f, m, r)
	return f
}

// number is the place of a line of stderr in the file that it comes from.
func (r *Run) number(i int) int {
	if i < len(r.StderrNumbers) {
		return r.StderrNumbers[i]
	}
	return i + 1
}

// faults fails a run of a double that was told to misbehave, by the evidence or by the double's own word.
func faults(f *verdict.Judgement, m markers, r *Run) {
	fault(f, r.Fault)
	for _, a := range m.exact[whispercpp.LineDouble] {
		said := a.Value(1)
		switch {
		case said == "":
		case r.Evidence != nil && said != r.Fault:
			f.Add(reason.EvidenceContradicts, a.where(), "fault "+quote(r.Fault)+", as the evidence says", quote(said))
		case r.Evidence == nil && said != "none":
			f.Add(reason.FaultInjected, a.where(), "no fault", quote(said))
		}
	}
}

// fault fails a run of a double that was told to misbehave, after all else that is wrong with it.
func fault(f *verdict.Judgement, setting string) {
	if setting != "" && setting != "none" {
		f.Add(reason.FaultInjected, "fault", "no fault", setting)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(what, "s"))
}
