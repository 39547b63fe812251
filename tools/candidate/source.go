package candidate

import (
	"regexp"
	"strings"
)

// code is C++ source with comments and literals blanked and foreign branches of #if removed; every byte that is
// left stands where it stood, so that offsets and line numbers are those of the file.
type code []byte

// defined are the macros of the build in question; macros in neither table leave both branches in.
var (
	defined   = map[string]bool{"WHISPER_USE_COREML": true, "__cplusplus": true}
	undefined = map[string]bool{"WHISPER_COREML_ALLOW_FALLBACK": true, "WHISPER_USE_OPENVINO": true, "_MSC_VER": true, "_WIN32": true, "WHISPER_DEBUG": true}
)

func blank(text []byte) code {
	out := []byte(string(text))
	for i := 0; i < len(out); {
		i = blankOne(out, i)
	}
	return preprocess(out)
}

// blankOne blanks a comment or literal that begins at i, and returns where to go on.
func blankOne(out []byte, i int) int {
	rest := string(out[i:min(i+2, len(out))])
	switch {
	case rest == "//":
		return wipe(out, i, indexFrom(out, i, "\n"))
	case rest == "/*":
		return wipe(out, i, min(indexFrom(out, i+2, "*/")+2, len(out)))
	case strings.HasPrefix(rest, `R"`) && (i == 0 || !isWord(out[i-1])):
		open := indexFrom(out, i, "(")
		return wipe(out, i, min(indexFrom(out, open, ")"+string(out[min(i+2, len(out)):open])+`"`)+open-i, len(out)))
	case out[i] == '"':
		return wipe(out, i+1, literalEnd(out, i))
	case out[i] == '\'' && (i == 0 || !isWord(out[i-1])): // not the separator in 1'000
		return wipe(out, i+1, literalEnd(out, i))
	}
	return i + 1
}

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

// branch is one #if that is open.
type branch struct {
	// known says that the condition could be decided; taken that this or an earlier branch of it is live.
	known, live, taken bool
}

// preprocess removes branches that the build does not compile.
func preprocess(text []byte) code {
	out := []byte(string(text))
	var open []branch
	at := 0
	for _, line := range strings.SplitAfter(string(text), "\n") {
		m := conditional.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case m != nil:
			open = step(open, m[1], m[2])
			wipe(out, at, at+len(line))
		case strings.HasPrefix(strings.TrimSpace(line), "#"):
			wipe(out, at, at+len(line))
		default:
			for _, b := range open {
				if b.known && !b.live {
					wipe(out, at, at+len(line))
					break
				}
			}
		}
		at += len(line)
	}
	return out
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

// block returns the offsets of the braces of the body that follows the first match of head, or ok false.
func (c code) block(head *regexp.Regexp) (open, end int, ok bool) {
	for _, m := range head.FindAllIndex(c, -1) {
		open = m[1] - 1
		if end, ok = c.closing(open); ok {
			return open, end, true
		}
	}
	return 0, 0, false
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
