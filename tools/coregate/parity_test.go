package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// numbers is what parity --json prints, as far as these tests look.
type numbers struct {
	Verdict string
	Reasons []struct{ Code string }
	Facts   struct {
		SatisfiesGate bool   `json:"satisfies_gate"`
		MelSHA256     string `json:"mel_sha256"`
		Measurement   struct {
			SNR float64 `json:"snr_db"`
		}
	}
}

func TestParityFromMelToVerdict(t *testing.T) {
	dir := t.TempDir()
	modelWithEncoder(t, dir, "ggml-x", 7)
	model, encoder := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	melPath, outPath := filepath.Join(dir, "mel.npy"), filepath.Join(dir, "out.npy")

	code, stdout, stderr := call(t, "", "mel", "--model", model, "--out", melPath)
	if code != 0 {
		t.Fatalf("mel: exit %d: %s", code, stderr)
	}
	digest, _, _ := strings.Cut(stdout, " ")

	if code, _, stderr = call(t, "", "predict", "--model", model, "--encoder", encoder, "--mel", melPath, "--out", outPath); code != 0 {
		t.Fatalf("predict: exit %d: %s", code, stderr)
	}
	sidecar, err := os.ReadFile(outPath + ".json")
	if err != nil || !strings.Contains(string(sidecar), digest) {
		t.Errorf("the sidecar is %s, %v; expected the mel's digest %s", sidecar, err, digest)
	}

	for name, more := range map[string][]string{"evaluated": nil, "predicted before": {"--candidate", outPath}} {
		code, stdout, stderr = call(t, "", append([]string{"parity", "--json", "--model", model, "--encoder", encoder, "--mel", melPath}, more...)...)
		var got numbers
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, stderr)
		}
		if code != 0 || got.Verdict != "pass" || !got.Facts.SatisfiesGate || got.Facts.MelSHA256 != digest || got.Facts.Measurement.SNR < 100 {
			t.Errorf("%s: exit %d, %+v", name, code, got)
		}
	}

	// The table for people ends with what was measured.
	if code, stdout, _ = call(t, "", "parity", "--model", model, "--encoder", encoder, "--mel", melPath, "--bisect"); code != 0 ||
		!strings.HasPrefix(stdout, "parity: pass\n") || !strings.Contains(stdout, "worst frames:") || !strings.Contains(stdout, "layer.0.attn") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if code, stdout, _ = call(t, "", "parity", "--json", "--model", model, "--encoder", encoder, "--mel", melPath, "--policy", "fp16_v1"); code != 1 ||
		!strings.Contains(stdout, "POLICY_PRECISION") {
		t.Errorf("under a policy for another precision: exit %d: %s", code, stdout)
	}
	// A variable that is not set must not turn the demand for a tensor into none.
	for _, flag := range []string{"--reference", "--candidate", "--probe", "--mel", "--policy"} {
		if code, _, stderr = call(t, "", "parity", "--model", model, "--encoder", encoder, flag, ""); code != 2 || !strings.Contains(stderr, flag+" is empty") {
			t.Errorf("%s without a value: exit %d: %s", flag, code, stderr)
		}
	}
	for _, args := range [][]string{{"mel", "--model", model}, {"predict", "--model", model, "--encoder", encoder}} {
		if code, _, stderr = call(t, "", append(args, "--out", outPath+".bin")...); code != 2 || !strings.Contains(stderr, ".npy") {
			t.Errorf("%s under a name that no reader knows: exit %d: %s", args[0], code, stderr)
		}
	}
	if code, _, stderr = call(t, "", "parity", "--model", model); code != 2 || !strings.Contains(stderr, "--encoder") {
		t.Errorf("without an encoder: exit %d: %s", code, stderr)
	}
}

