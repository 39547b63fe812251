package strictjson

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that a hostile document cannot exhaust the stack.
const maxDepth = 32

// maxInteger is the largest magnitude that every JSON implementation keeps exactly (RFC 7493, section 2.2).
const maxInteger = 1 << 53

// value is one parsed JSON value: nil, bool, number, string, []value or *object.
type value any

// number keeps the digits as they stood.
type number string

// object keeps its members in order of appearance.
type object struct {
	keys   []string
	values map[string]value
}

// parser reads one document; pos is a byte offset.
type parser struct {
	data []byte
	pos  int
}

// parse reads the one JSON value that data holds.
func parse(data []byte) (value, error) {
	if found := notText(data); found != "" {
		return nil, fmt.Errorf("expected JSON in UTF-8, found %s", found)
	}
	p := &parser{data: data}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos != len(p.data) {
		if p.data[p.pos] == 0 {
			return nil, p.errorf("trailing data after the document, NUL bytes: a damaged file, copy it again")
		}
		return nil, p.errorf("trailing data after the document")
	}
	return v, nil
}

const (
	wide   = "UTF-16 text: save it as UTF-8"
	widest = "UTF-32 text: save it as UTF-8"
)

// starts are what a file is that begins so, in any capitals, tried in order.
var starts = []struct{ bytes, is string }{
	{"\xef\xbb\xbf", "a byte-order mark before the document, as editors on Windows write it: save it as UTF-8 without one"},
	{"\xff\xfe\x00\x00", widest}, {"\x00\x00\xfe\xff", widest}, {"{\x00\x00\x00", widest}, {"\x00\x00\x00{", widest},
	{"\xff\xfe", wide}, {"\xfe\xff", wide}, {"{\x00", wide}, {"\x00{\x00", wide},
	{"\x00", "a NUL byte before the document: a damaged file, copy it again"},
	{"\x1f\x8b", "a gzip file: unpack it"}, {"pk\x03\x04", "a zip archive: unpack it"}, {"\x28\xb5\x2f\xfd", "a zstd file: unpack it"},
	{"\xfd7zxz\x00", "an xz file: unpack it"}, {"bzh", "a bzip2 file: unpack it"},
	{"-----begin ", "PEM, such as a key"},
	{"version https://git-lfs", "a Git LFS pointer: run git lfs pull"}, {"/annex/objects/", "a git-annex pointer: run git annex get"},
	{"<!doctype html", aPage}, {"<html", aPage}, {"<?xml", "an XML document, perhaps a storage service's error: fetch the file itself"},
	{"bplist00", "a binary property list: convert it (plutil -convert json)"},
	{"---\n", "YAML: convert it to JSON"}, {"---\r", "YAML: convert it to JSON"}, {"//", "a comment, which JSON does not have: take it out"}, {"/*", "a comment, which JSON does not have: take it out"},
	{"```", "Markdown around the document: take the lines of ``` out"},
}

const aPage = "a web page: the download was answered with one, fetch the raw file"

// notText says what data is in place of a JSON text; "" for what may be one.
func notText(data []byte) string {
	head := lower(data[:min(len(data), 64)])
	for _, s := range starts {
		if strings.HasPrefix(head, s.bytes) || s.bytes[0] == '<' && strings.HasPrefix(strings.TrimSpace(head), s.bytes) {
			return s.is
		}
	}
	if strings.TrimSpace(string(data[:min(len(data), 64)])) == "" && strings.TrimSpace(string(data)) == "" {
		return "an empty file"
	}
	if utf8.Valid(data) {
		return ""
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return fmt.Sprintf("byte 0x%02x at offset %d, which is none of a UTF-8 text", data[i], i)
		}
		i += size
	}
	return ""
}

// lower makes ASCII letters small and leaves other bytes as they are.
func lower(data []byte) string {
	out := []byte(string(data))
	for i, b := range out {
		if b >= 'A' && b <= 'Z' {
			out[i] = b + 'a' - 'A'
		}
	}
	return string(out)
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", p.pos, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos == len(p.data) {
		return 0
	}
	return p.data[p.pos]
}

var words = []struct {
	spelled []byte
	means   value
}{{[]byte("true"), true}, {[]byte("false"), false}, {[]byte("null"), nil}}

func (p *parser) value(depth int) (value, error) {
	if depth > maxDepth {
		return nil, p.errorf("nested deeper than %d levels", maxDepth)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 0 && p.pos == len(p.data):
		return nil, p.errorf("the document ends where a value was expected")
	}
	for _, w := range words {
		if bytes.HasPrefix(p.data[p.pos:], w.spelled) {
			p.pos += len(w.spelled)
			return w.means, nil
		}
	}
	return nil, p.errorf("expected a value, found %q", p.data[p.pos])
}

