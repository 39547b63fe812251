package pin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// expectCode demands a reason of a code whose text holds some words.
func expectCode(t *testing.T, err error, code string, words ...string) {
	t.Helper()
	var found *reason.Error
	if !errors.As(err, &found) || found.Code != code {
		t.Fatalf("expected %s, found %v", code, err)
	}
	for _, w := range words {
		if !strings.Contains(found.Error(), w) {
			t.Errorf("expected %q in %v", w, found)
		}
	}
}

// A source whose lines were converted is no other revision: its line ends are named.
func TestLineEnds(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for name, c := range map[string]struct{ path, text string }{
		"the patched file":    {"src/whisper.cpp", crlf(before)},
		"some lines of it":    {"src/whisper.cpp", strings.Replace(before, "batch;\n", "batch;\r\n", 1)},
		"another file":        {"CMakeLists.txt", crlf(files["CMakeLists.txt"])},
		"two ends, one after": {"src/whisper.cpp", crlf(before[:len(before)-1]) + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p, m, dir := world(t)
			m2, err := MakeManifest(Dir(dir), append(m.Paths(), "CMakeLists.txt"))
			if err != nil {
				t.Fatal(err)
			}
			p.Manifest.SHA256 = m2.Digest()
			if err := os.WriteFile(filepath.Join(dir, c.path), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			expectCode(t, Verify(p, m2, Dir(dir)), reason.SourceLineEnds, c.path, "CRLF", "LF")
			if c.path == "src/whisper.cpp" {
				expectCode(t, VerifyPatch(p, []byte(thePatch), Dir(dir)), reason.SourceLineEnds, c.path)
			}
			if err := Verify(p, m2, open(t, dir, p.Commit)); err != nil {
				t.Errorf("a clone's objects hold no converted lines: %v", err)
			}
		})
	}
}

// Lines that differ by more than their ends are another revision.
func TestLineEndsAreNotBlamed(t *testing.T) {
	p, m, dir := world(t)
	text := strings.ReplaceAll(strings.Replace(before, "batch;", "batch2;", 1), "\n", "\r\n")
	if err := os.WriteFile(filepath.Join(dir, "src/whisper.cpp"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	expectCode(t, Verify(p, m, Dir(dir)), reason.PinTree)
	expectCode(t, VerifyPatch(p, []byte(thePatch), Dir(dir)), reason.PatchApply)
}

// The build compiles in what the pin says of versions, so the source has to say the same.
func TestVerifyVersions(t *testing.T) {
	for name, spoil := range map[string]func(*Versions){
		"whisper":     func(v *Versions) { v.Whisper = "1.9.2" },
		"ggml":        func(v *Versions) { v.GGML = "0.16.0" },
		"ggml commit": func(v *Versions) { v.GGMLCommit = "000000000" },
		"none":        func(v *Versions) { *v = Versions{} },
	} {
		t.Run(name, func(t *testing.T) {
			p, m, dir := world(t)
			spoil(&p.Versions)
			expectCode(t, Verify(p, m, Dir(dir)), reason.PinVersions, "1.9.1")
		})
	}
}
