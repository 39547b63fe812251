package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
