package standintest

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	miltext "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// program is a file that the build names in the environment.
func program(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s must name a file; `bazel test //tools/encoder/coremlprobe/standintest:standintest_test` does", variable)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(os.Getenv("TEST_SRCDIR"), filepath.FromSlash(path))
}

// The program gives back its input, [1, 3, 5] by default.
const source = `program(1.3)
{
    func main<CoreML6>(tensor<fp32, [1, 3, 5]> logmel_data) {
        tensor<fp32, [1, 3, 5]> output = identity(x = logmel_data)[name = string("output")];
    } -> (output);
}
`

// compiled writes the program as a compiled model.
func compiled(t *testing.T) string {
	t.Helper()
	return compiledOf(t, 3, 5)
}

// compiledOf is compiled for an input [1, rows, columns].
func compiledOf(t *testing.T, rows, columns int64) string {
	t.Helper()
	p, err := miltext.Parse(strings.ReplaceAll(source, "[1, 3, 5]", fmt.Sprintf("[1, %d, %d]", rows, columns)))
	if err != nil {
		t.Fatal(err)
	}
	array := func(name string) spec.Feature {
		return spec.Feature{Name: name, Kind: spec.MultiArrayFeature, Array: &spec.Array{Shape: []int64{1, rows, columns}, DType: spec.ArrayFloat32}}
	}
	m := &spec.Model{SpecificationVersion: 7, Kind: spec.MLProgram, Program: p, Description: &spec.Description{}}
	m.Description.Inputs, m.Description.Outputs = []spec.Feature{array("logmel_data")}, []spec.Feature{array("output")}
	dir := t.TempDir()
	if err := bundle.WritePackage(filepath.Join(dir, "e.mlpackage"), m, nil); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(filepath.Join(dir, "e.mlpackage"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	path := filepath.Join(dir, "e.mlmodelc")
	if err := bundle.Compile(a, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// withEnvironment is the probe as a program that sets variables first: package probe hands none on.
func withEnvironment(t *testing.T, fault, standIn string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "coremlprobe")
	script := fmt.Sprintf("#!/bin/sh\nCOREML_GATE_EVALUATOR='%s' COREML_GATE_DOUBLE_FAULT='%s' COREML_GATE_STAND_IN='%s' exec '%s' \"$@\"\n",
		program(t, "EVALUATOR"), fault, standIn, program(t, "COREMLPROBE"))
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const refusesAll = "refuses-all refuses-cpu-and-neural-engine refuses-cpu-and-gpu refuses-cpu-only"

func TestReportsWhatTheStandInDid(t *testing.T) {
	data := []byte{}
	for i := range 15 {
		data = binary.LittleEndian.AppendUint32(data, 0x3f800000+uint32(i))
	}
	model, dir := compiled(t), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "e.mlpackage"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, fault, standIn, model string
		// code is the one reason that follows, "" for none; found must stand in it.
		code, found string
		// changed says that the tensor is not the input.
		changed bool
	}{
		{name: "all units"},
		{name: "fewer units", standIn: "refuses-all refuses-cpu-and-neural-engine", code: "LOAD_FALLBACK",
			found: "all: com.apple.CoreML -14: Failed to build the model execution plan for all; under it com.apple.appleneuralengine 5: ANECCompile() FAILED; " +
				"cpu_and_neural_engine: com.apple.CoreML -14: Failed to build the model execution plan for cpu-and-neural-engine; under it com.apple.appleneuralengine 5: ANECCompile() FAILED; cpu_and_gpu: loaded"},
		{name: "no units", standIn: refusesAll, code: "LOAD_FAILED", found: "for cpu-only; under it"},
		{name: "no units, without an error", standIn: refusesAll + " no-error", code: "LOAD_FAILED", found: "no error given"},
		{name: "a word that the stand-in does not know", standIn: "refuses-none", code: "LOAD_FAILED", found: "refuses-none"},
		{name: "a fault that the evaluator does not know", fault: "gain-2pct", code: "LOAD_FAILED", found: "gain-2pct"},
		{name: "an error that names a path", standIn: refusesAll + " names-path", code: "LOAD_FAILED", found: `(reading "<model>", <model>/coremldata.bin)`},
		{name: "nothing there", model: filepath.Join(dir, "none.mlmodelc"), code: "LOAD_NOT_ASKED", found: "nothing is there"},
		{name: "a package", model: filepath.Join(dir, "e.mlpackage"), code: "LOAD_NOT_ASKED", found: "coremldata.bin"},
		{name: "aborts while loading", standIn: "aborts-load", code: "PROBE_CRASHED", found: "aborted while it loaded at all"},
		{name: "aborts while predicting", standIn: "aborts-predict", code: "PROBE_CRASHED", found: "aborted while it predicted"},
		{name: "raises while loading", fault: "load-raises", code: "PROBE_CRASHED", found: "aborted while it loaded at all"},
		{name: "raises while predicting", fault: "prediction-raises", code: "PROBE_CRASHED", found: "aborted while it predicted"},
		{name: "no prediction", fault: "prediction-fails", code: "PREDICTION_FAILED", found: "com.apple.CoreML 0: the prediction fails"},
		{name: "another name", fault: "output-renamed", code: "PREDICTION_FAILED", found: `outputs ["<other 1>"]`},
		{name: "float16", fault: "output-float16", code: "PARITY_TYPE", found: "float16", changed: true},
		{name: "an unknown type", standIn: "type-7", code: "PARITY_TYPE", found: "unknown (code 7)", changed: true},
		{name: "padded rows", fault: "output-padded-strides", code: "PARITY_STRIDES", found: "shape [1 3 5] with strides [63 21 1]"},
		{name: "shared memory", standIn: "shares-input", code: "PARITY_ALIAS", found: "in the input's"},
		{name: "changes its input", standIn: "writes-input", code: "PARITY_INPUT_CHANGED", found: "changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.model
			if path == "" {
				path = model
			}
			q := probe.Request{Model: path, Inputs: []probe.Input{{Name: "logmel_data", DType: "float32", Shape: []int{1, 3, 5}, Data: data}}, Outputs: []string{"output"}}
			o, err := probe.Run(t.Context(), withEnvironment(t, c.fault, c.standIn), q, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			reasons := parity.JudgeOutcome(o, path, "output")
			switch {
			case c.code == "" && len(reasons) > 0, c.code != "" && len(reasons) != 1:
				t.Fatalf("expected %q alone, found %v; the probe said %s", c.code, reasons, o.Stderr)
			case c.code != "" && (string(reasons[0].Code) != c.code || !strings.Contains(reasons[0].Found, c.found)):
				t.Fatalf("expected %s finding %q, found %v", c.code, c.found, reasons[0])
			}
			// Whatever the strides, the elements are gathered in order.
			if got, ok := o.Tensors["output"]; ok && !c.changed && string(got) != string(data) {
				t.Errorf("the tensor is % x, expected % x", got, data)
			}
			if c.code == "" {
				checkConfiguration(t, o.Report)
			}
		})
	}
}

// checkConfiguration: the stand-in's untouched configuration asks for the processor alone, so that what was set shows.
func checkConfiguration(t *testing.T, r *probe.Report) {
	t.Helper()
	if len(r.Configuration) == 0 || r.Configuration[0] != (probe.Field{Field: "computeUnits", Value: "all", Default: "cpu_only"}) {
		t.Errorf("the configuration is %v", r.Configuration)
	}
}
