package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements/factstest"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
)

// A verdict is data: an encoder that fails still gives exit 0 and a judgement,
// which names no path of this machine.
func TestFailingVerdictIsWritten(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := synthetic.Write(&b, synthetic.Options{State: 16, Heads: 2, Layers: 1, AudioCtx: 10, TextCtx: 4}); err != nil {
		t.Fatal(err)
	}
	model, enc, out := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "in", "ggml-x-encoder.mlmodelc"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(model, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(enc, 0o755); err != nil {
		t.Fatal(err)
	}
	// As a sandbox shows it: a link out of the folder.
	if err := os.WriteFile(filepath.Join(dir, "program"), []byte("program(1.0)\n{\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "program"), filepath.Join(enc, "model.mil")); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if code := run([]string{"--model=" + model, "--encoder=" + enc, "--out=" + out}, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), dir) {
		t.Errorf("the judgement names a path of this machine:\n%s", text)
	}
	var j verdict.Judgement
	if err := json.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	factstest.Check(t, &j, "emulated")
	if j.Name != "contract" || j.Verdict != reason.Failed || len(j.Reasons) == 0 {
		t.Errorf("%+v", j)
	}
	for _, r := range j.Reasons {
		if r.Code == "ARTIFACT_LINK" || r.Code == "ARTIFACT_PATH_ESCAPE" || r.Code == "ENCODER_NAME" {
			t.Errorf("how the sandbox presents files was judged: %v", r)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".inspect-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"--model=a"}, {"--nonsense"}, {"--model=a", "--encoder=b", "--out=c", "d"}} {
		if code := run(args, &bytes.Buffer{}); code != 2 {
			t.Errorf("%v: exit code %d, expected 2", args, code)
		}
	}
	var stderr bytes.Buffer
	if code := run([]string{"--model=/absent.bin", "--encoder=/absent.mlmodelc", "--out=" + filepath.Join(t.TempDir(), "x")}, &stderr); code != 1 || stderr.Len() == 0 {
		t.Errorf("inputs that are missing: exit code %d, %q", code, &stderr)
	}
}

func TestMinimumOfTheWorker(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := synthetic.Write(&b, synthetic.Options{State: 16, Heads: 2, Layers: 1, AudioCtx: 10, TextCtx: 4}); err != nil {
		t.Fatal(err)
	}
	model, enc := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	if err := errors.Join(os.WriteFile(model, b.Bytes(), 0o644), os.MkdirAll(enc, 0o755)); err != nil {
		t.Fatal(err)
	}
	write := func(text string) string {
		path := filepath.Join(dir, "identity.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return "--identity=" + path
	}
	for name, tc := range map[string]struct {
		flags []string
		code  int
		want  string // in the judgement, or in the message
	}{
		"worker":               {[]string{write(`{"lane": "physical", "os_version": "15.6"}`)}, 0, `"held_to_macos": "15.6"`},
		"named":                {[]string{"--minimum_macos=13.0"}, 0, `"held_to_macos": "13.0"`},
		"both":                 {[]string{write(`{"os_version": "15.6"}`), "--minimum_macos=13.0"}, 2, "give one"},
		"no name of macOS":     {[]string{"--minimum_macos=sonoma"}, 2, "expected a version in digits"},
		"absent identity":      {[]string{"--identity=" + dir + "/absent"}, 1, "read --identity"},
		"neither is not a lie": {nil, 0, `"name": "contract"`},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "worker" {
				write(`{"lane": "physical", "os_version": "15.6"}`)
			}
			out := filepath.Join(t.TempDir(), "out.json")
			var stderr bytes.Buffer
			code := run(append([]string{"--model=" + model, "--encoder=" + enc, "--out=" + out}, tc.flags...), &stderr)
			text, err := os.ReadFile(out)
			if code == 0 && err != nil {
				t.Fatal(err)
			}
			if code != tc.code || !strings.Contains(string(text)+stderr.String(), tc.want) {
				t.Errorf("exit code %d, want %d, with %q in:\n%s%s", code, tc.code, tc.want, text, &stderr)
			}
		})
	}
	for _, text := range []string{`{"lane": "physical"}`, `{"os_version": 15}`, `{"os_version": "sequoia"}`, `[]`} {
		var stderr bytes.Buffer
		out := filepath.Join(t.TempDir(), "out.json")
		if code := run([]string{"--model=" + model, "--encoder=" + enc, "--out=" + out, write(text)}, &stderr); code == 0 {
			t.Errorf("identity %s was taken", text)
		}
	}
}
