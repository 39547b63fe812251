package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/repeat"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// TestRepeatTimes has a program play the probe: times are told where they are asked for, and are a measurement of a release build on a
// machine that is cool and saves no power alone.
func TestRepeatTimes(t *testing.T) {
	real := strain
	defer func() { strain = real }()
	dir := t.TempDir()
	modelWithEncoder(t, dir, "ggml-x", 7)
	model, encoder := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	m, err := ggml.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	size := 4 * m.Hyperparameters.Mels * m.Hyperparameters.MelFrames()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	program := func(build string, times []int64) string {
		r := &repeat.Report{Schema: 1, Version: "2", Host: coremlprobe.Host{OSVersion: "15.5"}, Configuration: []probe.Field{}, Build: build, Framework: "com.apple.CoreML",
			Inputs: []repeat.Memory{{Bytes: size, Alignment: repeat.AlignmentFor(size, repeat.PageAlignedFrom), Aligned: true}}, InputsUnchanged: true, Counters: repeat.Counters{Allocations: 3},
			Cycles: []repeat.Cycle{{Load: probe.Loaded, Predicted: 4, Overlapped: repeat.Overlapped{State: repeat.NotAsked}, Nanoseconds: times}}}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"report.json": string(data), "probe": fmt.Sprintf("#!/bin/sh\ncp %s/report.json $3\n", dir)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Join(dir, "probe")
	}
	times, cool := []int64{9000000, 400, 200, 300}, environment.Strain{Thermal: "nominal", LowPower: "off"}
	for name, c := range map[string]struct {
		build         string
		times         []int64
		before, after environment.Strain
		args          []string
		code          int
		says          []string
	}{
		"timed":                {"release", times, cool, cool, []string{"--time"}, 0, []string{`"warm_median_ns":300`, `"first_ns":[9000000]`, `"framework":"com.apple.CoreML"`}},
		"not asked for":        {"debug", []int64{}, environment.Strain{}, environment.Strain{}, nil, 0, []string{`"verdict":"pass"`}},
		"a debug build":        {"debug", times, cool, cool, []string{"--time"}, 3, []string{"BUILD_NOT_RELEASE", `"warm_median_ns":300`}},
		"hot before":           {"release", times, environment.Strain{Thermal: "fair", LowPower: "off"}, cool, []string{"--time"}, 3, []string{"THERMAL_NOT_NOMINAL", "machine before"}},
		"hot after":            {"release", times, cool, environment.Strain{Thermal: "serious", LowPower: "off"}, []string{"--time"}, 3, []string{"THERMAL_NOT_NOMINAL", "machine after"}},
		"saves power":          {"release", times, environment.Strain{Thermal: "nominal", LowPower: "on"}, cool, []string{"--time"}, 3, []string{"LOW_POWER_MODE"}},
		"nobody knows":         {"release", times, environment.Strain{Thermal: "unknown", LowPower: "unknown"}, cool, []string{"--time"}, 3, []string{"THERMAL_NOT_NOMINAL", "LOW_POWER_MODE"}},
		"times are not there":  {"release", []int64{}, cool, cool, []string{"--time"}, 2, []string{"0 times"}},
		"times are not wanted": {"release", times, cool, cool, nil, 2, []string{"4 times"}},
	} {
		asked := 0
		strain = func() environment.Strain {
			asked++
			return map[bool]environment.Strain{true: c.before, false: c.after}[asked == 1]
		}
		args := append([]string{"repeat", "--json", "--probe", program(c.build, c.times), "--model", model, "--encoder", encoder, "--loads", "1", "--predictions", "4", "--overlap", "0"}, c.args...)
		code, out, stderr := call(t, "", args...)
		if code != c.code {
			t.Errorf("%s: exit %d, want %d: %s%s", name, code, c.code, out, stderr)
		}
		text := strings.NewReplacer(": ", ":", "\n", "", "  ", "").Replace(out + stderr)
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
	}
}
