package candidate

import (
	"regexp"
	"slices"
	"strings"
)

// code is C++ source with comments and literals blanked and foreign branches of #if removed; every byte that is
// left stands where it stood, so that offsets and line numbers are those of the file.
type code []byte

// source is the code of a file and what its preprocessor leaves open.
type source struct {
	code
	// unsure marks bytes in branches of conditions that cannot be decided here.
	unsure []bool
	// macros are the texts that the file's macros stand for.
	macros map[string]string
}

// isUnsure says whether a byte of the range stands in a branch that may not be compiled.
func (s *source) isUnsure(from, to int) bool { return slices.Contains(s.unsure[from:to], true) }

// defined are the macros of the build in question; macros in neither table leave both branches in.
var (
	defined   = map[string]bool{"WHISPER_USE_COREML": true, "__cplusplus": true}
	undefined = map[string]bool{"WHISPER_COREML_ALLOW_FALLBACK": true, "WHISPER_USE_OPENVINO": true, "_MSC_VER": true, "_WIN32": true, "WHISPER_DEBUG": true}
)

func blank(text []byte) *source {
	out := []byte(string(text))
	for i := 0; i < len(out); {
		i = blankOne(out, i, true)
	}
	return preprocess(out, false)
}

// compiled is the text without comments and without what the build leaves out; literals and directives stand.
func compiled(text []byte) []byte {
	out := []byte(string(text))
	for i := 0; i < len(out); {
		i = blankOne(out, i, false)
	}
	return preprocess(out, true).code
}

// blankOne blanks a comment that begins at i, or a literal if those are wanted too, and returns where to go on.
func blankOne(out []byte, i int, literals bool) int {
	rest := string(out[i:min(i+2, len(out))])
	var end int
	switch {
	case rest == "//":
		return wipe(out, i, commentEnd(out, i))
	case rest == "/*":
		return wipe(out, i, min(indexFrom(out, i+2, "*/")+2, len(out)))
	case strings.HasPrefix(rest, `R"`) && rawPrefix.Match(out[max(0, i-3):i]):
		open := indexFrom(out, i, "(")
		end = min(indexFrom(out, open, ")"+string(out[min(i+2, len(out)):open])+`"`)+open-i, len(out))
	case out[i] == '"':
		end = literalEnd(out, i)
		i++
	case out[i] == '\'' && (i == 0 || !isWord(out[i-1])): // not the separator in 1'000
		end = literalEnd(out, i)
		i++
	default:
		return i + 1
	}
	if literals {
		wipe(out, i, end)
	}
	return max(i, end)
}

// commentEnd is where a comment that begins with two slashes at i ends: at a line break without a backslash before it.
func commentEnd(out []byte, i int) int {
	for {
		end := indexFrom(out, i, "\n")
		if line := strings.TrimRight(string(out[i:end]), "\r"); end == len(out) || !strings.HasSuffix(line, `\`) {
			return end
		}
		i = end + 1
	}
}

// rawPrefix is what stands before the R of a raw text: the kind of its characters, or nothing of a word.
var rawPrefix = regexp.MustCompile(`(^|\W)(u8|u|U|L)?$`)

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// literalEnd is the index after the closing quote that matches the one at i; a line break ends a broken one.
func literalEnd(out []byte, i int) int {
	for j := i + 1; j < len(out); j++ {
		switch out[j] {
		case '\\':
			j++
		case out[i]:
			return j + 1
		case '\n':
			return j
		}
	}
	return len(out)
}

func indexFrom(out []byte, i int, what string) int {
	if i >= len(out) {
		return len(out)
	}
	if k := strings.Index(string(out[i:]), what); k >= 0 {
		return i + k
	}
	return len(out)
}

func wipe(out []byte, from, to int) int {
	for k := from; k < to; k++ {
		if out[k] != '\n' {
			out[k] = ' '
		}
	}
	return max(to, from)
}

var conditional = regexp.MustCompile(`^\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*?)\s*$`)

var definition = regexp.MustCompile(`^\s*#\s*define\s+(\w+)(.*)$`)

// branch is one #if that is open.
type branch struct {
	// known says that the condition could be decided; taken that this or an earlier branch of it is live.
	known, live, taken bool
}

// preprocess removes branches that the build does not compile, and directives unless they are kept.
func preprocess(text []byte, keepDirectives bool) *source {
	s := &source{code: []byte(string(text)), unsure: make([]bool, len(text)), macros: map[string]string{}}
	var open []branch
	directive := "" // so far, while it goes on over lines that end in a backslash
	at := 0
	for _, line := range strings.SplitAfter(string(text), "\n") {
		end := at + len(line)
		dead := slices.ContainsFunc(open, func(b branch) bool { return b.known && !b.live })
		unsure := slices.ContainsFunc(open, func(b branch) bool { return !b.known })
		if directive != "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			part, more := strings.CutSuffix(strings.TrimRight(line, "\r\n"), `\`)
			directive += part + " "
			if !more {
				if m := conditional.FindStringSubmatch(directive); m != nil {
					open = step(open, m[1], m[2])
				} else if m := definition.FindStringSubmatch(directive); m != nil {
					s.macros[m[1]] += m[2]
				}
				directive = ""
			}
			if dead || !keepDirectives {
				wipe(s.code, at, end)
			}
		} else if dead {
			wipe(s.code, at, end)
		}
		for i := at; unsure && i < end; i++ {
			s.unsure[i] = true
		}
		at = end
	}
	return s
}

func step(open []branch, word, condition string) []branch {
	top := len(open) - 1
	switch {
	case word == "endif" && top >= 0:
		return open[:top]
	case word == "else" && top >= 0:
		open[top].live = !open[top].taken
		return open
	case word == "elif" && top >= 0:
		value, known := decide("if", condition)
		b := &open[top]
		b.known = b.known && known
		b.live = !b.taken && value
		b.taken = b.taken || value
		return open
	case strings.HasPrefix(word, "if"):
		value, known := decide(word, condition)
		return append(open, branch{known: known, live: value, taken: value})
	}
	return open
}

var definedCall = regexp.MustCompile(`^(!?)\s*defined\s*\(?\s*(\w+)\s*\)?$`)

func decide(word, condition string) (value, known bool) {
	name, negate := condition, word == "ifndef"
	if word == "if" {
		switch condition {
		case "0":
			return false, true
		case "1":
			return true, true
		}
		m := definedCall.FindStringSubmatch(condition)
		if m == nil {
			return false, false
		}
		name, negate = m[2], m[1] == "!"
	}
	switch {
	case defined[name]:
		return !negate, true
	case undefined[name]:
		return negate, true
	}
	return false, false
}

// line is the number of the line that offset stands in, from 1.
func (c code) line(offset int) int { return strings.Count(string(c[:offset]), "\n") + 1 }

// block returns the offsets of the braces of the body that follows the one match of head. It is not ok if there is none,
// or more than one: then it is open which of them is meant.
func (c code) block(head *regexp.Regexp) (open, end int, ok bool) {
	found := 0
	for _, m := range head.FindAllIndex(c, -1) {
		if at, closed := c.closing(m[1] - 1); closed {
			open, end = m[1]-1, at
			found++
		}
	}
	return open, end, found == 1
}

// closing finds the brace that closes the one at open.
func (c code) closing(open int) (int, bool) {
	depth := 0
	for i := open; i < len(c); i++ {
		switch c[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i, true
			}
		}
	}
	return 0, false
}
