// Package probetest makes reports of coremlprobe for tests, and plays the probe where there is none.
package probetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// Variable makes a test binary play the probe, see [Main]: its value is the report to leave.
const Variable = "PROBETEST_REPORT"

func ptr(s string) *string { return &s }

// Failure is an NSError of Core ML's.
func Failure(description string) *probe.Error {
	return &probe.Error{Domain: "com.apple.CoreML", Code: "-14", Description: &description, Underlying: []string{"com.apple.appleneuralengine 5: ANECCompile() FAILED"}}
}

// Report is a report of a load at the first attempt and an output of float32 rows.
func Report(output string, shape ...int) *probe.Report {
	total := 1
	strides := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = total
		total *= shape[i]
	}
	return &probe.Report{
		Schema: 1, Version: "1",
		Host: probe.Host{OSVersion: "15.7.7", OSBuild: "24G720", Hardware: "Mac15,9", Chip: "Apple M3 Max"},
		Configuration: []probe.Field{
			{Field: "computeUnits", Value: "all", Default: "all"},
			{Field: "allowLowPrecisionAccumulationOnGPU", Value: "false", Default: "false"},
			{Field: "functionName", Value: "none", Default: "none"},
		},
		Attempts:        []probe.Attempt{{Route: probe.RouteURL, Asked: ptr("all"), Result: probe.Loaded}},
		Prediction:      probe.Prediction{Result: probe.Predicted},
		Features:        []string{output},
		InputsUnchanged: true,
		Outputs: []probe.Output{{Name: output, DType: "float32", DTypeCode: 65568, Shape: shape, Strides: strides, Count: total,
			Contiguous: true, Written: true}},
	}
}

// Refused makes a report's load fail at the first n sets of compute units.
func Refused(r *probe.Report, n int) {
	r.Attempts = nil
	for i, units := range probe.Ladder {
		a := probe.Attempt{Route: probe.RouteURL, Asked: ptr(units), Result: probe.Failed, Error: Failure("no plan for " + units)}
		if i == n {
			a.Result, a.Error = probe.Loaded, nil
		}
		if r.Attempts = append(r.Attempts, a); i == n {
			return
		}
	}
	Unpredicted(r, probe.NotAsked, nil)
}

// Unpredicted takes the outputs out of a report.
func Unpredicted(r *probe.Report, result string, err *probe.Error) {
	r.Prediction = probe.Prediction{Result: result, Error: err}
	r.Features, r.Outputs = []string{}, []probe.Output{}
}

// Main is for TestMain: where [Variable] is set, the process is the probe and ends.
func Main(m *testing.M) {
	report := os.Getenv(Variable)
	if report == "" {
		os.Exit(m.Run())
	}
	if err := play(report); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// play leaves the report, and each output's bytes from the file NAME.bin beside it.
func play(report string) error {
	data, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	var request struct{ Outputs []struct{ Name, File string } }
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &request); err != nil {
		return err
	}
	for _, o := range request.Outputs {
		if b, err := os.ReadFile(filepath.Join(filepath.Dir(report), o.Name+".bin")); err == nil {
			if err := os.WriteFile(o.File, b, 0o600); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(os.Args[2], data, 0o600)
}

// Program is a program that plays the probe: a script that starts the test binary again. more is what it does
// instead of, or after, leaving the report, such as "kill -ABRT $$".
func Program(t *testing.T, r *probe.Report, tensors map[string][]byte, more string) string {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report.json")
	if err := os.WriteFile(report, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, b := range tensors {
		if err := os.WriteFile(filepath.Join(dir, name+".bin"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\n%s='%s' '%s' \"$@\"\n%s\n", Variable, report, self, more)
	program := filepath.Join(dir, "coremlprobe")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}
