package judge

import (
	"fmt"
	"regexp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// signalNames are the signals by number. Linux and macOS agree on those that every program shares; the two names of
// the others are both given, since a log does not say where it is from.
var signalNames = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS on Linux, SIGEMT on macOS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGBUS on macOS, SIGUSR1 on Linux", 11: "SIGSEGV", 12: "SIGSYS on macOS, SIGUSR2 on Linux", 13: "SIGPIPE", 14: "SIGALRM",
	15: "SIGTERM", 16: "SIGSTKFLT on Linux, SIGURG on macOS", 17: "SIGCHLD on Linux, SIGSTOP on macOS", 18: "SIGCONT on Linux, SIGTSTP on macOS",
	19: "SIGSTOP on Linux, SIGCONT on macOS", 20: "SIGTSTP on Linux, SIGCHLD on macOS", 21: "SIGTTIN", 22: "SIGTTOU", 23: "SIGURG on Linux, SIGIO on macOS",
	24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO on Linux, SIGINFO on macOS", 30: "SIGPWR on Linux, SIGUSR1 on macOS", 31: "SIGSYS on Linux, SIGUSR2 on macOS",
}

// spelled are the numbers of signals whose names have one number on both systems, or whose crash is told apart by the
// program alone.
var spelled = map[string]int{
	"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGIOT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9, "SIGSEGV": 11,
	"SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15, "SIGTTIN": 21, "SIGTTOU": 22, "SIGXCPU": 24, "SIGXFSZ": 25, "SIGVTALRM": 26, "SIGPROF": 27, "SIGSYS": 31,
}

// fromOutside are signals that a program does not raise by a fault of its own: a terminal, a shell, a CI service or
// the system sends them.
var fromOutside = map[int]bool{1: true, 2: true, 3: true, 13: true, 14: true, 15: true, 24: true, 25: true}

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

func timeout(f *verdict.Judgement, m markers) {
	if m.has(whispercpp.LineLoading) && !m.has(whispercpp.LineLoaded) && !m.tells(whispercpp.LineLoadFailed) {
		f.Add(reason.DeviceCompileTimeout, m.where(whispercpp.LineLoading), "the encoder loaded within the deadline", "a log that ends while it was being loaded")
		return
	}
	f.Add(reason.RunTimeout, "exit", "an end within the deadline", "none")
}

// outOfMemory adds OUT_OF_MEMORY where memory is named as the cause: by the system for SIGKILL, by the program for
// an allocation that failed.
func outOfMemory(f *verdict.Judgement, m markers, x evidence.Exit) bool {
	switch {
	case x.Signal == 9 && x.OOMKilled:
		f.Add(reason.OutOfMemory, "exit", "enough memory", "the system says that it killed the program for memory")
	case x.Signal == 9 && m.tells(whispercpp.LineOOM):
		f.Add(reason.OutOfMemory, m.where(whispercpp.LineOOM), "enough memory", m.quote(whispercpp.LineOOM))
	case m.tells(whispercpp.LineAllocation):
		f.Add(reason.OutOfMemory, m.where(whispercpp.LineAllocation), "enough memory", m.quote(whispercpp.LineAllocation))
	default:
		return false
	}
	return true
}

// notACrash adds the reason of a signal that says nothing about the program: memory, a stop from outside, a processor
// without the program's instructions. It is the same for every kind of run.
func notACrash(f *verdict.Judgement, m markers, x evidence.Exit) bool {
	switch {
	case outOfMemory(f, m, x):
	case fromOutside[x.Signal]:
		f.Add(reason.RunStopped, "exit", "an end of its own", signalName(x.Signal)+", "+progress(m))
	case x.Signal == 4 && illegalInstruction(m):
		f.Add(reason.CPUFeaturesMissing, "exit", "a processor with the program's instructions", signalName(x.Signal)+", "+progress(m))
	default:
		return false
	}
	return true
}

