package ggml

import (
	"math"
	"testing"
)

// Every value of a group lies on a grid with the group's step: the differences
// between values are whole multiples of it.
func TestStepsAreTheGrid(t *testing.T) {
	for typ := range upstreamValues {
		info, _ := typ.Info()
		if !info.Quantised {
			continue
		}
		src := blocks(typ)
		n := int64(len(src)) / info.BlockBytes * info.Block
		values, steps := make([]float32, n), make([]float32, n)
		if err := Decode(typ, values, src); err != nil {
			t.Fatal(err)
		}
		if err := Steps(typ, steps, src); err != nil {
			t.Fatal(err)
		}
		for i := range values {
			// Neighbours of one group of 16, the smallest there is.
			j := i/16*16 + (i+1)%16
			if steps[i] != steps[j] {
				t.Fatalf("%s: values %d and %d of one group have steps %v and %v", typ, i, j, steps[i], steps[j])
			}
			if steps[i] == 0 {
				continue
			}
			q := (float64(values[i]) - float64(values[j])) / float64(steps[i])
			size := math.Max(math.Abs(float64(values[i])), math.Abs(float64(values[j]))) / float64(steps[i])
			if off := math.Abs(q - math.Round(q)); off > 1e-6*(1+size) {
				t.Fatalf("%s: values %d and %d differ by %v steps", typ, i, j, q)
			}
		}
	}
	var one [1]float32
	if err := Steps(F32, one[:], make([]byte, 4)); err != nil || one[0] != 0 {
		t.Errorf("f32: step %v, error %v", one[0], err)
	}
	if err := Steps(16, make([]float32, 256), make([]byte, 66)); err == nil {
		t.Error("iq2_xxs has steps, and no decoder")
	}
}
