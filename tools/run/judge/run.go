package judge

import (
	"fmt"
	"regexp"
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
	if r.Exit == nil {
		noExit(f, m, r)
		return false
	}
	x := effective(*r.Exit)
	if r.Truncated {
		f.Add(reason.LogTruncated, "stderr or stdout", "both streams to their end", "a cut stream")
	}
	if arguments(f, m, r) {
		return false
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
	if m.has(whispercpp.LineModelStub) {
		f.Add(reason.ModelTestStub, m.where(whispercpp.LineModelStub), "a model with tensors", "upstream's empty model for tests")
		return false
	}
	if x.Code != 0 {
		exitCode(f, m, r, x)
		return false
	}
	return heard(f, m, r)
}

// notes adds facts that change no verdict.
func notes(f *verdict.Judgement, m markers, r *Run) {
	if m.has(whispercpp.LineANEFailed) {
		f.Add(reason.AneFallback, m.where(whispercpp.LineANEFailed), "no failure of the Neural Engine", "a failed compilation or evaluation")
		f.Facts["placement"] = "the Neural Engine failed; not observed elsewhere"
	}
	lane(f, m, r)
	defines(f, r)
}

// defines holds the flavour that a binary is said to be against the macros that reached the compiler.
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
		if found := slices.Contains(r.Defines, macro.name) || slices.Contains(r.Defines, macro.name+"=1"); found != macro.wanted {
			is := map[bool]string{true: "defined", false: "not defined"}
			f.Add(reason.DefinesContradict, "defines", fmt.Sprintf("%s %s for flavour %s", macro.name, is[macro.wanted], r.Flavour), is[found])
		}
	}
}

// lane holds the claimed lane against the double's own line, which it prints in every run.
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
}

// noExit judges a log whose end is not known: only a fault of the system around it can be named.
func noExit(f *verdict.Judgement, m markers, r *Run) {
	switch {
	case !m.ofWhisper() && judgeForeign(f, r.Stderr):
	case m.has(whispercpp.LineSandbox):
		sandbox(f, m)
	case m.has(whispercpp.LinePlanAborted):
		planAborted(f, m)
	default:
		f.Add(reason.ExitMissing, "exit", "how the program ended", "nothing")
	}
}

