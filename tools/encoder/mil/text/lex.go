package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF    tokenKind = iota
	tokIdent            // letters, digits, _, @, . ; a letter or _ first
	tokNumber           // digits, signs, hex floats, inf, nan after a sign
	tokString           // text holds the unescaped bytes
	tokPunct            // one of ()[]{}<>,=;? and ->
)

type token struct {
	kind      tokenKind
	text      string
	line, col int
}

func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "end of file"
	case tokString:
		return fmt.Sprintf("string %q", clip(t.text))
	}
	return fmt.Sprintf("%q", clip(t.text))
}

// clip keeps outside bytes in messages short.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

type lexer struct {
	src       string
	pos       int
	line      int
	lineStart int
}

func (l *lexer) errorf(line, col int, format string, args ...any) error {
	return &Error{Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\n':
			l.line++
			l.pos++
			l.lineStart = l.pos
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case strings.HasPrefix(l.src[l.pos:], "//"):
			if i := strings.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
				l.pos += i
			} else {
				l.pos = len(l.src)
			}
		default:
			return
		}
	}
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func (l *lexer) next() (token, error) {
	l.skipSpace()
	t := token{line: l.line, col: l.pos - l.lineStart + 1}
	if l.pos >= len(l.src) {
		return t, nil
	}
	start := l.pos
	c := l.src[l.pos]
	switch {
	case isLetter(c):
		l.scan(func(c byte) bool { return isLetter(c) || isDigit(c) || c == '@' || c == '.' })
		t.kind, t.text = tokIdent, l.src[start:l.pos]
	case strings.HasPrefix(l.src[start:], "->"):
		l.pos += 2
		t.kind, t.text = tokPunct, "->"
	case isDigit(c) || c == '-' || c == '+' || c == '.':
		l.scanNumber()
		t.kind, t.text = tokNumber, l.src[start:l.pos]
	case c == '"':
		s, err := l.scanString()
		if err != nil {
			return t, err
		}
		t.kind, t.text = tokString, s
	case strings.IndexByte("()[]{}<>,=;?", c) >= 0:
		l.pos++
		t.kind, t.text = tokPunct, l.src[start:l.pos]
	default:
		r, _ := utf8.DecodeRuneInString(l.src[start:])
		return t, l.errorf(t.line, t.col, "unexpected character %q", r)
	}
	return t, nil
}

func (l *lexer) scan(ok func(byte) bool) {
	for l.pos < len(l.src) && ok(l.src[l.pos]) {
		l.pos++
	}
}

// scanNumber takes what may be a number; strconv has the last word. A sign
// continues it only after an exponent letter, so that "1,-2" stays apart.
func (l *lexer) scanNumber() {
	start := l.pos
	l.pos++
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case isLetter(c) || isDigit(c) || c == '.':
			l.pos++
		case c == '-' || c == '+':
			prev := l.src[l.pos-1]
			hex := strings.Contains(l.src[start:l.pos], "0x")
			if prev == 'p' || prev == 'P' || !hex && (prev == 'e' || prev == 'E') {
				l.pos++
				continue
			}
			return
		default:
			return
		}
	}
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\', '\'': '\'', '0': 0}

// scanString reads a quoted string. Strings are byte sequences: \xNN stands
// for one byte, and bytes above ASCII are kept as they are.
func (l *lexer) scanString() (string, error) {
	line, col := l.line, l.pos-l.lineStart+1
	l.pos++
	body := l.src[l.pos:]
	end := strings.IndexAny(body, "\"\\\n")
	if end >= 0 && body[end] == '"' {
		l.pos += end + 1
		return body[:end], nil
	}
	var b strings.Builder
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		l.pos++
		switch c {
		case '"':
			return b.String(), nil
		case '\n':
			return "", l.errorf(line, col, "string is not closed on its line")
		case '\\':
			e, err := l.escape()
			if err != nil {
				return "", err
			}
			b.WriteByte(e)
		default:
			b.WriteByte(c)
		}
	}
	return "", l.errorf(line, col, "string is not closed before the end of the file")
}

func (l *lexer) escape() (byte, error) {
	line, col := l.line, l.pos-l.lineStart
	if l.pos >= len(l.src) {
		return 0, l.errorf(line, col, "string is not closed before the end of the file")
	}
	c := l.src[l.pos]
	l.pos++
	if e, ok := escapes[c]; ok {
		return e, nil
	}
	if c == 'x' && l.pos+2 <= len(l.src) {
		hi, ok1 := hexDigit(l.src[l.pos])
		lo, ok2 := hexDigit(l.src[l.pos+1])
		if ok1 && ok2 {
			l.pos += 2
			return hi<<4 | lo, nil
		}
	}
	return 0, l.errorf(line, col, `unknown escape \%c in a string`, c)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
