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

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Names of the judgements of this package.
const (
	Markers    = "markers"
	Canary     = "canary"
	Contrast   = "contrast"
	Transcript = "transcript"
)

// Run is what a judge reads of one run. A gate's run comes from evidence ([FromEvidence]), a log
// that someone has at hand from [ParseLog].
type Run struct {
	Kind evidence.Kind
	// Lane is "" where nothing is known about it.
	Lane evidence.Lane
	// Exit is nil where nothing is known about it.
	Exit   *evidence.Exit
	Stderr []string
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
	// Withheld stands for the words on stdout of a run whose stdout is not known; nil where nothing does.
	Withheld *evidence.WordCount
	// Mixed names what shows that a log at hand holds more than one run; "" where nothing does.
	Mixed string
}

// FromEvidence is the run that evidence tells of.
func FromEvidence(e *evidence.Evidence) *Run {
	r := &Run{
		Kind: e.Kind, Lane: e.Lane, Exit: &e.Exit, Stderr: e.Stderr.Lines, Stdout: e.Stdout.Lines, StdoutKnown: e.Stdout.Complete,
		Truncated: e.Stderr.Truncated || e.Stdout.Truncated, EncoderPath: &e.EncoderPath, Attempts: e.Attempts, WarmUps: e.WarmUps, Fault: e.Fault,
		Flavour: e.Flavour, Defines: e.Defines, Withheld: e.Words,
	}
	if len(e.Argv) > 0 {
		r.Argv = e.Argv[1:]
	}
	return r
}

// Judge judges one run by its kind.
func Judge(r *Run) *verdict.Judgement {
	f := verdict.NewJudgement(Markers)
	m := readMarkers(r.Stderr)
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
	fault(f, r.Fault)
	return f
}

// fault fails a run of a double that was told to misbehave, after all else that is wrong with it.
func fault(f *verdict.Judgement, setting string) {
	if setting != "" && setting != "none" {
		f.Add(reason.FaultInjected, "fault", "no fault", setting)
	}
}

// signalNames are those that a crash shows; numbers are the same on Linux and macOS but for SIGBUS.
var signalNames = map[int]string{4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS on Linux", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGBUS on macOS", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM", 24: "SIGXCPU"}

func signalName(n int) string {
	if name, ok := signalNames[n]; ok {
		return fmt.Sprintf("signal %d (%s)", n, name)
	}
	return fmt.Sprintf("signal %d", n)
}

// effective folds the shell's exit codes for signals (128 + n) into signals.
func effective(x evidence.Exit) evidence.Exit {
	if x.Kind == evidence.ExitCode && x.Code > 128 && x.Code < 160 {
		return evidence.Exit{Kind: evidence.ExitSignal, Signal: x.Code - 128, OOMKilled: x.OOMKilled}
	}
	return x
}

// DescribeExit says in words how a run ended.
func DescribeExit(x evidence.Exit) string {
	switch x.Kind {
	case evidence.ExitTimeout:
		return "the deadline"
	case evidence.ExitMemory:
		return "a stop for want of memory"
	case evidence.ExitSignal:
		return signalName(x.Signal)
	}
	return fmt.Sprintf("exit %d", x.Code)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(what, "s"))
}
