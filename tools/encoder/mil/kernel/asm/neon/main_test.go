package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The checked-in assembly is what the generator writes.
func TestGeneratedFileIsCurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel_arm64.s")
	var stderr strings.Builder
	if code := run([]string{"-out", path}, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	made, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("../../kernel_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, kept) {
		t.Error("kernel_arm64.s is not what the generator writes: run the command in main.go and commit the result")
	}
}
