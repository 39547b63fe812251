package stage

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStage lays a tree of links out as the plain files that they stand for.
func TestStage(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	links := filepath.Join(dir, "links")
	for _, d := range []string{filepath.Join(real, "weights"), filepath.Join(links, "weights")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"model.mil", "weights/weight.bin"} {
		if err := os.WriteFile(filepath.Join(real, name), []byte(name), 0o444); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(real, name), filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "staged")
	if err := Stage(links, to); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model.mil", "weights/weight.bin"} {
		info, err := os.Lstat(filepath.Join(to, name))
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || !info.Mode().IsRegular() || string(content) != name {
			t.Errorf("%s: %v %q %v, want a plain file that holds its name", name, info.Mode(), content, err)
		}
	}
}

// TestStageRefuses names what has no plain form.
func TestStageRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := Stage(dir, filepath.Join(t.TempDir(), "to")); err == nil {
		t.Error("a link to a folder inside the tree was staged")
	}
}
