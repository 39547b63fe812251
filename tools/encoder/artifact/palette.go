package artifact

import (
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// lookedUp look the bounds of the palette's entries up where the values
// were. indices names the operand that holds those.
func (d *decompressor) lookedUp(op *mil.Op, indices string) (bounds, error) {
	b, err := d.operandBounds(op, indices)
	if err != nil {
		return b, err
	}
	own, err := d.operandBounds(op, "lut")
	if err != nil {
		return b, err
	}
	lut, err := d.tensor(op, "lut")
	if err != nil {
		return b, err
	}
	entries, vector := lut.Shape[0], int64(1) // up to iOS 17: one palette
	if r := len(lut.Shape); r > 1 {
		entries, vector = lut.Shape[r-2], lut.Shape[r-1]
	}
	values, err := float32s(lut)
	if err != nil {
		return b, err
	}
	below, above := paletteBounds(values, int(entries), int(vector))
	if own.below != nil {
		// The palette was rounded after the values had chosen from it.
		for _, side := range []struct {
			of   *mil.Tensor
			onto []float32
		}{{own.below, below}, {own.above, above}} {
			more, err := float32s(*side.of)
			if err != nil {
				return b, err
			}
			for i := range side.onto {
				side.onto[i] = min(side.onto[i]+2*more[i], math.MaxFloat32)
			}
		}
	}
	b.below, b.above = new(mil.Tensor), new(mil.Tensor)
	*b.below, *b.above = tensor32(below, lut.Shape), tensor32(above, lut.Shape)
	err = b.eachSide(func(side mil.Tensor) (mil.Tensor, error) {
		return d.with(op, mil.Float32, map[string]mil.Tensor{"lut": side})
	})
	if err != nil {
		return b, err
	}
	if vector > 1 {
		b.kept = nil
	}
	return bounds{below: b.below, above: b.above, kept: b.kept, rms: paletteRMS(int(entries), int(vector))}, nil
}

// paletteBounds bounds how far a value may lie below and above the palette entry
// that was chosen for it. Each value takes the nearest entry, so it lies at most
// half the gap to the next one away; beyond the outermost entries there is no such
// bound. Vectors are chosen as a whole, so their parts have no bound of their own.
func paletteBounds(lut []float32, entries, vector int) (below, above []float32) {
	below, above = make([]float32, len(lut)), make([]float32, len(lut))
	for p := 0; p < len(lut); p += entries * vector {
		palette := lut[p : p+entries*vector]
		sorted := slices.Clone(palette)
		slices.Sort(sorted)
		// Converters choose entries in float16: what that rounds is part of the
		// palette's range, several times 2^-11.
		rounding := (sorted[len(sorted)-1] - sorted[0]) / 512
		for i, v := range palette {
			below[p+i], above[p+i] = math.MaxFloat32, math.MaxFloat32
			if vector > 1 {
				continue
			}
			at, _ := slices.BinarySearch(sorted, v)
			last := at
			for last+1 < len(sorted) && sorted[last+1] == v {
				last++
			}
			if at > 0 {
				below[p+i] = (v-sorted[at-1])/2 + rounding
			}
			if last < len(sorted)-1 {
				above[p+i] = (sorted[last+1]-v)/2 + rounding
			}
		}
	}
	return below, above
}

// paletteRMS bounds the error of a palette with b bits a value: a quantiser
// that is optimal for Gaussian values has about 1.6 * 2^-b of their size, and
// 2.5 times that covers heavier tails. Unrelated values differ by 1.4.
func paletteRMS(entries, vector int) float64 {
	bits := math.Log2(float64(entries)) / float64(vector)
	return min(0.9, 4*math.Exp2(-bits))
}