// ownWords are a program's own about its crash. A shell or an emulator that names the signal says no more than the signal.
var ownWords = regexp.MustCompile(`GGML_ASSERT|(?i)assertion|libc\+\+abi|terminate called|Terminating app|\*\*\*|Sanitizer|double free|free\(\)|malloc\(\)|corrupted`)

// illegalInstruction says that a SIGILL is the processor's word about the program: it came before any Core ML line, where ggml sets up
// its own code first, and the program said nothing of why it would end itself.
func illegalInstruction(m markers) bool {
	for _, kind := range []whispercpp.LineKind{whispercpp.LineLoading, whispercpp.LineLoaded, whispercpp.LineLoadFailed, whispercpp.LineSystemInfo, whispercpp.LineProcessing} {
		if m.tells(kind) {
			return false
		}
	}
	for _, line := range m.told[whispercpp.LineCrash] {
		if ownWords.MatchString(line.Text) {
			return false
		}
	}
	return len(m.garbled) == 0
}

func signal(f *verdict.Judgement, m markers, x evidence.Exit) {
	switch {
	case x.Signal == 6 && m.tells(whispercpp.LineBadNumber) && !m.started():
		f.Add(reason.BadNumber, m.where(whispercpp.LineBadNumber), "numbers that can be read", m.quote(whispercpp.LineBadNumber))
	case notACrash(f, m, x):
	case m.tells(whispercpp.LinePlanAborted):
		planAborted(f, m)
	case x.Signal == 6 && m.tells(whispercpp.LineSandbox):
		sandbox(f, m)
	default:
		f.Add(reason.CrashSignal, crashWhere(m), "exit 0", crashed(m, x))
	}
}

// crashed says in words by which signal and how far on a program crashed, and quotes its own last words.
func crashed(m markers, x evidence.Exit) string {
	found := signalName(x.Signal) + ", " + progress(m)
	if m.tells(whispercpp.LineCrash) {
		found += ": " + m.quote(whispercpp.LineCrash)
	}
	if x.Signal == 4 {
		found += " (or the processor lacks an instruction of the program's: coregate binary --here)"
	}
	return found
}

func crashWhere(m markers) string {
	if m.tells(whispercpp.LineCrash) {
		return m.where(whispercpp.LineCrash)
	}
	return "exit"
}

func sandbox(f *verdict.Judgement, m markers) {
	f.Add(reason.SandboxDenied, m.where(whispercpp.LineSandbox), "the system's caches and services within reach", m.quote(whispercpp.LineSandbox))
}

func planAborted(f *verdict.Judgement, m markers) {
	f.Add(reason.PlanReaderAborted, m.where(whispercpp.LinePlanAborted), "a compiled model for the compute-plan reader", m.quote(whispercpp.LinePlanAborted))
}

// progress says how far a log goes.
func progress(m markers) string {
	switch {
	case m.has(whispercpp.LineProcessing), m.has(whispercpp.LineSystemInfo):
		return "after audio was read"
	case m.has(whispercpp.LineLoaded):
		return "after the Core ML model was loaded"
	case m.tells(whispercpp.LineLoadFailed):
		return "after the Core ML model failed to load"
	case m.has(whispercpp.LineLoading):
		return "while the Core ML model was being loaded"
	case len(m.garbled) > 0:
		return "somewhere in a log whose lines are not as the program writes them"
	case m.started():
		return "before any Core ML line"
	}
	return "before any line of whisper.cpp's library"
}

// exitCause says in brackets what ends the program with this code, where that may be true of this log: 1 and 2 are about
// the arguments, which the program reads before it loads anything.
func exitCause(m markers, r *Run, x evidence.Exit) string {
	cause, ok := whispercpp.ExitCauses[x.Code]
	if !ok || !m.ofWhisper() && r.Evidence == nil || x.Code <= 2 && m.started() {
		return ""
	}
	return " (" + cause + ")"
}

