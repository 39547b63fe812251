package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// checkRun adds what is wrong with a run that should have ended well, and says whether it is worth
// looking at its markers.
func checkRun(f *verdict.Judgement, m markers, r *Run) bool {
	notes(f, m, r)
	if settled := arguments(f, m, r); settled {
		return false
	}
	if otherLog(f, m, r) {
		return false
	}
	if r.Exit == nil {
		f.Add(reason.ExitMissing, "exit", "how the program ended", "nothing")
		return false
	}
	x := effective(*r.Exit)
	if r.Truncated {
		f.Add(reason.LogTruncated, "stderr or stdout", "both streams to their end", "a cut stream")
	}
	switch x.Kind {
	case evidence.ExitTimeout:
		timeout(f, m)
		return false
	case evidence.ExitMemory:
		emergency(f)
		return false
	case evidence.ExitSignal:
		signal(f, m, x)
		return false
	}
	if m.tells(whispercpp.LineModelStub) {
		f.Add(reason.ModelTestStub, m.where(whispercpp.LineModelStub), "a model with tensors", "upstream's empty model for tests")
		return false
	}
	if x.Code != 0 {
		exitCode(f, m, r, x)
		return false
	}
	return heard(f, m, r)
}

// notes adds what is to be said about a run however it ended.
func notes(f *verdict.Judgement, m markers, r *Run) {
	if m.tells(whispercpp.LineANEFailed) {
		f.Add(reason.AneFallback, m.where(whispercpp.LineANEFailed), "no failure of the Neural Engine", m.quote(whispercpp.LineANEFailed))
	}
	lane(f, m, r)
	defines(f, r)
}

// defines compares the flavour that a binary is said to be with the macros that reached the compiler.
// Strings in the binary cannot tell a fallback build from one that refuses; these can.
func defines(f *verdict.Judgement, r *Run) {
	if r.Defines == nil {
		return
	}
	for _, macro := range []struct {
		name   string
		wanted bool
	}{
		{whispercpp.MacroCoreML, whispercpp.HasCoreML(r.Flavour)},
		{whispercpp.MacroAllowFallback, whispercpp.AllowsFallback(r.Flavour)},
	} {
		// Upstream asks with #ifdef: any value defines a macro.
		found := slices.ContainsFunc(r.Defines, func(d string) bool {
			name, _, _ := strings.Cut(d, "=")
			return strings.TrimSpace(name) == macro.name
		})
		if found != macro.wanted {
			is := map[bool]string{true: "defined", false: "not defined"}
			f.Add(reason.DefinesContradict, "defines", fmt.Sprintf("%s %s for flavour %s", macro.name, is[macro.wanted], r.Flavour), is[found])
		}
	}
}

// lane compares the claimed lane with the double's own line, which it prints in every run, and the bridge that the identity names
// with the one that printed it.
func lane(f *verdict.Judgement, m markers, r *Run) {
	double := m.has(whispercpp.LineDouble)
	switch {
	case r.Lane == evidence.LanePhysical && double:
		f.Add(reason.LaneMismatch, m.where(whispercpp.LineDouble), "no line of the emulated double in a physical run", "one")
	case r.Lane == evidence.LaneEmulated && r.Kind == evidence.KindContrast && double:
		f.Add(reason.LaneMismatch, m.where(whispercpp.LineDouble), "no line of the double in a build without Core ML", "one")
	case r.Lane == evidence.LaneEmulated && r.Kind != evidence.KindContrast && !double && (m.has(whispercpp.LineLoaded) || m.has(whispercpp.LineLoadFailed)):
		f.Add(reason.LaneMismatch, "stderr", "a line of the double in an emulated run", "none")
	}
	if r.CoreML != evidence.CoreMLDouble && r.CoreML != evidence.CoreMLStandIn {
		return
	}
	for _, line := range r.Stderr {
		if by := evidence.EmulatedBy(line); by != "" && by != r.CoreML {
			f.Add(reason.LaneMismatch, m.where(whispercpp.LineDouble), "lines of "+r.CoreML+" alone, which the lane's identity names", by)
			return
		}
	}
}

