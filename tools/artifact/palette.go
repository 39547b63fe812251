package artifact

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
)

func (d *decompressor) lut(op *mil.Op) (*dense, error) {
	lut, err := d.argument(op, "lut")
	if err != nil {
		return nil, err
	}
	if len(lut.values) == 0 {
		return nil, errors.New("empty palette")
	}
	indices, err := d.argument(op, "indices")
	if err != nil {
		return nil, err
	}
	if shape, err := d.optional(op, "shape"); err != nil {
		return nil, err
	} else if shape != nil {
		// Up to iOS 17: one palette, indices packed into bytes.
		if indices, err = unpack(indices, lut, shape); err != nil {
			return nil, err
		}
		ones := slices.Repeat([]int64{1}, len(indices.shape))
		lut = &dense{shape: append(ones, int64(len(lut.values)), 1), values: lut.values}
	}
	axis := -1
	if len(lut.shape) > 0 && lut.shape[len(lut.shape)-1] > 1 {
		if axis, err = d.axis(op, "vector_axis", len(indices.shape)); err != nil {
			return nil, err
		}
	}
	return lookUp(indices, lut, axis)
}

// unpack spreads indices of log2(palette) bits from bytes, low bits first.
func unpack(packed, lut, shape *dense) (*dense, error) {
	x := &dense{}
	n := int64(1)
	for _, d := range shape.values {
		if d < 1 || n > maxDense/int64(d) {
			return nil, fmt.Errorf("shape %v", shape.values)
		}
		x.shape = append(x.shape, int64(d))
		n *= int64(d)
	}
	bits := int(math.Log2(float64(len(lut.values))))
	if 1<<bits != len(lut.values) || bits > 8 || (n*int64(bits)+7)/8 != int64(len(packed.values)) {
		return nil, fmt.Errorf("%d bytes of indices into a palette of %d for extents %v", len(packed.values), len(lut.values), x.shape)
	}
	x.values = make([]float32, n)
	for i := range x.values {
		v := 0
		for b := range bits {
			at := i*bits + b
			v |= int(packed.values[at/8]) >> (at % 8) & 1 << b
		}
		x.values[i] = float32(v)
	}
	return x, nil
}

// lookUp replaces indices by palette entries. lut has one palette of vectors
// for each block of indices: extents blocks…, entries, vector.
func lookUp(indices, lut *dense, axis int) (*dense, error) {
	rank := len(indices.shape)
	if len(lut.shape) != rank+2 {
		return nil, fmt.Errorf("palettes of extents %v for indices of extents %v", lut.shape, indices.shape)
	}
	entries, vector := int(lut.shape[rank]), int(lut.shape[rank+1])
	if entries*vector == 0 || int64(len(indices.values))*int64(vector) > maxDense {
		return nil, fmt.Errorf("palettes of extents %v", lut.shape)
	}
	slack := paletteSlack(lut.values, entries, vector)
	x := &dense{shape: slices.Clone(indices.shape), pruned: indices.pruned}
	inner := 1
	if axis >= 0 {
		x.shape[axis] *= int64(vector)
		inner = int(product(indices.shape[axis+1:]))
		x.pruned = nil
	}
	n := len(indices.values) * vector
	x.values, x.slack = make([]float32, n), make([]float32, n)
	bad := false
	err := blocks(indices.shape, lut.shape[:rank], func(i, b int) {
		k := int(indices.values[i])
		if k < 0 || k >= entries {
			bad = true
			return
		}
		for v := range vector {
			at := (b*entries+k)*vector + v
			// A vector's parts stand side by side along its axis.
			to := (i/inner*vector+v)*inner + i%inner
			x.values[to], x.slack[to] = lut.values[at], slack[at]
			if lut.slack != nil {
				// The palette was rounded after the values had chosen from it.
				x.slack[to] = min(x.slack[to]+2*lut.slack[at], math.MaxFloat32)
			}
		}
	})
	if bad {
		err = errors.New("an index beyond the palette")
	}
	x.rms = paletteRMS(entries, vector)
	return x, err
}

// paletteSlack bounds how far a value may lie from the palette entry that was
// chosen for it. Each value takes the nearest entry, so it lies at most half the
// gap to the next one away; beyond the outermost entries there is no such bound.
// Vectors are chosen as a whole, so their parts have no bound of their own.
func paletteSlack(lut []float32, entries, vector int) []float32 {
	slack := make([]float32, len(lut))
	for p := 0; p < len(lut); p += entries * vector {
		palette := lut[p : p+entries*vector]
		sorted := slices.Clone(palette)
		slices.Sort(sorted)
		// Converters choose entries in float16: what that rounds is part of the
		// palette's range, several times 2^-11.
		rounding := (sorted[len(sorted)-1] - sorted[0]) / 512
		for i, v := range palette {
			at, _ := slices.BinarySearch(sorted, v)
			last := at
			for last+1 < len(sorted) && sorted[last+1] == v {
				last++
			}
			if vector > 1 || at == 0 || last == len(sorted)-1 {
				slack[p+i] = float32(math.MaxFloat32)
				continue
			}
			slack[p+i] = max(v-sorted[at-1], sorted[last+1]-v)/2 + rounding
		}
	}
	return slack
}

// paletteRMS bounds the error of a palette with b bits a value: a quantiser
// that is optimal for Gaussian values has about 1.6 * 2^-b of their size, and
// 2.5 times that covers heavier tails. Unrelated values differ by 1.4.
func paletteRMS(entries, vector int) float64 {
	bits := math.Log2(float64(entries)) / float64(vector)
	return min(0.9, 4*math.Exp2(-bits))
}
