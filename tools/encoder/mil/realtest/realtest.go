// Package realtest gives tests the Core ML artifacts that other people's
// tools made. testdata/README.md says where each is from.
package realtest

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

//go:embed testdata
var files embed.FS

// FS holds the artifacts: tiny_encoder.mlmodelc, add_model.mlmodelc,
// transpose_encoder.mlmodelc, sample.mlpackage, and texts below snippets.
func FS(t testing.TB) fs.FS {
	t.Helper()
	sub, err := fs.Sub(files, "testdata")
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// Text reads one file.
func Text(t testing.TB, name string) string {
	t.Helper()
	b, err := fs.ReadFile(FS(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Programs returns every model.mil by name.
func Programs(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*/model.mil", "snippets/*.mil"} {
		names, err := fs.Glob(FS(t), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no programs match %s: %v", pattern, err)
		}
		for _, n := range names {
			all[n] = Text(t, n)
		}
	}
	return all
}

// Copy puts one artifact into a fresh folder and returns its path there.
func Copy(t testing.TB, name string) string {
	t.Helper()
	sub, err := fs.Sub(FS(t), name)
	if err != nil {
		t.Fatal(err)
	}
	dest := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dest, sub); err != nil {
		t.Fatal(err)
	}
	return dest
}
