package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"--model=large"}, {"--model=tiny.en", "--ct2=a"}, {"--nonsense"},
		{"--model=tiny.en", "--ct2=a", "--tokenizer=b", "--out=c", "extra"}} {
		var stderr bytes.Buffer
		if code := run(args, &bytes.Buffer{}, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%q: expected exit code 2 and a message, found %d and %q", args, code, &stderr)
		}
	}
}

// Input that is not a model leaves nothing behind, not even beside the output.
func TestFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	var stderr bytes.Buffer
	code := run([]string{"--model=tiny.en", "--ct2=" + bad, "--tokenizer=" + bad, "--out=" + filepath.Join(out, "m.bin")},
		&bytes.Buffer{}, &stderr)
	if code != 1 || !strings.Contains(stderr.String(), "no token has id 0") {
		t.Errorf("expected exit code 1 and the tokenizer's fault, found %d and %q", code, &stderr)
	}
	left, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