// exitCode judges a non-zero exit code.
func exitCode(f *verdict.Judgement, m markers, r *Run, x evidence.Exit) {
	// A quoted line says the cause itself.
	quoted := func(kind whispercpp.LineKind) string { return DescribeExit(x) + ": " + m.quote(kind) }
	found := DescribeExit(x) + exitCause(m, r, x)
	add := func(code string, kind whispercpp.LineKind, expected string) {
		f.Add(code, m.where(kind), expected, quoted(kind))
	}
	noContext := x.Code == whispercpp.ExitNoContext
	switch {
	case m.tells(whispercpp.LineCrash):
		add(reason.CrashContradictsExit, whispercpp.LineCrash, "a signal, as a crash ends a program")
	case m.tells(whispercpp.LineDTW):
		add(reason.DTWPreset, whispercpp.LineDTW, "no --dtw")
	case noContext && m.tells(whispercpp.LineModelMissing):
		add(reason.ModelMissing, whispercpp.LineModelMissing, "a model file")
	case noContext && m.tells(whispercpp.LineModelBad):
		add(reason.ModelNotGGML, whispercpp.LineModelBad, "a ggml model for -m")
	case noContext && m.tells(whispercpp.LineLoadFailed):
		loadFailed(f, m, DescribeExit(x))
		m.checkOneRun(f, r)
	case noContext && m.tells(whispercpp.LineAllocation):
		add(reason.OutOfMemory, whispercpp.LineAllocation, "enough memory")
	case noContext && m.silenced():
		f.Add(reason.LogSilenced, "stderr", "the library's log lines", "none")
	case noContext:
		f.Add(reason.ContextFailed, m.where(whispercpp.LineContextError), "exit 0", found)
	case m.tells(whispercpp.LineUsage):
		add(reason.UsageExit, whispercpp.LineUsage, "a run")
	case x.Code == 1 && deprecated(m, r):
		where, said := deprecation(m, r)
		f.Add(reason.DeprecatedProgram, where, "whisper-cli", "upstream's stub: "+said)
	case x.Code == whispercpp.ExitFailed && m.tells(whispercpp.LineVADModel):
		add(reason.VADModelMissing, whispercpp.LineVADModel, aDetector)
	case x.Code == whispercpp.ExitFailed && m.tells(whispercpp.LineVADFailed):
		add(reason.ProcessFailed, whispercpp.LineVADFailed, "exit 0")
	case x.Code == whispercpp.ExitFailed:
		f.Add(reason.ProcessFailed, m.where(whispercpp.LineProcessError), "exit 0", found)
	default:
		f.Add(reason.ExitCode, "exit", "exit 0", found)
	}
}

// aDetector is what --vad needs.
const aDetector = "a voice detector's model that can be read, as -vm names it"

// loadFailed names the encoder, and the cause where the bridge gave one.
func loadFailed(f *verdict.Judgement, m markers, found string) {
	if path := m.path(whispercpp.LineLoadFailed); path != "" {
		found += ", " + path
	}
	switch {
	case m.has(whispercpp.LineDoubleRefused):
		found += ": " + quote(m.exact[whispercpp.LineDoubleRefused][0].Value(1))
	case m.tells(whispercpp.LineCoreMLError):
		found += ": " + m.quote(whispercpp.LineCoreMLError)
	default:
		found += "; the log has no cause, which Apple's bridge discards"
	}
	f.Add(reason.CoreMLLoadFailed, m.where(whispercpp.LineLoadFailed), "the encoder loaded", found)
}

// deprecated says that the program is upstream's stub for its old name.
func deprecated(m markers, r *Run) bool {
	where, _ := deprecation(m, r)
	return where != ""
}

// deprecation is where the stub says what it is, and its line; "" where none does.
func deprecation(m markers, r *Run) (where, said string) {
	if m.tells(whispercpp.LineStubProgram) {
		return m.where(whispercpp.LineStubProgram), m.quote(whispercpp.LineStubProgram)
	}
	for i, line := range r.Stdout {
		if l, ok := whispercpp.ReadLine(line); ok && l.Kind == whispercpp.LineStubProgram {
			return fmt.Sprintf("stdout line %d", i+1), quote(line)
		}
	}
	return "", ""
}
