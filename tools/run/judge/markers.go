package judge

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// judgeMarkers judges a positive run: exit 0, COREML = 1, the load marker exactly once, no failure
// marker, and no encode buffer of ggml's own.
func judgeMarkers(f *findings, m markers, r *Run) {
	if !checkRun(f, m, r) {
		return
	}
	switch value := m.coreml(); value {
	case 1:
	case -2:
		f.add("SYSTEM_INFO_CONTRADICTS", "one value of COREML", "several", m.where(evidence.LineSystemInfo))
	case 0:
		f.add("NO_COREML_BUILD", "COREML = 1", "COREML = 0", m.where(evidence.LineSystemInfo))
	default:
		f.add("NO_COREML_BUILD", "COREML = 1", "a system_info line without COREML = 0 or 1", m.where(evidence.LineSystemInfo))
	}
	if m.has(evidence.LineLoadFailed) {
		f.add("FALLBACK_FAILURE_PRESENT", "no load failure", "one, and the run went on", m.where(evidence.LineLoadFailed))
	}
	switch n := len(m[evidence.LineLoaded]); {
	case n == 0:
		f.add("LOAD_MARKER_ABSENT", "the line \"whisper_init_state: Core ML model loaded\"", "none", "stderr")
		m.checkOneRun(f, r)
	case n > 1:
		f.add("SECOND_LOAD_MARKER", "one load marker", fmt.Sprint(n), m[evidence.LineLoaded][1].where())
	default:
		m.checkOneRun(f, r)
	}
	if m.has(evidence.LineEncodeBuffer) {
		f.add("GGML_ENCODER_PRESENT", "no \"compute buffer (encode)\"", "ggml's own encoder was set up", m.where(evidence.LineEncodeBuffer))
	}
	if m.has(evidence.LineContextError) {
		f.add("STALE_LOG", "no context error in a run that ended with exit 0", "one", m.where(evidence.LineContextError))
	}
	if r.EncoderPath != nil && !(r.EncoderPath.Before && r.EncoderPath.After) {
		f.add("STALE_LOG", "the encoder at "+r.EncoderPath.Derived+" before and after the run", "none", "encoder_path")
	}
	if r.Words && r.StdoutKnown && blank(r.Stdout) {
		f.add("TRANSCRIPT_EMPTY", "words", "none", "stdout")
	}
}

// judgeContrast judges the ordinary run of a build without Core ML: exit 0, COREML = 0, ggml's encode
// buffer present, and no Core ML line.
func judgeContrast(f *findings, m markers, r *Run) {
	if !checkRun(f, m, r) {
		return
	}
	switch m.coreml() {
	case 0:
	case -2:
		f.add("SYSTEM_INFO_CONTRADICTS", "one value of COREML", "several", m.where(evidence.LineSystemInfo))
	default:
		f.add("CONTRAST_COREML", "COREML = 0", fmt.Sprintf("another value (%d)", m.coreml()), m.where(evidence.LineSystemInfo))
	}
	for _, kind := range []evidence.LineKind{evidence.LineLoading, evidence.LineLoaded, evidence.LineLoadFailed} {
		if m.has(kind) {
			f.add("CONTRAST_COREML", "no Core ML line", "one", m.where(kind))
			break
		}
	}
	if !m.has(evidence.LineEncodeBuffer) {
		f.add("CONTRAST_NO_ENCODER", "\"compute buffer (encode)\"", "none", "stderr")
	}
	m.checkOneRun(f, r)
	if r.Words && r.StdoutKnown && blank(r.Stdout) {
		f.add("TRANSCRIPT_EMPTY", "words", "none", "stdout")
	}
}

// judgeCanary judges the negative control: exit exactly 3, the load failure and the final context
// error, no load marker, no signal, one attempt, and nothing at the derived encoder path.
func judgeCanary(f *findings, m markers, r *Run) {
	notes(f, m, r)
	if r.Exit == nil {
		noExit(f, m, r)
		return
	}
	x := effective(*r.Exit)
	if r.Truncated {
		f.add("LOG_TRUNCATED", "both streams to their end", "a cut stream", "stderr or stdout")
	}
	if r.Attempts > 1 || r.WarmUps > 0 {
		f.add("CANARY_RETRIED", "one start and no warm-up", fmt.Sprintf("%s and %s", plural(r.Attempts, "start"), plural(r.WarmUps, "warm-up")), "attempts")
	}
	if p := r.EncoderPath; p != nil && (p.Before || p.After) {
		f.add("CANARY_ENCODER_PRESENT", "nothing at "+p.Derived, "something", "encoder_path")
	}
	switch {
	case x.Kind == evidence.ExitTimeout:
		f.add("CANARY_TIMEOUT", "a refusal (exit 3) within the deadline", "none", "exit")
		return
	case outOfMemory(m, x):
		f.add("OUT_OF_MEMORY", "enough memory", "the system killed the program for want of it", "exit")
		return
	case x.Kind == evidence.ExitSignal:
		f.add("CANARY_SIGNAL", "exit 3", signalName(x.Signal)+", "+progress(m), "exit")
		return
	}
	if arguments(f, m, r) {
		return
	}
	if m.has(evidence.LineModelStub) {
		f.add("MODEL_TEST_STUB", "a model with tensors", "upstream's empty model for tests", m.where(evidence.LineModelStub))
	}
	if m.has(evidence.LineLoaded) {
		f.add("CANARY_LOADED", "no Core ML load marker", "one", m.where(evidence.LineLoaded))
	}
	if x.Code != 3 {
		f.add("CANARY_EXIT", "exit 3", DescribeExit(x), "exit")
		if m.has(evidence.LineLoadFailed) {
			f.add("FALLBACK_FAILURE_PRESENT", "a refusal after the load failure", "a run that went on", m.where(evidence.LineLoadFailed))
		}
		return
	}
	canaryMarkers(f, m, r)
	m.checkOneRun(f, r)
}

// canaryMarkers looks for both markers of a refusal, and for other causes of exit 3.
func canaryMarkers(f *findings, m markers, r *Run) {
	failed, context := m.has(evidence.LineLoadFailed), m.has(evidence.LineContextError)
	switch {
	case failed && context:
	case m.has(evidence.LineDTW):
		f.add("CANARY_WRONG_CAUSE", "a refused encoder", "an unknown --dtw preset, which exits 3 too", m.where(evidence.LineDTW))
	case !failed && (m.has(evidence.LineModelBad) || m.has(evidence.LineModelMissing)):
		kind := evidence.LineModelBad
		if !m.has(kind) {
			kind = evidence.LineModelMissing
		}
		f.add("CANARY_WRONG_CAUSE", "a refused encoder", "a model that did not load", m.where(kind))
	case m.silenced() && prefixed(r.Stderr) >= 0:
		f.add("CANARY_MARKER_ABSENT", wholeLines, behindPrefix, fmt.Sprintf("stderr line %d", prefixed(r.Stderr)+1))
	case m.silenced():
		f.add("LOG_SILENCED", "the library's log lines", "none", "stderr")
	case !failed:
		f.add("CANARY_MARKER_ABSENT", "\"failed to load Core ML model from '…'\"", "none", "stderr")
	default:
		f.add("CANARY_MARKER_ABSENT", "\"error: failed to initialize whisper context\"", "none", "stderr")
	}
}
