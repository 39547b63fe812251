package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := Bytes(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Bytes(link, []byte("two")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	info, err2 := os.Lstat(path)
	if err != nil || err2 != nil || string(b) != "two" || info.Mode() != 0o600 {
		t.Errorf("%q %v, %v %v", b, info.Mode(), err, err2)
	}
	if err := Bytes(os.DevNull, []byte("three")); err != nil {
		t.Error(err)
	}
}

// What fails leaves what was there, and nothing besides.
func TestFailure(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Bytes(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(dir)
	b, _ := os.ReadFile(path)
	if err != nil || len(entries) != 1 || string(b) != "one" {
		t.Errorf("%v, %q, %v", entries, b, err)
	}
	if err := Bytes(filepath.Join(dir, "none", "a"), nil); err == nil {
		t.Error("a file was written in a folder that is not there")
	}
}
