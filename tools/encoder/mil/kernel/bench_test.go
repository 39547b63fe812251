package kernel

import "testing"

func BenchmarkProduct(b *testing.B) {
	for _, c := range []struct {
		name    string
		m, n, k int
	}{
		{"linear", 1500, 384, 384}, {"widen", 1500, 1536, 384}, {"contract", 1500, 384, 1536}, {"scores", 1500, 1500, 64},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := NewPool(0)
			g := &Product{M: c.m, N: c.n, K: c.k,
				A:   Matrix{F32: ramp(c.m * c.k), Row: c.k, Col: 1},
				B:   Matrix{F32: ramp(c.k * c.n), Row: 1, Col: c.k},
				Out: make([]float32, c.m*c.n), Stride: c.n}
			for b.Loop() {
				p.Multiply(g)
			}
			b.ReportMetric(2*float64(c.m*c.n*c.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkRows(b *testing.B) {
	src, dst := ramp(1500), make([]float32, 1500)
	for name, f := range map[string]func(){
		"softmax":   func() { Softmax(dst, src) },
		"gelu":      func() { Gelu(dst, src) },
		"layernorm": func() { LayerNorm(dst, src, src, src, 1e-5) },
		"add":       func() { Add(dst, src, src) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}

// ramp makes n values in [-1, 1) that repeat only after a long run.
func ramp(n int) []float32 {
	out := make([]float32, n)
	x := uint32(1)
	for i := range out {
		x = x*1664525 + 1013904223
		out[i] = float32(int32(x)) / (1 << 31)
	}
	return out
}
