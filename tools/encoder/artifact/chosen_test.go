package artifact

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// byOutputError rounds a matrix to int4 with a scale a row as GPTQ does: column by column, each with a part of what rounding the
// columns before it did to the output, for inputs that go together with their neighbours.
func byOutputError(v []float32, rows int, parts ...float64) (s []float32, q []int) {
	s = scales(v, rows, 7)
	q = make([]int, len(v))
	cols := len(v) / rows
	for r := range rows {
		lost := make([]float64, len(parts)) // by the columns before, the last one first
		for c := range cols {
			want := float64(v[r*cols+c])
			for i, part := range parts {
				want += part * lost[i]
			}
			code := math.RoundToEven(min(max(want/float64(s[r]), -8), 7))
			q[r*cols+c] = int(code)
			lost = append([]float64{want - code*float64(s[r])}, lost[:max(len(lost)-1, 0)]...)[:len(parts)]
		}
	}
	return s, q
}

// Values that were chosen for the smallest error of the output lie further from the .bin's than rounding moves them. They are
// refused, since a bound that takes them would take changed weights too; the reason says by how many steps, and no more.
func TestValuesChosenByOutputError(t *testing.T) {
	const rows, cols = 256, 64
	shape := []int64{rows, cols}
	for _, c := range []struct {
		parts   []float64
		refused bool
	}{
		{nil, false},            // to the nearest
		{[]float64{0.9}, false}, // within a step all the same
		{[]float64{0.9, 0.7, 0.5}, true},
	} {
		dir := t.TempDir()
		model := filepath.Join(dir, "ggml-x.bin")
		good := modelBytes(t, wide)
		writeFile(t, model, good)
		writeEncoder(t, dir, "plain", good, milencoder.Float16)
		pkg := filepath.Join(dir, "chosen.mlpackage")
		var furthest float64 // in steps
		var beyond int64
		replaceWeight(t, filepath.Join(dir, "plain.mlpackage"), pkg, shape, func(v []float32, out mil.Param) []*mil.Op {
			s, q := byOutputError(v, rows, c.parts...)
			for i, x := range v {
				step := s[i/cols]
				stored := ggml.Float16ToFloat32(ggml.Float32ToFloat16(float32(q[i]) * step))
				steps := math.Abs(float64(stored)-float64(x)) / float64(step)
				furthest = max(furthest, steps)
				if steps > 1 {
					beyond++
				}
				q[i] &= 15
			}
			return []*mil.Op{{Type: "constexpr_blockwise_shift_scale", Outputs: []mil.Param{out}, Inputs: inputs(
				"data", bytesOf(mil.Int4, shape, packed(4, q)...), "scale", halves([]int64{rows, 1}, s...))}}
		})
		if !c.refused {
			expect(t, model, pkg, Options{ContentsOnly: true})
			continue
		}
		r := expect(t, model, pkg, Options{ContentsOnly: true}, reason.PairingDiffers)
		if d := r.Pairing.Differing; len(d) != 1 || d[0].Tensor != "encoder.blocks.0.mlp.0.weight" || d[0].Values != beyond || math.Abs(d[0].Bounds-furthest) > 1e-2 {
			t.Errorf("%d values by up to %.3f steps: said is %+v", beyond, furthest, d)
		}
		if said := r.Reasons[0].Found; !strings.Contains(said, fmt.Sprintf("%d of %d values", beyond, rows*cols)) || !strings.Contains(said, "times what rounding moves") {
			t.Errorf("%d values by up to %.3f steps: said is %q", beyond, furthest, said)
		}
		// What the code means names this cause.
		if def, _ := reason.Lookup(reason.PairingDiffers); !strings.Contains(def.Means, "GPTQ") {
			t.Errorf("%s does not name what makes such values: %s", def.Code, def.Means)
		}
	}
}
