package pin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPatchFile(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "whisper")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	pin := filepath.Join(deep, "mine.json")
	if _, err := PatchFile(pin, "//whisper:m.patch"); err == nil || !strings.Contains(err.Error(), "MODULE.bazel") {
		t.Errorf("without a root: %v", err)
	}
	for _, marker := range []string{"WORKSPACE", "REPO.bazel", "MODULE.bazel"} {
		file := filepath.Join(root, marker)
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		for label, want := range map[string]string{
			"//whisper:m.patch": "whisper/m.patch", "//:m.patch": "m.patch", "//a/b:c/d.patch": "a/b/c/d.patch", "//a/m.patch": "a/m.patch/m.patch",
		} {
			if got, err := PatchFile(pin, label); err != nil || got != filepath.Join(root, filepath.FromSlash(want)) {
				t.Errorf("%s: %q, %v, want %s", label, got, err, want)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for _, label := range []string{"", "m.patch", ":m.patch", "@other//a:m.patch", "//a:../m.patch", "//../a:m.patch", "//a:", "//a:/etc/m.patch"} {
		if got, err := PatchFile(pin, label); err == nil || !strings.Contains(err.Error(), "label") {
			t.Errorf("%q: %q, %v, want an error about the label", label, got, err)
		}
	}
}
