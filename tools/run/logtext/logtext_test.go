package logtext_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
)

// seeds are logs of the real whisper-cli.
func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "judge", "testdata", "logs", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("expected real logs, found %d (%v)", len(paths), err)
	}
	out := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = data
	}
	return out
}

// texts are the lines of a log without their numbers.
func texts(lines []logtext.Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

// A surface that one program puts around every line is taken off, and what is left is the log.
func TestSurfaces(t *testing.T) {
	for name, data := range seeds(t) {
		want, err := logtext.Read(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plain := strings.Join(texts(want), "\n")
		for surface, text := range map[string]string{
			"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
			"byte-order mark": "\ufeff" + plain,
			"time stamps":     "2026-01-02T03:04:05.678Z " + strings.ReplaceAll(plain, "\n", "\n2026-01-02T03:04:05.678Z "),
			"stream's name":   "[err] " + strings.ReplaceAll(plain, "\n", "\n[err] "),
			"two prefixes":    "2026-01-02T03:04:05.678Z [err] " + strings.ReplaceAll(plain, "\n", "\n2026-01-02T03:04:05.678Z [err] "),
			"colours":         "\x1b[32m" + strings.ReplaceAll(plain, "\n", "\x1b[0m\n\x1b[32m") + "\x1b[0m",
		} {
			got, err := logtext.Read([]byte(text))
			if err != nil || !slices.Equal(texts(got), texts(want)) {
				t.Errorf("%s with %s: %v, found %d lines, want %d", name, surface, err, len(got), len(want))
			}
		}
	}
}

// What is no text is refused by name, and never read as an empty log.
func TestUnreadable(t *testing.T) {
	for name, data := range map[string][]byte{
		"zeros":            make([]byte, 64),
		"half of UTF-16":   {0xff, 0xfe, 'a'},
		"a broken gzip":    {0x1f, 0x8b, 8, 0, 0, 0},
		"a zip":            []byte("PK\x03\x04 and more"),
		"two programs' in": []byte("a-1  | whisper_init_state: one\nb-1  | whisper_init_state: two\n"),
	} {
		lines, err := logtext.Read(data)
		var refused *reason.Error
		if !errors.As(err, &refused) || refused.Code != reason.LogUnreadable {
			t.Errorf("%s: expected LOG_UNREADABLE, found %v and %d lines", name, err, len(lines))
		}
	}
}

// Each is refused by the name of what it is.
func TestUnreadableByName(t *testing.T) {
	tar := make([]byte, 1024)
	copy(tar, "run.log")
	copy(tar[257:], "ustar")
	var wide, bigWide []byte
	for _, r := range "whisper_init_state: loading\n" {
		wide, bigWide = append(wide, byte(r), 0, 0, 0), append(bigWide, 0, 0, 0, byte(r))
	}
	for name, data := range map[string][]byte{
		"a tar archive":   tar,
		"a 7z archive":    []byte("7z\xbc\xaf\x27\x1c\x00"),
		"a RAR archive":   []byte("Rar!\x1a\x07\x01"),
		"rich text":       []byte(`{\rtf1\ansi whisper_init_state: x}`),
		"UTF-32 text":     wide,
		"UTF-32 text:":    bigWide,
		"no-break spaces": []byte("whisper_init_state:\u00a0Core\u00a0ML\u00a0model\u00a0loaded\n"),
	} {
		if _, err := logtext.Read(data); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("expected to hear of %s, found %v", name, err)
		}
	}
	// A path may hold what it likes.
	if lines, err := logtext.Read([]byte("whisper_init_state: loading Core ML model from 'my\u00a0m-encoder.mlmodelc'\n")); err != nil || len(lines) != 1 {
		t.Errorf("a path with a no-break space: %v", err)
	}
}

// FuzzRead holds for any bytes: what comes out is text in order, its refusals have a code, and lines that were undressed
// once are read as they are.
func FuzzRead(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
		f.Add(bytes.ReplaceAll(data, []byte("\n"), []byte("\n2026-01-02T03:04:05Z ")))
		f.Add(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n[err] ")))
	}
	f.Add([]byte{0xff, 0xfe, 'a', 0, '\n', 0})
	f.Add([]byte("{\"log\":\"whisper_init_state: x\\n\",\"stream\":\"stderr\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := logtext.Read(data)
		if err != nil {
			var refused *reason.Error
			if !errors.As(err, &refused) || refused.Code != reason.LogUnreadable {
				t.Fatalf("an error without LOG_UNREADABLE: %v", err)
			}
			return
		}
		before := 0
		for _, l := range lines {
			if strings.TrimSpace(l.Text) == "" || strings.ContainsAny(l.Text, "\n\x1b") {
				t.Errorf("line %d is blank or has colours: %q", l.Number, l.Text)
			}
			if l.Number < before {
				t.Errorf("line %d comes after line %d", l.Number, before)
			}
			before = l.Number
		}
	})
}
