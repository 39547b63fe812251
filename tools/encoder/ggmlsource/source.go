// Package ggmlsource gives the encoder writer the tensors of a whisper.cpp model.
package ggmlsource

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// Of is the model as the writer reads it. It reads while it is written from, so the model stays open as long.
func Of(m *ggml.Model) encoder.Source { return source{m} }

type source struct{ *ggml.Model }

func (s source) Dims() encoder.Dims {
	h := s.Hyperparameters
	return encoder.Dims{Mels: int64(h.Mels), AudioCtx: int64(h.AudioCtx), State: int64(h.AudioState),
		Heads: int64(h.AudioHead), Layers: int64(h.AudioLayer)}
}

func (s source) find(name string) (ggml.Tensor, error) {
	t, ok := s.Tensor(name)
	if !ok {
		return t, fmt.Errorf("the model has no tensor %s", name)
	}
	return t, nil
}

func (s source) Shape(name string) ([]int64, error) {
	t, err := s.find(name)
	return t.Shape(), err
}

func (s source) Values(name string, visit func([]float32) error) error {
	t, err := s.find(name)
	if err != nil {
		return err
	}
	return s.Model.Values(t, func(_ int64, v []float32) error { return visit(v) })
}
