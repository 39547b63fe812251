package judge

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// judgeMarkers judges a positive run: exit 0, COREML = 1, the load marker exactly once, no failure
// marker, and no encode buffer of ggml's own.
func judgeMarkers(f *verdict.Judgement, m markers, r *Run) {
	if !checkRun(f, m, r) {
		return
	}
	switch m.coreml() {
	case whispercpp.SwitchOn:
	case whispercpp.SwitchContradicts:
		f.Add(reason.SystemInfoContradicts, m.where(whispercpp.LineSystemInfo), "one value of COREML", "several")
	case whispercpp.SwitchOff:
		f.Add(reason.NoCoreMLBuild, m.where(whispercpp.LineSystemInfo), "COREML = 1", "COREML = 0")
	default:
		f.Add(reason.NoCoreMLBuild, m.where(whispercpp.LineSystemInfo), "COREML = 1", "a system_info line without COREML = 0 or 1")
	}
	if m.has(whispercpp.LineLoadFailed) {
		f.Add(reason.FallbackFailurePresent, m.where(whispercpp.LineLoadFailed), "no load failure", "one, and the run went on")
	}
	switch n := len(m[whispercpp.LineLoaded]); {
	case n == 0:
		f.Add(reason.LoadMarkerAbsent, "stderr", "the line \"whisper_init_state: Core ML model loaded\"", "none")
		m.checkOneRun(f, r)
	case n > 1:
		f.Add(reason.SecondLoadMarker, m[whispercpp.LineLoaded][1].where(), "one load marker", fmt.Sprint(n))
	default:
		m.checkOneRun(f, r)
	}
	if m.has(whispercpp.LineEncodeBuffer) {
		f.Add(reason.GGMLEncoderPresent, m.where(whispercpp.LineEncodeBuffer), "no \"compute buffer (encode)\"", "ggml's own encoder was set up")
	}
	if m.has(whispercpp.LineContextError) {
		f.Add(reason.StaleLog, m.where(whispercpp.LineContextError), "no context error in a run that ended with exit 0", "one")
	}
	if r.EncoderPath != nil && !(r.EncoderPath.Before && r.EncoderPath.After) {
		f.Add(reason.StaleLog, "encoder_path", "the encoder at "+r.EncoderPath.Derived+" before and after the run", "none")
	}
	judgeWords(f, r)
}

// judgeWords demands words of a run that was given speech.
func judgeWords(f *verdict.Judgement, r *Run) {
	switch fromEvidence := r.EncoderPath != nil; {
	case !r.Words:
	case r.StdoutKnown && blank(r.Stdout), r.Withheld != nil && r.Withheld.Count == 0:
		f.Add(reason.TranscriptEmpty, "stdout", "words", "none")
	case fromEvidence && !r.StdoutKnown && r.Withheld == nil:
		f.Add(reason.TranscriptWithheld, "words", "the words of a public fixture, or their digest", "neither")
	}
}

// judgeContrast judges the ordinary run of a build without Core ML: exit 0, COREML = 0, ggml's encode
// buffer present, and no Core ML line.
func judgeContrast(f *verdict.Judgement, m markers, r *Run) {
	if !checkRun(f, m, r) {
		return
	}
	switch value := m.coreml(); value {
	case whispercpp.SwitchOff:
	case whispercpp.SwitchContradicts:
		f.Add(reason.SystemInfoContradicts, m.where(whispercpp.LineSystemInfo), "one value of COREML", "several")
	default:
		f.Add(reason.ContrastCoreML, m.where(whispercpp.LineSystemInfo), "COREML = 0", fmt.Sprintf("COREML %s", value))
	}
	for _, kind := range []whispercpp.LineKind{whispercpp.LineLoading, whispercpp.LineLoaded, whispercpp.LineLoadFailed} {
		if m.has(kind) {
			f.Add(reason.ContrastCoreML, m.where(kind), "no Core ML line", "one")
			break
		}
	}
	if !m.has(whispercpp.LineEncodeBuffer) {
		f.Add(reason.ContrastNoEncoder, "stderr", "\"compute buffer (encode)\"", "none")
	}
	m.checkOneRun(f, r)
	judgeWords(f, r)
}

