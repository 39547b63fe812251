package artifact

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// The quick answer is the slow one: for neighbours of every float16, values between two of them, and values of any size.
func TestSameIsQuickOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	near := func(x float32) float32 {
		switch r.IntN(4) {
		case 0:
			return math.Nextafter32(x, float32(math.Inf(1)))
		case 1:
			return math.Nextafter32(x, float32(math.Inf(-1)))
		case 2:
			return x * (1 + (r.Float32()-0.5)/512)
		}
		return x
	}
	equal, apart := 0, 0
	try := func(a, b float32) {
		if got, want := same(a, b), equalRounded(a, b); got != want {
			t.Errorf("%g and %g: %v, without the quick answer %v", a, b, got, want)
		} else if got {
			equal++
		} else {
			apart++
		}
	}
	for h := range 1 << 16 {
		x := ggml.Float16ToFloat32(uint16(h))
		y := ggml.Float16ToFloat32(uint16(h + 1))
		for range 4 {
			try(near(x), near(x))
			try(near(x), x)
			try(near((x+y)/2), x)
			try(near((x+y)/2), y)
			try(x, math.Float32frombits(r.Uint32()))
		}
	}
	inf := float32(math.Inf(1))
	for _, x := range []float32{0, 1, 65504, 65519, 65520, 65536, 1e38, math.MaxFloat32, inf, float32(math.NaN()), 1.0 / (1 << 24), 1.0 / (1 << 25), 1.0 / (1 << 26), math.SmallestNonzeroFloat32} {
		for _, y := range []float32{0, 1, 65504, 65519, 65520, 65536, 1e38, math.MaxFloat32, inf, float32(math.NaN()), 1.0 / (1 << 24), 1.0 / (1 << 25), 1.0 / (1 << 26), math.SmallestNonzeroFloat32} {
			for _, sign := range []float32{1, -1} {
				try(x, sign*y)
				try(-x, sign*y)
			}
		}
	}
	if equal < 10000 || apart < 10000 {
		t.Errorf("%d equal and %d unequal pairs are few", equal, apart)
	}
}
