package kernel

import (
	"math"
	"slices"
	"testing"
)

// bothPaths runs a test on every implementation that this machine has. With -short, which is for processors that are
// emulated, it leaves out the portable one, which is the same everywhere.
func bothPaths(t *testing.T, f func(t *testing.T)) {
	have, haveWide := useAsm, useWide
	defer func() { useAsm, useWide = have, haveWide }()
	for _, c := range []struct {
		name      string
		asm, wide bool
	}{{PathPortable, false, false}, {asmPath, true, false}, {asmPath + "-wide", true, true}} {
		if c.asm && !have || c.wide && !haveWide || testing.Short() && have && !c.asm {
			continue
		}
		useAsm, useWide = c.asm, c.wide
		t.Run(c.name, f)
	}
}

// operands are n numbers of both signs over many magnitudes, the same everywhere.
func operands(n int, seed uint32) []float32 {
	v := make([]float32, n)
	for i := range v {
		seed = seed*1664525 + 1013904223
		v[i] = math.Float32frombits(seed&0x807fffff | (118+seed>>25&15)<<23)
	}
	return v
}

// Wider registers must not show in the result.
func TestWideRegistersGiveTheSameBytes(t *testing.T) {
	have := useWide
	defer func() { useWide = have }()
	for _, s := range [][3]int{{12, 32, 40}, {30, 70, 500}, {97, 100, 800}} {
		m, n, k := s[0], s[1], s[2]
		for name, a := range layouts(m, k, 3) {
			var outs [2][]float32
			for i, wide := range []bool{false, have} {
				useWide = wide
				outs[i] = make([]float32, m*n)
				NewPool(2).Multiply(&Product{M: m, N: n, K: k, A: a, B: Matrix{F32: ramp(n * k), Row: 1, Col: k}, Out: outs[i], Stride: n})
			}
			for i := range outs[0] {
				if math.Float32bits(outs[0][i]) != math.Float32bits(outs[1][i]) {
					t.Fatalf("%s, %v: element %d is %g in wide registers, %g in narrow", name, s, i, outs[1][i], outs[0][i])
				}
			}
		}
	}
}

// Nor in rows of any length, of hard values among others, but for the payload of a NaN.
func TestWideRowsGiveTheSameBytes(t *testing.T) {
	have := useWide
	defer func() { useWide = have }()
	inf, nan := float32(math.Inf(1)), math.Float32frombits(0xffc00123)
	hard := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 4, -4, 5.7, 1e-45, -1e-40, 88.7, -87.4, -103.9, -104.6, 1e38, -1e38, inf, -inf, nan}
	inPlace := func(f func(v []float32)) func(dst, src []float32) {
		return func(dst, src []float32) { copy(dst, src); f(dst) }
	}
	for name, f := range map[string]func(dst, src []float32){
		"softmax": Softmax, "exp": Exp, "gelu": Gelu,
		"layer norm":             func(dst, src []float32) { LayerNorm(dst, src, operands(len(src), 3), operands(len(src), 4), 1e-5) },
		"softmax times a factor": inPlace(func(v []float32) { softmaxScaled(v, 0.37, 0) }),
		"softmax in float16":     inPlace(func(v []float32) { softmaxHalf(v, 0) }),
		"rounding to float16":    inPlace(roundToHalf),
		"a factor in float16":    inPlace(func(v []float32) { scaleToHalf(v, 0.37) }),
		"a sum in float16":       inPlace(func(v []float32) { addToHalf(v, operands(len(v), 5)) }),
	} {
		for n := range 300 {
			src := operands(n, uint32(n)+9)
			if n%2 == 1 {
				for i := range src {
					src[i] = hard[(i*7+n)%len(hard)]
				}
			}
			var outs [2][]float32
			for i, wide := range []bool{false, have} {
				useWide = wide
				outs[i] = make([]float32, n)
				f(outs[i], src)
			}
			for i := range src {
				if a, b := outs[0][i], outs[1][i]; math.Float32bits(a) != math.Float32bits(b) && (a == a || b == b) {
					t.Fatalf("%s of %d: element %d (%g) is %x in wide registers, %x in narrow", name, n, i, src[i], math.Float32bits(outs[1][i]), math.Float32bits(outs[0][i]))
				}
			}
		}
	}
}

// at reads an element whatever its storage.
func (m Matrix) at(i, j int) float64 {
	n := i*m.Row + j*m.Col
	if m.F16 != nil {
		return float64(HalfToFloat32(m.F16[n]))
	}
	return float64(m.F32[n])
}

// wide gives all elements, row by row.
func (m Matrix) wide(rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
		for j := range out[i] {
			out[i][j] = m.at(i, j)
		}
	}
	return out
}

