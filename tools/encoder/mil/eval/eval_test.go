package eval

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

func program(t *testing.T, params, body, outs string) *mil.Program {
	t.Helper()
	p, err := text.Parse("program(1.3)\n{\n func main<ios18>(" + params + ") {\n" + body + "\n} -> (" + outs + ");\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func floats(v ...float32) mil.Tensor {
	t := mil.Tensor{DType: mil.Float32, Shape: []int64{int64(len(v))}}
	for _, x := range v {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(x))
	}
	return t
}

func TestAFewOperations(t *testing.T) {
	p := program(t, "tensor<fp32,[2,3]> x", `
	tensor<int32,[2]> perm = const()[name=string("p"), val=tensor<int32,[2]>([1,0])];
	tensor<fp32,[3,2]> y = transpose(x=x, perm=perm)[name=string("y")];
	tensor<fp32,[3,2]> z = add(x=y, y=y);
	tensor<fp32,[3,3]> w = matmul(x=z, y=x, transpose_x=bool(false), transpose_y=bool(false));
	`, "z, w")
	plan, err := Compile(p, "main", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := floats(1, 2, 3, 4, 5, 6)
	x.Shape = []int64{2, 3}
	out, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float32{"z": {2, 8, 4, 10, 6, 12}, "w": {34, 44, 54, 44, 58, 72, 54, 72, 90}} {
		if got := cells[float32](out[name].Data); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
