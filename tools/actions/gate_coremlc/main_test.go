package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
)

// standIn puts a program named xcrun on PATH that does what the test says.
func standIn(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "xcrun"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

const found = `if [ "$1" = --find ]; then echo /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/bin/coremlc; exit 0; fi
if [ "$1" = xcodebuild ]; then printf 'Xcode 16.4\nBuild version %s\n' "${XCODE-16F6}"; exit 0; fi
`

func TestCompile(t *testing.T) {
	for _, test := range []struct {
		name, script, pkg, out, want string
	}{
		{"compiles", found + `mkdir -p "$4/m-encoder.mlmodelc" && echo x >"$4/m-encoder.mlmodelc/coremldata.bin"`, "m-encoder.mlpackage", "m-encoder.mlmodelc", ""},
		{"other stem", found, "model.mlpackage", "m-encoder.mlmodelc", "coremlc names its output after its input"},
		{"no package", found, "model.mlmodel", "model.mlmodelc", "--package must name a .mlpackage"},
		{"command line tools only", `echo "xcrun: error: unable to find utility \"coremlc\"" >&2; exit 72`, "m.mlpackage", "m.mlmodelc", "not with the Command Line Tools"},
		{"coremlc outside Xcode", `echo /Library/Developer/CommandLineTools/usr/bin/coremlc`, "m.mlpackage", "m.mlmodelc", "inside an Xcode.app"},
		{"another Xcode", "XCODE=16A242d\n" + found, "m.mlpackage", "m.mlmodelc", `WORKER_IDENTITY: the action's key names Xcode build "16F6", this machine has "16A242d"`},
		{"an Xcode that does not say which", "XCODE=\n" + found, "m.mlpackage", "m.mlmodelc", "expected `Build version"},
		{"coremlc fails", found + `echo "model is broken" >&2; exit 1`, "m.mlpackage", "m.mlmodelc", "model is broken"},
		{"coremlc writes nothing", found, "m.mlpackage", "m.mlmodelc", "left no coremldata.bin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			standIn(t, test.script)
			dir := t.TempDir()
			identity := filepath.Join(dir, "identity.json")
			if err := os.WriteFile(identity, []byte(`{"lane": "physical", "xcode_build": "16F6"}`), 0o644); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			code := run([]string{"--identity=" + identity, "--package=" + filepath.Join(dir, test.pkg), "--out=" + filepath.Join(dir, test.out)}, &stderr)
			if (code == 0) != (test.want == "") || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit %d, stderr %q; want a message with %q", code, stderr.String(), test.want)
			}
		})
	}
}

// TestDeadline holds that a coremlc which does not end is ended, with what it started, and that one which ends in time is not.
func TestDeadline(t *testing.T) {
	dir := t.TempDir()
	identity, helper := filepath.Join(dir, "identity.json"), filepath.Join(dir, "helper")
	if err := os.WriteFile(identity, []byte(`{"xcode_build": "16F6"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	compile := func(script string, deadline string) (int, string) {
		standIn(t, found+script)
		var stderr bytes.Buffer
		code := run([]string{"--deadline=" + deadline, "--identity=" + identity, "--package=" + filepath.Join(dir, "m.mlpackage"), "--out=" + filepath.Join(dir, "m.mlmodelc")}, &stderr)
		return code, stderr.String()
	}
	// The helper holds the streams open.
	code, said := compile(`sleep 600 & echo $! >`+helper+`; sleep 600`, "1s")
	if code != 1 || !strings.Contains(said, "expected an end within 1s") {
		t.Errorf("exit %d: %s", code, said)
	}
	text, err := os.ReadFile(helper)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); lives(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d, which coremlc started, lives on", pid)
		}
	}
	if code, said := compile(`mkdir -p "$4/m.mlmodelc" && echo x >"$4/m.mlmodelc/coremldata.bin"`, "10m"); code != 0 {
		t.Errorf("one that ends in time: exit %d, %s", code, said)
	}
}

// lives says that a process is there and has not ended; one that nobody has waited for is over.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(state), ") Z ")
}

// TestFit holds that coremlc is not started where its compile cannot fit, by either gate, and is where nothing tells.
func TestFit(t *testing.T) {
	of := func(available, limit int64) fit.Budget {
		b := fit.Budget{Source: "test", Measured: true}
		if available >= 0 {
			b.AvailableBytes = &available
		}
		if limit >= 0 {
			b.LimitBytes = &limit
		}
		return b
	}
	const mib = 1 << 20
	for name, c := range map[string]struct {
		now  fit.Budget
		want string
	}{
		"enough":                          {of(8192*mib, 16384*mib), ""},
		"just enough":                     {of(192*mib, 192*mib), ""},
		"a byte too little available":     {of(192*mib-1, 16384*mib), "FIT_EXCEEDED at memory for compile, gate 1"},
		"nothing available":               {of(0, 16384*mib), "FIT_EXCEEDED at memory for compile, gate 1"},
		"a limit below the reserve":       {of(8192*mib, 100*mib), "FIT_EXCEEDED at memory for compile, gate 2"},
		"a machine that does not say":     {of(-1, -1), ""},
		"a limit that is not said":        {of(8192*mib, -1), ""},
		"little, and a limit unsaid":      {of(1*mib, -1), "FIT_EXCEEDED at memory for compile, gate 1"},
		"a small limit, the rest unsaid":  {of(-1, 1*mib), "FIT_EXCEEDED at memory for compile, gate 2"},
		"no room for the system on macOS": {of(8192*mib, 0), "FIT_EXCEEDED at memory for compile, gate 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			started := filepath.Join(dir, "started")
			standIn(t, found+`touch `+started+`; mkdir -p "$4/m.mlmodelc" && echo x >"$4/m.mlmodelc/coremldata.bin"`)
			before := budget
			budget = func() fit.Budget { return c.now }
			t.Cleanup(func() { budget = before })
			identity := filepath.Join(dir, "identity.json")
			if err := os.WriteFile(identity, []byte(`{"xcode_build": "16F6"}`), 0o644); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			code := run([]string{"--identity=" + identity, "--package=" + filepath.Join(dir, "m.mlpackage"), "--out=" + filepath.Join(dir, "m.mlmodelc")}, &stderr)
			_, err := os.Stat(started)
			if (code == 0) != (c.want == "") || (err == nil) != (c.want == "") || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit %d, coremlc started %v, stderr %q; want %q", code, err == nil, stderr.String(), c.want)
			}
		})
	}
}
