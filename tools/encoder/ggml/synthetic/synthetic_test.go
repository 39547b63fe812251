package synthetic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

func build(t *testing.T, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The bytes are part of the contract: other tests and cached results name
// models by seed.
func TestBytesAreFixed(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"default":            {Options{}, "30551ce3afcacc699ea8e3326af6bbaa6bf249cc8c51827e8754bb80596bdc0b"},
		"multilingual, wide": {Options{Seed: 7, Mels: 128, State: 24, Heads: 3, AudioCtx: 100, Multilingual: true}, "6a97eedfcb0ec3a43a6c2bd755018c36edd8edd6c97eddc26cc05cc55451676b"},
		"float32":            {Options{Seed: 1, Float32: true, AudioCtx: 50}, "137b9f52617778e8528629db6fbd7ab64616d00289186528f3257a96ad64b12e"},
	} {
		sum := sha256.Sum256(build(t, c.o))
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%s: digest %s, expected %s", name, got, c.want)
		}
	}
}

func TestModelIsComplete(t *testing.T) {
	for _, o := range []Options{{}, {Float32: true}, {Mels: 128, Layers: 3, TextLayers: 2, Multilingual: true}} {
		b := build(t, o)
		m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		tokens, err := m.Tokens()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for i, w := range tokens {
			if j, dup := seen[string(w)]; dup {
				t.Fatalf("tokens %d and %d are both %q", i, j, w)
			}
			seen[string(w)] = i
		}
		if id, ok := seen[" "]; !ok || id != 220 {
			t.Error("the lone space, which the runtime looks up, is missing")
		}
	}
}

func TestSeedAndAdjust(t *testing.T) {
	const name = "encoder.blocks.1.mlp.0.weight"
	load := func(o Options) *ggml.Model {
		b := build(t, o)
		m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	differing := func(a, b *ggml.Model) (n []string) {
		for _, x := range a.Tensors {
			y, ok := b.Tensor(x.Name)
			if !ok {
				continue
			}
			va, err := a.Float32s(x)
			if err != nil {
				t.Fatal(err)
			}
			vb, err := b.Float32s(y)
			if err != nil {
				t.Fatal(err)
			}
			for i := range min(len(va), len(vb)) {
				if va[i] != vb[i] {
					n = append(n, x.Name)
					break
				}
			}
		}
		return n
	}
	base := load(Options{})
	if n := differing(base, load(Options{Seed: 2})); len(n) != len(base.Tensors) {
		t.Errorf("another seed changes %d of %d tensors", len(n), len(base.Tensors))
	}
	if n := differing(base, load(Options{Layers: 3})); len(n) != 0 {
		t.Errorf("another layer changes the values of %v", n)
	}
	scaled := load(Options{Adjust: func(tensor string, _ int64, v float32) float32 {
		if tensor == name {
			return v * 1.25
		}
		return v
	}})
	if n := differing(base, scaled); len(n) != 1 || n[0] != name {
		t.Errorf("adjusting %s changes %v", name, n)
	}
}

func TestHeadsMustDivide(t *testing.T) {
	if err := Write(&bytes.Buffer{}, Options{State: 32, Heads: 3}); err == nil {
		t.Error("3 heads in a width of 32 were accepted")
	}
}

// The published sizes: widths, layers, bands and tokens as the official files have them, and every tensor whole.
func TestSizes(t *testing.T) {
	parameters := map[string]int64{ // of the model card, in millions
		"tiny": 39, "base": 74, "small": 244, "medium": 769, "large-v3": 1550, "large-v3-turbo": 809,
	}
	for name, millions := range parameters {
		o, err := Size(name)
		if err != nil {
			t.Fatal(err)
		}
		h := o.Hyperparameters()
		var n int64
		for _, s := range ggml.Layout(h) {
			k := int64(1)
			for _, d := range s.Dims {
				k *= d
			}
			n += k
		}
		if got := (n + 500_000) / 1_000_000; got < millions-15 || got > millions+15 {
			t.Errorf("%s has %d million parameters, want about %d", name, got, millions)
		}
		vocab := 51865
		if strings.HasPrefix(name, "large-v3") {
			vocab = 51866
		}
		if h.Vocab != vocab || h.AudioCtx != 1500 || h.TextCtx != 448 {
			t.Errorf("%s: header %+v", name, h)
		}
	}
	if _, err := Size("huge"); err == nil || !strings.Contains(err.Error(), "large-v3-turbo") {
		t.Errorf("an unknown size: %v, want the known ones", err)
	}
}
