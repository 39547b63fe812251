package kernel

import (
	"math"
	"testing"
)

// ulps is the distance in float32 units in the last place of want.
func ulps(got float32, want float64) float64 {
	w := float32(want)
	if got == w {
		return 0
	}
	next := math.Nextafter32(w, float32(math.Inf(1)))
	unit := math.Abs(float64(next) - float64(w))
	return math.Abs(float64(got)-want) / unit
}

func TestExpIsWithinTwoUnits(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		var src []float32
		for x := float32(-106); x < 90; x += 0.00137 {
			src = append(src, x)
		}
		src = append(src, 0, 88.72284, 88.73, 200, -87.4, -103.9, -104, -200)
		dst := make([]float32, len(src))
		Exp(dst, src)
		for i, x := range src {
			want := math.Exp(float64(x))
			if u := ulps(dst[i], want); want < math.MaxFloat32 && !(u <= 2) {
				t.Fatalf("exp(%g) = %g, want %g: %.1f units", x, dst[i], want, u)
			}
			if float32(want) > math.MaxFloat32 && !math.IsInf(float64(dst[i]), 1) {
				t.Fatalf("exp(%g) = %g, want infinity", x, dst[i])
			}
		}
	})
}

func TestGeluIsWithinBound(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		var src []float32
		for x := float32(-12); x < 12; x += 0.000173 {
			src = append(src, x)
		}
		src = append(src, 0, float32(math.Copysign(0, -1)), 1e-30, -1e-30, 1e30, -1e30, math.MaxFloat32)
		dst := make([]float32, len(src))
		Gelu(dst, src)
		for i, v := range src {
			x := float64(v)
			want := x / 2 * math.Erfc(-x/math.Sqrt2)
			if bound := math.Max(math.Abs(x)*0x1p-23, 1e-44); !(math.Abs(float64(dst[i])-want) <= bound) {
				t.Fatalf("gelu(%g) = %g, want %g", x, dst[i], want)
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 7, 8, 9, 63, 1500} {
			src := ramp(n)
			for i := range src {
				src[i] *= 20
			}
			dst := make([]float32, n)
			Softmax(dst, src)
			var sum float64
			for _, v := range src {
				sum += math.Exp(float64(v))
			}
			for i, v := range src {
				// The difference from the maximum is rounded, by up to 40 * 2^-24.
				want := math.Exp(float64(v)) / sum
				if math.Abs(float64(dst[i])-want) > want*44*0x1p-24 {
					t.Fatalf("n=%d: element %d is %g, want %g", n, i, dst[i], want)
				}
			}
		}
	})
}

// A value that is not a number must reach the result and never be clamped away.
func TestNaNAndInfinityReachTheResult(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	bothPaths(t, func(t *testing.T) {
		for _, n := range []int{1, 8, 11, 40} {
			for at := range n {
				for _, bad := range []float32{nan, inf} {
					src := ramp(n)
					src[at] = bad
					out := make([]float32, n)
					for name, f := range map[string]func(){
						"softmax":    func() { Softmax(out, src) },
						"layer_norm": func() { LayerNorm(out, src, src, src, 1e-5) },
					} {
						f()
						for i, v := range out {
							if v == v {
								t.Fatalf("%s, n=%d, %g at %d: element %d is %g", name, n, bad, at, i, v)
							}
						}
					}
					for name, f := range map[string]func(dst, src []float32){"gelu": Gelu, "exp": Exp} {
						f(out, src)
						if v := out[at]; v == v && !(bad == inf && math.IsInf(float64(v), 1)) {
							t.Fatalf("%s, n=%d: %g became %g", name, n, bad, v)
						}
					}
				}
			}
		}
	})
}

func TestLayerNorm(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		for _, n := range []int{1, 3, 8, 13, 384, 385} {
			src, gamma, beta := ramp(n), ramp(n + 5)[5:], ramp(n + 9)[9:]
			for i := range src {
				src[i] += 1000 // a large mean must not cost the variance its digits
			}
			dst := make([]float32, n)
			LayerNorm(dst, src, gamma, beta, 1e-5)
			var mean, variance float64
			for _, v := range src {
				mean += float64(v) / float64(n)
			}
			for _, v := range src {
				variance += (float64(v) - mean) * (float64(v) - mean) / float64(n)
			}
			for i, v := range src {
				want := (float64(v)-mean)/math.Sqrt(variance+1e-5)*float64(gamma[i]) + float64(beta[i])
				if math.Abs(float64(dst[i])-want) > 1e-6 {
					t.Fatalf("n=%d: element %d is %g, want %g", n, i, dst[i], want)
				}
			}
		}
	})
}

func TestElementwise(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		for n := range 20 {
			x, y := ramp(n), ramp(n + 3)[3:]
			for name, c := range map[string]struct {
				f    func(dst, x, y []float32)
				want func(a, b float32) float32
			}{
				"add": {Add, func(a, b float32) float32 { return a + b }},
				"sub": {Sub, func(a, b float32) float32 { return a - b }},
				"mul": {Mul, func(a, b float32) float32 { return a * b }},
				"div": {Div, func(a, b float32) float32 { return a / b }},
			} {
				guard := make([]float32, n+1)
				guard[n] = -77
				c.f(guard[:n], x, y)
				for i := range n {
					if guard[i] != c.want(x[i], y[i]) {
						t.Fatalf("%s of %d: element %d is %g", name, n, i, guard[i])
					}
				}
				if guard[n] != -77 {
					t.Fatalf("%s of %d wrote past the end", name, n)
				}
			}
		}
	})
}
