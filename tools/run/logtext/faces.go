package logtext

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// escape is a control sequence of a terminal: CSI, OSC, APC (in which Buildkite writes the time), or a short one.
var escape = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]|\x9b[0-?]*[ -/]*[@-~]`)

// harmless are the sequences that change no text: colours, erasing to the right, titles, what programs tell each other,
// and modes of the terminal.
var harmless = regexp.MustCompile(`^(?:\x1b\[|\x9b)(?:[0-9;:]*m|0?K|\?[0-9;]*[hl])$|^\x1b[\]_].`)

// uncolour takes off what changes no text, and refuses what moves the cursor.
func uncolour(line string) (string, *reason.Error) {
	if !strings.ContainsAny(line, "\x1b\u009b") {
		return line, nil
	}
	for _, code := range escape.FindAllString(line, -1) {
		if !harmless.MatchString(code) {
			return "", refuse("a terminal code that moves the cursor or erases text (%q): capture the program's own streams", code)
		}
	}
	out := escape.ReplaceAllString(line, "")
	if strings.ContainsRune(out, '\x1b') {
		return "", refuse("a terminal code that is not complete")
	}
	return out, nil
}

// Faces are the texts in which a fault may be looked for in one line: the line without colours and invisible
// characters, each part between carriage returns, and with backspaces both ignored and carried out. The first is the
// line itself. A line that proves something counts only as it is; a fault counts in any face.
func Faces(line string) []string {
	faces := []string{line}
	if plain(line) {
		return faces
	}
	add := func(text string) {
		for _, f := range faces {
			if f == text {
				return
			}
		}
		faces = append(faces, text)
	}
	line = escape.ReplaceAllString(line, "")
	line = strings.Map(func(r rune) rune {
		if r != '\r' && r != '\b' && r != '\t' && Invisible(r) {
			return -1
		}
		return r
	}, line)
	for part := range strings.SplitSeq(line, "\r") {
		add(strings.TrimSpace(strings.ReplaceAll(part, "\b", "")))
		if strings.Contains(part, "\b") {
			add(strings.TrimSpace(backspaced(part)))
			// What was written over stood there first.
			add(strings.TrimSpace(part[:strings.IndexByte(part, '\b')]))
		}
	}
	return faces
}

// plain says that a line has one face.
func plain(line string) bool {
	for _, r := range line {
		if r < ' ' && r != '\t' || r >= 0x7f && Invisible(r) {
			return false
		}
	}
	return strings.TrimSpace(line) == line
}

// Invisible says that a character shows nothing: controls, formats (zero-width and direction marks), variation
// selectors and fillers. White space is not among them, but for its controls.
func Invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || r == '\u034f'
}

// backspaced carries out the backspaces of a line.
func backspaced(line string) string {
	var out []rune
	at := 0
	for _, r := range line {
		switch {
		case r == '\b':
			at = max(0, at-1)
		case at < len(out):
			out[at] = r
			at++
		default:
			out = append(out, r)
			at++
		}
	}
	return string(out)
}

// Uncoloured is a text without any terminal code.
func Uncoloured(text string) string { return escape.ReplaceAllString(text, "") }
