package kernel

import (
	"math"
	"testing"
)

// Attention must give the very bytes of its parts, whatever the layout.
func TestAttentionIsItsParts(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		for _, half := range []bool{false, true} {
			for _, turned := range []bool{false, true} {
				for _, s := range [][4]int{{1, 1, 1, 1}, {101, 77, 20, 13}, {60, 800, 64, 64}} {
					checkAttention(t, s[0], s[1], s[2], s[3], half, turned)
				}
			}
		}
	})
}

func checkAttention(t *testing.T, rows, keys, inner, outer int, half, turned bool) {
	t.Helper()
	const heads = 2
	q, k, v := ramp(heads*rows*inner), ramp(heads*keys*inner + 5)[5:], ramp(heads*keys*outer + 3)[3:]
	if half {
		for _, x := range [][]float32{q, k, v} {
			roundToHalf(x)
		}
	}
	var list []Attention
	out, outHalf := make([]float32, heads*rows*outer), make([]uint16, heads*rows*outer)
	for h := range heads {
		a := Attention{Rows: rows, Keys: keys, Inner: inner, Outer: outer, Half: half, OutRow: outer, OutCol: 1,
			Q: Matrix{F32: q[h*rows*inner:], Row: inner, Col: 1}, K: Matrix{F32: k[h*keys*inner:], Row: 1, Col: inner},
			V: Matrix{F32: v[h*keys*outer:], Row: outer, Col: 1}}
		if turned {
			a.OutRow, a.OutCol = 1, rows
		}
		if half {
			a.OutHalf = outHalf[h*rows*outer:]
		} else {
			a.Out = out[h*rows*outer:]
		}
		list = append(list, a)
	}
	NewPool(3).Attend(list)
	for h, a := range list {
		scores, want := make([]float32, rows*keys), make([]float32, rows*outer)
		p := NewPool(1)
		p.Multiply(&Product{M: rows, N: keys, K: inner, A: a.Q, B: a.K, Out: scores, Stride: keys})
		if half {
			roundToHalf(scores)
		}
		for i := range rows {
			Softmax(scores[i*keys:(i+1)*keys], scores[i*keys:(i+1)*keys])
		}
		if half {
			roundToHalf(scores)
		}
		p.Multiply(&Product{M: rows, N: outer, K: keys, A: Matrix{F32: scores, Row: keys, Col: 1}, B: a.V, Out: want, Stride: outer})
		for i := range rows {
			for j := range outer {
				at, w := i*a.OutRow+j*a.OutCol, want[i*outer+j]
				if half {
					if outHalf[h*rows*outer+at] != Float32ToHalf(w) {
						t.Fatalf("head %d (%d,%d): %#04x, want %g", h, i, j, outHalf[h*rows*outer+at], w)
					}
				} else if math.Float32bits(a.Out[at]) != math.Float32bits(w) {
					t.Fatalf("head %d (%d,%d): %g, want %g", h, i, j, a.Out[at], w)
				}
			}
		}
	}
}

func TestAttentionScalesAndMasks(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		q, k, v := []float32{1, 2, 3, 4}, []float32{1, 0, 0, 1, 1, 1}, []float32{1, 2, 3, 4, 5, 6}
		inf := float32(math.Inf(-1))
		mask := Matrix{F32: []float32{0, inf, 0}, Row: 0, Col: 1}
		out := make([]float32, 4)
		NewPool(1).Attend([]Attention{{Rows: 2, Keys: 3, Inner: 2, Outer: 2, Scale: 0.5, Mask: &mask,
			Q: Matrix{F32: q, Row: 2, Col: 1}, K: Matrix{F32: k, Row: 1, Col: 2}, V: Matrix{F32: v, Row: 2, Col: 1},
			Out: out, OutRow: 2, OutCol: 1}})
		for i := range 2 {
			a, b := math.Exp(0.5*float64(q[2*i])), math.Exp(0.5*float64(q[2*i]+q[2*i+1]))
			for j := range 2 {
				want := (a*float64(v[j]) + b*float64(v[4+j])) / (a + b)
				if math.Abs(float64(out[2*i+j])-want) > 1e-6 {
					t.Errorf("(%d,%d) is %g, want %g", i, j, out[2*i+j], want)
				}
			}
		}
	})
}
