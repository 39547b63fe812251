package pin

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Rewritten says which common change of a text makes it other bytes than those of a digest, as something that follows the
// digest that was found; "" for any other difference.
func Rewritten(content []byte, sha256 string) string {
	lines, _ := withLF(content)
	for _, c := range []struct {
		was []byte
		how string
	}{
		{lines, "whose lines end with CRLF: check it out again with core.autocrlf=false"},
		{bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), "with a byte-order mark before it: save it as UTF-8 without one"},
		{bytes.TrimPrefix(lines, []byte("\xef\xbb\xbf")), "with a byte-order mark before it and lines that end with CRLF: check it out again with core.autocrlf=false"},
		{fromUTF16(content), "in UTF-16: save it as UTF-8"},
		{append(bytes.TrimRight(lines, "\n"), '\n'), "with another number of line feeds at its end"},
		{bytes.TrimRight(content, "\x00"), "with NUL bytes behind it: copy it again"},
	} {
		if len(c.was) > 0 && Digest(c.was) == sha256 && Digest(content) != sha256 {
			return "the pinned text " + c.how
		}
	}
	switch {
	case len(content) == 0:
		return "an empty file"
	case bytes.HasPrefix(content, []byte("version https://git-lfs")):
		return "a Git LFS pointer: run git lfs pull"
	case bytes.HasPrefix(content, []byte("\x1f\x8b")):
		return "a gzip file: unpack it"
	case bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(content[:min(len(content), 64)])), []byte("<!doctype html")), bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(content[:min(len(content), 64)])), []byte("<html")):
		return "a web page: fetch the file itself"
	}
	return ""
}

// fromUTF16 is UTF-16 text with a byte-order mark in UTF-8, nil for other bytes.
func fromUTF16(content []byte) []byte {
	little := bytes.HasPrefix(content, []byte("\xff\xfe"))
	if !little && !bytes.HasPrefix(content, []byte("\xfe\xff")) || len(content)%2 != 0 {
		return nil
	}
	units := make([]uint16, 0, len(content)/2)
	for i := 2; i < len(content); i += 2 {
		a, b := uint16(content[i]), uint16(content[i+1])
		if little {
			a, b = b, a
		}
		units = append(units, a<<8|b)
	}
	out := string(utf16.Decode(units))
	lines, _ := withLF([]byte(out))
	return lines
}

// Differing names the files of a manifest that a source has otherwise or not at all, with what changed them where it is a common
// change. The file at patched may also be as the pin's patch makes it, with the digest beside it.
func (m Manifest) Differing(src Source, patched FileRef) []string {
	var out []string
	for _, e := range m {
		content, err := src.Read(e.Path)
		switch found := Digest(content); {
		case err != nil:
			out = append(out, e.Path+" (missing)")
		case found == e.SHA256, e.Path == patched.Path && found == patched.SHA256:
		default:
			how := Rewritten(content, e.SHA256)
			if how == "" && e.Path == patched.Path {
				how = Rewritten(content, patched.SHA256)
			}
			if how == "" {
				how = "changed"
			}
			out = append(out, fmt.Sprintf("%s (%s)", e.Path, strings.TrimPrefix(how, "the pinned text ")))
		}
	}
	return out
}
