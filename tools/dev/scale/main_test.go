package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
)

// stand makes a measurer whose programs are scripts.
func stand(t *testing.T, coregate string) (*measurer, *strings.Builder, string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{
		"gate_small_model": "exit 0",
		"gate_encoder":     `for a; do case $a in --out=*) mkdir -p "${a#--out=}/weights"; echo w > "${a#--out=}/weights/weight.bin";; esac; done`,
		"coregate":         coregate,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out := &strings.Builder{}
	w, err := report.Begin("", "scale", "go run ./tools/dev/scale", out)
	if err != nil {
		t.Fatal(err)
	}
	m := &measurer{ctx: t.Context(), bin: dir, out: w}
	if err := m.head(); err != nil {
		t.Fatal(err)
	}
	return m, out, filepath.Join(dir, "model")
}

const predicts = `for a; do case $a in *.npy) echo x > "$a";; esac; done; `

func TestEveryStepIsInTheTable(t *testing.T) {
	m, out, dir := stand(t, predicts+`echo '{"verdict": "pass"}'`)
	if err := m.model(dir, "tiny", "f16", []string{"float16", "float32"}); err != nil {
		t.Fatal(err)
	}
	if err := m.growth(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"made", "inspect the .bin", "encoder written", "compiled", "inspect the pair", "one encode", "parity", "| tiny f16, float32 | 36.9 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if _, err := os.Stat(dir); err == nil || len(m.over) > 0 {
		t.Errorf("the model stands there still (%v), or scripts need too much memory: %v", err, m.over)
	}
}

func TestFailuresEndTheMeasurement(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a pair that fails":    {predicts + `echo '{"verdict": "fail"}'; exit 1`, "expected a pass"},
		"no output":            {`echo '{"verdict": "pass"}'`, "predict wrote nothing"},
		"nothing was measured": {predicts + `case $1 in parity) echo '{"verdict": "inconclusive"}'; exit 3;; esac; echo '{"verdict": "pass"}'`, "expected a measurement"},
		"killed":               {`kill -9 $$`, "signal: killed"},
	} {
		m, _, dir := stand(t, c.script)
		if err := m.model(dir, "tiny", "f16", []string{"float16"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestMoreMemoryThanPromisedIsSaid(t *testing.T) {
	m, _, _ := stand(t, "exit 0")
	if _, _, err := m.step("a model", "a step", 4096, "coregate"); err != nil || len(m.over) != 1 || !strings.HasPrefix(m.over[0], "a model, a step: ") {
		t.Errorf("%v, over: %v", err, m.over)
	}
}

// The products of large-v3, multiplied out by hand.
func TestFlops(t *testing.T) {
	o, err := synthetic.Size("large-v3")
	if err != nil {
		t.Fatal(err)
	}
	if got := flops(o.Hyperparameters()) / 1e12; math.Abs(got-2.273) > 0.001 {
		t.Errorf("%.4f TFLOP", got)
	}
}
