package logtext

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Limits of a log file.
const (
	// MaxBytes bounds a file, packed and unpacked.
	MaxBytes = 64 << 20
	// MaxLine bounds one line, in bytes.
	MaxLine = 1 << 20
	// MaxLines bounds the lines that are not blank.
	MaxLines = 1 << 19
)

// refuse is the error of a file that is not read.
func refuse(found string, args ...any) *reason.Error {
	return reason.Errorf(reason.LogUnreadable, "log", "the text that the program wrote", found, args...)
}

// formats are what a file may be in place of text, by its first bytes.
var formats = []struct{ magic, found string }{
	{"PK\x03\x04", "a zip archive: unpack it"},
	{"\x28\xb5\x2f\xfd", "a zstd archive: unpack it"},
	{"\xfd7zXZ\x00", "an xz archive: unpack it"},
	{"BZh", "a bzip2 archive: unpack it"},
	{"\x04\x22\x4d\x18", "an lz4 archive: unpack it"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"},
	{"Rar!\x1a\x07", "a RAR archive: unpack it"},
	{"\x1f\x9d", "a file packed by compress: unpack it"},
	{"]\x00\x00", "an lzma archive: unpack it"},
	{"{\\rtf", "rich text: save it as plain text"},
	{"\xd0\xcf\x11\xe0", "an Office document: save it as plain text"},
	{"SQLite format 3\x00", "a database"},
	{"\x7fELF", "an ELF program"},
	{"\xcf\xfa\xed\xfe", "a Mach-O program"},
	{"\xca\xfe\xba\xbe", "a universal Mach-O program"},
	{"bplist00", "a binary property list: convert it (plutil -p)"},
	{"%PDF-", "a PDF file"},
	{"RIFF", "an audio or image file (RIFF)"},
	{"\x89PNG", "a picture"},
	{"\x00\x00\xfe\xff", "UTF-32 text: convert it to UTF-8"},
	{"\xff\xfe\x00\x00", "UTF-32 text: convert it to UTF-8"},
}

// decode returns a file's text in UTF-8.
func decode(data []byte) (string, error) {
	if len(data) > MaxBytes {
		return "", refuse("a file of %d bytes, more than %d", len(data), MaxBytes)
	}
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		plain, err := unpack(data)
		if err != nil {
			return "", err
		}
		data = plain
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return "", refuse("a gzip file within a gzip file: unpack it")
		}
	}
	for _, f := range formats {
		if bytes.HasPrefix(data, []byte(f.magic)) {
			return "", refuse("%s", f.found)
		}
	}
	if len(data) >= 262 && string(data[257:262]) == "ustar" {
		return "", refuse("a tar archive: unpack it")
	}
	if isUTF32(data) {
		return "", refuse("UTF-32 text: convert it to UTF-8")
	}
	if order := utf16Order(data); order != 0 {
		return fromUTF16(data, order == big)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", refuse("a NUL byte at offset %d: this is not text, or a damaged file", i)
	}
	if !utf8.Valid(data) {
		return strings.ToValidUTF8(string(data), "\uFFFD"), nil
	}
	return string(data), nil
}

// unpack reads a gzip file to its end, within the limit.
func unpack(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, refuse("a damaged gzip file: %v", err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, MaxBytes+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, refuse("a gzip file that was cut short")
	case err != nil:
		return nil, refuse("a damaged gzip file: %v", err)
	case len(plain) > MaxBytes:
		return nil, refuse("a gzip file with more than %d bytes of text", MaxBytes)
	}
	return plain, nil
}

// isUTF32 recognises UTF-32 without a mark by the three zero bytes of nearly every character.
func isUTF32(data []byte) bool {
	head := data[:min(len(data), 4096)&^3]
	var little, big int
	for i := 0; i < len(head); i += 4 {
		if c := head[i : i+4]; c[1]|c[2]|c[3] == 0 && c[0] != 0 {
			little++
		} else if c[0]|c[1]|c[2] == 0 && c[3] != 0 {
			big++
		}
	}
	return len(head) >= 16 && max(little, big)*10 >= len(head)/4*9
}

// byteOrder is that of UTF-16 text; 0 for text of another encoding.
type byteOrder int

const (
	little byteOrder = iota + 1
	big
)

// utf16Order recognises UTF-16 by its byte-order mark, or, without one, by the zero byte of nearly every character.
func utf16Order(data []byte) byteOrder {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return little
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return big
	}
	head := data[:min(len(data), 4096)&^1]
	var even, odd int
	for i := 0; i < len(head); i += 2 {
		if head[i] == 0 {
			even++
		}
		if head[i+1] == 0 {
			odd++
		}
	}
	switch pairs := len(head) / 2; {
	case pairs < 4:
	case odd*10 >= pairs*9 && even == 0:
		return little
	case even*10 >= pairs*9 && odd == 0:
		return big
	}
	return 0
}

func fromUTF16(data []byte, bigEndian bool) (string, error) {
	if len(data)%2 != 0 {
		return "", refuse("UTF-16 text with half a character at its end: it was cut short")
	}
	if whispercpp.Begin(string(data)) >= 0 {
		return "", refuse("UTF-16 text and text of another encoding in one file, as two programs that append to it leave it: give each its own file")
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		a, b := uint16(data[2*i]), uint16(data[2*i+1])
		if bigEndian {
			units[i] = a<<8 | b
		} else {
			units[i] = b<<8 | a
		}
	}
	text := strings.TrimPrefix(string(utf16.Decode(units)), "\uFEFF")
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", refuse("a NUL character in UTF-16 text at offset %d: a damaged file", i)
	}
	return text, nil
}

// lines splits a text into lines without their ends.
func lines(text string) ([]Line, error) {
	end := "\n"
	if !strings.Contains(text, "\n") && strings.Contains(strings.TrimSuffix(text, "\r"), "\r") {
		end = "\r"
	}
	var out []Line
	number := 0
	for line := range strings.SplitSeq(text, end) {
		number++
		line = strings.TrimRight(line, "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(line) > MaxLine {
			return nil, refuse("line %d of %d bytes, more than %d", number, len(line), MaxLine)
		}
		if len(out) == MaxLines {
			return nil, refuse("more than %d lines", MaxLines)
		}
		clean, refused := uncolour(line)
		if refused != nil {
			refused.Where = fmt.Sprintf("log line %d", number)
			return nil, refused
		}
		if strings.TrimSpace(clean) != "" {
			out = append(out, Line{Text: clean, Number: number})
		}
	}
	return out, nil
}
