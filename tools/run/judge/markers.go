package judge

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// judgeMarkers judges a positive run: exit 0, COREML = 1, the load marker exactly once, no failure
// marker, no encode buffer of ggml's own, no failed prediction, and audio through the encoder.
func judgeMarkers(f *verdict.Judgement, m markers, r *Run) {
	if !checkRun(f, m, r) {
		return
	}
	switch m.coreml() {
	case whispercpp.SwitchOn:
	case whispercpp.SwitchContradicts:
		f.Add(reason.SystemInfoContradicts, m.where(whispercpp.LineSystemInfo), "one value of COREML", m.quote(whispercpp.LineSystemInfo))
	case whispercpp.SwitchOff:
		f.Add(reason.NoCoreMLBuild, m.where(whispercpp.LineSystemInfo), "COREML = 1", "COREML = 0")
	default:
		f.Add(reason.NoCoreMLBuild, m.where(whispercpp.LineSystemInfo), "COREML = 1", "a system_info line without COREML = 0 or 1")
	}
	if m.tells(whispercpp.LineLoadFailed) {
		f.Add(reason.FallbackFailurePresent, m.where(whispercpp.LineLoadFailed), "no load failure", "the run went on after: "+m.quote(whispercpp.LineLoadFailed))
	}
	loads(f, m, r)
	if m.tells(whispercpp.LineEncodeBuffer) {
		f.Add(reason.GGMLEncoderPresent, m.where(whispercpp.LineEncodeBuffer), "no \"compute buffer (encode)\"", m.quote(whispercpp.LineEncodeBuffer))
	}
	if m.tells(whispercpp.LineContextError) {
		f.Add(reason.StaleLog, m.where(whispercpp.LineContextError), "no context error in a run that ended with exit 0", "one")
	}
	staged(f, r)
	languages(f, m, r)
	predictions(f, m)
	executed(f, m, r)
	if !f.Has(reason.EncoderNotExecuted) { // no words follow from that, and need no advice of their own
		words(f, r)
	}
	m.strays(f, r)
}

// loads judges the load marker.
func loads(f *verdict.Judgement, m markers, r *Run) {
	switch n := len(m.exact[whispercpp.LineLoaded]); {
	case n == 0 && m.garbles(whispercpp.LineLoaded):
		f.Add(reason.LoadMarkerAbsent, m.garbled[whispercpp.LineLoaded].where(), "the whole line \"whisper_init_state: Core ML model loaded\"", quoteWhole(m.garbled[whispercpp.LineLoaded].Text))
		m.checkOneRun(f, r)
	case n == 0:
		f.Add(reason.LoadMarkerAbsent, "stderr", "the line \"whisper_init_state: Core ML model loaded\"", "none")
		m.checkOneRun(f, r)
	case n > 1 && !m.twoInputs(f, r):
		f.Add(reason.SecondLoadMarker, m.exact[whispercpp.LineLoaded][1].where(), "one load marker", fmt.Sprint(n))
	default:
		m.checkOneRun(f, r)
	}
}

// staged judges whether the encoder stood beside the model.
func staged(f *verdict.Judgement, r *Run) {
	switch p := r.EncoderPath; {
	case p == nil, p.Before && p.After:
	case p.Before:
		f.Add(reason.EncoderNotStaged, "encoder_path", p.Derived+" before and after the run", "it was there before and is gone: something cleaned the staging directory while the program ran")
	default:
		f.Add(reason.EncoderNotStaged, "encoder_path", p.Derived+" before and after the run", "none before")
	}
}

// words demands words of a run that was given speech.
func words(f *verdict.Judgement, r *Run) {
	switch fromEvidence := r.Evidence != nil; {
	case !r.Words:
	case r.StdoutKnown:
		text := strings.Join(r.Stdout, "\n")
		if evidence.Said(text) {
			return
		}
		found := "none"
		if shown := strings.TrimSpace(text); shown != "" {
			found = "no word in " + quote(shown)
		}
		f.Add(reason.TranscriptEmpty, "stdout", "words", found)
	case r.Withheld != nil && r.Withheld.Count == 0:
		f.Add(reason.TranscriptEmpty, "words", "words", "none")
	case fromEvidence && r.Withheld == nil:
		f.Add(reason.TranscriptWithheld, "words", "the words of a public fixture, or their digest", "neither")
	}
}

// judgeContrast judges the ordinary run of a build without Core ML: exit 0, COREML = 0, ggml's encode
// buffer present, and no Core ML line.
func judgeContrast(f *verdict.Judgement, m markers, r *Run) {
	if r.Flavour != "" && r.Flavour != whispercpp.FlavourGGML {
		f.Add(reason.ContrastCoreML, "flavour", whispercpp.FlavourGGML, quote(r.Flavour))
	}
	if !checkRun(f, m, r) {
		return
	}
	switch value := m.coreml(); value {
	case whispercpp.SwitchOff:
	case whispercpp.SwitchContradicts:
		f.Add(reason.SystemInfoContradicts, m.where(whispercpp.LineSystemInfo), "one value of COREML", m.quote(whispercpp.LineSystemInfo))
	default:
		f.Add(reason.ContrastCoreML, m.where(whispercpp.LineSystemInfo), "COREML = 0", fmt.Sprintf("COREML %s", value))
	}
	for _, kind := range []whispercpp.LineKind{whispercpp.LineLoading, whispercpp.LineLoaded, whispercpp.LineLoadFailed, whispercpp.LineDouble, whispercpp.LineDoubleRefused, whispercpp.LineDoubleCount, whispercpp.LinePredictionFailed} {
		if m.tells(kind) {
			f.Add(reason.ContrastCoreML, m.where(kind), "no Core ML line", m.quote(kind))
			break
		}
	}
	switch {
	case m.has(whispercpp.LineEncodeBuffer):
	case m.garbles(whispercpp.LineEncodeBuffer):
		garbled(f, m, whispercpp.LineEncodeBuffer)
	default:
		f.Add(reason.ContrastNoEncoder, "stderr", "\"compute buffer (encode)\"", "none")
	}
	m.checkOneRun(f, r)
	languages(f, m, r)
	executed(f, m, r)
	words(f, r)
	m.strays(f, r)
}

