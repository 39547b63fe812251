package main

import (
	"regexp"
	"strings"
)

// line is a command line of a document.
type line struct {
	number int // from 1
	text   string
}

var (
	fence  = regexp.MustCompile("^ {0,3}(```+|~~~+) *([A-Za-z]*)")
	inline = regexp.MustCompile("`([^`]+)`")
)

// lines are the command lines of a document: those of its blocks of shell, of blocks that are indented, and what is quoted in
// a text and begins as a program's call.
func lines(text string) []line {
	var out []line
	language, open := "", ""
	pending := line{}
	for i, l := range strings.Split(text, "\n") {
		if m := fence.FindStringSubmatch(l); m != nil && (open == "" || strings.TrimSpace(l) == open) {
			if open == "" {
				open, language = m[1], m[2]
			} else {
				open, language = "", ""
			}
			continue
		}
		switch {
		case open != "":
			if language == "console" {
				command, ok := strings.CutPrefix(l, "$ ")
				if ok {
					out = append(out, line{i + 1, command})
				}
				continue
			}
			if language != "sh" && language != "bash" && language != "" {
				continue
			}
			// A line that ends in a backslash goes on in the next one.
			if pending.text != "" {
				l = pending.text + " " + l
			} else {
				pending.number = i + 1
			}
			if rest, ok := strings.CutSuffix(l, `\`); ok {
				pending.text = rest
				continue
			}
			// A block without a language may show a program's output.
			if language != "" || called(l) {
				out = append(out, line{pending.number, l})
			}
			pending = line{}
		case strings.HasPrefix(l, "    ") && called(strings.TrimSpace(l)):
			out = append(out, line{i + 1, strings.TrimSpace(l)})
		default:
			for _, m := range inline.FindAllStringSubmatch(l, -1) {
				if called(m[1]) {
					out = append(out, line{i + 1, m[1]})
				}
			}
		}
	}
	return out
}

var call = regexp.MustCompile(`^(?:coregate|bazel|go (?:run|test|build) |\.ci/|tools/[a-z])`)

// called says that a text begins as a call of one of our programs, or of one that runs them.
func called(text string) bool { return call.MatchString(strings.TrimSpace(text)) }

// commands splits a line of shell into commands, each of words. Quotes are taken off, and comments and redirections left out.
func commands(text string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	begun, skip := false, false
	end := func() {
		if begun && !skip {
			words = append(words, word.String())
		}
		if begun {
			skip = false
		}
		word.Reset()
		begun = false
	}
	finish := func() {
		end()
		if len(words) > 0 {
			out = append(out, words)
		}
		words, skip = nil, false
	}
	quote := rune(0)
	for i, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			end()
		case r == '#' && !begun && (i == 0 || text[i-1] == ' '):
			finish()
			return out
		case r == '|' || r == ';' || r == '&' || r == '(' || r == ')':
			finish()
		case r == '>':
			end()
			skip = true // the file that follows
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	finish()
	return out
}
