package logtext

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// rewriting is what a program between the log and its reader does to the characters of a line.
type rewriting struct {
	// marks are characters of which a rewritten line has one.
	marks string
	// found names it, and says what to do.
	found string
	// undo is a guess at the line before; it is used to recognise the rewriting, and never as the line.
	undo func(line string) string
}

const giveTheFile = ": give the file that the program wrote"

// noBreak is a space at which no line is broken.
const noBreak = "\u00a0"

var hexadecimal = regexp.MustCompile(`=[0-9A-F]{2}`)

var rewritings = []rewriting{
	{noBreak, "no-break spaces (U+00A0), as a web page or a word processor makes them" + giveTheFile, func(line string) string { return strings.ReplaceAll(line, noBreak, " ") }},
	{"\u2018\u2019\u201a\u201b\u2032\u00b4\u201c\u201d", "typographic quotation marks, as a word processor or a chat makes them" + giveTheFile, strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u2032", "'", "\u00b4", "'", "\u201c", "'", "\u201d", "'").Replace},
	{"&", "an HTML page's spelling of characters, such as &#39;" + giveTheFile, html.UnescapeString},
	{"%", "a web address's spelling of characters, such as %27" + giveTheFile, func(line string) string {
		plain, err := url.PathUnescape(line)
		if err != nil {
			return line
		}
		return plain
	}},
	{"=", "a mail's spelling of characters, such as =3D (quoted-printable): decode it", func(line string) string {
		return hexadecimal.ReplaceAllStringFunc(strings.TrimSuffix(line, "="), func(code string) string {
			plain, err := url.PathUnescape("%" + code[1:])
			if err != nil {
				return code
			}
			return plain
		})
	}},
	{`\`, "a program's spelling of characters, such as \\' or \\n" + giveTheFile, strings.NewReplacer(`\'`, `'`, `\"`, `"`, `\n`, "", `\r`, "").Replace},
	{"$M", "marks at the ends of lines ($ or ^M, as cat -A and editors show them)" + giveTheFile, func(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "$"), "^M") }},
	{"", "wide characters (such as U+FF1A for a colon)" + giveTheFile, narrow},
}

// narrow replaces the full-width forms of ASCII.
func narrow(line string) string {
	if !strings.ContainsAny(line, "\u3000\uff07\uff1a\uff1d\uff08\uff3f") {
		return line
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '\uff01' && r <= '\uff5e':
			return r - 0xfee0
		case r == '\u3000':
			return ' '
		}
		return r
	}, line)
}

// ends are characters that some programs take for the end of a line, and no log has within one.
const ends = "\v\f\u0085\u2028\u2029"

// refuseRewritten refuses a log in which a line of the program can be seen and its characters are another program's.
func refuseRewritten(all []Line) error {
	for i, line := range all {
		if at := strings.IndexAny(line.Text, ends); at >= 0 && whispercpp.Begin(line.Text[at:]) > 0 {
			r, _ := utf8.DecodeRuneInString(line.Text[at:])
			return refuse("lines that end with %U in line %d: save the file with line feeds", r, line.Number)
		}
		if !whispercpp.Mentions(line.Text) {
			continue
		}
		if l, ok := whispercpp.ReadLine(line.Text); ok && provesSomething(l) {
			if i+1 < len(all) && brokenSystemInfo(l, all[i+1].Text) {
				return broken(line)
			}
			continue
		}
		for _, r := range rewritings {
			if r.marks != "" && !strings.ContainsAny(line.Text, r.marks) {
				continue
			}
			if undone := r.undo(line.Text); undone != line.Text && proves(undone) {
				return refuse("in line %d %s", line.Number, r.found)
			}
		}
		if i+1 < len(all) && whispercpp.Begin(line.Text) == 0 && whispercpp.Begin(all[i+1].Text) < 0 && proves(line.Text+all[i+1].Text) {
			return broken(line)
		}
	}
	return nil
}

// brokenSystemInfo says that a line's word about COREML is only whole with the next line.
func brokenSystemInfo(l whispercpp.Line, next string) bool {
	if l.Kind != whispercpp.LineSystemInfo || l.CoreML != whispercpp.SwitchAbsent || whispercpp.Begin(next) >= 0 {
		return false
	}
	whole, _ := whispercpp.ReadLine(l.Text + next)
	return whole.CoreML != whispercpp.SwitchAbsent
}

func broken(line Line) error {
	return refuse("a line of the program that is broken in two at the end of line %d, as a narrow terminal or a mail breaks it%s", line.Number, giveTheFile)
}

// proves says that a line is one of the program's that proves something, whole.
func proves(text string) bool {
	l, ok := whispercpp.ReadLine(text)
	return ok && provesSomething(l)
}

func provesSomething(l whispercpp.Line) bool { return l.By != whispercpp.System && !l.Kind.General() }
