package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
)

// table is what a peer says of one table with one cell to look at.
func table(cell string) string {
	return `{"command":"peers/run speed","conditions":"","before":{"at":"2026-12-01T00:00:00Z","our_actions":[]},"tables":[{"name":"rows","columns":[{"name":"errors","kind":"text"},{"name":"ratio","kind":"number","decimals":2}],"rows":[[{"text":"20 %"},` + cell + `]]}]}`
}

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
		{[]string{"judge", "encode"}, rounds, 0, "encode: ours takes less: 0.500 of theirs (0.500 to 0.500, n = 8) (bench_v1)\nratio 0.50\n"},
		{[]string{"judge", "encode"}, `{"rounds":[{"ours":1,"theirs":2,"ours_first":true}],"ours_peak_bytes":5,"theirs_peak_bytes":6}`, 2, "COMPARISON_PAIRS"},
		{[]string{"tables", "speed"}, table(`{"race":` + rounds + `}`), 0, "| 20 % | 0.50 (0.50 to 0.50, n = 8): ours takes less |"},
		{[]string{"tables", "speed"}, table(`{"race":{"rounds":[{"ours":1,"theirs":2,"ours_first":true}],"ours_peak_bytes":5,"theirs_peak_bytes":6}}`), 2, "COMPARISON_PAIRS"},
		{[]string{"tables", "speed"}, table(`{"values":[3,1,2]}`), 0, "| 2.00 (1.00 to 3.00, n = 3) |"},
		{[]string{"tables", "speed"}, table(`{"text":"fast"}`), 2, "expected a number"},
		{[]string{"tables", "speed"}, strings.Replace(table(`{"number":1}`), "peers/run", "/home/someone/run", 1), 2, "without an absolute path"},
		{[]string{"tables", "speed"}, strings.Replace(table(`{"number":1}`), `"before"`, `"after"`, 1), 2, "one of them missing"},
		{nil, "", 2, "expected pairs"},
	} {
		var out bytes.Buffer
		if code := run(c.args, dir, strings.NewReader(c.stdin), &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("race %v: exit %d, %s, want %d and %q", c.args, code, &out, c.code, c.want)
		}
	}
	if r, err := report.Read(filepath.Join(dir, "speed.json")); err != nil || r.Machine == nil || r.RecordedAt == "" {
		t.Errorf("the stored tables: %+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "encode.race.json")); err != nil {
		t.Error(err)
	}
}
