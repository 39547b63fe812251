package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
)

func submissionFile(t *testing.T, s *measure.Submission) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "submission.json")
	if err := writeSubmission(path, s); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBenchReadsSubmissions holds the exit codes and words of what reads submissions.
func TestBenchReadsSubmissions(t *testing.T) {
	good := submissionFile(t, measuretest.Sample(0.8))
	second := measuretest.Sample(0.8)
	second.StartedAt = "2026-12-02T00:00:00Z"
	other := submissionFile(t, measuretest.Seal(second))
	lane := measuretest.Sample(0.8)
	lane.Lane = "physical"
	physical := submissionFile(t, measuretest.Seal(lane))
	built := measuretest.Sample(0.8)
	built.StartedAt, built.Arms[0].Program.SHA256 = second.StartedAt, measuretest.Digest("9")
	rebuilt := submissionFile(t, measuretest.Seal(built))
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	typed := filepath.Join(t.TempDir(), "typed.json")
	if err := os.WriteFile(typed, []byte(strings.Replace(string(data), `"wall_seconds":2`, `"wall_seconds":1`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	collection := filepath.Join(t.TempDir(), "all.json")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"bench", "claim", "--claim", "faster", "--arm", "a", "--than", "b", good}, 0, "claim: pass"},
		{[]string{"bench", "claim", "--claim", "faster", "--arm", "b", "--than", "a", good}, 1, "CLAIM_CONTRADICTED"},
		{[]string{"bench", "claim", "--claim", "efficient", "--arm", "a", "--than", "b", good}, 1, "ENERGY_UNMEASURED"},
		{[]string{"bench", "claim", "--claim", "sustained", "--arm", "a", "--than", "b", good}, 1, "SUSTAINED_SHORT"},
		{[]string{"bench", "claim", "--claim", "faster", "--arm", "a", "--than", "b", typed}, 1, "MEASUREMENT_REFUSED"},
		{[]string{"bench", "claim", "--claim", "on the Neural Engine", "--arm", "a", "--than", "b", good}, 2, "where a model ran"},
		{[]string{"bench", "merge", good, other, "--out", collection}, 0, ""},
		{[]string{"bench", "merge", good, physical}, 1, "NOT_MERGEABLE"},
		{[]string{"bench", "merge", good, rebuilt}, 1, "another whisper-cli, by digest (cccccccccccc and 999999999999)"},
		{[]string{"bench", "report", good, rebuilt}, 1, "NOT_MERGEABLE"},
		{[]string{"bench", "report", "--format", "text", physical}, 0, "MEMORY_ELSEWHERE"},
		{[]string{"bench", "report", physical}, 0, "MEMORY_ELSEWHERE"},
		{[]string{"bench", "report", "--format", "text", collection}, 0, "2 accepted, 0 excluded, provisional"},
		{[]string{"bench", "report", good}, 0, "<svg"},
		{[]string{"bench", "report", typed}, 1, "MEASUREMENT_REFUSED"},
		{[]string{"bench", "report", good, physical}, 1, "NOT_MERGEABLE"},
	} {
		code, out := runGate(t, c.args...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("coregate %v: exit %d, want %d and %q:\n%.2000s", c.args, code, c.code, c.want, out)
		}
	}
}

// TestProducer holds that a submission says on which system an encoder was exported, or that nobody knows, but for what is the same on all.
func TestProducer(t *testing.T) {
	const ours, compiler = "coreml-gate.encoder-writer", "coreml-gate-compiler"
	for want, p := range map[string]artifact.Producer{
		"unknown": {},
		"coremltools 9.0, coremlc 3505.4.1, torch==2.7.0, exported on macOS 15.7.7 (24G720)": {Known: true, Converter: "coremltools", ConverterVersion: "9.0",
			Compiler: "coremlc", CompilerVersion: "3505.4.1", Source: "torch==2.7.0", System: "macOS 15.7.7 (24G720)"},
		"coremlc 1436.100.10, exported on an unknown system":                            {Known: true, Compiler: "coremlc", CompilerVersion: "1436.100.10"},
		"coreml-gate.encoder-writer 1, coreml-gate-compiler 1":                          {Known: true, Converter: ours, ConverterVersion: "1", Compiler: compiler, CompilerVersion: "1"},
		"coreml-gate.encoder-writer 1, coreml-gate-compiler 1, exported on Linux-6.1":   {Known: true, Converter: ours, ConverterVersion: "1", Compiler: compiler, CompilerVersion: "1", System: "Linux-6.1"},
		"coreml-gate.encoder-writer 1, coremlc 3505.4.1, exported on an unknown system": {Known: true, Converter: ours, ConverterVersion: "1", Compiler: "coremlc", CompilerVersion: "3505.4.1"},
	} {
		if got := producer(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// runGate runs the program and returns what it wrote to both streams.
func runGate(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out strings.Builder
	code := run(t.Context(), args, strings.NewReader(""), &out, &out)
	return code, out.String()
}
