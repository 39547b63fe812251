package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	asked   = `{"id":{"targetConfigured":{"label":"//a:t"}},"configured":{"targetKind":"go_test rule","testSize":"MEDIUM"}}`
	library = `{"id":{"targetConfigured":{"label":"//a:lib"}},"configured":{"targetKind":"go_library rule"}}`
	asked2  = `{"id":{"targetConfigured":{"label":"//a:u"}},"configured":{"targetKind":"go_test rule","testSize":"SMALL"}}`
	skipped = `{"id":{"targetCompleted":{"label":"//a:u"}},"aborted":{"reason":"SKIPPED","description":"does not fit"}}`
	aborted = `{"id":{"targetCompleted":{"label":"//a:u"}},"aborted":{"reason":"ANALYSIS_FAILURE"}}`
	last    = `{"id":{"buildMetrics":{}},"lastMessage":true}`
)

func summary(label, status string) string {
	return `{"id":{"testSummary":{"label":"` + label + `"}},"testSummary":{"overallStatus":"` + status + `","runCount":1}}`
}

func TestTally(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
		code   int
		out    string
		errHas string
	}{
		{name: "all pass", events: []string{asked, library, summary("//a:t", "PASSED"), last}, code: 0, out: "1 passed, 0 failed, 0 skipped\n"},
		{name: "one fails", events: []string{asked, asked2, summary("//a:t", "PASSED"), summary("//a:u", "FAILED"), last}, code: 1, out: "FAILED: //a:u\n1 passed, 1 failed, 0 skipped\n"},
		{name: "flaky is not a pass", events: []string{asked, asked2, summary("//a:t", "PASSED"), summary("//a:u", "FLAKY"), last}, code: 1, out: "FLAKY: //a:u\n1 passed, 1 failed, 0 skipped\n"},
		{name: "asked for and never built", events: []string{asked, asked2, summary("//a:t", "PASSED"), last}, code: 1, out: "did not build or run: //a:u\n1 passed, 1 failed, 0 skipped\n"},
		{name: "analysis failed", events: []string{asked, asked2, aborted, summary("//a:t", "PASSED"), last}, code: 1, out: "did not build or run: //a:u\n1 passed, 1 failed, 0 skipped\n"},
		{name: "incompatible is skipped", events: []string{asked, asked2, skipped, summary("//a:t", "PASSED"), last}, code: 0, out: "1 passed, 0 failed, 1 skipped\n"},
		{name: "only skipped", events: []string{asked2, skipped, last}, code: 1, out: "0 passed, 0 failed, 1 skipped\n"},
		{name: "no test at all", events: []string{library, last}, code: 1, out: "0 passed, 0 failed, 0 skipped\n"},
		{name: "cut short between events", events: []string{asked, summary("//a:t", "PASSED")}, code: 2, errHas: "lastMessage"},
		{name: "cut short within an event", events: []string{asked, last, `{"id":{"tes`}, code: 2, errHas: "event 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "events.json")
			if err := os.WriteFile(file, []byte(strings.Join(tc.events, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			if code := run([]string{file}, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code: want %d, found %d; standard error: %s", tc.code, code, &stderr)
			}
			if stdout.String() != tc.out {
				t.Errorf("standard output: want %q, found %q", tc.out, &stdout)
			}
			if !strings.Contains(stderr.String(), tc.errHas) {
				t.Errorf("standard error: want it to contain %q, found %q", tc.errHas, &stderr)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"a", "b"}, {filepath.Join(t.TempDir(), "none.json")}} {
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("run(%q): want exit code 2 and a message, found %d and %q", args, code, &stderr)
		}
	}
}
