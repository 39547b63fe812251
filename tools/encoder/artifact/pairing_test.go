package artifact

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// wide is a model whose matrices can be quantised.
var wide = synthetic.Options{Seed: 5, Layers: 2, TextLayers: 1, State: 64, Heads: 2, Mels: 80, AudioCtx: 20, TextCtx: 8, Vocab: 96}

// judgePair writes model and the encoder of another model, and inspects them.
func judgePair(t *testing.T, bin, enc synthetic.Options, p milencoder.Precision, want ...string) *Report {
	t.Helper()
	dir := t.TempDir()
	model := filepath.Join(dir, "ggml-x.bin")
	writeFile(t, model, modelBytes(t, bin))
	writeEncoder(t, dir, "ggml-x-encoder", modelBytes(t, enc), p)
	return expect(t, model, filepath.Join(dir, "ggml-x-encoder.mlmodelc"), Options{ContentsOnly: true}, want...)
}

func TestPairing(t *testing.T) {
	scaled := func(o synthetic.Options, name string, by float32) synthetic.Options {
		o.Adjust = func(tensor string, _ int64, v float32) float32 {
			if tensor == name {
				return v * by
			}
			return v
		}
		return o
	}
	t.Run("float16", func(t *testing.T) { judgePair(t, wide, wide, milencoder.Float16) })
	t.Run("float32", func(t *testing.T) {
		if r := judgePair(t, wide, wide, milencoder.Float32); r.Pairing.Rule != "exact" || r.Pairing.Finer {
			t.Errorf("%+v", r.Pairing)
		}
	})
	t.Run("one matrix scaled by 1.001", func(t *testing.T) {
		r := judgePair(t, wide, scaled(wide, "encoder.blocks.1.mlp.0.weight", 1.001), milencoder.Float16, "PAIRING_DIFFERS")
		if d := r.Pairing.Differing; len(d) != 1 || d[0].Tensor != "encoder.blocks.1.mlp.0.weight" || d[0].RelativeRMS < 5e-4 || d[0].RelativeRMS > 2e-3 {
			t.Errorf("%+v", d)
		}
	})
	for _, name := range []string{"encoder.conv1.weight", "encoder.conv2.bias", "encoder.positional_embedding", "encoder.ln_post.bias",
		"encoder.blocks.0.attn.key.weight", "encoder.blocks.1.attn.query.bias", "encoder.blocks.0.mlp_ln.weight"} {
		t.Run("scaled "+name, func(t *testing.T) {
			r := judgePair(t, wide, scaled(wide, name, 1.001), milencoder.Float16, "PAIRING_DIFFERS")
			if d := r.Pairing.Differing; len(d) != 1 || d[0].Tensor != name {
				t.Errorf("%+v", d)
			}
		})
	}
	// The converter multiplies a bias by the gain that it was divided by, which moves the last bit of some values.
	for _, c := range []struct {
		name string
		flip uint32
		want []string
	}{{"the last bit of norms and biases", 1, nil}, {"their last five bits", 1 << 5, []string{"PAIRING_DIFFERS"}}} {
		t.Run(c.name, func(t *testing.T) {
			o, moved := wide, 0
			o.Adjust = func(tensor string, i int64, v float32) float32 {
				small := strings.HasSuffix(tensor, ".bias") || strings.Contains(tensor, "ln")
				if !strings.HasPrefix(tensor, "encoder.") || !small || i%3 != 0 || v == 0 {
					return v
				}
				moved++
				return math.Float32frombits(math.Float32bits(v) ^ c.flip)
			}
			if r := judgePair(t, wide, o, milencoder.Float32, c.want...); r.Pairing.Finer || moved == 0 {
				t.Errorf("%d values moved, finer %v: %s", moved, r.Pairing.Finer, r.Pairing.FinerBecause())
			}
		})
	}
	t.Run("one value of one matrix", func(t *testing.T) {
		o := wide
		o.Adjust = func(tensor string, i int64, v float32) float32 {
			if tensor == "encoder.blocks.0.attn.out.weight" && i == 777 {
				return v + 0.125
			}
			return v
		}
		if d := judgePair(t, wide, o, milencoder.Float16, "PAIRING_DIFFERS").Pairing.Differing; len(d) != 1 || d[0].Values != 1 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("another model", func(t *testing.T) {
		o := wide
		o.Seed = 6
		r := judgePair(t, wide, o, milencoder.Float16, "PAIRING_ABSENT")
		if r.Pairing.Matched != 0 || len(r.Pairing.Unmatched) == 0 {
			t.Errorf("%+v", r.Pairing)
		}
	})
	t.Run("the stock encoder beside a tuned decoder", func(t *testing.T) {
		// Tuning moves every matrix of the encoder a little.
		o := wide
		o.Adjust = func(tensor string, i int64, v float32) float32 {
			if strings.HasPrefix(tensor, "encoder.blocks.") && strings.HasSuffix(tensor, "weight") {
				return v + v*float32(i%7)/100
			}
			return v
		}
		judgePair(t, o, wide, milencoder.Float16, "PAIRING_DIFFERS")
	})
	t.Run("another depth", func(t *testing.T) {
		o := wide
		o.Layers = 3
		judgePair(t, o, wide, milencoder.Float16, "PAIRING_ABSENT")
	})
	t.Run("more layers than the model", func(t *testing.T) {
		o := wide
		o.Layers = 3
		r := judgePair(t, wide, o, milencoder.Float16, "PAIRING_PLACE")
		if !slices.Contains(codes(r.Notes), "PAIRING_UNMATCHED") {
			t.Errorf("the third layer's weights were not noted: %v", r.Notes)
		}
	})
	t.Run("layers in another order", func(t *testing.T) {
		one := blockValues(t, wide)
		o := wide
		o.Adjust = func(tensor string, i int64, v float32) float32 {
			if b, ok := strings.CutPrefix(tensor, "encoder.blocks."); ok {
				return one["encoder.blocks."+map[string]string{"0": "1", "1": "0"}[b[:1]]+b[1:]][i]
			}
			return v
		}
		judgePair(t, wide, o, milencoder.Float16, "PAIRING_ORDER")
	})
	t.Run("finer weights", func(t *testing.T) {
		o := wide
		o.Float32 = true
		r := judgePair(t, wide, o, milencoder.Float32)
		if !r.Pairing.Finer || !slices.Contains(codes(r.Notes), "PAIRING_FINER") {
			t.Errorf("float32 weights beside a float16 model are not called finer: %+v", r.Pairing)
		}
	})
	t.Run("coarser weights", func(t *testing.T) {
		o := wide
		o.Float32 = true
		if r := judgePair(t, o, o, milencoder.Float16); r.Pairing.Finer {
			t.Error("float16 weights beside a float32 model are called finer")
		}
	})
}

func blockValues(t *testing.T, o synthetic.Options) map[string][]float32 {
	t.Helper()
	b := modelBytes(t, o)
	m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float32{}
	for _, x := range m.Tensors {
		if out[x.Name], err = m.Float32s(x); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A quantised .bin shares the full encoder: values match within the grid's
// steps, and those of another model do not.
func TestPairingQuantised(t *testing.T) {
	for _, q := range []ggml.Type{ggml.Q4_0, ggml.Q5_0, ggml.Q8_0} {
		bin := wide
		bin.Quantise = q
		t.Run(q.String(), func(t *testing.T) {
			for _, p := range []milencoder.Precision{milencoder.Float16, milencoder.Float32} {
				if r := judgePair(t, bin, wide, p); r.Pairing.Rule != "bounded" || !r.Pairing.Finer || !slices.Contains(codes(r.Notes), "PAIRING_FINER") {
					t.Errorf("%s: rule %s, finer %v", p, r.Pairing.Rule, r.Pairing.Finer)
				} else if found := r.Pairing.FinerBecause(); r.Pairing.OffGrid == 0 || !strings.Contains(found, "between those") || strings.Contains(found, "up to 0 ") {
					t.Errorf("%s: %d tensors off the grid, %q", p, r.Pairing.OffGrid, found)
				}
				if r := judgePair(t, bin, bin, p); r.Pairing.Finer {
					t.Errorf("%s: weights that were made from the .bin's own are called finer", p)
				}
			}
			other := wide
			other.Seed = 6
			judgePair(t, bin, other, milencoder.Float16, "PAIRING_ABSENT")
			moved := wide
			moved.Adjust = func(tensor string, i int64, v float32) float32 {
				if tensor == "encoder.blocks.1.mlp.2.weight" {
					return v * 1.05
				}
				return v
			}
			judgePair(t, bin, moved, milencoder.Float16, "PAIRING_DIFFERS")
		})
	}
	bin := wide
	bin.Quantise = ggml.Q8_0
	moved := wide
	moved.Adjust = func(tensor string, i int64, v float32) float32 {
		if tensor == "encoder.blocks.1.mlp.2.weight" {
			return v * 1.004
		}
		return v
	}
	judgePair(t, bin, moved, milencoder.Float16, "PAIRING_DIFFERS")
}