// arguments judges the command line, where it is known, and says whether that settles the matter.
func arguments(f *verdict.Judgement, m markers, r *Run) bool {
	settled := false
	if model, ok := whispercpp.LastValue(r.Argv, "--model"); ok && !strings.HasSuffix(model, ".bin") && !m.tells(whispercpp.LineModelBad) && !m.tells(whispercpp.LineModelMissing) {
		f.Add(reason.ModelName, "argument \"-m\"", "a model whose name ends in .bin (a path with spaces stands in quotation marks)", quote(model))
		settled = true
	}
	for _, v := range whispercpp.CheckArguments(r.Argv) {
		where := fmt.Sprintf("argument %q", r.Argv[v.Index])
		switch {
		case v.Own, v.Name == "" && r.Evidence == nil:
			// The runner's own arguments, and inputs, which a list taken from a log may name.
		case v.Blinds:
			f.Add(reason.LogSilenced, where, v.Expected, v.Found)
			settled = true
		default:
			f.Add(reason.ForbiddenArgument, where, v.Expected, v.Found)
			settled = true
		}
	}
	return settled
}

// heard says whether a run that ended with exit 0 heard the audio at all.
func heard(f *verdict.Judgement, m markers, r *Run) bool {
	if other, where, ok := holder(r); ok {
		f.Add(reason.LogForeign, where, "a log of whisper-cli", other)
		return false
	}
	switch {
	case m.tells(whispercpp.LineCrash):
		f.Add(reason.CrashContradictsExit, m.where(whispercpp.LineCrash), "no sign of a crash in a run that ended with exit 0", m.quote(whispercpp.LineCrash))
	case m.tells(whispercpp.LineAudioBad):
		f.Add(reason.NoAudioProcessed, m.where(whispercpp.LineAudioBad), "audio read and processed", "exit 0, and: "+m.quote(whispercpp.LineAudioBad))
	case m.tells(whispercpp.LineOutputBad):
		f.Add(reason.OutputUnwritable, m.where(whispercpp.LineOutputBad), "every output written", "exit 0, and: "+m.quote(whispercpp.LineOutputBad))
	case m.tells(whispercpp.LineVADModel):
		f.Add(reason.VADModelMissing, m.where(whispercpp.LineVADModel), aDetector, "exit 0, and: "+m.quote(whispercpp.LineVADModel))
	case m.tells(whispercpp.LineProcessError):
		f.Add(reason.ProcessFailed, m.where(whispercpp.LineProcessError), "audio processed", "exit 0, and: "+m.quote(whispercpp.LineProcessError))
	case m.tells(whispercpp.LineUsage):
		f.Add(reason.UsageExit, m.where(whispercpp.LineUsage), "a run", "exit 0, and: "+m.quote(whispercpp.LineUsage))
	case m.has(whispercpp.LineSystemInfo):
		return true
	case m.garbles(whispercpp.LineSystemInfo):
		garbled(f, m, whispercpp.LineSystemInfo)
	case m.silenced():
		f.Add(reason.LogSilenced, "stderr", "the library's log lines", "none")
	case r.Evidence == nil && m.has(whispercpp.LineTotal):
		// The library ran to its end and counted its work; whisper-cli prints more than that.
		f.Add(reason.LogForeign, m.where(whispercpp.LineTotal), "whisper-cli's own lines (system_info, main: processing) before the library's last one", "none: another program holds the library")
	default:
		noAudio(f, r, "a system_info line, which whisper-cli prints once audio was read", "none, and exit 0: no audio was read")
	}
	return false
}

func (m markers) garbles(kind whispercpp.LineKind) bool {
	_, ok := m.garbled[kind]
	return ok
}

// garbled adds a line that proves nothing because of what is around it.
func garbled(f *verdict.Judgement, m markers, kind whispercpp.LineKind) {
	a := m.garbled[kind]
	f.Add(reason.LogGarbled, a.where(), "the whole line as the program writes it, or a prefix that every line has", quoteWhole(a.Text))
}

// emergency is a run that was stopped before the system would have killed it.
func emergency(f *verdict.Judgement) {
	f.Add(reason.MemoryEmergency, "exit", "enough memory to the end of the run", "less than 3 per cent of the budget")
}