// arguments judges the command line, where it is known, and says whether that settles the matter.
func arguments(f *verdict.Judgement, m markers, r *Run) bool {
	settled := false
	if model, ok := whispercpp.LastValue(r.Argv, "--model"); ok && !strings.HasSuffix(model, ".bin") && !m.has(whispercpp.LineModelBad) && !m.has(whispercpp.LineModelMissing) {
		f.Add(reason.ForbiddenArgument, "argument \"-m\"", "a model whose name ends in .bin", "another name, from which the encoder's path is derived otherwise")
		settled = true
	}
	for _, v := range whispercpp.CheckArguments(r.Argv) {
		where := fmt.Sprintf("argument %q", r.Argv[v.Index])
		switch {
		case v.Own, v.Name == "":
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

func timeout(f *verdict.Judgement, m markers) {
	if m.has(whispercpp.LineLoading) && !m.has(whispercpp.LineLoaded) && !m.has(whispercpp.LineLoadFailed) {
		f.Add(reason.DeviceCompileTimeout, m.where(whispercpp.LineLoading), "the encoder loaded within the deadline", "a log that ends while it was being loaded")
		return
	}
	f.Add(reason.RunTimeout, "exit", "an end within the deadline", "none")
}

// outOfMemory says that the system itself gave memory as the cause of a SIGKILL.
func outOfMemory(m markers, x evidence.Exit) bool {
	return x.Kind == evidence.ExitSignal && x.Signal == 9 && (x.OOMKilled || m.has(whispercpp.LineOOM))
}

func signal(f *verdict.Judgement, m markers, x evidence.Exit) {
	started := m.has(whispercpp.LineModelFile) || m.has(whispercpp.LineLoading) || m.has(whispercpp.LineModelFact)
	switch {
	case outOfMemory(m, x):
		f.Add(reason.OutOfMemory, "exit", "enough memory", "the system killed the program for want of it")
	case x.Signal == 6 && m.has(whispercpp.LineBadNumber) && !started:
		f.Add(reason.BadNumber, m.where(whispercpp.LineBadNumber), "numbers that can be read", "an uncaught exception over one")
	case m.has(whispercpp.LinePlanAborted):
		planAborted(f, m)
	case x.Signal == 6 && m.has(whispercpp.LineSandbox):
		sandbox(f, m)
	default:
		f.Add(reason.CrashSignal, "exit", "exit 0", signalName(x.Signal)+", "+progress(m))
	}
}

func sandbox(f *verdict.Judgement, m markers) {
	f.Add(reason.SandboxDenied, m.where(whispercpp.LineSandbox), "the system's caches writable", "a denial")
}

func planAborted(f *verdict.Judgement, m markers) {
	f.Add(reason.PlanReaderAborted, m.where(whispercpp.LinePlanAborted), "a compiled model for the compute-plan reader", "a directory without coremldata.bin")
}

// progress says how far a log goes.
func progress(m markers) string {
	switch {
	case m.has(whispercpp.LineProcessing), m.has(whispercpp.LineSystemInfo):
		return "after audio was read"
	case m.has(whispercpp.LineLoaded):
		return "after the Core ML model was loaded"
	case m.has(whispercpp.LineLoadFailed):
		return "after the Core ML model failed to load"
	case m.has(whispercpp.LineLoading):
		return "while the Core ML model was being loaded"
	}
	return "before any Core ML line"
}

// exitCode judges a non-zero exit code.
func exitCode(f *verdict.Judgement, m markers, r *Run, x evidence.Exit) {
	found := DescribeExit(x)
	if cause, ok := whispercpp.ExitCauses[x.Code]; ok {
		found += " (" + cause + ")"
	}
	switch {
	case m.has(whispercpp.LineDTW):
		f.Add(reason.DTWPreset, m.where(whispercpp.LineDTW), "no --dtw", found)
	case x.Code == 3 && m.has(whispercpp.LineLoadFailed):
		f.Add(reason.CoreMLLoadFailed, m.where(whispercpp.LineLoadFailed), "the encoder loaded", found+"; Core ML's own error is discarded by the bridge")
		m.checkOneRun(f, r)
	case x.Code == 3 && m.has(whispercpp.LineModelMissing):
		f.Add(reason.ModelMissing, m.where(whispercpp.LineModelMissing), "a model file", found)
	case x.Code == 3 && m.has(whispercpp.LineModelBad):
		f.Add(reason.ModelNotGGML, m.where(whispercpp.LineModelBad), "a ggml model for -m", found)
	case x.Code == 3 && m.silenced():
		f.Add(reason.LogSilenced, "stderr", "the library's log lines", "none")
	case x.Code == 3:
		f.Add(reason.ContextFailed, m.where(whispercpp.LineContextError), "exit 0", found)
	case m.has(whispercpp.LineUsage):
		f.Add(reason.UsageExit, m.where(whispercpp.LineUsage), "a run", found)
	case x.Code == 1 && deprecated(m, r):
		f.Add(reason.DeprecatedProgram, "stdout", "whisper-cli", "upstream's stub under an old name")
	case x.Code == 10:
		f.Add(reason.ProcessFailed, m.where(whispercpp.LineProcessError), "exit 0", found)
	default:
		f.Add(reason.ExitCode, "exit", "exit 0", found)
	}
}

func deprecated(m markers, r *Run) bool {
	if m.has(whispercpp.LineStubProgram) {
		return true
	}
	for _, line := range r.Stdout {
		if l, ok := whispercpp.ReadLine(line); ok && l.Kind == whispercpp.LineStubProgram {
			return true
		}
	}
	return false
}

// heard says whether a run that ended with exit 0 heard the audio at all.
func heard(f *verdict.Judgement, m markers, r *Run) bool {
	switch {
	case m.has(whispercpp.LineAudioBad):
		f.Add(reason.NoAudioProcessed, m.where(whispercpp.LineAudioBad), "audio read and processed", "audio that could not be read, and exit 0")
	case m.has(whispercpp.LineOutputBad):
		f.Add(reason.OutputUnwritable, m.where(whispercpp.LineOutputBad), "every output written", "one that could not be opened, and exit 0")
	case m.has(whispercpp.LineUsage):
		f.Add(reason.UsageExit, m.where(whispercpp.LineUsage), "a run", "exit 0 over the arguments")
	case m.has(whispercpp.LineSystemInfo):
		return true
	case m.silenced() && prefixed(r.Stderr) >= 0:
		f.Add(reason.LoadMarkerAbsent, fmt.Sprintf("stderr line %d", prefixed(r.Stderr)+1), wholeLines, behindPrefix)
	case m.silenced():
		f.Add(reason.LogSilenced, "stderr", "the library's log lines", "none")
	default:
		f.Add(reason.NoAudioProcessed, "stderr", "a system_info line, which is printed once audio was read", "none, and exit 0")
	}
	return false
}

const (
	wholeLines   = "whole lines, as the program writes them"
	behindPrefix = "lines behind a prefix, such as a time stamp of another program's"
)

// prefixed is the first line that would be the library's own if something did not stand before it, or -1.
// Such a log is not silenced, but a marker in the middle of a line is none.
func prefixed(stderr []string) int {
	return slices.IndexFunc(stderr, func(line string) bool {
		i := max(strings.Index(line, "whisper_init_"), strings.Index(line, "system_info:"))
		if i <= 0 {
			return false
		}
		_, ok := whispercpp.ReadLine(line[i:])
		return ok
	})
}

// timeSpan is what stands before each segment when time stamps are on.
var timeSpan = regexp.MustCompile(`^\[[0-9:.]+ --> [0-9:.]+\]`)

// blank says that no line has a word: nothing but white space and time stamps.
func blank(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(timeSpan.ReplaceAllString(line, "")) != "" {
			return false
		}
	}
	return true
}

// emergency is a run that was stopped before the system would have killed it.
func emergency(f *verdict.Judgement) {
	f.Add(reason.MemoryEmergency, "exit", "enough memory to the end of the run", "less than 3 per cent of the budget")
}
