package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
)

// TestPlacement judges what a program that plays coremlprobe says, and the record of it as on another machine.
func TestPlacement(t *testing.T) {
	dir := t.TempDir()
	encoder := filepath.Join(dir, "ggml-tiny.en-encoder.mlmodelc")
	if err := os.Mkdir(encoder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("ggml-tiny.en-encoder.mlmodelc/coremldata.bin", "x")
	digest, err := tree.Digest(encoder)
	if err != nil {
		t.Fatal(err)
	}
	name := "ggml-tiny.en-encoder"
	recording := placementtest.Recording(t, digest, placementtest.Contents("whisper-cli", "Core ML", "launched", 0),
		placementtest.Intervals("ane-hw-intervals", name+"_main__Op0_AneInference"))
	idle := write("power.txt", "*** Sampled system activity (Fri Mar 22 14:54:38 2024 -0500) (5024.83ms elapsed) ***\nANE Power: 0 mW\n")
	record := filepath.Join(dir, "plan.json")

	good, broken := placementtest.Encoder(), placementtest.Broken("ios16.softmax", computeplan.CPU)
	standIn := placementtest.Encoder()
	standIn.Framework = computeplan.FrameworkStandIn
	for _, c := range []struct {
		name         string
		neuralEngine bool
		plan         *computeplan.Plan
		args         []string
		code         int
		says         string
		asked        string
	}{
		{"read on this machine", true, good, []string{"--record", record}, 0, "Neural Engine 98.0 %, CPU 2.0 %", "devices plan"},
		{"below the share", true, broken, nil, 1, "ios16.softmax (layer layer_0_softmax_cast_fp16) on CPU", "devices plan"},
		{"breaks of the chain", true, broken, nil, 1, "between layer_0_matmul_cast_fp16 and layer_0_add_cast_fp16", "devices plan"},
		{"no Neural Engine", false, good, nil, 2, "PLACEMENT_NO_NEURAL_ENGINE", "devices"},
		{"no Neural Engine, as an object", false, good, []string{"--json"}, 2, `"code": "PLACEMENT_NO_NEURAL_ENGINE"`, "devices"},
		{"the stand-in", true, standIn, nil, 3, "PLACEMENT_STAND_IN", "devices plan"},
		{"another build", true, good, []string{"--os-build", "25A354"}, 1, "PLACEMENT_OTHER_HOST", "devices plan"},
		{"a policy for numbers", true, good, []string{"--policy", "fp32_v2"}, 2, "PLACEMENT_POLICY", ""},
		{"a policy of no name", true, good, []string{"--policy", "mine"}, 2, "no frozen policy", ""},
		{"a policy that goes by a trace", true, good, []string{"--policy", "placement_trace_v1"}, 3, "PLACEMENT_NO_INSTRUMENT", "devices plan"},
		{"a plan and a recording", true, broken, []string{"--policy", "placement_trace_v1", "--trace", recording}, 0, "1 predictions of the encoder on Neural Engine, recorded", "devices plan"},
		{"with power", true, good, []string{"--power", idle}, 0, "POWER_SILENT", "devices plan"},
	} {
		program := placementtest.Program(t, placementtest.List(c.neuralEngine), c.plan, "")
		code, stdout, stderr := call(t, "", append([]string{"placement", "--encoder", encoder, "--probe", program}, c.args...)...)
		if code != c.code || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s%s", c.name, code, c.code, c.says, stdout, stderr)
		}
		if asked := placementtest.Asked(t, program); asked != c.asked {
			t.Errorf("%s: asked for %q, want %q", c.name, asked, c.asked)
		}
	}

	other := filepath.Join(dir, "other.mlmodelc")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	write("other.mlmodelc/coremldata.bin", "y")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--encoder", encoder, "--plan", record}, 0, "Neural Engine 98.0 %"},
		{[]string{"--encoder", other, "--plan", record}, 1, "PLACEMENT_OTHER_ENCODER"},
		{[]string{"--encoder", encoder}, 3, "PLACEMENT_NO_INSTRUMENT"},
		{[]string{"--encoder", encoder, "--power", idle}, 3, "a reading of power"},
		{[]string{"--encoder", encoder, "--plan", idle}, 2, "record of a compute plan"},
		{[]string{"--encoder", encoder, "--plan", record, "--probe", "x"}, 2, "give one of them"},
		{[]string{"--encoder", encoder, "--record", record}, 2, "give --probe too"},
		{[]string{"--encoder", encoder, "--power-control", idle}, 2, "give --power too"},
		{[]string{"--plan", record}, 2, "needs --encoder"},
		{[]string{"--encoder", encoder, "--trace", dir}, 2, "recording.json"},
		{[]string{"record", "--cli", "x"}, 2, "--model"},
	} {
		code, stdout, stderr := call(t, "", append([]string{"placement"}, c.args...)...)
		if code != c.code || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("%q: exit %d, want %d and %q:\n%s%s", c.args, code, c.code, c.says, stdout, stderr)
		}
	}
}