func (p *parser) object(depth int) (value, error) {
	p.pos++
	o := &object{values: map[string]value{}}
	folded := map[string]string{}
	if p.peek() == '}' {
		p.pos++
		return o, nil
	}
	for {
		if p.peek() != '"' {
			return nil, p.errorf("expected a key")
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if _, ok := o.values[key]; ok {
			return nil, p.errorf("duplicate key %q", key)
		}
		fold := foldedKey(key)
		if other, ok := folded[fold]; ok {
			return nil, p.errorf("keys %q and %q differ only in case", other, key)
		}
		if p.peek() != ':' {
			return nil, p.errorf("expected ':' after key %q", key)
		}
		p.pos++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		folded[fold] = key
		o.keys = append(o.keys, key)
		o.values[key] = v
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return o, nil
		default:
			return nil, p.errorf("expected ',' or '}'")
		}
	}
}

func (p *parser) array(depth int) (value, error) {
	p.pos++
	a := []value{}
	if p.peek() == ']' {
		p.pos++
		return a, nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return a, nil
		default:
			return nil, p.errorf("expected ',' or ']'")
		}
	}
}

// foldedKey is the same for keys that differ only in case.
func foldedKey(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return strings.ToLower(strings.ToUpper(key))
		}
	}
	return key // what nearly every key is
}

func (p *parser) string() (string, error) {
	p.pos++
	// Until the first escape, and mostly there is none, a text is what stands in the document.
	begin := p.pos
	for p.pos < len(p.data) && p.data[p.pos] != '"' && p.data[p.pos] != '\\' && p.data[p.pos] >= 0x20 {
		p.pos++
	}
	if p.pos < len(p.data) && p.data[p.pos] == '"' {
		p.pos++
		return string(p.data[begin : p.pos-1]), nil
	}
	var b strings.Builder
	b.Write(p.data[begin:p.pos])
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		switch {
		case c == '"':
			p.pos++
			return b.String(), nil
		case c < 0x20:
			return "", p.errorf("control character in a string")
		case c != '\\':
			b.WriteByte(c)
			p.pos++
			continue
		}
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		b.WriteRune(r)
	}
	return "", p.errorf("the document ends inside a string")
}

// escape reads one backslash escape, a surrogate pair included.
func (p *parser) escape() (rune, error) {
	if p.pos+1 >= len(p.data) {
		return 0, p.errorf("the document ends inside an escape")
	}
	c := p.data[p.pos+1]
	if c != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 {
			return 0, p.errorf("unknown escape \\%c", c)
		}
		p.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	hi, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if hi < 0xd800 || hi > 0xdfff {
		return hi, nil
	}
	if hi <= 0xdbff && p.pos+1 < len(p.data) && p.data[p.pos] == '\\' && p.data[p.pos+1] == 'u' {
		lo, err := p.hex4()
		if err != nil {
			return 0, err
		}
		if lo >= 0xdc00 && lo <= 0xdfff {
			return 0x10000 + (hi-0xd800)<<10 + (lo - 0xdc00), nil
		}
	}
	return 0, p.errorf("lone surrogate in a string")
}

func (p *parser) hex4() (rune, error) {
	if p.pos+6 > len(p.data) {
		return 0, p.errorf("the document ends inside an escape")
	}
	n, err := strconv.ParseUint(string(p.data[p.pos+2:p.pos+6]), 16, 32)
	if err != nil {
		return 0, p.errorf("malformed \\u escape")
	}
	p.pos += 6
	return rune(n), nil
}

func (p *parser) number() (value, error) {
	start := p.pos
	digits := func() int {
		n := 0
		for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
			p.pos++
			n++
		}
		return n
	}
	if p.data[p.pos] == '-' {
		p.pos++
	}
	whole := p.pos
	if n := digits(); n == 0 || n > 1 && p.data[whole] == '0' {
		return nil, p.errorf("malformed number")
	}
	if p.pos < len(p.data) && p.data[p.pos] == '.' {
		p.pos++
		if digits() == 0 {
			return nil, p.errorf("malformed number")
		}
	}
	if p.pos < len(p.data) && (p.data[p.pos] == 'e' || p.data[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.data) && (p.data[p.pos] == '+' || p.data[p.pos] == '-') {
			p.pos++
		}
		if digits() == 0 {
			return nil, p.errorf("malformed number")
		}
	}
	text := string(p.data[start:p.pos])
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, p.errorf("number %s does not fit a float64", text)
	}
	if f >= maxInteger || f <= -maxInteger {
		return nil, p.errorf("number %s is beyond 2^53, which not every reader keeps exactly", text)
	}
	return number(text), nil
}
