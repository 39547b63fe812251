package coremlprobe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
)

func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "coremlprobe")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStart(t *testing.T) {
	for _, c := range []struct {
		name, script string
		deadline     time.Duration
		ended, fails string
	}{
		{name: "exit 0", script: `test "$1 $2" = "plan x"`},
		{name: "a signal", script: "echo ANECCompile >&2; kill -ABRT $$", ended: "signal: aborted"},
		{name: "a deadline", script: "exec sleep 600", deadline: time.Second, ended: "deadline of 1s"},
		{name: "an exit code", script: "echo no such model >&2; exit 2", fails: "exit 2, saying: no such model"},
		{name: "what a user has set", script: `test -z "$PLACEMENT_TEST" || exit 1`},
	} {
		t.Setenv("PLACEMENT_TEST", "1")
		deadline := c.deadline
		if deadline == 0 {
			deadline = time.Minute
		}
		e, err := coremlprobe.Start(t.Context(), program(t, c.script), deadline, "plan", "x")
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)), c.fails == "" && err != nil:
			t.Errorf("%s: %v, want %q", c.name, err, c.fails)
		case err == nil && (!strings.HasPrefix(e.Ended, c.ended) || (e.Ended == "") != (c.ended == "") || e.TimedOut != (c.deadline > 0)):
			t.Errorf("%s: %+v, want %q", c.name, e, c.ended)
		}
	}
	if _, err := coremlprobe.Start(t.Context(), filepath.Join(t.TempDir(), "none"), time.Minute); err == nil {
		t.Error("a program that is not there starts")
	}
}

func TestError(t *testing.T) {
	d, r := "Failed to build the model execution plan", "no memory"
	for _, c := range []struct {
		err  *coremlprobe.Error
		want string
	}{
		{nil, "no error given"},
		{&coremlprobe.Error{Domain: "com.apple.CoreML", Code: "-14", Description: &d, Reason: &r, Underlying: []string{"x 5: y"}},
			"com.apple.CoreML -14: " + d + ": no memory; under it x 5: y"},
	} {
		if got := c.err.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What the program says names the model, its caches and the user; what is kept of it does not.
func TestNoPathLeaves(t *testing.T) {
	t.Setenv("HOME", "/Users/a b")
	for said, want := range map[string]string{
		"cannot read '/private/var/x/m.mlmodelc/coremldata.bin': gone": "cannot read '<path>': gone",
		"see file:///Users/a b/Library/Caches/e5.bundle, and 1/2 done": "see file:<path>, and 1/2 done",
		"E5RT: (/tmp/x/y) ok": "E5RT: (<path>) ok",
		"ratio 3/4 of /tmp":   "ratio 3/4 of /tmp",
		"no path":             "no path",
	} {
		e, err := coremlprobe.Start(t.Context(), program(t, "cat >&2 <<'END'\n"+said+"\nEND\nkill -ABRT $$"), time.Minute)
		if err != nil || strings.TrimSpace(e.Stderr) != want {
			t.Errorf("%q: %+v, %v, want %q", said, e, err, want)
		}
	}
}

// TestReport takes a report of a bounded size, none of a program that was ended before it wrote one, and refuses the rest.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	written := filepath.Join(dir, "report.json")
	if err := os.WriteFile(written, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(dir, "absent.json")
	for _, c := range []struct {
		name, ended, path, want, fails string
		most                           int64
	}{
		{name: "written", path: written, most: 5, want: "12345"},
		{name: "written before a signal", ended: "signal: aborted", path: written, most: 5, want: "12345"},
		{name: "ended before it wrote", ended: "signal: aborted", path: absent, most: 5},
		{name: "exit 0 and no report", path: absent, most: 5, fails: "left no report"},
		{name: "too large", path: written, most: 4, fails: "5 bytes, more than the 4"},
	} {
		data, err := (&coremlprobe.End{Ended: c.ended}).Report(c.path, c.most)
		if string(data) != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q, %v", c.name, data, err)
		}
	}
}
