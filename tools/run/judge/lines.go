package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// at is one line that was read, and its place.
type at struct {
	index, number int
	whispercpp.Line
}

// where names the line for a reader.
func (a at) where() string { return fmt.Sprintf("stderr line %d", a.number) }

// markers are the lines of a stderr that were read.
type markers struct {
	// exact are lines as the program writes them, by kind: only these prove anything.
	exact map[whispercpp.LineKind][]at
	// told are lines that name a fault in any form, by kind, the exact ones among them.
	told map[whispercpp.LineKind][]at
	// garbled are lines behind or before other text that would be exact without it.
	garbled map[whispercpp.LineKind]at
}

// readMarkers reads the lines of a stderr; numbers are their places in the file they come from, if it is known.
func readMarkers(stderr []string, numbers []int) markers {
	m := markers{exact: map[whispercpp.LineKind][]at{}, told: map[whispercpp.LineKind][]at{}, garbled: map[whispercpp.LineKind]at{}}
	for i, text := range stderr {
		number := i + 1
		if i < len(numbers) {
			number = numbers[i]
		}
		m.read(text, i, number)
	}
	return m
}

func (m markers) read(text string, index, number int) {
	l, exact := whispercpp.ReadLine(text)
	if exact {
		m.exact[l.Kind] = append(m.exact[l.Kind], at{index, number, l})
		m.told[l.Kind] = append(m.told[l.Kind], at{index, number, l})
	}
	seen := map[whispercpp.LineKind]bool{l.Kind: exact}
	for _, face := range logtext.Faces(text) {
		for _, fault := range whispercpp.ReadFaults(face) {
			if !seen[fault.Kind] {
				seen[fault.Kind] = true
				m.told[fault.Kind] = append(m.told[fault.Kind], at{index, number, fault})
			}
		}
		// A line that is exact as one of its family only, such as any line of the library, may be another's with something
		// before or behind it.
		if g, ok := within(face); ok && (!exact || l.Kind.General() && g.Kind != l.Kind) {
			if _, have := m.garbled[g.Kind]; !have {
				g.Text = text
				m.garbled[g.Kind] = at{index, number, g}
			}
		}
	}
}

// within reads a line of whisper.cpp's that is inside another, at its beginning or its end.
func within(text string) (whispercpp.Line, bool) {
	for _, start := range []string{"whisper_init_", "whisper_print_timings:", "system_info:", "main: processing", whispercpp.ContextErrorText} {
		if i := strings.Index(text, start); i >= 0 {
			if l, ok := whispercpp.ReadLine(strings.TrimSpace(text[i:])); ok && l.Kind != whispercpp.LineLibrary {
				return l, true
			}
		}
	}
	return whispercpp.Line{}, false
}

// has says that a line is there as the program writes it.
func (m markers) has(kind whispercpp.LineKind) bool { return len(m.exact[kind]) > 0 }

// tells says that a line names the fault in any form.
func (m markers) tells(kind whispercpp.LineKind) bool { return len(m.told[kind]) > 0 }

// first is the first line of a kind.
func (m markers) first(kind whispercpp.LineKind) (at, bool) {
	if m.has(kind) {
		return m.exact[kind][0], true
	}
	if m.tells(kind) {
		return m.told[kind][0], true
	}
	return at{}, false
}

// where names the first line of a kind, or stderr as a whole.
func (m markers) where(kind whispercpp.LineKind) string {
	if a, ok := m.first(kind); ok {
		return a.where()
	}
	return "stderr"
}

// quote is the first line of a kind, for a reader.
func (m markers) quote(kind whispercpp.LineKind) string {
	a, _ := m.first(kind)
	return quote(a.Text)
}

// quoteWhole is a line with the blanks around it, for a reader who has to see them.
func quoteWhole(line string) string {
	switch {
	case strings.TrimSpace(line) == line:
		return quote(line)
	case len(line) > 160:
		return quote(line) + ", with blanks around it"
	}
	return fmt.Sprintf("%q, with blanks around it", line)
}

// path is the path that the first line of a kind names, in quotation marks, or "".
func (m markers) path(kind whispercpp.LineKind) string {
	if a, ok := m.first(kind); ok && a.Path() != "" {
		return fmt.Sprintf("%q", a.Path())
	}
	return ""
}

// writtenBy says that some line is of one of the writers.
func (m markers) writtenBy(writers ...whispercpp.Writer) bool {
	for _, lines := range m.exact {
		for _, line := range lines {
			if slices.Contains(writers, line.By) {
				return true
			}
		}
	}
	return false
}

// silenced says that whisper-cli itself wrote something, and nothing that -np would remove.
func (m markers) silenced() bool {
	return !m.writtenBy(whispercpp.Library, whispercpp.Verbose) && (m.has(whispercpp.LineContextError) || m.has(whispercpp.LineAudioBad) ||
		m.has(whispercpp.LineOutputBad) || m.has(whispercpp.LineProcessError) || m.has(whispercpp.LineDouble))
}

// ofWhisper says that some line is whisper-cli's or its bridge's own.
func (m markers) ofWhisper() bool {
	return m.writtenBy(whispercpp.Library, whispercpp.Verbose, whispercpp.Program) || m.has(whispercpp.LineDouble) || m.has(whispercpp.LineStubProgram)
}

// started says that the program got as far as a model.
func (m markers) started() bool { return m.writtenBy(whispercpp.Library) }

// coreml is the one value of COREML over all system_info lines.
func (m markers) coreml() whispercpp.Switch {
	value := whispercpp.SwitchAbsent
	for i, a := range m.exact[whispercpp.LineSystemInfo] {
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
	f.Facts[factLoadMarkers] = len(m.exact[whispercpp.LineLoaded])
	f.Facts[factLoadFailures] = len(m.told[whispercpp.LineLoadFailed])
	f.Facts[factEncodeBuffers] = len(m.told[whispercpp.LineEncodeBuffer])
	f.Facts[factContextErrors] = len(m.told[whispercpp.LineContextError])
	f.Facts[factSystemInfoLines] = len(m.exact[whispercpp.LineSystemInfo])
}

// quote shortens a line for a reader and spells out what cannot be seen.
func quote(line string) string {
	line = reason.Visible(strings.TrimSpace(line))
	if runes := []rune(line); len(runes) > 160 {
		return string(runes[:160]) + "…"
	}
	return line
}
