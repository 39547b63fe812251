package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun holds what the peers rely on: one pair is refused before anything runs, and the figure is on the last line.
func TestRun(t *testing.T) {
	rounds := `{"rounds":[` + strings.TrimSuffix(strings.Repeat(`{"ours":1,"theirs":2,"ours_first":true},{"ours":1,"theirs":2,"ours_first":false},`, 4), ",") + `],"ours_peak_bytes":5,"theirs_peak_bytes":6}`
	dir := t.TempDir()
	for _, c := range []struct {
		args  []string
		stdin string
		code  int
		want  string
	}{
		{[]string{"pairs", "8"}, "", 0, ""},
		{[]string{"pairs", "1"}, "", 2, "COMPARISON_PAIRS"},
		{[]string{"pairs", "many"}, "", 2, "expected a number"},
		{[]string{"judge", "encode"}, rounds, 0, "encode: ours takes less by 0.500 of theirs (0.500 to 0.500, n = 8) (bench_v1)\nratio 0.50\n"},
		{[]string{"judge", "encode"}, `{"rounds":[{"ours":1,"theirs":2,"ours_first":true}],"ours_peak_bytes":5,"theirs_peak_bytes":6}`, 2, "COMPARISON_PAIRS"},
		{nil, "", 2, "expected pairs"},
	} {
		var out bytes.Buffer
		if code := run(c.args, dir, strings.NewReader(c.stdin), &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("race %v: exit %d, %s, want %d and %q", c.args, code, &out, c.code, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "encode.json")); err != nil {
		t.Error(err)
	}
}