func layouts(rows, cols int, seed uint32) map[string]Matrix {
	data := ramp(rows*cols*3 + 7)
	for i := range data {
		data[i] *= 1 + float32((uint32(i)*seed)%5)
	}
	halves := make([]uint16, len(data))
	Narrow(halves, data)
	return map[string]Matrix{
		"rows":          {F32: data, Row: cols, Col: 1},
		"columns":       {F32: data, Row: 1, Col: rows},
		"padded rows":   {F32: data, Row: cols + 3, Col: 1},
		"both strided":  {F32: data, Row: cols*2 + 1, Col: 2},
		"one row":       {F32: data, Row: 0, Col: 1},
		"half rows":     {F16: halves, Row: cols, Col: 1},
		"half columns":  {F16: halves, Row: 1, Col: rows},
		"half strided":  {F16: halves, Row: cols*2 + 1, Col: 2},
		"padded column": {F32: data, Row: 1, Col: rows + 2},
	}
}

func TestProductAgainstFloat64(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {6, 16, 4}, {7, 17, 5}, {5, 15, 1}, {97, 33, 385}, {13, 385, 9}, {100, 20, 800}, {3, 50, 0}, {12, 32, 384}}
	bothPaths(t, func(t *testing.T) {
		for _, s := range sizes {
			m, n, k := s[0], s[1], s[2]
			for an, a := range layouts(m, max(k, 1), 3) {
				for bn, b := range layouts(max(k, 1), n, 7) {
					checkProduct(t, an+" by "+bn, &Product{M: m, N: n, K: k, A: a, B: b}, b)
				}
			}
		}
	})
}

func checkProduct(t *testing.T, name string, g *Product, b Matrix) {
	t.Helper()
	g.Stride = g.N + 2
	g.Out = make([]float32, g.M*g.Stride)
	for i := range g.Out {
		g.Out[i] = -77
	}
	g.ColBias, g.RowBias = ramp(g.N), ramp(g.M)
	NewPool(2).Multiply(g)
	columns := b.T().wide(g.N, g.K)
	for i, row := range g.A.wide(g.M, g.K) {
		for j, column := range columns {
			want := float64(g.ColBias[j]) + float64(g.RowBias[i])
			mag := math.Abs(want) + 1
			for k, v := range row {
				p := v * column[k]
				want += p
				mag += math.Abs(p)
			}
			got := float64(g.Out[i*g.Stride+j])
			if !(math.Abs(got-want) <= mag*float64(g.K+3)*0x1p-24) {
				t.Fatalf("%s, %d by %d by %d: element (%d,%d) is %g, want %g", name, g.M, g.N, g.K, i, j, got, want)
			}
		}
		for j := g.N; j < g.Stride; j++ {
			if g.Out[i*g.Stride+j] != -77 {
				t.Fatalf("%s: wrote past row %d", name, i)
			}
		}
	}
}

func TestThreadsDoNotChangeBytes(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		m, n, k := 211, 397, 800
		var first []float32
		for _, threads := range []int{1, 2, 3, 8, 17} {
			g := &Product{M: m, N: n, K: k, A: Matrix{F32: ramp(m * k), Row: k, Col: 1},
				B: Matrix{F32: ramp(n * k), Row: 1, Col: k}, Out: make([]float32, m*n), Stride: n, ColBias: ramp(n)}
			NewPool(threads).Multiply(g)
			if first == nil {
				first = g.Out
				continue
			}
			for i := range first {
				if math.Float32bits(first[i]) != math.Float32bits(g.Out[i]) {
					t.Fatalf("%d threads: element %d is %g, with one thread %g", threads, i, g.Out[i], first[i])
				}
			}
		}
	})
}

// The layout of operands is not part of the result either.
func TestLayoutDoesNotChangeBytes(t *testing.T) {
	m, n, k := 50, 40, 500
	a, b := ramp(m*k), ramp(n*k)
	run := func(a, b Matrix) []float32 {
		out := make([]float32, m*n)
		NewPool(2).Multiply(&Product{M: m, N: n, K: k, A: a, B: b, Out: out, Stride: n})
		return out
	}
	turn := func(x []float32, rows, cols int) []float32 {
		out := make([]float32, len(x))
		for i := range rows {
			for j := range cols {
				out[j*rows+i] = x[i*cols+j]
			}
		}
		return out
	}
	bothPaths(t, func(t *testing.T) {
		want := run(Matrix{F32: a, Row: k, Col: 1}, Matrix{F32: b, Row: 1, Col: k})
		got := run(Matrix{F32: turn(a, m, k), Row: 1, Col: m}, Matrix{F32: turn(b, n, k), Row: n, Col: 1})
		for i := range want {
			if want[i] != got[i] {
				t.Fatalf("element %d is %g in one layout and %g in another", i, want[i], got[i])
			}
		}
	})
}

