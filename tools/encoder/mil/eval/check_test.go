package eval

import (
	"errors"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

func TestEveryObstacleIsListed(t *testing.T) {
	p := program(t, "tensor<fp32,[2,3]> x", `
	tensor<fp32,[2,3]> a = instance_norm(x=x);
	tensor<fp32,[2,3]> b = softmax(x=a, axis=int32(5));
	tensor<fp32,[2,3]> c = add(x=b, y=b, z=b);
	tensor<fp16,[2,3]> d = add(x=c, y=c);
	tensor<fp32,[3,2]> e = relu(x=c);
	tensor<fp32,[2,2]> f = matmul(x=x, y=x, transpose_x=bool(false), transpose_y=bool(false));
	`, "e, f")
	got := Check(p, "main")
	want := []string{"instance_norm", "axis 5 is outside rank 2", `argument "z" is not known`, "declared as tensor<fp16, [2, 3]>", "declared as tensor<fp32, [3, 2]>", "3 columns"}
	if len(got) != len(want) {
		t.Fatalf("%d obstacles, want %d: %v", len(got), len(want), got)
	}
	for i, o := range got {
		if !strings.Contains(o.String(), want[i]) || o.Line != i+5 {
			t.Errorf("obstacle %d is %v, want something about %q at line %d", i, o, want[i], i+5)
		}
	}
	_, err := Compile(p, "main", nil, Options{})
	var u *Unsupported
	if !errors.As(err, &u) || len(u.Obstacles) != len(want) || !strings.Contains(err.Error(), "instance_norm") {
		t.Errorf("Compile says %v", err)
	}
}

func TestRefusals(t *testing.T) {
	x := "tensor<fp32,[2,3]> x"
	for name, c := range map[string]struct{ params, body, outs, want string }{
		"rank above 5":     {"tensor<fp32,[1,1,1,1,2,3]> x", "tensor<fp32,[1,1,1,1,2,3]> y = relu(x=x);", "y", "rank 6"},
		"zero extent":      {"tensor<fp32,[0,3]> x", "tensor<fp32,[0,3]> y = relu(x=x);", "y", "empty tensors"},
		"rank by reshape":  {x, "tensor<fp32,[1,1,1,1,2,3]> y = reshape(x=x, shape=tensor<int32,[6]>([1,1,1,1,2,3]));", "y", "rank 6"},
		"flexible input":   {"tensor<fp32,[?,3]> x", "tensor<fp32,[?,3]> y = relu(x=x);", "y", "fixed extents"},
		"mixed types":      {x + ", tensor<fp16,[2,3]> h", "tensor<fp32,[2,3]> y = add(x=x, y=h);", "y", "one type"},
		"double":           {"tensor<fp64,[2,3]> x", "tensor<fp64,[2,3]> y = relu(x=x);", "y", "fp64"},
		"computed axis":    {x + ", tensor<int32,[1]> a", "tensor<fp32,[2,1]> y = reduce_sum(x=x, axes=a, keep_dims=bool(true));", "y", "computed value"},
		"missing argument": {x, "tensor<fp32,[2,3]> y = add(x=x);", "y", `"y" is missing`},
		"two -1":           {x, "tensor<fp32,[2,3]> y = reshape(x=x, shape=tensor<int32,[2]>([-1,-1]));", "y", "at most one -1"},
		"odd perm":         {x, "tensor<fp32,[2,2]> y = transpose(x=x, perm=tensor<int32,[2]>([0,0]));", "y", "twice"},
		"einsum equation": {"tensor<fp32,[1,2,3,4]> x", `tensor<fp32,[1,2,3,3]> y = einsum(values=(x,x), equation=string("abcd,abed->abce"));`, "y",
			"Core ML has"},
		"gelu mode":        {x, `tensor<fp32,[2,3]> y = gelu(x=x, mode=string("FAST"));`, "y", `"FAST"`},
		"split sizes":      {x, "tensor<fp32,[2,2]> y, tensor<fp32,[2,2]> z = split(x=x, axis=int32(1), split_sizes=tensor<int32,[2]>([2,2]));", "y, z", "do not fit"},
		"pad type":         {"tensor<fp32,[1,1,4]> x", `tensor<fp32,[1,1,4]> y = conv(x=x, weight=tensor<fp32,[1,1,1]>([[[1.0]]]), pad_type=string("mirror"));`, "y", `"mirror"`},
		"integer mask":     {"tensor<fp32,[1,2,3]> x, tensor<int32,[2,2]> m", "tensor<fp32,[1,2,3]> y = scaled_dot_product_attention(query=x, key=x, value=x, attn_mask=m);", "y", "expected bool or fp32"},
		"weight file":      {x, `tensor<fp32,[2,3]> w = const()[val=tensor<fp32,[2,3]>(BLOBFILE(path=string("@model_path/weights/weight.bin"), offset=uint64(64)))]; tensor<fp32,[2,3]> y = add(x=x, y=w);`, "y", "no weight file"},
		"wrong const type": {x, "tensor<fp16,[1]> w = const()[val=tensor<fp32,[1]>([1.0])]; tensor<fp32,[2,3]> y = relu(x=x);", "y", "its value is"},
	} {
		p, err := text.Parse("program(1.3)\n{\n func main<ios18>(" + c.params + ") {\n" + c.body + "\n} -> (" + c.outs + ");\n}\n")
		if err != nil {
			t.Errorf("%s: the test's program does not parse: %v", name, err)
			continue
		}
		if _, err := Compile(p, "main", nil, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", name, err, c.want)
		}
	}
	if o := Check(program(t, x, "tensor<fp32,[2,3]> y = relu(x=x);", "y"), "encoder"); len(o) != 1 || !strings.Contains(o[0].String(), `"main"`) {
		t.Errorf("another function: %v", o)
	}
}

func TestNestedBlocksAreRefused(t *testing.T) {
	p := program(t, "tensor<fp32,[2]> x", "tensor<fp32,[2]> y = relu(x=x);", "y")
	op := p.Functions[0].Body.Ops[0]
	op.Blocks = []*mil.Block{{Outputs: []string{"x"}}}
	if o := Check(p, "main"); len(o) != 1 || !strings.Contains(o[0].Problem, "control flow") {
		t.Errorf("got %v", o)
	}
}

func TestInputsMustFit(t *testing.T) {
	plan, err := Compile(program(t, "tensor<fp32,[2]> x", "tensor<fp32,[2]> y = relu(x=x);", "y"), "main", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	good := floats(1, -2)
	for name, in := range map[string]map[string]mil.Tensor{
		"none":       {},
		"other name": {"z": good},
		"one more":   {"x": good, "z": good},
		"shape":      {"x": floats(1, 2, 3)},
		"type":       {"x": {DType: mil.Int32, Shape: []int64{2}, Data: good.Data}},
		"length":     {"x": {DType: mil.Float32, Shape: []int64{2}, Data: good.Data[:7]}},
	} {
		if out, err := plan.Run(t.Context(), in); err == nil {
			t.Errorf("%s: evaluated to %v", name, out)
		}
	}
	// Bytes need not be aligned.
	odd := append([]byte{0}, good.Data...)[1:]
	out, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": {DType: mil.Float32, Shape: []int64{2}, Data: odd}})
	if err != nil || numbersOf(out["y"])[0] != 1 || numbersOf(out["y"])[1] != 0 {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestIntegersAbove24BitsAreFlagged(t *testing.T) {
	p := program(t, "tensor<int32,[1]> x", `
	tensor<int32,[1]> big = const()[val=tensor<int32,[1]>([16777217])];
	tensor<int32,[1]> far = const()[val=tensor<int32,[1]>([2147483647])];
	tensor<int32,[1]> part = slice_by_index(x=x, begin=tensor<int32,[1]>([0]), end=far);
	tensor<fp32,[1]> small = cast(x=tensor<int32,[1]>([7]), dtype=string("fp32"));
	tensor<int32,[2]> z = concat(values=(part, big), axis=int32(0), interleave=bool(false));
	tensor<fp32,[1]> inline = cast(x=tensor<int32,[1]>([-16777218]), dtype=string("fp32"));
	tensor<int32,[1]> y = add(x=x, y=x);`, "y")
	plan, err := Compile(p, "main", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w := plan.Warnings; len(w) != 2 || !strings.Contains(w[0].Problem, "16777217") || !strings.Contains(w[1].Problem, "-16777218") {
		t.Errorf("warnings are %v, want the two integers that are computed with", w)
	}
	in := func(v byte) map[string]mil.Tensor {
		return map[string]mil.Tensor{"x": {DType: mil.Int32, Shape: []int64{1}, Data: []byte{0, 0, 0, v}}}
	}
	if _, err := plan.Run(t.Context(), in(1)); err == nil || !strings.Contains(err.Error(), "not exact above 2^24") {
		t.Errorf("2^24 + 2^24: %v", err)
	}
	cast, err := Compile(program(t, "tensor<fp32,[1]> x", `tensor<int32,[1]> y = cast(x=x, dtype=string("int32"));`, "y"), "main", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float32{3e9, -3e9} {
		if _, err := cast.Run(t.Context(), map[string]mil.Tensor{"x": floats(v)}); err == nil || !strings.Contains(err.Error(), "does not fit") {
			t.Errorf("%g to int32: %v", v, err)
		}
	}
}