// judgeCanary judges the negative control: exit exactly 3, the load failure and the final context
// error, no load marker, no signal, one attempt, and nothing at the derived encoder path.
func judgeCanary(f *verdict.Judgement, m markers, r *Run) {
	notes(f, m, r)
	if r.Attempts > 1 || r.WarmUps > 0 {
		f.Add(reason.CanaryRetried, "attempts", "one start and no warm-up", fmt.Sprintf("%s and %s", plural(r.Attempts, "start"), plural(r.WarmUps, "warm-up")))
	}
	if p := r.EncoderPath; p != nil && (p.Before || p.After) {
		f.Add(reason.CanaryEncoderPresent, "encoder_path", "nothing at "+p.Derived, "something")
	}
	if arguments(f, m, r) {
		return
	}
	if otherLog(f, m, r) {
		return
	}
	if r.Exit == nil {
		f.Add(reason.ExitMissing, "exit", "how the program ended", "nothing")
		return
	}
	x := effective(*r.Exit)
	if r.Truncated {
		f.Add(reason.LogTruncated, "stderr or stdout", "both streams to their end", "a cut stream")
	}
	switch {
	case x.Kind == evidence.ExitTimeout:
		f.Add(reason.CanaryTimeout, "exit", "a refusal (exit 3) within the deadline", "none")
		return
	case x.Kind == evidence.ExitMemory:
		emergency(f)
		return
	case x.Kind == evidence.ExitSignal && notACrash(f, m, x):
		return
	case x.Kind == evidence.ExitSignal:
		f.Add(reason.CanarySignal, crashWhere(m), "exit 3", crashed(m, x))
		return
	}
	if m.tells(whispercpp.LineModelStub) {
		f.Add(reason.ModelTestStub, m.where(whispercpp.LineModelStub), "a model with tensors", "upstream's empty model for tests")
	}
	if m.has(whispercpp.LineLoaded) {
		f.Add(reason.CanaryLoaded, m.where(whispercpp.LineLoaded), "no Core ML load marker", "one")
	}
	if x.Code != whispercpp.ExitNoContext {
		canaryExit(f, m, r, x)
		return
	}
	if m.tells(whispercpp.LineCrash) {
		f.Add(reason.CrashContradictsExit, m.where(whispercpp.LineCrash), "no sign of a crash in a refusal", m.quote(whispercpp.LineCrash))
	}
	canaryMarkers(f, m)
	m.checkOneRun(f, r)
	m.strays(f, r)
}

// canaryExit names an exit other than a refusal's.
func canaryExit(f *verdict.Judgement, m markers, r *Run, x evidence.Exit) {
	found := DescribeExit(x)
	switch {
	case m.tells(whispercpp.LineUsage):
		found += ": " + m.quote(whispercpp.LineUsage)
	case x.Code == 0:
		found += ": the build runs without its encoder"
	default:
		found += exitCause(m, r, x)
	}
	f.Add(reason.CanaryExit, "exit", "exit 3", found)
	if m.tells(whispercpp.LineLoadFailed) {
		f.Add(reason.FallbackFailurePresent, m.where(whispercpp.LineLoadFailed), "a refusal after the load failure", "a run that went on")
	}
}

// canaryMarkers looks for both markers of a refusal, and for other causes of exit 3. Of a model that did not load the
// encoder was never asked for, whatever else the log says.
func canaryMarkers(f *verdict.Judgement, m markers) {
	failed, context := m.has(whispercpp.LineLoadFailed), m.has(whispercpp.LineContextError)
	for _, kind := range []whispercpp.LineKind{whispercpp.LineDTW, whispercpp.LineModelMissing, whispercpp.LineModelBad, whispercpp.LineAllocation} {
		if !m.tells(kind) {
			continue
		}
		f.Add(reason.CanaryWrongCause, m.where(kind), "a refused encoder", m.quote(kind))
		if failed {
			f.Add(reason.StaleLog, m.where(whispercpp.LineLoadFailed), "no line of the encoder in a run that had no model", "one")
		}
		return
	}
	switch {
	case failed && context:
	case m.silenced():
		f.Add(reason.LogSilenced, "stderr", "the library's log lines", "none")
	case !failed:
		absent(f, m, whispercpp.LineLoadFailed, "\"failed to load Core ML model from '…'\"")
	default:
		absent(f, m, whispercpp.LineContextError, "\"error: failed to initialize whisper context\"")
	}
}

// absent adds a marker of a refusal that is not there as the program writes it.
func absent(f *verdict.Judgement, m markers, kind whispercpp.LineKind, expected string) {
	if a, told := m.first(kind); told {
		f.Add(reason.CanaryMarkerAbsent, a.where(), expected+", as a line of its own", quoteWhole(a.Text))
		return
	}
	f.Add(reason.CanaryMarkerAbsent, "stderr", expected, "none")
}
