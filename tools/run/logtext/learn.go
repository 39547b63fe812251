package logtext

import (
	"regexp"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Limits of a prefix that no row of the table knows.
const (
	longestPrefix = 200
	// fewestLines show that what is before them is a prefix, and no text of its own.
	fewestLines = 2
)

// layout is what two prefixes of one writer have in common: the same text but for numbers and the blanks that align them.
type layout struct {
	// key is equal for prefixes of one layout.
	key     string
	pattern *regexp.Regexp
	// fraction says of each number whether it is what is behind another one's point or comma.
	fraction []bool
}

var (
	digits = regexp.MustCompile(`[0-9]+`)
	blanks = regexp.MustCompile(` +`)
)

// layoutOf is the layout of a prefix; false for a text that is none: one that runs on into the line behind it, or that
// quotes the line, whose end would be another too.
func layoutOf(prefix string) (layout, bool) {
	body := strings.TrimRight(prefix, " \t")
	gap := prefix[len(body):]
	if len(prefix) > longestPrefix || strings.ContainsAny(prefix, "\"'`\\") || gap == "" && wordEnd.MatchString(body) {
		return layout{}, false
	}
	parts := strings.Split(digits.ReplaceAllString(strings.TrimLeft(body, " "), "\x00"), "\x00")
	var fraction []bool
	for i, part := range parts {
		if i < len(parts)-1 {
			fraction = append(fraction, i > 0 && (part == "." || part == ","))
		}
		parts[i] = blanks.ReplaceAllString(regexp.QuoteMeta(part), " +")
	}
	body = "^ *" + strings.Join(parts, "([0-9]+)")
	behind := `(?P<text>.*)$`
	if gap != "" {
		behind = `(?:` + regexp.QuoteMeta(gap) + `(?P<text>.*))?$`
	}
	pattern, err := regexp.Compile(body + behind)
	return layout{body + behind, pattern, fraction}, err == nil
}

var wordEnd = regexp.MustCompile(`[\pL\pN_]$`)

// learn takes off a prefix that is before every line of the program and that no row of the table knows: its text is the
// same everywhere but for numbers that never fall, such as a clock's and a counter's. Numbers that go up and down are of
// several writers, and nobody knows which line is whose. Lines without the prefix are another program's; one of whisper.cpp's
// among them makes it no prefix.
func learn(all []Line) ([]Line, bool) {
	known, n := layout{}, 0
	for _, line := range all {
		at := whispercpp.Begin(line.Text)
		if at < 0 {
			continue
		}
		l, ok := layoutOf(line.Text[:at])
		if at == 0 || !ok || n > 0 && l.key != known.key {
			return nil, false
		}
		known, n = l, n+1
	}
	if n < fewestLines {
		return nil, false
	}
	out := make([]Line, 0, len(all))
	var before []string
	for _, line := range all {
		m := known.pattern.FindStringSubmatch(line.Text)
		if m == nil {
			if l, ok := whispercpp.ReadLine(line.Text); ok && l.By != whispercpp.System {
				return nil, false
			}
			out = append(out, line)
			continue
		}
		numbers := m[1 : len(m)-1]
		if before != nil && known.falls(before, numbers) {
			return nil, false
		}
		before = numbers
		if line.Text = m[len(m)-1]; strings.TrimSpace(line.Text) != "" {
			out = append(out, line)
		}
	}
	return out, true
}

// falls says that numbers, read from the left, are less than those before them.
func (l layout) falls(before, now []string) bool {
	for i := range now {
		a, b := strings.TrimLeft(before[i], "0"), strings.TrimLeft(now[i], "0")
		if l.fraction[i] {
			a, b = strings.TrimRight(before[i], "0"), strings.TrimRight(now[i], "0")
		} else if len(a) != len(b) {
			return len(a) > len(b)
		}
		if a != b {
			return a > b
		}
	}
	return false
}
