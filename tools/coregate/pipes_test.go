//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestF30 gives the commands a FIFO that nobody writes to, in place of each kind of file that they read: it is refused before it is
// opened. Without that they wait without an end, and a test of them does too.
func TestF30(t *testing.T) {
	dir := t.TempDir()
	pipe, recording := filepath.Join(dir, "pipe"), filepath.Join(dir, "recording")
	encoder := filepath.Join(dir, "ggml-model-encoder.mlmodelc")
	for _, folder := range []string{recording, encoder} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(encoder, "model.mil"), []byte("program(1.0)"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, filepath.Join(recording, "recording.json")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"bench", "merge", pipe},
		{"bench", "report", pipe},
		{"bench", "claim", "--claim", "faster", "--arm", "a", "--than", "b", pipe},
		{"bench", "--arm", "a=ggml", "--last", pipe, "--out", filepath.Join(dir, "out.json")},
		{"judge", "--log", pipe},
		{"judge", "--coreml", pipe, "--canary", pipe, "--contrast", pipe},
		{"judge", pipe},
		{"placement", "--encoder", encoder, "--plan", pipe},
		{"placement", "--encoder", encoder, "--trace", recording, "--policy", "placement_trace_v1"},
		{"placement", "--encoder", encoder, "--power", pipe},
		{"pin", "verify", "--pin", pipe, "--source", dir},
		{"inspect", pipe, encoder},
		{"fit", "--model", pipe, "--measured", pipe},
		{"fit", "--model", pipe},
		{"verify", "--key", pipe, pipe},
	} {
		code, _, stderr := call(t, "", args...)
		if code == 0 {
			t.Errorf("%q: exit 0", args)
		}
		if strings.Contains(stderr, "unknown flag") {
			t.Errorf("%q: %s", args, stderr)
		}
	}
}
