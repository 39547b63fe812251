package ggml

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
)

// A part of a tensor has the values that the whole has there, wherever it begins and ends within the blocks of the type.
func TestPart(t *testing.T) {
	for typ := range decoders {
		raw := blocks(typ)
		info, _ := typ.Info()
		n := int64(len(raw)) / info.BlockBytes * info.Block
		// The data stand after something else, and something else after them.
		m := &Model{r: bytes.NewReader(slices.Concat([]byte("before"), raw, []byte("after")))}
		x := Tensor{Name: "x", Type: typ, Dims: []int64{n / 4, 4}, Offset: 6, Size: int64(len(raw))}
		whole, err := m.Float32s(x)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		for _, c := range [][2]int64{{0, n}, {0, 1}, {n - 1, 1}, {1, n - 2}, {info.Block, info.Block}, {info.Block - 1, 2}, {n / 3, n / 5}, {n, 0}, {0, 0}} {
			got, err := m.Part(x, c[0], c[1])
			if err != nil || !slices.EqualFunc(got, whole[c[0]:c[0]+c[1]], sameBits) {
				t.Errorf("%s, %d values from %d on: %v, or other values than the whole tensor has there", typ, c[1], c[0], err)
			}
		}
		for _, c := range [][2]int64{{-1, 1}, {0, n + 1}, {n, 1}, {1, n}, {0, -1}, {n + 1, 0}} {
			if _, err := m.Part(x, c[0], c[1]); err == nil {
				t.Errorf("%s: %d values from %d on were given of %d", typ, c[1], c[0], n)
			}
		}
	}
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// A file that ends within the part, and a type that cannot be decoded, are errors and no zeros.
func TestPartRefuses(t *testing.T) {
	raw := blocks(Q8_0)
	info, _ := Q8_0.Info()
	n := int64(len(raw)) / info.BlockBytes * info.Block
	m := &Model{r: bytes.NewReader(raw[:len(raw)-1])}
	x := Tensor{Name: "x", Type: Q8_0, Dims: []int64{n}, Size: int64(len(raw))}
	var f *FormatError
	if _, err := m.Part(x, n-1, 1); !errors.As(err, &f) || f.Problem != Truncated {
		t.Errorf("the end of a file that is cut: %v, want %v", err, Truncated)
	}
	if v, err := m.Part(x, 0, n-info.Block); err != nil || int64(len(v)) != n-info.Block {
		t.Errorf("before the cut: %d values, %v", len(v), err)
	}
	x.Type = 16 // iq2_xxs
	if _, err := m.Part(x, 0, 1); err == nil {
		t.Error("a type that cannot be decoded was")
	}
}
