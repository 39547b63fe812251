package pin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestRewritten(t *testing.T) {
	const text = "one\ntwo\n"
	wide := "\xff\xfe"
	for _, u := range utf16.Encode([]rune(text)) {
		wide += string([]byte{byte(u), byte(u >> 8)})
	}
	for content, says := range map[string]string{
		"one\r\ntwo\r\n":             "CRLF",
		"\ufeffone\ntwo\n":           "a byte-order mark before it:",
		"\ufeffone\r\ntwo\r\n":       "a byte-order mark before it and lines",
		wide:                         "UTF-16",
		"one\ntwo":                   "another number of line feeds",
		"one\ntwo\n\n":               "another number of line feeds",
		"one\ntwo\n\x00\x00":         "NUL bytes",
		"":                           "an empty file",
		"version https://git-lfs.gi": "git lfs pull",
		"\x1f\x8b\x08":               "a gzip file",
		" <!DOCTYPE html><html>":     "a web page",
	} {
		if got := Rewritten([]byte(content), Digest([]byte(text))); !strings.Contains(got, says) {
			t.Errorf("%q: %q, want %q", content, got, says)
		}
	}
	for _, content := range []string{text, "one\nthree\n"} {
		if got := Rewritten([]byte(content), Digest([]byte(text))); got != "" {
			t.Errorf("%q: %q, want nothing", content, got)
		}
	}
}

func TestDiffering(t *testing.T) {
	dir := t.TempDir()
	m := Manifest{}
	for name, text := range map[string]string{"a": "a\n", "b": "b\n", "c": "c\n", "d": "d\n", "e": "e\n"} {
		m = append(m, Entry{Path: name, SHA256: Digest([]byte(text))})
	}
	slices.SortFunc(m, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	for name, text := range map[string]string{"a": "a\n", "b": "b\r\n", "c": "other\n", "e": "patched\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := m.Differing(Dir(dir), FileRef{Path: "e", SHA256: Digest([]byte("patched\n"))})
	want := []string{"b (whose lines end with CRLF: check it out again with core.autocrlf=false)", "c (changed)", "d (missing)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
