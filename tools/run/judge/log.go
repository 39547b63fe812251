package judge

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/argv"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/encodername"
)

// at is one recognised line: its index on stderr, and what it says.
type at struct {
	index int
	evidence.Line
}

// where names the line for a reader.
func (a at) where() string { return fmt.Sprintf("stderr line %d", a.index+1) }

// markers are the recognised lines of a stderr, by kind.
type markers map[evidence.LineKind][]at

func readMarkers(stderr []string) markers {
	m := markers{}
	for i, line := range stderr {
		if l, ok := evidence.Read(line); ok {
			m[l.Kind] = append(m[l.Kind], at{i, l})
		}
	}
	return m
}

func (m markers) has(kind evidence.LineKind) bool { return len(m[kind]) > 0 }

// where names the first line of a kind, or stderr as a whole.
func (m markers) where(kind evidence.LineKind) string {
	if m.has(kind) {
		return m[kind][0].where()
	}
	return "stderr"
}

// silenced says that no line of the library stands on stderr, which -np does.
func (m markers) silenced() bool {
	for kind := range m {
		switch kind {
		case evidence.LineContextError, evidence.LineAudioBad, evidence.LineOutputBad, evidence.LineDouble, evidence.LineProcessError, evidence.LineANEFailed:
		default:
			return false
		}
	}
	return true
}

// ofWhisper says that some line is the runtime's own.
func (m markers) ofWhisper() bool {
	for kind := range m {
		switch kind {
		case evidence.LineSandbox, evidence.LinePlanAborted, evidence.LineANEFailed, evidence.LineAbort, evidence.LineOOM, evidence.LineBadNumber, evidence.LineUsage:
		default:
			return true
		}
	}
	return false
}

// coreml is the one value of COREML over all system_info lines: 0, 1, -1 (none), -2 (contradiction).
func (m markers) coreml() int {
	value := -1
	for i, a := range m[evidence.LineSystemInfo] {
		if i > 0 && a.Value != value {
			return -2
		}
		value = a.Value
	}
	return value
}

// facts are the markers in a form for people and receipts.
func (m markers) facts(f *verdict.Judgement, x *evidence.Exit) {
	if x != nil {
		f.Facts["exit"] = DescribeExit(*x)
	}
	f.Facts["coreml_value"] = m.coreml()
	f.Facts["load_markers"] = len(m[evidence.LineLoaded])
	f.Facts["load_failures"] = len(m[evidence.LineLoadFailed])
	f.Facts["ggml_encode_buffers"] = len(m[evidence.LineEncodeBuffer])
	f.Facts["context_errors"] = len(m[evidence.LineContextError])
	f.Facts["system_info_lines"] = len(m[evidence.LineSystemInfo])
}

// checkOneRun adds STALE_LOG for lines that one run of one model cannot print.
func (m markers) checkOneRun(f *verdict.Judgement, r *Run) {
	for _, kind := range []evidence.LineKind{evidence.LineLoading, evidence.LineFirstRun, evidence.LineModelFile, evidence.LineSystemInfo, evidence.LineContextError, evidence.LineEncodeBuffer, evidence.LineLoadFailed} {
		if lines := m[kind]; len(lines) > 1 {
			f.Add(reason.StaleLog, lines[1].where(), "at most one line of kind "+string(kind), plural(len(lines), "line"))
			return
		}
	}
	first := func(kind evidence.LineKind) int {
		if m.has(kind) {
			return m[kind][0].index
		}
		return -1
	}
	// What the program prints in this order, when it prints it.
	order := []evidence.LineKind{evidence.LineModelFile, evidence.LineLoading, evidence.LineFirstRun, evidence.LineLoadFailed, evidence.LineLoaded,
		evidence.LineEncodeBuffer, evidence.LineContextError, evidence.LineSystemInfo, evidence.LineProcessing}
	last, lastKind := -1, evidence.LineKind("")
	for _, kind := range order {
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
	for _, kind := range []evidence.LineKind{evidence.LineLoaded, evidence.LineLoadFailed, evidence.LineFirstRun} {
		if m.has(kind) && !m.has(evidence.LineLoading) {
			f.Add(reason.StaleLog, m[kind][0].where(), "a line that says which encoder is being loaded, before "+string(kind), "none")
			return
		}
	}
	if m.has(evidence.LineContextError) && m.has(evidence.LineSystemInfo) {
		f.Add(reason.StaleLog, m[evidence.LineSystemInfo][0].where(), "no system_info line in a run that got no context", "both")
		return
	}
	m.checkPaths(f, r)
}

// checkPaths holds the paths in load lines against each other and against the derived one.
func (m markers) checkPaths(f *verdict.Judgement, r *Run) {
	want := ""
	if r.EncoderPath != nil {
		want = r.EncoderPath.Derived
	} else if model, ok := argv.Last(r.Argv, "-m", "--model"); ok && strings.HasSuffix(model, ".bin") {
		want = encodername.EncoderPath(model)
	}
	for _, kind := range []evidence.LineKind{evidence.LineLoading, evidence.LineLoadFailed} {
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
