package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The checked-in assembly is what this generator writes today. The first line
// of each file repeats the command's own paths and is left out.
func TestCheckedInAssemblyIsCurrent(t *testing.T) {
	dir := t.TempDir()
	asm, stubs := filepath.Join(dir, "k.s"), filepath.Join(dir, "k.go")
	cmd := exec.Command("go", "run", ".", "-out", asm, "-stubs", stubs, "-pkg", "kernel")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the generator failed: %v\n%s", err, out)
	}
	for made, kept := range map[string]string{asm: "../kernel_amd64.s", stubs: "../stubs_amd64.go"} {
		if !bytes.Equal(body(t, made), body(t, kept)) {
			t.Errorf("%s is not what the generator writes: run the command in main.go and commit the result", kept)
		}
	}
}

func body(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	return rest
}