// judgeCanary judges the negative control: exit exactly 3, the load failure and the final context
// error, no load marker, no signal, one attempt, and nothing at the derived encoder path.
func judgeCanary(f *verdict.Judgement, m markers, r *Run) {
	notes(f, m, r)
	if r.Exit == nil {
		noExit(f, m, r)
		return
	}
	x := effective(*r.Exit)
	if r.Truncated {
		f.Add(reason.LogTruncated, "stderr or stdout", "both streams to their end", "a cut stream")
	}
	if r.Attempts > 1 || r.WarmUps > 0 {
		f.Add(reason.CanaryRetried, "attempts", "one start and no warm-up", fmt.Sprintf("%s and %s", plural(r.Attempts, "start"), plural(r.WarmUps, "warm-up")))
	}
	if p := r.EncoderPath; p != nil && (p.Before || p.After) {
		f.Add(reason.CanaryEncoderPresent, "encoder_path", "nothing at "+p.Derived, "something")
	}
	switch {
	case x.Kind == evidence.ExitTimeout:
		f.Add(reason.CanaryTimeout, "exit", "a refusal (exit 3) within the deadline", "none")
		return
	case x.Kind == evidence.ExitMemory:
		emergency(f)
		return
	case outOfMemory(m, x):
		f.Add(reason.OutOfMemory, "exit", "enough memory", "the system killed the program for want of it")
		return
	case x.Kind == evidence.ExitSignal:
		f.Add(reason.CanarySignal, "exit", "exit 3", signalName(x.Signal)+", "+progress(m))
		return
	}
	if arguments(f, m, r) {
		return
	}
	if m.has(whispercpp.LineModelStub) {
		f.Add(reason.ModelTestStub, m.where(whispercpp.LineModelStub), "a model with tensors", "upstream's empty model for tests")
	}
	if m.has(whispercpp.LineLoaded) {
		f.Add(reason.CanaryLoaded, m.where(whispercpp.LineLoaded), "no Core ML load marker", "one")
	}
	if x.Code != 3 {
		f.Add(reason.CanaryExit, "exit", "exit 3", DescribeExit(x))
		if m.has(whispercpp.LineLoadFailed) {
			f.Add(reason.FallbackFailurePresent, m.where(whispercpp.LineLoadFailed), "a refusal after the load failure", "a run that went on")
		}
		return
	}
	canaryMarkers(f, m, r)
	m.checkOneRun(f, r)
}

// canaryMarkers looks for both markers of a refusal, and for other causes of exit 3.
func canaryMarkers(f *verdict.Judgement, m markers, r *Run) {
	failed, context := m.has(whispercpp.LineLoadFailed), m.has(whispercpp.LineContextError)
	switch {
	case failed && context:
	case m.has(whispercpp.LineDTW):
		f.Add(reason.CanaryWrongCause, m.where(whispercpp.LineDTW), "a refused encoder", "an unknown --dtw preset, which exits 3 too")
	case !failed && (m.has(whispercpp.LineModelBad) || m.has(whispercpp.LineModelMissing)):
		kind := whispercpp.LineModelBad
		if !m.has(kind) {
			kind = whispercpp.LineModelMissing
		}
		f.Add(reason.CanaryWrongCause, m.where(kind), "a refused encoder", "a model that did not load")
	case m.silenced() && prefixed(r.Stderr) >= 0:
		f.Add(reason.CanaryMarkerAbsent, fmt.Sprintf("stderr line %d", prefixed(r.Stderr)+1), wholeLines, behindPrefix)
	case m.silenced():
		f.Add(reason.LogSilenced, "stderr", "the library's log lines", "none")
	case !failed:
		f.Add(reason.CanaryMarkerAbsent, "stderr", "\"failed to load Core ML model from '…'\"", "none")
	default:
		f.Add(reason.CanaryMarkerAbsent, "stderr", "\"error: failed to initialize whisper context\"", "none")
	}
}
