// Package placementtest makes compute plans, device lists and recordings for tests, after those that others published. docs/placement.md
// cites the sources. What is made here was seen on no machine of this project.
package placementtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
)

// Host is the machine of what is made here.
var Host = coremlprobe.Host{OSVersion: "15.6", OSBuild: "24G84", Hardware: "Mac16,10", Chip: "Apple M4"}

var devices = map[string]computeplan.Device{"cpu": computeplan.CPU, "gpu": computeplan.GPU, "ne": computeplan.NeuralEngine}

// Devices of a Mac with Apple silicon.
func Devices() []computeplan.Listed {
	cores := 16
	return []computeplan.Listed{{Kind: computeplan.CPU}, {Kind: computeplan.GPU}, {Kind: computeplan.NeuralEngine, Cores: &cores}}
}

// Plan is a plan with an operation for each line "OPERATOR LAYER DEVICE WEIGHT", each supported everywhere. DEVICE is cpu, gpu or ne,
// and "-" for a constant; WEIGHT is "-" where there is none.
func Plan(lines ...string) *computeplan.Plan {
	p := &computeplan.Plan{Schema: 1, Version: "2", Mode: computeplan.ModePlan, Host: Host, Framework: computeplan.FrameworkApple, Result: computeplan.Observed,
		Devices: Devices(), Units: computeplan.AllUnits, ModelKind: "program", Operations: []computeplan.Operation{}}
	for _, line := range lines {
		f := strings.Fields(line)
		op := computeplan.Operation{Block: "main", Operator: f[0], Outputs: []string{f[1]}, Supported: []computeplan.Device{}}
		if on, ok := devices[f[2]]; ok {
			op.Preferred, op.Supported = &on, []computeplan.Device{computeplan.CPU, computeplan.GPU, computeplan.NeuralEngine}
		}
		if weight, err := strconv.ParseFloat(f[3], 64); err == nil {
			op.Weight = &weight
		}
		p.Operations = append(p.Operations, op)
	}
	return p
}

// Encoder is a plan in the form of an encoder of two layers, with nearly all of its cost on the Neural Engine and no break.
func Encoder() *computeplan.Plan {
	lines := []string{"const x_weight_0 - -", "ios16.cast mel_to_fp16 cpu 0.01"}
	for layer := range 2 {
		for _, name := range []string{"layer_norm", "linear", "matmul", "softmax", "add", "gelu"} {
			lines = append(lines, fmt.Sprintf("ios16.%s layer_%d_%s_cast_fp16 ne 0.08", name, layer, name))
		}
	}
	return Plan(append(lines, "ios16.cast output cpu 0.01")...)
}

// Broken is [Encoder] with one operation of the name on another device, in every layer.
func Broken(operator string, on computeplan.Device) *computeplan.Plan {
	p := Encoder()
	for i := range p.Operations {
		if p.Operations[i].Operator == operator {
			p.Operations[i].Preferred = &on
		}
	}
	return p
}

// Unfinished is a plan without operations, with a result and an error of that description.
func Unfinished(result, description string) *computeplan.Plan {
	p := Plan()
	p.Result, p.ModelKind = result, "unknown"
	if description != "" {
		p.Error = &coremlprobe.Error{Domain: "com.apple.CoreML", Code: "0", Description: &description, Underlying: []string{}}
	}
	return p
}

// Record is a record of a plan of an encoder.
func Record(encoderDigest string, p *computeplan.Plan) *placement.Record {
	return &placement.Record{Schema: 1, EncoderDigest: encoderDigest, ProbeSHA256: strings.Repeat("a", 64), Plan: p}
}

// List is a device list, with or without a Neural Engine.
func List(neuralEngine bool) *computeplan.DeviceList {
	l := &computeplan.DeviceList{Schema: 1, Version: "2", Mode: computeplan.ModeDevices, Host: Host, Framework: computeplan.FrameworkApple, Result: computeplan.Observed, Devices: Devices()}
	if !neuralEngine {
		l.Devices = l.Devices[:2]
	}
	return l
}

