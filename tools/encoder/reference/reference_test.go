package reference

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
)

// small is a model that is quick in float64. adjust may be nil.
func small(t *testing.T, adjust func(tensor string, index int64, value float32) float32) *ggml.Model {
	t.Helper()
	var b bytes.Buffer
	o := synthetic.Options{Seed: 5, Layers: 2, TextLayers: 1, State: 12, Heads: 3, Mels: 4, AudioCtx: 7, TextCtx: 8, Float32: true, Adjust: adjust}
	if err := synthetic.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mel() []float32 {
	v := make([]float32, 4*14)
	for i := range v {
		v[i] = float32(math.Sin(float64(i * i)))
	}
	return v
}

func encode(t *testing.T, m *ggml.Model, threads int, see Observe) []float64 {
	t.Helper()
	e, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	e.Threads, e.Observe = threads, see
	out, err := e.Encode(t.Context(), mel())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestThreadsDoNotChangeTheResult(t *testing.T) {
	m := small(t, nil)
	want := encode(t, m, 1, nil)
	for _, n := range []int{2, 5} {
		if !slices.Equal(encode(t, m, n, nil), want) {
			t.Errorf("%d threads give another result than one", n)
		}
	}
}

// With every projection silent the residual stream is the embedding, and the
// output its norm: computed here by hand from the observed embedding.
func TestSilentLayersLeaveTheEmbedding(t *testing.T) {
	m := small(t, func(tensor string, _ int64, v float32) float32 {
		if strings.Contains(tensor, ".attn.out.") || strings.Contains(tensor, ".mlp.2.") {
			return 0
		}
		return v
	})
	seen := map[string][]float64{}
	out := encode(t, m, 2, func(name string, _, _ int, v []float64) { seen[name] = slices.Clone(v) })
	if !slices.Equal(seen["layer.1.mlp"], seen["embedded"]) {
		t.Error("the residual stream changed though every projection into it is zero")
	}
	tw, _ := m.Tensor("encoder.ln_post.weight")
	tb, _ := m.Tensor("encoder.ln_post.bias")
	w, _ := m.Float32s(tw)
	b, _ := m.Float32s(tb)
	row := seen["embedded"][:12]
	var mean, sq float64
	for _, v := range row {
		mean += v / 12
		sq += v * v / 12
	}
	for i, v := range row {
		want := (v-mean)/math.Sqrt(sq-mean*mean+1e-5)*float64(w[i]) + float64(b[i])
		if math.Abs(out[i]-want) > 1e-12 {
			t.Fatalf("channel %d is %g, want %g", i, out[i], want)
		}
	}
}

// Attention over equal keys is the mean of the values.
func TestEqualKeysAverageTheValues(t *testing.T) {
	m := small(t, func(tensor string, i int64, v float32) float32 {
		switch {
		case strings.HasSuffix(tensor, "encoder.blocks.0.attn.key.weight"):
			return 0
		case strings.HasSuffix(tensor, "encoder.blocks.0.attn.out.weight"):
			if i%13 == 0 { // the identity of 12 by 12
				return 1
			}
			return 0
		case strings.HasSuffix(tensor, "encoder.blocks.0.attn.out.bias"):
			return 0
		}
		return v
	})
	seen := map[string][]float64{}
	encode(t, m, 2, func(name string, _, _ int, v []float64) { seen[name] = slices.Clone(v) })
	// Every position gets the same addition.
	for p := 1; p < 7; p++ {
		for c := range 12 {
			d0 := seen["layer.0.attn"][c] - seen["embedded"][c]
			dp := seen["layer.0.attn"][p*12+c] - seen["embedded"][p*12+c]
			if math.Abs(d0-dp) > 1e-12 {
				t.Fatalf("position %d, channel %d: added %g, position 0 got %g", p, c, dp, d0)
			}
		}
	}
}

func TestConvolutionLooksOneBackAndOneAhead(t *testing.T) {
	r := &run{Encoder: &Encoder{tensors: modelTensors(small(t, nil)), dims: ggml.Hyperparameters{AudioState: 12}}, threads: 1, ctx: t.Context()}
	x := mel()[:4*14]
	in := make([]float64, len(x))
	for i, v := range x {
		in[i] = float64(v)
	}
	got := r.conv("conv1", in, 4, 14, 12, 1)
	w, b := r.tensor("conv1.weight", 12, 4, 3), r.tensor("conv1.bias", 12)
	for o := range 12 {
		for p := range 14 {
			sum := b[o]
			for c := range 4 {
				for k := range 3 {
					if q := p + k - 1; q >= 0 && q < 14 {
						sum += in[c*14+q] * w[(o*4+c)*3+k]
					}
				}
			}
			if want := sum / 2 * math.Erfc(-sum/math.Sqrt2); math.Abs(got[o*14+p]-want) > 1e-12 {
				t.Fatalf("output (%d,%d) is %g, want %g", o, p, got[o*14+p], want)
			}
		}
	}
}

func TestWrongMelIsRefused(t *testing.T) {
	e, err := New(small(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Encode(t.Context(), make([]float32, 80*3000)); err == nil || !strings.Contains(err.Error(), "expected 4 rows of 14") {
		t.Errorf("got %v", err)
	}
}
