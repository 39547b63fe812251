package artifact

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// What is known of the original values follows them through each operation. A palette's outermost entries bound nothing,
// which stands as inf here; the numbers are the largest distance of the original.
func TestBounds(t *testing.T) {
	const inf = math.MaxFloat32
	for _, c := range []struct {
		name, ops    string
		values, kept []float32
		// below and above bound the original; above is below where it is nil.
		below, above []float32
	}{
		{name: "one step of the grid of each channel", ops: `tensor<fp16, [2, 2]> w = constexpr_affine_dequantize()[quantized_data = tensor<int8, [2, 2]>([[1, 2], [3, 4]]),
			scale = tensor<fp16, [2]>([0.5, -2]), zero_point = int8(1), axis = int32(-1)];`,
			values: []float32{0, -2, 1, -6}, below: []float32{0.5, 2, 0.5, 2}},
		{name: "floats that are scaled are exact", ops: `tensor<fp32, [2]> w = constexpr_blockwise_shift_scale(data = tensor<fp32, [2]>([1, 2]), scale = tensor<fp32, [1]>([4]));`,
			values: []float32{4, 8}, below: []float32{0, 0}},
		// Half the larger gap beside an entry, and a 512th of the palette's range.
		{name: "palette", ops: `tensor<fp16, [4]> w = constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([108]), lut = tensor<fp16, [4]>([0, 4, 12, 512]), shape = tensor<uint32, [1]>([4])];`,
			values: []float32{0, 512, 12, 4}, below: []float32{inf, 251, 5, 3}, above: []float32{3, inf, 251, 5}},
		{name: "palette of integers, scaled", ops: `tensor<int8, [3]> i = constexpr_lut_to_dense(indices = tensor<uint2, [3]>([0, 1, 2]), lut = tensor<int8, [1, 4, 1]>([[[0], [4], [12], [64]]]));
			tensor<fp16, [3]> w = constexpr_blockwise_shift_scale(data = i, scale = tensor<fp16, [3]>([1, -2, 4]));`,
			values: []float32{0, -8, 48}, below: []float32{inf, 8.25, 104.5}, above: []float32{inf, 8.25, 104.5}},
		{name: "palette that was rounded itself", ops: `tensor<fp16, [1, 4, 1]> l = constexpr_blockwise_shift_scale(data = tensor<int8, [1, 4, 1]>([[[0], [4], [12], [64]]]), scale = tensor<fp16, [1, 1, 1]>([[[0.5]]]));
			tensor<fp16, [2]> w = constexpr_lut_to_dense(indices = tensor<uint2, [2]>([1, 2]), lut = l);`,
			values: []float32{2, 6}, below: []float32{2.0625, 3.0625}, above: []float32{3.0625, 14.0625}},
		{name: "pruned", ops: `tensor<fp16, [3]> w = constexpr_sparse_to_dense()[nonzero_data = tensor<fp16, [2]>([0, 3]), mask = tensor<uint8, [1]>([5]), shape = tensor<uint32, [1]>([3])];`,
			values: []float32{0, 0, 3}, kept: []float32{1, 0, 1}},
		{name: "pruned and rounded", ops: `tensor<uint1, [3]> m, tensor<fp16, [2]> v = constexpr_sparse_blockwise_shift_scale(data_mask = tensor<uint1, [3]>([0, 1, 1]), nonzero_data = tensor<int8, [2]>([3, 4]),
				scale = tensor<fp16, [3]>([1, 2, 4]), offset = tensor<int8, [3]>([0, 1, 1]));
			tensor<fp16, [3]> w = constexpr_sparse_to_dense(mask = m, nonzero_data = v);`,
			values: []float32{0, 4, 12}, below: []float32{0, 2, 4}, kept: []float32{0, 1, 1}},
		{name: "widened", ops: `tensor<fp16, [2]> v = constexpr_blockwise_shift_scale(data = tensor<uint4, [2]>([1, 15]), scale = tensor<fp16, [1]>([0.5]));
			tensor<fp32, [2]> w = constexpr_cast(source_val = v, output_dtype = string("fp32"));`,
			values: []float32{0.5, 7.5}, below: []float32{0.5, 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := text.Parse("program(1.3) { func main<ios18>(fp32 x) { " + c.ops + " } -> (x); }")
			if err != nil {
				t.Fatal(err)
			}
			d := newDecompressor(p.Functions[0].Body, nil)
			x, err := (&pairing{d: d}).decompressed(d.constants.Op("w"))
			if err != nil {
				t.Fatal(err)
			}
			if c.above == nil {
				c.above = c.below
			}
			for _, part := range []struct {
				name string
				at   func(int64) float32
				want []float32
			}{{"value", x.value, c.values}, {"below", x.below, c.below}, {"above", x.above, c.above}, {"kept", x.kept, c.kept}} {
				if (part.at == nil) != (part.want == nil) {
					t.Errorf("%s: known %v, want %v", part.name, part.at != nil, part.want)
					continue
				}
				for i, want := range part.want {
					if got := part.at(int64(i)); got != want {
						t.Errorf("%s %d is %v, want %v", part.name, i, got, want)
					}
				}
			}
		})
	}
}

