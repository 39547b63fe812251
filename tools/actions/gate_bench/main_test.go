package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stand writes a program that prints what it was given, and a spec that names it.
func stand(t *testing.T, script string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("coregate", []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("spec.json", []byte(`{"coregate":"coregate","arguments":["--arm=f32=runfiles:a/b.mlmodelc","--threads=1"]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	caller := filepath.Join(dir, "caller")
	if err := os.Mkdir(caller, 0o755); err != nil {
		t.Fatal(err)
	}
	return func(name string) string {
		return map[string]string{"GATE_BENCH": "spec.json", "BUILD_WORKING_DIRECTORY": caller}[name]
	}
}

// TestArguments holds that paths are found from anywhere, that the caller's arguments stand last, and that the caller's
// folder is the program's.
func TestArguments(t *testing.T) {
	env := stand(t, `echo "$PWD"; printf '%s\n' "$@"`)
	var out, errs bytes.Buffer
	if code := run([]string{"--threads=2"}, env, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	here, _ := os.Getwd()
	want := fmt.Sprintf("%s/caller\nbench\n--arm=f32=%s/a/b.mlmodelc\n--threads=1\n--threads=2\n", here, here)
	if out.String() != want {
		t.Errorf("the program saw\n%swant\n%s", out.String(), want)
	}
}

// TestExitCodes holds that a verdict reaches the caller, and that what could not be started is 2.
func TestExitCodes(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 1": 1, "exit 3": 3, "kill -9 $$": 2,
		// An interrupt ends the session, which keeps what it has and says so; a termination is passed on.
		"trap 'exit 3' INT; kill -INT $PPID; sleep 0.2; kill -INT $$; sleep 5":                            3,
		"trap 'exit 3' TERM; kill -TERM $PPID; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; exit 9": 3} {
		env := stand(t, script)
		var out, errs bytes.Buffer
		if code := run(nil, env, &out, &errs); code != want {
			t.Errorf("%s: exit %d, want %d", script, code, want)
		}
	}
	var errs bytes.Buffer
	if code := run(nil, func(string) string { return "absent" }, &errs, &errs); code != 2 || !strings.Contains(errs.String(), "GATE_BENCH") {
		t.Errorf("without a spec: exit %d, %s", code, &errs)
	}
}
