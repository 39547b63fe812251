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

// at is one recognised line: its index on stderr, and what it says.
type at struct {
	index int
	whispercpp.Line
}

// where names the line for a reader.
func (a at) where() string { return fmt.Sprintf("stderr line %d", a.index+1) }

// markers are the recognised lines of a stderr, by kind.
type markers map[whispercpp.LineKind][]at

func readMarkers(stderr []string) markers {
	m := markers{}
	for i, line := range stderr {
		if l, ok := whispercpp.ReadLine(line); ok {
			m[l.Kind] = append(m[l.Kind], at{i, l})
		}
	}
	return m
}

func (m markers) has(kind whispercpp.LineKind) bool { return len(m[kind]) > 0 }

// where names the first line of a kind, or stderr as a whole.
func (m markers) where(kind whispercpp.LineKind) string {
	if m.has(kind) {
		return m[kind][0].where()
	}
	return "stderr"
}

// writtenBy says that some line is of one of the writers.
func (m markers) writtenBy(writers ...whispercpp.Writer) bool {
	for _, lines := range m {
		for _, line := range lines {
			if slices.Contains(writers, line.By) {
				return true
			}
		}
	}
	return false
}

// silenced says that nothing stands on stderr which -np would remove, nor anything that explains its absence.
func (m markers) silenced() bool {
	return !m.writtenBy(whispercpp.Library, whispercpp.Verbose, whispercpp.System) && !m.has(whispercpp.LineUsage) && !m.has(whispercpp.LineDTW)
}

// ofWhisper says that some line is the runtime's own.
func (m markers) ofWhisper() bool {
	return m.writtenBy(whispercpp.Library, whispercpp.Verbose) || m.has(whispercpp.LineDouble) || m.has(whispercpp.LineStubProgram) ||
		m.writtenBy(whispercpp.Program) && !m.has(whispercpp.LineUsage)
}

// coreml is the one value of COREML over all system_info lines.
func (m markers) coreml() whispercpp.Switch {
	value := whispercpp.SwitchAbsent
	for i, a := range m[whispercpp.LineSystemInfo] {
		if i > 0 && a.CoreML != value {
			return whispercpp.SwitchContradicts
		}
		value = a.CoreML
	}
	return value
}

// facts are the markers in a form for people and receipts.
func (m markers) facts(f *verdict.Judgement, x *evidence.Exit) {
	if x != nil {
		f.Facts[factExit] = DescribeExit(*x)
	}
	f.Facts[factCoreML] = string(m.coreml())
	f.Facts[factLoadMarkers] = len(m[whispercpp.LineLoaded])
	f.Facts[factLoadFailures] = len(m[whispercpp.LineLoadFailed])
	f.Facts[factEncodeBuffers] = len(m[whispercpp.LineEncodeBuffer])
	f.Facts[factContextErrors] = len(m[whispercpp.LineContextError])
	f.Facts[factSystemInfoLines] = len(m[whispercpp.LineSystemInfo])
}

// checkOneRun adds STALE_LOG for lines that one run of one model cannot print.
func (m markers) checkOneRun(f *verdict.Judgement, r *Run) {
	for _, kind := range whispercpp.Once() {
		if lines := m[kind]; len(lines) > 1 {
			f.Add(reason.StaleLog, lines[1].where(), "at most one line of kind "+string(kind), plural(len(lines), "line"))
			return
		}
	}
	first := func(kind whispercpp.LineKind) int {
		if m.has(kind) {
			return m[kind][0].index
		}
		return -1
	}
	last, lastKind := -1, whispercpp.LineKind("")
	for _, kind := range whispercpp.Printed() {
		i := first(kind)
		if i < 0 {
			continue
		}
		if i < last {
			f.Add(reason.StaleLog, m[kind][0].where(), fmt.Sprintf("%s after %s, as the program prints them", kind, lastKind), "the other order")
			return
		}
		last, lastKind = i, kind
	}
	for _, kind := range []whispercpp.LineKind{whispercpp.LineLoaded, whispercpp.LineLoadFailed, whispercpp.LineFirstRun} {
		if m.has(kind) && !m.has(whispercpp.LineLoading) {
			f.Add(reason.StaleLog, m[kind][0].where(), "a line that says which encoder is being loaded, before "+string(kind), "none")
			return
		}
	}
	if m.has(whispercpp.LineContextError) && m.has(whispercpp.LineSystemInfo) {
		f.Add(reason.StaleLog, m[whispercpp.LineSystemInfo][0].where(), "no system_info line in a run that got no context", "both")
		return
	}
	m.checkPaths(f, r)
}

// checkPaths holds the paths in load lines against each other and against the derived one.
func (m markers) checkPaths(f *verdict.Judgement, r *Run) {
	want := ""
	if r.EncoderPath != nil {
		want = r.EncoderPath.Derived
	} else if model, ok := whispercpp.LastValue(r.Argv, "--model"); ok && strings.HasSuffix(model, ".bin") {
		want = whispercpp.EncoderPath(model)
	}
	for _, kind := range []whispercpp.LineKind{whispercpp.LineLoading, whispercpp.LineLoadFailed} {
		for _, a := range m[kind] {
			if want == "" {
				want = a.Path
			}
			if a.Path != want {
				f.Add(reason.StaleLog, a.where(), fmt.Sprintf("the encoder path %q", want), fmt.Sprintf("%q", a.Path))
				return
			}
		}
	}
}
