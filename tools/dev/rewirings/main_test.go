package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// source hands a model's tensors to the encoder writer.
type source struct{ *ggml.Model }

func (s source) Dims() encoder.Dims {
	h := s.Hyperparameters
	return encoder.Dims{Mels: int64(h.Mels), AudioCtx: int64(h.AudioCtx), State: int64(h.AudioState), Heads: int64(h.AudioHead), Layers: int64(h.AudioLayer)}
}

func (s source) Shape(name string) ([]int64, error) {
	t, ok := s.Tensor(name)
	if !ok {
		return nil, fmt.Errorf("no tensor %s", name)
	}
	return t.Shape(), nil
}

func (s source) Values(name string, visit func([]float32) error) error {
	t, _ := s.Tensor(name)
	return s.Model.Values(t, func(_ int64, v []float32) error { return visit(v) })
}

func TestFigure(t *testing.T) {
	dir := t.TempDir()
	model, pkg := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "x.mlpackage")
	var b bytes.Buffer
	if err := synthetic.Write(&b, synthetic.Options{Layers: 2, State: 16, Heads: 2, AudioCtx: 16, TextCtx: 4}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(model, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := encoder.WritePackage(pkg, source{m}, encoder.Float32); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run([]string{"-break=5", "-keep=3", model, pkg}, &out, &errs)
	if code != 0 || !strings.Contains(out.String(), "0 of those pass; 0 of 3 rewritings are refused") {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
	for _, args := range [][]string{nil, {model}, {"-x", model, pkg}} {
		if code := run(args, &out, &errs); code != 2 {
			t.Errorf("%q: exit %d, want 2", args, code)
		}
	}
	if code := run([]string{model, dir}, &out, &errs); code != 1 {
		t.Errorf("no package: exit %d, want 1", code)
	}
}
