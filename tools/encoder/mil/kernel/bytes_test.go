//go:build (amd64 || arm64) && !purego

package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// The digests of what each routine writes for fixed operands: the assembly of AVX2 and that of NEON give the same bytes.
var assemblyBytes = map[string]string{
	"add":                "16121c3618d841bc",
	"div":                "54450b26a4cb4390",
	"exp":                "15e787ba462d2461",
	"float16":            "6f90c7fdfa8e25f9",
	"gelu":               "84d8f67b16a39b36",
	"layer norm":         "871bec3adf723935",
	"mul":                "87c6a4e12b414a33",
	"product transposed": "796f14c8bfa73d3d",
	"product":            "532a231fda6c8966",
	"softmax":            "df4f7d3dd4bc7694",
	"sub":                "08933076f802acf3",
}

func TestAssemblyGivesTheSameBytesEverywhere(t *testing.T) {
	if !useAsm {
		t.Skip("this processor has none of the instructions that the assembly needs")
	}
	product := func(m, n, k int, turned bool) []float32 {
		b := Matrix{F32: operands(n*k, 2), Row: n, Col: 1}
		if turned {
			b = Matrix{F32: b.F32, Row: 1, Col: k}
		}
		out := make([]float32, m*n)
		NewPool(1).Multiply(&Product{M: m, N: n, K: k, A: Matrix{F32: operands(m*k, 1), Row: k, Col: 1}, B: b, Out: out, Stride: n})
		return out
	}
	row := func(f func(dst, src []float32)) func() []float32 {
		return func() []float32 {
			var all []float32
			for _, n := range []int{1, 7, 8, 9, 200, 1500} {
				dst := make([]float32, n)
				f(dst, operands(n, uint32(n)))
				all = append(all, dst...)
			}
			return all
		}
	}
	for name, f := range map[string]func() []float32{
		"product":            func() []float32 { return product(31, 45, 700, false) },
		"product transposed": func() []float32 { return product(12, 64, 300, true) },
		"softmax":            row(Softmax),
		"exp":                row(Exp),
		"gelu":               row(Gelu),
		"layer norm":         row(func(dst, src []float32) { LayerNorm(dst, src, operands(len(src), 3), operands(len(src), 4), 1e-5) }),
		"add":                row(func(dst, src []float32) { Add(dst, src, operands(len(src), 5)) }),
		"sub":                row(func(dst, src []float32) { Sub(dst, src, operands(len(src), 5)) }),
		"mul":                row(func(dst, src []float32) { Mul(dst, src, operands(len(src), 5)) }),
		"div":                row(func(dst, src []float32) { Div(dst, src, operands(len(src), 5)) }),
		"float16": row(func(dst, src []float32) {
			h := make([]uint16, len(src))
			Narrow(h, src)
			Widen(dst, h)
		}),
	} {
		hash := sha256.New()
		if err := binary.Write(hash, binary.LittleEndian, f()); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(hash.Sum(nil)[:8]); got != assemblyBytes[name] {
			t.Errorf("%q: %q, // found; expected %q", name, got, assemblyBytes[name])
		}
	}
}
