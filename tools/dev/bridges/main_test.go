package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// sample is a canary's evidence through a bridge, whose path is as that bridge writes it.
func sample(b bridge) *evidence.Evidence {
	e := evidencetest.Sample(evidence.KindCanary)
	e.LaneIdentity["bridge"], e.LaneIdentity["core_ml"] = b.name, b.coreML
	e.Digests.CLI = strings.Repeat(map[string]string{"double": "a", "upstream": "b"}[b.name], 64)
	for i, line := range e.Stderr.Lines {
		line = strings.Replace(line, evidence.CoreMLDouble, b.coreML, 1)
		if b.name == "upstream" {
			line = strings.Replace(line, "cannot load '", "cannot load '$STAGE/", 1)
		}
		e.Stderr.Lines[i] = line
	}
	return e
}

// stream is a stream of these lines, whole.
func stream(lines []string) evidence.Stream {
	return evidence.Normaliser{}.Stream([]byte(strings.Join(lines, "\n")+"\n"), false, true, nil)
}

func write(t *testing.T, path string, e *evidence.Evidence) {
	t.Helper()
	e.Stderr, e.Stdout = stream(e.Stderr.Lines), stream(e.Stdout.Lines)
	data, err := evidence.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// folder holds the same run through both bridges, after change was made to upstream's.
func folder(t *testing.T, change func(e *evidence.Evidence)) string {
	t.Helper()
	dir := t.TempDir()
	for _, b := range bridges {
		e := sample(b)
		if b.name == "upstream" {
			change(e)
		}
		write(t, filepath.Join(dir, b.name, "canary.json"), e)
	}
	return dir
}

func TestCompares(t *testing.T) {
	lines := len(sample(bridges[0]).Stderr.Lines)
	for name, c := range map[string]struct {
		change    func(e *evidence.Evidence)
		different int
		says      string
	}{
		"what says which bridge it was": {change: func(*evidence.Evidence) {}},
		"the exit code":                 {func(e *evidence.Evidence) { e.Exit.Code = 0 }, 1, `upstream:   "code": 0`},
		"a line of whisper.cpp's": {func(e *evidence.Evidence) {
			e.Stderr.Lines[lines-1] = "error: something else"
		}, 1, `upstream:    "error: something else"`},
		"a line more": {func(e *evidence.Evidence) { e.Stderr.Lines = append(e.Stderr.Lines, "one more") }, 0, "(none)"},
		"the bridge's reason": {func(e *evidence.Evidence) {
			for i, l := range e.Stderr.Lines {
				e.Stderr.Lines[i] = strings.Replace(l, ": no such file or directory", ": permission denied", 1)
			}
		}, 1, "(bridge): cannot load 'ggml-model-encoder.mlmodelc': permission denied"},
		"another field of the identity": {func(e *evidence.Evidence) { e.LaneIdentity["baseline"] = "x86-64-v4" }, 1, "x86-64-v4"},
		"the double's line":             {func(e *evidence.Evidence) { e.Stderr.Lines[3] = "coreml_double: version 1, protocol 1, fault none" }, 1, "coreml_double: version 1"},
	} {
		var out bytes.Buffer
		different, all, err := compareFolders(folder(t, c.change), &out)
		if err != nil || all == 0 {
			t.Errorf("%s: %d lines, %v", name, all, err)
		}
		// A line more moves all that follow.
		if c.says == "(none)" && different == 0 || c.says != "(none)" && different != c.different || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %d differ, want %d and %q:\n%s", name, different, c.different, c.says, out.String())
		}
	}
}

func TestComparesNoBridgeWithItself(t *testing.T) {
	dir := folder(t, func(e *evidence.Evidence) {
		e.LaneIdentity["bridge"], e.LaneIdentity["core_ml"] = "double", evidence.CoreMLDouble
	})
	if _, _, err := compareFolders(dir, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no evidence of the bridge upstream") {
		t.Errorf("%v", err)
	}
}

func TestComparesTheSameFiles(t *testing.T) {
	dir := folder(t, func(*evidence.Evidence) {})
	write(t, filepath.Join(dir, "upstream", "words.json"), sample(bridges[1]))
	if _, _, err := compareFolders(dir, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "expected the same files") {
		t.Errorf("%v", err)
	}
	empty := t.TempDir()
	for _, b := range bridges {
		if err := os.Mkdir(filepath.Join(empty, b.name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := compareFolders(empty, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "at least one") {
		t.Errorf("%v", err)
	}
}

// fakeBazel does what a script says, in place of Bazel.
func fakeBazel(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bazel"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// outputs writes what the gate's runs leave, through one bridge, and returns the folder.
func outputs(t *testing.T, b bridge, change func(e *evidence.Evidence)) string {
	t.Helper()
	bin := t.TempDir()
	for _, label := range runs {
		e := sample(b)
		change(e)
		path := filepath.Join(bin, strings.Replace(strings.TrimPrefix(label, "//"), ":", "/", 1))
		write(t, path+".evidence.json", e)
	}
	return bin
}

func TestRun(t *testing.T) {
	same := func(*evidence.Evidence) {}
	for name, c := range map[string]struct {
		change func(e *evidence.Evidence)
		tests  string // what `bazel test` does
		code   int
		says   string
	}{
		"equal":         {same, "exit 0", 0, ", 0 differ"},
		"a difference":  {func(e *evidence.Evidence) { e.Exit.Code = 0 }, "exit 0", 1, ", 4 differ"},
		"a test failed": {same, "exit 3", 1, ", 0 differ"},
		"too long":      {same, "exec sleep 60", 2, "it took longer than -within"},
		"the wrong one": {func(e *evidence.Evidence) { e.LaneIdentity["bridge"] = "double" }, "exit 0", 2, "no evidence of the bridge upstream"},
	} {
		fakeBazel(t, "upstream=\ncase \"$*\" in *bridge=upstream*) upstream=1 ;; esac\ncase $1 in\ninfo) [ $upstream ] && echo "+
			outputs(t, bridges[1], c.change)+" || echo "+outputs(t, bridges[0], same)+" ;;\ntest) "+c.tests+" ;;\nesac\n")
		within := "1h"
		if name == "too long" {
			within = "200ms"
		}
		var out, errs bytes.Buffer
		if code := run([]string{"-within", within}, &out, &errs); code != c.code || !strings.Contains(out.String()+errs.String(), c.says) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s%s", name, code, c.code, c.says, out.String(), errs.String())
		}
	}
}
