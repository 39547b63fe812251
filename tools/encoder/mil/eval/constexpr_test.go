package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// constants compiles constexpr operations and reads their results, through an
// identity each since they are values like any other.
func constants(t *testing.T, body string, types map[string]string) map[string]mil.Tensor {
	t.Helper()
	var outs []string
	for name, typ := range types {
		body += "\ntensor<" + typ + "> out_" + name + " = identity(x=" + name + ");"
		outs = append(outs, "out_"+name)
	}
	p := program(t, "tensor<fp32,[1]> unused", body, strings.Join(outs, ", "))
	if o := Check(p, "main"); len(o) > 0 {
		t.Fatal(o)
	}
	plan, err := Compile(p, "main", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(t.Context(), map[string]mil.Tensor{"unused": floats(1)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The examples are those of coremltools' documentation, by value.
func TestDocumentedCompressions(t *testing.T) {
	for name, c := range map[string]struct {
		body, typ string
		want      []float64
	}{
		"affine, per channel": {`tensor<fp16,[2,3]> y = constexpr_affine_dequantize()[axis=int32(0), quantized_data=tensor<uint8,[2,3]>([[10,11,200],[9,8,7]]),
			scale=tensor<fp16,[2]>([0.5,2.0]), zero_point=tensor<uint8,[2]>([10,8])];`, "fp16,[2,3]", []float64{0, 0.5, 95, 2, 0, -2}},
		"affine, scalar": {`tensor<fp32,[3]> y = constexpr_affine_dequantize()[axis=int32(0), quantized_data=tensor<int8,[3]>([-128,0,127]),
			scale=fp32(0.25), zero_point=int8(-1)];`, "fp32,[3]", []float64{-31.75, 0.25, 32}},
		"cast": {`tensor<fp32,[2]> y = constexpr_cast()[output_dtype=string("fp32"), source_val=tensor<fp16,[2]>([1.5,-2.0])];`, "fp32,[2]", []float64{1.5, -2}},
		"palette, packed two bits": {`tensor<fp16,[5]> y = constexpr_lut_to_dense()[indices=tensor<uint8,[2]>([108,3]), lut=tensor<fp16,[4]>([10.0,11.0,12.0,13.0]),
			shape=tensor<uint32,[1]>([5])];`, "fp16,[5]", []float64{10, 13, 12, 11, 13}},
		"palette, grouped": {`tensor<fp16,[6,2]> y = constexpr_lut_to_dense(indices=tensor<uint2,[6,2]>([[2,3],[3,0],[1,0],[3,0],[2,1],[0,3]]),
			lut=tensor<fp16,[2,1,4,1]>([[[[1.0],[5.0],[9.0],[13.0]]],[[[2.0],[10.0],[18.0],[26.0]]]]));`, "fp16,[6,2]",
			[]float64{9, 13, 13, 1, 5, 1, 26, 2, 18, 10, 2, 26}},
		"palette, vectors on axis 1": {`tensor<fp16,[2,6,2]> y = constexpr_lut_to_dense(indices=tensor<uint1,[2,2,2]>([[[0,0],[1,0]],[[1,1],[0,0]]]),
			lut=tensor<fp16,[1,1,1,2,3]>([[[[[1.0,2.0,3.0],[4.0,5.0,6.0]]]]]), vector_axis=int32(1));`, "fp16,[2,6,2]",
			[]float64{1, 1, 2, 2, 3, 3, 4, 1, 5, 2, 6, 3, 4, 4, 5, 5, 6, 6, 1, 1, 2, 2, 3, 3}},
		"palette, vectors on the last axis": {`tensor<fp16,[2,2,6]> y = constexpr_lut_to_dense(indices=tensor<uint1,[2,2,2]>([[[0,0],[1,0]],[[1,1],[0,0]]]),
			lut=tensor<fp16,[1,1,1,2,3]>([[[[[1.0,2.0,3.0],[4.0,5.0,6.0]]]]]), vector_axis=int32(-1));`, "fp16,[2,2,6]",
			[]float64{1, 2, 3, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 1, 2, 3}},
		"sparse, bytes of bits": {`tensor<fp32,[5]> y = constexpr_sparse_to_dense()[mask=tensor<uint8,[1]>([12]), nonzero_data=tensor<fp32,[2]>([7.0,8.0]),
			shape=tensor<uint32,[1]>([5])];`, "fp32,[5]", []float64{0, 0, 7, 8, 0}},
		"sparse, mask with a shape": {`tensor<fp32,[2,3]> y = constexpr_sparse_to_dense(mask=tensor<uint1,[2,3]>([[0,1,0],[1,1,0]]),
			nonzero_data=tensor<fp32,[3]>([7.0,8.0,9.0]));`, "fp32,[2,3]", []float64{0, 7, 0, 8, 9, 0}},
		"blockwise": {`tensor<fp16,[2,4]> y = constexpr_blockwise_shift_scale(data=tensor<int4,[2,4]>([[-8,7,1,2],[3,4,5,6]]),
			scale=tensor<fp16,[2,2]>([[0.5,1.0],[2.0,4.0]]), offset=tensor<int4,[2,2]>([[0,1],[2,3]]));`, "fp16,[2,4]", []float64{-4, 3.5, 0, 1, 2, 4, 8, 12}},
		"sparse blockwise": {`tensor<uint1,[4,4]> m, tensor<fp32,[9]> v = constexpr_sparse_blockwise_shift_scale(
			data_mask=tensor<uint1,[4,4]>([[1,1,0,0],[1,1,1,0],[0,0,1,1],[1,1,0,0]]), nonzero_data=tensor<int8,[9]>([10,11,3,4,5,6,7,8,9]),
			scale=tensor<fp32,[1,4]>([[0.5,0.25,2.0,4.0]]), offset=tensor<int8,[1,4]>([[1,2,3,4]]));
			tensor<fp32,[4,4]> y = constexpr_sparse_to_dense(mask=m, nonzero_data=v);`, "fp32,[4,4]",
			[]float64{4.5, 2.25, 0, 0, 1, 0.5, 4, 0, 0, 0, 6, 12, 3.5, 1.75, 0, 0}},
		"sparse palette of vectors": {`tensor<uint1,[4,3]> m, tensor<fp16,[6]> v = constexpr_lut_to_sparse(
			indices_mask=tensor<uint1,[2,3]>([[1,1,0],[0,1,0]]), indices_nonzero_data=tensor<uint1,[3]>([0,1,1]),
			lut=tensor<fp16,[1,1,2,2]>([[[[2.0,2.5],[3.0,3.5]]]]), vector_axis=int32(0));
			tensor<fp16,[4,3]> y = constexpr_sparse_to_dense(mask=m, nonzero_data=v);`, "fp16,[4,3]",
			[]float64{2, 3, 0, 2.5, 3.5, 0, 0, 3, 0, 0, 3.5, 0}},
		"palette of integers, then scaled": {`tensor<int8,[2,2]> q = constexpr_lut_to_dense(indices=tensor<uint1,[2,2]>([[0,1],[1,0]]), lut=tensor<int8,[1,1,2,1]>([[[[-3],[5]]]]));
			tensor<fp16,[2,2]> y = constexpr_blockwise_shift_scale(data=q, scale=tensor<fp16,[2,1]>([[0.5],[2.0]]));`, "fp16,[2,2]", []float64{-1.5, 2.5, 10, -6}},
	} {
		got := numbersOf(constants(t, c.body, map[string]string{"y": c.typ})["out_y"])
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestCompressionsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"mask and values": {`tensor<fp32,[3]> y = constexpr_sparse_to_dense(mask=tensor<uint1,[3]>([1,1,0]), nonzero_data=tensor<fp32,[1]>([7.0]));`, "the 2 elements that the mask has bits for"},
		"mask and shape": {`tensor<fp32,[50]> y = constexpr_sparse_to_dense()[mask=tensor<uint8,[1]>([1]), nonzero_data=tensor<fp32,[1]>([7.0]), shape=tensor<uint32,[1]>([50])];`,
			"expected 7 bytes for 50 elements"},
		"entries and bits": {`tensor<fp16,[2]> y = constexpr_lut_to_dense(indices=tensor<uint2,[2]>([0,1]), lut=tensor<fp16,[1,2,1]>([[[1.0],[2.0]]]));`, "expected 4 entries"},
		"blocks":           {`tensor<fp16,[3]> y = constexpr_blockwise_shift_scale(data=tensor<int8,[3]>([1,2,3]), scale=tensor<fp16,[2]>([1.0,2.0]));`, "does not divide"},
		"computed data":    {`tensor<fp32,[1]> y = constexpr_sparse_to_dense(mask=tensor<uint1,[1]>([1]), nonzero_data=x);`, "computed value"},
		"one of two outputs": {`tensor<uint1,[1]> y = constexpr_lut_to_sparse(indices_mask=tensor<uint1,[1]>([1]), indices_nonzero_data=tensor<uint1,[1]>([0]),
			lut=tensor<fp16,[1,2,1]>([[[1.0],[2.0]]]));`, "2 results"},
		"name of a type": {`string s = const()[val=string("fp16")]; tensor<fp16,[1]> y = constexpr_cast(source_val=tensor<fp16,[1]>([1.0]), output_dtype=s);`, "only fp32"},
		"no extent":      {`tensor<fp16,[0]> y = constexpr_blockwise_shift_scale(data=tensor<int8,[0]>([]), scale=tensor<fp16,[1]>([1.0]));`, "refuses empty"},
		"vector axis":    {`tensor<fp16,[4]> y = constexpr_lut_to_dense(indices=tensor<uint1,[2]>([0,1]), lut=tensor<fp16,[1,2,2]>([[[1.0,2.0],[3.0,4.0]]]));`, "vector_axis"},
	} {
		p := program(t, "tensor<fp32,[1]> x", c.body, "y")
		// Only what a mask holds needs weights.
		if o := Check(p, "main"); name != "mask and values" && (len(o) == 0 || o[0].Op == "" || o[0].Line == 0 || !strings.Contains(o[0].Problem, c.want)) {
			t.Errorf("%s: the check finds %v, want something about %q", name, o, c.want)
		}
		if _, err := Compile(p, "main", nil, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", name, err, c.want)
		}
	}
}
