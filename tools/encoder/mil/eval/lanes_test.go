package eval

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// An operation along an axis in front gives the bytes of the same operation on
// the transposed value along the last axis, however rows are walked.
func TestAxesInFrontGiveTheSameBytes(t *testing.T) {
	for typ, d := range map[string]mil.DType{"fp32": mil.Float32, "fp16": mil.Float16} {
		for _, width := range []int{1, 3, 16, 37} {
			shape := fmt.Sprintf("%s,[2,9,1,%d]", typ, width)
			turned := fmt.Sprintf("%s,[2,1,%d,9]", typ, width)
			sums, turnedSums := fmt.Sprintf("%s,[2,1,1,%d]", typ, width), fmt.Sprintf("%s,[2,1,%d,1]", typ, width)
			p := program(t, "tensor<"+shape+"> x", `
	tensor<`+turned+`> xt = transpose(x=x, perm=tensor<int32,[4]>([0,2,3,1]));
	tensor<`+turned+`> st = softmax(x=xt, axis=int32(-1));
	tensor<`+shape+`> s_want = transpose(x=st, perm=tensor<int32,[4]>([0,3,1,2]));
	tensor<`+shape+`> s = softmax(x=x, axis=int32(1));
	tensor<`+turned+`> nt = layer_norm(x=xt, axes=tensor<int32,[1]>([-1]));
	tensor<`+shape+`> n_want = transpose(x=nt, perm=tensor<int32,[4]>([0,3,1,2]));
	tensor<`+shape+`> n = layer_norm(x=x, axes=tensor<int32,[1]>([1]));
	tensor<`+turnedSums+`> rt = reduce_mean(x=xt, axes=tensor<int32,[1]>([-1]), keep_dims=bool(true));
	tensor<`+sums+`> r_want = transpose(x=rt, perm=tensor<int32,[4]>([0,3,1,2]));
	tensor<`+sums+`> r = reduce_mean(x=x, axes=tensor<int32,[1]>([1]), keep_dims=bool(true));`,
				"s, s_want, n, n_want, r, r_want")
			plan, err := Compile(p, "main", nil, Options{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			out, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": wave(d, 18*width, 0.9, 2, 9, 1, int64(width))})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"s", "n", "r"} {
				if !bytes.Equal(out[name].Data, out[name+"_want"].Data) {
					t.Errorf("%s, width %d: %s differs along the axis in front", typ, width, name)
				}
			}
		}
	}
}
