package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLaysFilesOut(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{"Manifest.json": "{}", "Data/com.apple.CoreML/model.mlmodel": "model", "Data/com.apple.CoreML/weights/weight.bin": "weights"}
	root, out := filepath.Join(dir, "given.mlpackage"), filepath.Join(dir, "out.mlpackage")
	args := []string{"--root=" + root, "--out=" + out}
	for name, text := range want {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		// A sandbox shows files as links.
		real := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(real, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, file); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	var stderr bytes.Buffer
	if code := run(args, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	found := map[string]string{}
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			t.Errorf("%s: expected a plain file, found %v", path, d.Type())
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(out, path)
		found[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no file", []string{"--root=a", "--out=" + dir}, 2, "at least one file"},
		{"a file elsewhere", []string{"--root=a.mlpackage", "--out=" + dir, "b.mlpackage/Manifest.json"}, 2, "below a.mlpackage"},
		{"a file above", []string{"--root=a.mlpackage", "--out=" + dir, "a.mlpackage/../b"}, 2, "below a.mlpackage"},
		{"a file that is not there", []string{"--root=" + dir, "--out=" + dir, dir + "/none"}, 1, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := run(c.args, &stderr); code != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("expected exit code %d and %q, found %d and %q", c.code, c.says, code, stderr.String())
			}
		})
	}
}
