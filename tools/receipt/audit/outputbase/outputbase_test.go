package outputbase

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "base")
	inner := filepath.Join(dir, "execroot", "bin")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "workspace")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, "out"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inner, "link")); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{inner, filepath.Dir(inner)} {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("what a link named was removed: %v", err)
	}
	if err := Remove(dir); err != nil {
		t.Errorf("nothing there: %v", err)
	}
}
