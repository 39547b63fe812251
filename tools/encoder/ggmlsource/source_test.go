package ggmlsource_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

func TestSource(t *testing.T) {
	o := synthetic.Options{Seed: 3, Layers: 2, TextLayers: 1, State: 48, Heads: 3, Mels: 80, AudioCtx: 40, TextCtx: 8, Vocab: 96}
	path := filepath.Join(t.TempDir(), "made.bin")
	var data bytes.Buffer
	if err := synthetic.Write(&data, o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := ggmlsource.Of(m)
	if got, want := s.Dims(), (encoder.Dims{Mels: 80, AudioCtx: 40, State: 48, Heads: 3, Layers: 2}); got != want {
		t.Errorf("extents %+v; expected %+v", got, want)
	}
	const name = "encoder.conv1.weight"
	if shape, err := s.Shape(name); err != nil || !slices.Equal(shape, []int64{48, 80, 3}) {
		t.Errorf("%s: %v, %v; expected outermost first", name, shape, err)
	}
	n := 0
	if err := s.Values(name, func(v []float32) error { n += len(v); return nil }); err != nil || n != 48*80*3 {
		t.Errorf("%s: %d values, %v", name, n, err)
	}
	_, err = s.Shape("encoder.conv9.weight")
	for _, err := range []error{err, s.Values("encoder.conv9.weight", func([]float32) error { return nil })} {
		if err == nil || !strings.Contains(err.Error(), "no tensor encoder.conv9.weight") {
			t.Errorf("a tensor that is not there: %v", err)
		}
	}
}