func TestMil(t *testing.T) {
	code, stdout, _ := call(t, "", "mil", "ops", "--json")
	var ops struct {
		Operations []struct{ Op, Scope string }
	}
	if err := json.Unmarshal([]byte(stdout), &ops); err != nil || code != 0 || len(ops.Operations) < 50 {
		t.Errorf("mil ops: exit %d, %d operations, %v", code, len(ops.Operations), err)
	}
	if code, stdout, _ := call(t, "", "mil", "hard"); code != 0 || !strings.HasPrefix(stdout, "mil hard: pass\n") || !strings.Contains(stdout, "differ_as_listed") {
		t.Errorf("mil hard: exit %d: %s", code, stdout)
	}
	if code, _, stderr := call(t, "", "mil", "hard", "--probe", filepath.Join(t.TempDir(), "none")); code != 2 {
		t.Errorf("mil hard without a Mac: exit %d: %s", code, stderr)
	}
	dir := t.TempDir()
	modelWithEncoder(t, dir, "ggml-x", 7)
	encoder := filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	if code, stdout, _ := call(t, "", "mil", "check", encoder); code != 0 || !strings.HasPrefix(stdout, "mil check: pass\n") {
		t.Errorf("mil check: exit %d: %s", code, stdout)
	}
	path := filepath.Join(encoder, "model.mil")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), " gelu(", " mish(", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := call(t, "", "mil", "check", encoder); code != 3 || !strings.Contains(stdout, "mish") {
		t.Errorf("mil check of an unknown operation: exit %d: %s", code, stdout)
	}
	write := func(file, content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Integers that Core ML does not hold are flagged, where they are computed with.
	write(path, strings.Replace(string(text), "} -> (output)", `tensor<int32, []> big = const()[name = tensor<string, []>("big"), val = tensor<int32, []>(16777217)];
		tensor<fp32, []> used = cast(dtype = tensor<string, []>("fp32"), x = big)[name = tensor<string, []>("used")];
		} -> (output)`, 1))
	for _, args := range [][]string{{"mil", "check", encoder}, {"parity", "--model", filepath.Join(dir, "ggml-x.bin"), "--encoder", encoder}} {
		if code, stdout, _ := call(t, "", args...); code != 0 || !strings.Contains(stdout, "INTEGERS_INEXACT") || !strings.Contains(stdout, "16777217") {
			t.Errorf("%s of an integer above 2^24: exit %d: %s", args[0], code, stdout)
		}
	}
	// A program that cannot be read, and one whose weights cannot, are faults of the artifact.
	weights := filepath.Join(encoder, "weights", "weight.bin")
	for _, c := range []struct{ file, content, code string }{
		{path, string(text)[:len(text)/2], "ARTIFACT_MALFORMED"},
		{path, strings.Replace(string(text), "@model_path/weights", "@model_path/../weights", 1), "ARTIFACT_PATH_ESCAPE"},
		{weights, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "LFS_POINTER"},
		{weights, "", "ARTIFACT_INCOMPLETE"},
	} {
		write(path, string(text))
		write(c.file, c.content)
		if code, stdout, _ := call(t, "", "mil", "check", encoder); code != 1 || !strings.HasPrefix(stdout, "mil check: fail\n") || !strings.Contains(stdout, c.code) {
			t.Errorf("mil check, want %s: exit %d: %s", c.code, code, stdout)
		}
	}
	if code, stdout, _ := call(t, "", "mil", "check", filepath.Join(dir, "none.mlmodelc")); code != 1 || !strings.Contains(stdout, "ENCODER_MISSING") {
		t.Errorf("mil check of nothing: exit %d: %s", code, stdout)
	}
}

// TestSignalsLeaveNothingBehind stops commands before they are done.
func TestSignalsLeaveNothingBehind(t *testing.T) {
	dir := t.TempDir()
	modelWithEncoder(t, dir, "ggml-x", 7)
	model, encoder := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	out := filepath.Join(t.TempDir(), "out.npy")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{
		{"predict", "--model", model, "--encoder", encoder, "--out", out},
		{"parity", "--model", model, "--encoder", encoder},
	} {
		var stdout, stderr strings.Builder
		code := run(ctx, args, strings.NewReader(""), &stdout, &stderr)
		if code != 130 || !strings.Contains(stderr.String(), "stopped by Ctrl-C") || stdout.Len() > 0 {
			t.Errorf("%s: exit %d, %q, %q", args[0], code, stdout.String(), stderr.String())
		}
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestWhole holds that a file that cannot be completed leaves the one before it, and nothing else.
func TestWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.npy")
	if err := writeNPY(path, []int{2}, []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeNPY(path, []int{3}, []float32{1, 2}); err == nil {
		t.Error("a shape that does not fit is written")
	}
	after, err := os.ReadFile(path)
	left, dirErr := os.ReadDir(filepath.Dir(path))
	if err != nil || dirErr != nil || string(after) != string(before) || len(left) != 1 {
		t.Errorf("%d bytes instead of %d, %v, %v", len(after), len(before), left, err)
	}
}