// Judgement is the judgement over [Encoder] of an encoder on a build of macOS, which passes.
func Judgement(t testing.TB, encoderDigest, osBuild string) *verdict.Judgement {
	t.Helper()
	p, err := policy.Frozen("placement_plan_v1")
	if err != nil {
		t.Fatal(err)
	}
	plan := Encoder()
	plan.Host.OSBuild = osBuild
	return placement.Judge(&placement.Given{Lane: evidence.LanePhysical, Encoder: "ggml-model-encoder.mlmodelc", EncoderDigest: encoderDigest, OSBuild: osBuild,
		Plan: Record(encoderDigest, plan)}, p)
}

// Contents is a table of contents of a recording, after one that was published (ImageAll).
func Contents(program, template, kind string, exit int) string {
	return fmt.Sprintf(`<?xml version="1.0"?>
<trace-toc><run number="1"><info><target>
<device platform="macOS" model="Mac mini" name="host" os-version="15.6 (24G84)" uuid="u"/>
<process type="%s" return-exit-status="%d" name="%s" pid="1234" termination-reason="exit(%d)"/>
</target><environment><item key="HOME" value="/Users/u"/></environment><summary><start-date>2026-11-01T10:00:00.000+00:00</start-date><duration>3.1</duration>
<template-name>%s</template-name><instruments-version>16.0 (17F113)</instruments-version></summary></info>
<data><table schema="coreml-os-signpost"/><table schema="ane-hw-intervals"/></data></run></trace-toc>
`, kind, exit, program, exit, template)
}

// Intervals is an export of a table of Neural Engine intervals with one row for each label. As Instruments does, it writes a value
// once and refers to it afterwards, also to values within other values.
func Intervals(schema string, labels ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0"?>
<trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[34]'><schema name="%s">`, schema)
	for _, c := range []string{"start", "duration", "channel-name", "event-label", "state"} {
		fmt.Fprintf(&b, `<col><mnemonic>%s</mnemonic><name>%s</name></col>`, c, c)
	}
	b.WriteString("</schema>")
	seen := map[string]int{}
	for i, label := range labels {
		duration, channel, state := `<duration id="2" fmt="2.55 ms">2545917</duration>`, `<ane-event-name id="3" fmt="Apple Neural Engine">Apple Neural Engine</ane-event-name>`, `<gpu-state id="4" fmt="Active">Active</gpu-state>`
		if i > 0 {
			duration, channel, state = `<duration ref="2"/>`, `<ane-event-name ref="3"/>`, `<gpu-state ref="4"/>`
		}
		text := fmt.Sprintf(`<formatted-label id="%d" fmt="%s"><string id="%d" fmt="%s">%s</string></formatted-label>`, 100+2*i, label, 101+2*i, label, label)
		if first, ok := seen[label]; ok {
			text = fmt.Sprintf(`<formatted-label ref="%d"/>`, first)
		} else {
			seen[label] = 100 + 2*i
		}
		fmt.Fprintf(&b, "<row><start-time id=\"%d\" fmt=\"00:01.160\">%d</start-time>%s%s%s%s</row>", 1000+i, 1160091583+int64(i)*5_000_000, duration, channel, text, state)
	}
	b.WriteString("</node></trace-query-result>\n")
	return b.String()
}

// Recording writes a recording's folder for an encoder.
func Recording(t testing.TB, encoderDigest, contents, intervals string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{placement.ContentsFile: contents, placement.IntervalsFile: intervals} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := strings.Repeat("b", 64)
	if err := placement.WriteAbout(dir, placement.About{Schema: 1, EncoderDigest: encoderDigest, Program: "whisper-cli", ProgramSHA256: sum, ModelSHA256: sum, AudioSHA256: sum}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Program is a coremlprobe that leaves the given reports, and then does more, such as "kill -ABRT $$".
func Program(t testing.TB, devices *computeplan.DeviceList, plan *computeplan.Plan, more string) string {
	t.Helper()
	dir := t.TempDir()
	for name, v := range map[string]any{"devices.json": devices, "plan.json": plan} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$1\" >> '%[1]s/asked'\ncase $1 in\ndevices) cp '%[1]s/devices.json' \"$2\" ;;\nplan) cp '%[1]s/plan.json' \"$3\"; %[2]s ;;\n*) exit 2 ;;\nesac\n", dir, more)
	program := filepath.Join(dir, "coremlprobe")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// Asked are the modes that a [Program] was started in, in order.
func Asked(t testing.TB, program string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(program), "asked"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}