func TestHalfOutputRoundsOnce(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		m, n, k := 20, 37, 400
		g := &Product{M: m, N: n, K: k, A: Matrix{F32: ramp(m * k), Row: k, Col: 1}, B: Matrix{F32: ramp(n * k), Row: 1, Col: k},
			Out: make([]float32, m*n), Stride: n, ColBias: ramp(n)}
		NewPool(2).Multiply(g)
		h := *g
		h.Out, h.OutHalf = nil, make([]uint16, m*n)
		NewPool(2).Multiply(&h)
		for i, v := range g.Out {
			if h.OutHalf[i] != Float32ToHalf(v) {
				t.Fatalf("element %d is %#04x, float32 product %g", i, h.OutHalf[i], v)
			}
		}
	})
}

func TestWindows(t *testing.T) {
	cases := []Windows{
		{Height: 1, Width: 20, KernelH: 1, KernelW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, PadLeft: 1, OutH: 1, OutW: 20},
		{Height: 1, Width: 20, KernelH: 1, KernelW: 3, StrideH: 1, StrideW: 2, DilationH: 1, DilationW: 1, PadLeft: 1, OutH: 1, OutW: 10},
		{Height: 1, Width: 120, KernelH: 1, KernelW: 3, StrideH: 1, StrideW: 2, DilationH: 1, DilationW: 1, PadLeft: 1, OutH: 1, OutW: 60},
		{Height: 1, Width: 64, KernelH: 1, KernelW: 3, StrideH: 1, StrideW: 2, DilationH: 1, DilationW: 1, PadLeft: 1, OutH: 1, OutW: 32}, // up to the memory's end
		{Height: 1, Width: 60, KernelH: 1, KernelW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, PadLeft: 1, OutH: 1, OutW: 60},
		{Height: 7, Width: 9, KernelH: 3, KernelW: 2, StrideH: 2, StrideW: 1, DilationH: 1, DilationW: 3, PadTop: 1, PadLeft: 2, OutH: 4, OutW: 8},
		{Height: 5, Width: 40, KernelH: 1, KernelW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 5, OutW: 40},
	}
	const channels, outs = 3, 5
	bothPaths(t, func(t *testing.T) {
		for _, w := range cases {
			for _, half := range []bool{false, true} {
				x := ramp(channels * w.Height * w.Width)
				w.F32, w.F16 = x, nil
				if half {
					h := make([]uint16, len(x))
					Narrow(h, x)
					Widen(x, h)
					w.F32, w.F16 = nil, h
				}
				k, n := channels*w.KernelH*w.KernelW, w.OutH*w.OutW
				weight := ramp(outs * k)
				out := make([]float32, outs*n)
				NewPool(2).Multiply(&Product{M: outs, N: n, K: k, A: Matrix{F32: weight, Row: k, Col: 1}, B: &w, Out: out, Stride: n})
				for o := range outs {
					for p := range n {
						var want float64
						for c := range channels {
							for ky := range w.KernelH {
								for kx := range w.KernelW {
									y := p/w.OutW*w.StrideH + ky*w.DilationH - w.PadTop
									xx := p%w.OutW*w.StrideW + kx*w.DilationW - w.PadLeft
									if y >= 0 && y < w.Height && xx >= 0 && xx < w.Width {
										want += float64(x[(c*w.Height+y)*w.Width+xx]) * float64(weight[((o*channels+c)*w.KernelH+ky)*w.KernelW+kx])
									}
								}
							}
						}
						if got := float64(out[o*n+p]); math.Abs(got-want) > 1e-5 {
							t.Fatalf("%+v: output (%d,%d) is %g, want %g", w, o, p, got, want)
						}
					}
				}
			}
		}
	})
}

// What an earlier product left in the pool's memory is not taken for padding.
func TestPaddingIsZeroInUsedMemory(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		for _, step := range []int{1, 2, 5} {
			outW := (19+4-5)/step + 1
			g := &Product{M: 6, N: outW, K: 15, A: Matrix{F32: ramp(90), Row: 15, Col: 1}, Stride: outW,
				B: &Windows{F32: ramp(57), Height: 1, Width: 19, KernelH: 1, KernelW: 5, StrideH: 1, StrideW: step, DilationH: 1, DilationW: 1, PadLeft: 2, OutH: 1, OutW: outW}}
			g.Out = make([]float32, 6*outW)
			NewPool(1).Multiply(g)
			want := g.Out
			used := NewPool(1)
			used.Multiply(&Product{M: 6, N: 48, K: 48, A: Matrix{F32: ramp(288), Row: 48, Col: 1}, B: Matrix{F32: ramp(48 * 48), Row: 48, Col: 1}, Stride: 48, Out: make([]float32, 288)})
			g.Out = make([]float32, 6*outW)
			used.Multiply(g)
			if !slices.Equal(g.Out, want) {
				t.Errorf("step %d: %v in used memory; %v in fresh", step, g.Out, want)
			}
		}
	})
}
