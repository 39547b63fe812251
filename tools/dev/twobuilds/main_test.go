package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second map[string][]byte
		differing     int
		says          string
	}{
		"same":      {map[string][]byte{"a": []byte("x")}, map[string][]byte{"a": []byte("x")}, 0, "a  same"},
		"other":     {map[string][]byte{"a": []byte("x")}, map[string][]byte{"a": []byte("y")}, 1, "DIFFERS"},
		"only once": {map[string][]byte{"a": []byte("x")}, map[string][]byte{}, 1, "one place only"},
		"a path":    {map[string][]byte{"a": []byte("in /some/place/")}, map[string][]byte{"a": []byte("in /some/place/")}, 1, "HOLDS THE PATH"},
	} {
		var out bytes.Buffer
		if n := report([2]map[string][]byte{tc.first, tc.second}, []string{"/some/place"}, &out); n != tc.differing || !strings.Contains(out.String(), tc.says) {
			t.Errorf("%s: %d differ, want %d, and %q in:\n%s", name, n, tc.differing, tc.says, &out)
		}
	}
}

// A script in place of Bazel whose output is what the test says for each compilation mode.
func TestCompare(t *testing.T) {
	for content, want := range map[string]int{"same": 0, "$mode": 1, "$PWD": 1} {
		root := t.TempDir()
		script := filepath.Join(root, "bazel.sh")
		text := `#!/bin/sh
base=${1#--output_base=}; shift
case "$*" in *=dbg*) mode=dbg;; *) mode=fastbuild;; esac
case $1 in
build) mkdir -p "$base/x/bazel-out/$mode/bin/p"; echo "` + content + `" >"$base/x/bazel-out/$mode/bin/p/t";;
cquery) echo "bazel-out/$mode/bin/p/t";;
info) echo "$base/x";;
esac
`
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if code := run([]string{"--bazel=" + script, "--root=" + root, "//p:t"}, &out, &errs); code != want {
			t.Errorf("%q: exit %d, want %d\n%s%s", content, code, want, &out, &errs)
		}
		if !strings.Contains(out.String(), "  p/t  ") {
			t.Errorf("%q: the output is not named without its configuration:\n%s", content, &out)
		}
	}
	// The second Bazel is the other one, and each build has a folder of its own.
	root := t.TempDir()
	for name, text := range map[string]string{"here": "one", "there": "two"} {
		script := `#!/bin/sh
base=${1#--output_base=}; shift
case "$*" in *"--own=$base-own/x"*) ;; *) exit 1;; esac
case $1 in
build) mkdir -p "$base/bazel-out/c/bin"; echo ` + text + ` >"$base/bazel-out/c/bin/t";;
cquery) echo bazel-out/c/bin/t;;
info) echo "$base";;
esac
`
		if err := os.WriteFile(filepath.Join(root, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--bazel=" + root + "/here", "--elsewhere=" + root + "/there", "--root=" + t.TempDir(), "--option=--own={place}/x", "//p:t"}
	var out bytes.Buffer
	if code := run(args, &out, &out); code != 1 || !strings.Contains(out.String(), "DIFFERS") {
		t.Errorf("two Bazels whose outputs differ: exit %d, want 1\n%s", code, &out)
	}
	if code := run([]string{}, &bytes.Buffer{}, &bytes.Buffer{}); code != 2 {
		t.Errorf("no target: exit %d, want 2", code)
	}
	if code := run([]string{"--bazel=/bin/false", "--root=" + t.TempDir(), "//p:t"}, &bytes.Buffer{}, &bytes.Buffer{}); code != 2 {
		t.Errorf("a build that fails: exit %d, want 2", code)
	}
}
