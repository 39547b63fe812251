//go:build unix

package regular_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file, fifo, link := filepath.Join(dir, "file"), filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		f, err := regular.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		f.Close()
	}
	for _, path := range []string{fifo, dir, os.DevNull} {
		if _, err := regular.Open(path); err == nil || !strings.Contains(err.Error(), "regular") {
			t.Errorf("%s: %v, want it refused", path, err)
		}
	}
	if _, err := regular.Open(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