// What cannot be decoded is said to be so, and is not a pass.
func TestUnknownCompression(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "ggml-x.bin")
	good := modelBytes(t, wide)
	writeFile(t, model, good)
	writeEncoder(t, dir, "plain", good, milencoder.Float16)
	pkg := filepath.Join(dir, "compressed.mlpackage")
	replaceWeight(t, filepath.Join(dir, "plain.mlpackage"), pkg, []int64{256, 64}, func(v []float32, out mil.Param) []*mil.Op {
		return []*mil.Op{{Type: "constexpr_from_the_future", Outputs: []mil.Param{out}}}
	})
	expect(t, model, pkg, Options{ContentsOnly: true}, "OPERATION_UNKNOWN", "PAIRING_ABSENT", "PAIRING_UNREADABLE")
}

// A bound on every value: a few codes at the end of their range are no rounding, however few they are.
func TestFewWrongCodes(t *testing.T) {
	const rows, cols = 256, 64
	shape := []int64{rows, cols}
	for _, c := range []struct {
		name string
		make func(v []float32, out mil.Param, wrong int) []*mil.Op
	}{
		{"int8 per channel", func(v []float32, out mil.Param, wrong int) []*mil.Op {
			s := scales(v, rows, 127)
			b := make([]byte, len(v))
			for i, x := range grid(v, s, -127, 127) {
				b[i] = byte(x)
			}
			for i := range wrong {
				b[i*2203%len(b)] = map[bool]byte{true: 127, false: 0x81}[i%2 == 0]
			}
			return []*mil.Op{{Type: "constexpr_affine_dequantize", Outputs: []mil.Param{out}, Attrs: attrs(
				"quantized_data", bytesOf(mil.Int8, shape, b...), "scale", halves([]int64{rows}, s...),
				"zero_point", bytesOf(mil.Int8, []int64{}, 0), "axis", mil.Int32Value(0))}}
		}},
		{"a palette of 16", func(v []float32, out mil.Param, wrong int) []*mil.Op {
			lut, at := levels(v, 16)
			for i := range wrong {
				at[i*2203%len(at)] = 15
			}
			return []*mil.Op{{Type: "constexpr_lut_to_dense", Outputs: []mil.Param{out}, Inputs: inputs(
				"indices", bytesOf(mil.Uint4, shape, packed(4, at)...), "lut", halves([]int64{1, 1, 16, 1}, lut...))}}
		}},
		{"a palette of 2", func(v []float32, out mil.Param, wrong int) []*mil.Op {
			lut, at := levels(v, 2)
			for i := range wrong {
				at[i*2203%len(at)] ^= 1
			}
			return []*mil.Op{{Type: "constexpr_lut_to_dense", Outputs: []mil.Param{out}, Inputs: inputs(
				"indices", bytesOf(mil.Uint1, shape, packed(1, at)...), "lut", halves([]int64{1, 1, 2, 1}, lut...))}}
		}},
	} {
		for _, wrong := range []int{0, 7} { // 0.043 per cent
			dir := t.TempDir()
			model := filepath.Join(dir, "ggml-x.bin")
			good := modelBytes(t, wide)
			writeFile(t, model, good)
			writeEncoder(t, dir, "plain", good, milencoder.Float16)
			pkg := filepath.Join(dir, "compressed.mlpackage")
			replaceWeight(t, filepath.Join(dir, "plain.mlpackage"), pkg, shape, func(v []float32, out mil.Param) []*mil.Op { return c.make(v, out, wrong) })
			r, err := Inspect(model, pkg, Options{ContentsOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if (r.Verdict == "pass") != (wrong == 0) {
				t.Errorf("%s with %d wrong codes: %s %v", c.name, wrong, r.Verdict, r.Reasons)
			}
		}
	}
}
