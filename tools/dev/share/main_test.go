package main

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// The parts' work is the encoder's: for large-v3, 2.27 TFLOP in 32 layers.
func TestParts(t *testing.T) {
	var conv, rest float64
	for i, p := range layer(ggml.Hyperparameters{Mels: 8, AudioCtx: 30, AudioState: 32, AudioHead: 2, AudioLayer: 1}, 1) {
		p.run()
		if i == 0 {
			conv = p.flops
		} else {
			rest += p.flops
		}
	}
	if want := 2.0 * 60 * 32 * 24; conv != want+2*30*32*96 {
		t.Errorf("convolutions: %v", conv)
	}
	if want := 2.0*30*12*32*32 + 2*2*30*30*32; rest != want {
		t.Errorf("a layer: %v, want %v", rest, want)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	stored := filepath.Join(t.TempDir(), "share.json")
	err := run([]string{"--size", "tiny", "--rounds", "1", "--report", stored}, nil, &out)
	if able := runtime.GOARCH == "amd64" && processor.Has("avx2") && processor.Has("fma"); able != (err == nil) {
		t.Fatalf("able %v: %v", able, err)
	}
	for _, part := range []string{"convolutions", "projections", "MLP, widening", "MLP, narrowing", "attention"} {
		if err == nil && !strings.Contains(out.String(), "| "+part+" |") {
			t.Errorf("no %s in\n%s", part, out.String())
		}
	}
	if err == nil {
		if r, err := report.Read(stored); err != nil || r.Command != "go run ./tools/dev/share --size tiny --rounds 1" || !strings.HasPrefix(out.String(), r.Tables[0].Markdown()) {
			t.Errorf("the stored report: %+v, %v", r, err)
		}
	}
	if err := run([]string{"--size", "huge"}, nil, &out); err == nil {
		t.Error("an unknown size was taken")
	}
}

func TestServe(t *testing.T) {
	parts := layer(ggml.Hyperparameters{Mels: 8, AudioCtx: 30, AudioState: 32, AudioHead: 2, AudioLayer: 1}, 2)
	var out strings.Builder
	if err := serve("attention", parts, strings.NewReader("run\nrun\n"), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(out.String())
	if len(lines) != 3 || lines[0] != "ready" {
		t.Fatalf("answered %q", out.String())
	}
	for _, l := range lines[1:] {
		if n, err := strconv.Atoi(l); err != nil || n <= 0 {
			t.Errorf("answered %q; expected nanoseconds", l)
		}
	}
	if err := serve("decoder", parts, strings.NewReader(""), &out); err == nil || !strings.Contains(err.Error(), `"projections"`) {
		t.Errorf("an unknown part: %v", err)
	}
}
