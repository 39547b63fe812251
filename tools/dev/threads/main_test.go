package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDecoded(t *testing.T) {
	const log = `whisper_print_timings:     mel time =     9.00 ms
whisper_print_timings:   sample time =     1.00 ms /    27 runs (     0.04 ms per run)
whisper_print_timings:   encode time =  1000.00 ms /     1 runs (  1000.00 ms per run)
whisper_print_timings:   decode time =   500.50 ms /    26 runs (    19.25 ms per run)
whisper_print_timings:   batchd time =    20.25 ms /     3 runs (     6.75 ms per run)
`
	if d, err := decoded(log); err != nil || d != 520750*time.Microsecond {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := decoded("whisper_print_timings:   encode time = 3 ms"); err == nil {
		t.Error("a log without decoding was taken")
	}
}

// A run that fails, or says nothing of its times, is no measurement.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"fails":        {"echo no model >&2; exit 3", "exit status 3"},
		"says nothing": {"exit 0", "expected whisper-cli's own times"},
	} {
		cli := filepath.Join(t.TempDir(), "whisper-cli")
		if err := os.WriteFile(cli, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := run(t.Context(), []string{"--cli", cli, "--audio", "a.wav", "--runs", "1", "ggml-x.bin"}, &out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := run(t.Context(), []string{"--cli", "x"}, &strings.Builder{}); err == nil {
		t.Error("no audio and no model were taken")
	}
}
