package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/tensorfile"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe/probetest"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	probetest.Main(m)
}

// TestProbe predicts with a program that plays coremlprobe, and judges its tensor as on another machine: the sidecar
// carries how the model loaded.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	modelWithEncoder(t, dir, "ggml-x", 7)
	model, encoder := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	first, out := filepath.Join(dir, "first.npy"), filepath.Join(dir, "out.npy")
	if code, _, stderr := call(t, "", "predict", "--model", model, "--encoder", encoder, "--out", first); code != 0 {
		t.Fatalf("predict: exit %d: %s", code, stderr)
	}
	tensor, err := tensorfile.Read(first, "")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	data := file[len(file)-4*len(tensor.Values):]

	for name, c := range map[string]struct {
		change  func(r *probe.Report)
		predict int // exit codes
		parity  int
		says    string
	}{
		"all units":   {func(*probe.Report) {}, 0, 0, "compute_units_loaded   all"},
		"fewer units": {func(r *probe.Report) { probetest.Refused(r, 3) }, 0, 1, "LOAD_FALLBACK"},
		"no units":    {func(r *probe.Report) { probetest.Refused(r, 4) }, 2, 1, "LOAD_FAILED"},
	} {
		r := probetest.Report("output", tensor.Shape...)
		c.change(r)
		program := probetest.Program(t, r, map[string][]byte{"output": data}, "")
		code, stdout, stderr := call(t, "", "predict", "--probe", program, "--model", model, "--encoder", encoder, "--out", out)
		if code != c.predict || c.parity != 0 && !strings.Contains(stderr, c.says) {
			t.Errorf("%s: predict: exit %d: %s%s", name, code, stdout, stderr)
		}
		if code == 0 {
			code, stdout, stderr = call(t, "", "parity", "--model", model, "--encoder", encoder, "--candidate", out)
			if code != c.parity || !strings.Contains(stdout, c.says) {
				t.Errorf("%s: parity of the tensor: exit %d: %s%s", name, code, stdout, stderr)
			}
		}
		code, stdout, stderr = call(t, "", "parity", "--probe", program, "--model", model, "--encoder", encoder)
		if code != c.parity || !strings.Contains(stdout, c.says) {
			t.Errorf("%s: parity: exit %d: %s%s", name, code, stdout, stderr)
		}
	}
	if code, _, stderr := call(t, "", "parity", "--probe", filepath.Join(dir, "none"), "--model", model, "--encoder", encoder); code != 2 {
		t.Errorf("without a probe: exit %d: %s", code, stderr)
	}
}
