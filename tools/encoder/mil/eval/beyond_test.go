package eval

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// TestUnknownIsNamedWithItsLayer holds operations of public models that are not evaluated: each parses, is named with its
// layer and line, and what comes after it is still checked.
func TestUnknownIsNamedWithItsLayer(t *testing.T) {
	const list = "list<tensor<fp32, [2]>, ?>"
	for name, c := range map[string]struct{ body, layer, says string }{
		"lstm":             {"tensor<fp32,[1,1,2]> layer_1, tensor<fp32,[1,2]> h, tensor<fp32,[1,2]> k = lstm(x=x, initial_h=x, initial_c=x);", "layer_1", "Core ML has it since iOS 15"},
		"make_list":        {list + " layer_1 = make_list(init_length=int32(1), dtype=string(\"fp32\"), elem_shape=(int32(2)), dynamic_length=bool(true));", "layer_1", "since iOS 15"},
		"list_gather":      {list + " l = make_list(); tensor<fp32,[1,2]> layer_1 = list_gather(ls=l, indices=x);", "layer_1", "since iOS 15"},
		"list_scatter":     {list + " l = make_list(); " + list + " layer_1 = list_scatter(ls=l, indices=x, value=x);", "layer_1", "since iOS 15"},
		"classify":         {"string layer_1, dict<string, fp64> p = classify(probabilities=x, classes=x);", "layer_1", "since iOS 15"},
		"read_state":       {"tensor<fp32,[2]> layer_1 = read_state(input=x);", "layer_1", "since iOS 18"},
		"instance_norm":    {"tensor<fp32,[2]> layer_1 = instance_norm(x=x);", "layer_1", "since iOS 15"},
		"rotary_embedding": {"tensor<fp32,[2]> layer_1 = rotary_embedding(x=x);", "layer_1", "no operation set of Core ML has it"},
	} {
		p, err := text.Parse("program(1.3)\n{\n func main<ios18>(tensor<fp32,[2]> x) {\n" + c.body + "\ntensor<fp32,[3]> z = relu(x=x);\n} -> (z);\n}\n")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found, later := false, false
		for _, o := range Check(p, "main") {
			found = found || o.Op == name && o.Output == c.layer && strings.Contains(o.Problem, c.says) && o.Line == 4
			later = later || o.Op == "relu" && strings.Contains(o.Problem, "declared as")
		}
		if !found || !later {
			t.Errorf("%s: found %v, expected it named with its layer, and the relu behind it", name, Check(p, "main"))
		}
	}
}

func TestRefusalsBeyondWhisper(t *testing.T) {
	x, h := "tensor<fp32,[2,3]> x", "tensor<int32,[2,3]> x"
	window := func(rest string) string {
		return `tensor<fp32,[1,1,2]> y = max_pool(x=x, kernel_sizes=tensor<int32,[1]>([2]), ` + rest + ");"
	}
	average := strings.Replace(window(`strides=tensor<int32,[1]>([2]), pad_type=string("valid"), ceil_mode=bool(true)`), "max_pool", "avg_pool", 1)
	for name, c := range map[string]struct{ params, body, want string }{
		"comparison of two types":     {x + ", tensor<fp16,[2,3]> h", "tensor<bool,[2,3]> y = less(x=x, y=h);", "one type"},
		"comparison to a number":      {x, "tensor<fp32,[2,3]> y = less(x=x, y=x);", "gives bool"},
		"logic of numbers":            {x, "tensor<bool,[2,3]> y = logical_and(x=x, y=x);", "one type of [bool]"},
		"select by a number":          {x, "tensor<fp32,[2,3]> y = select(cond=x, a=x, b=x);", "one type of [bool]"},
		"select without broadcast":    {x + ", tensor<bool,[4]> c", "tensor<fp32,[2,3]> y = select(cond=c, a=x, b=x);", "do not broadcast"},
		"matmul of int8":              {"tensor<int8,[2,2]> x", "tensor<int32,[2,2]> y = matmul(x=x, y=x);", "found int8"},
		"matmul of int32 and fp32":    {x + ", tensor<int32,[3,2]> z", "tensor<fp32,[2,2]> y = matmul(x=x, y=z);", "one type"},
		"pool of padding":             {"tensor<fp32,[1,1,2]> x", window(`strides=tensor<int32,[1]>([3]), pad_type=string("custom"), pad=tensor<int32,[2]>([2,2])`), "padding alone"},
		"average beyond the padding":  {"tensor<fp32,[1,1,3]> x", average, "beyond the padding"},
		"same under ceil_mode":        {"tensor<fp32,[1,1,3]> x", window(`pad_type=string("same"), ceil_mode=bool(true)`), "ceil_mode goes with"},
		"reflect by all of it":        {x, `tensor<fp32,[2,9]> y = pad(x=x, pad=tensor<int32,[2]>([3,3]), mode=string("reflect"));`, "expected 0 to 2"},
		"replicate in three":          {"tensor<fp32,[2,2,3]> x", `tensor<fp32,[4,2,3]> y = pad(x=x, pad=tensor<int32,[6]>([1,1,0,0,0,0]), mode=string("replicate"));`, "last two dimensions"},
		"pad of an unknown mode":      {x, `tensor<fp32,[2,5]> y = pad(x=x, pad=tensor<int32,[2]>([1,1]), mode=string("mirror"));`, `"mirror"`},
		"indices of fp32":             {x, "tensor<fp32,[2,3,3]> y = gather(x=x, indices=x, axis=int32(0));", "expected integers"},
		"batch that does not fit":     {x + ", tensor<int32,[3,1]> i", "tensor<fp32,[2,1]> y = gather(x=x, indices=i, axis=int32(1), batch_dims=int32(1));", "batch_dims 1"},
		"indices of another rank":     {x + ", tensor<int32,[3]> i", "tensor<fp32,[3]> y = gather_along_axis(x=x, indices=i, axis=int32(0));", "do not fit"},
		"reverse twice":               {x, "tensor<fp32,[2,3]> y = reverse(x=x, axes=tensor<int32,[2]>([1,-1]));", "twice"},
		"tile by zero":                {x, "tensor<fp32,[2,3]> y = tile(x=x, reps=tensor<int32,[2]>([0,1]));", "positive numbers"},
		"upsampled by a fraction":     {"tensor<fp32,[1,2,2]> x", "tensor<fp32,[1,3,2]> y = upsample_nearest_neighbor(x=x, scale_factor_height=fp32(1.5));", "whole number"},
		"topk unsorted":               {x, "tensor<fp32,[2,2]> y, tensor<int32,[2,2]> i = topk(x=x, k=int32(2), sort=bool(false));", "order of the elements"},
		"topk of more than there are": {x, "tensor<fp32,[2,4]> y, tensor<int32,[2,4]> i = topk(x=x, k=int32(4));", "outside the 3 elements"},
		"a range of fp32":             {x, "tensor<fp32,[3]> y = range_1d(start=fp32(0), end=fp32(3), step=fp32(1));", "depends on rounding"},
		"an endless range":            {x, "tensor<int32,[3]> y = range_1d(start=int32(0), end=int32(3), step=int32(0));", "out of range"},
		"quantized to int16":          {x, `tensor<int16,[2,3]> y = quantize(input=x, scale=fp32(1), output_dtype=string("int16"));`, "int8 or uint8"},
		"an axis without a vector":    {x, `tensor<int8,[2,3]> y = quantize(input=x, scale=fp32(1), axis=int32(0), output_dtype=string("int8"));`, "without an axis"},
		"statistics of two channels":  {"tensor<fp32,[1,3,2]> x", "tensor<fp32,[1,3,2]> y = batch_norm(x=x, mean=tensor<fp32,[2]>([0,0]), variance=tensor<fp32,[2]>([1,1]));", "expected [3]"},
		"a computed shape":            {h, "tensor<int32,[2]> s = reduce_argmax(x=x, axis=int32(1), keep_dims=bool(false)); tensor<int32,[6]> y = reshape(x=x, shape=s);", "found a computed value"},
		"eight-bit floating point":    {"tensor<fp8e4m3fn,[2]> x", "tensor<fp8e4m3fn,[2]> y = identity(x=x);", "fp8e4m3fn are not evaluated"},
		"the other one":               {"tensor<fp8e5m2,[2]> x", "tensor<fp32,[2]> y = cast(x=x, dtype=string(\"fp32\"));", "fp8e5m2 are not evaluated"},
		"four bits":                   {"tensor<int4,[2]> x", "tensor<int4,[2]> y = identity(x=x);", "int4 are not evaluated"},
		"64 bits":                     {"tensor<int64,[2]> x", "tensor<fp16,[2]> y = cast(x=x, dtype=string(\"fp16\"));", "int64 are not evaluated"},
	} {
		p, err := text.Parse("program(1.3)\n{\n func main<ios18>(" + c.params + ") {\n" + c.body + "\n} -> (y);\n}\n")
		if err != nil {
			t.Errorf("%s: the test's program does not parse: %v", name, err)
			continue
		}
		if _, err := Compile(p, "main", nil, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", name, err, c.want)
		}
	}
}

func ints(v ...int32) mil.Tensor {
	t := mil.Tensor{DType: mil.Int32, Shape: []int64{int64(len(v))}}
	for _, x := range v {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, uint32(x))
	}
	return t
}

// What the documentation leaves open ends the evaluation instead of giving one of several answers.
func TestNoAnswerWhereNoneIsDocumented(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		set, params, body string
		in                map[string]mil.Tensor
		want              string
	}{
		"equal largest":            {"ios18", "tensor<fp32,[3]> x", "int32 y = reduce_argmax(x=x, axis=int32(0), keep_dims=bool(false));", map[string]mil.Tensor{"x": floats(1, 5, 5)}, "elements 1 and 2 are both 5"},
		"equal, but not largest":   {"ios18", "tensor<fp32,[3]> x", "int32 y = reduce_argmax(x=x, axis=int32(0), keep_dims=bool(false));", map[string]mil.Tensor{"x": floats(1, 1, 5)}, ""},
		"NaN":                      {"ios18", "tensor<fp32,[3]> x", "int32 y = reduce_argmin(x=x, axis=int32(0), keep_dims=bool(false));", map[string]mil.Tensor{"x": floats(1, nan, 5)}, "NaN"},
		"equal at the edge":        {"ios18", "tensor<fp32,[3]> x", "tensor<fp32,[1]> y, tensor<int32,[1]> i = topk(x=x, k=int32(1));", map[string]mil.Tensor{"x": floats(5, 5, 1)}, "both 5"},
		"equal without an index":   {"ios18", "tensor<fp32,[3]> x", "tensor<fp32,[1]> y = topk(x=x, k=int32(1), return_indices=bool(false));", map[string]mil.Tensor{"x": floats(5, 5, 1)}, ""},
		"division by zero":         {"ios18", "tensor<int32,[2]> x", "tensor<int32,[2]> y = floor_div(x=x, y=int32(0));", map[string]mil.Tensor{"x": ints(1, 2)}, "divided by the integer 0"},
		"a quotient that is none":  {"ios18", "tensor<int32,[2]> x", "tensor<int32,[2]> y = real_div(x=x, y=int32(2));", map[string]mil.Tensor{"x": ints(4, 5)}, "5 and 2 is no integer"},
		"an index behind the end":  {"ios16", "tensor<int32,[2]> x", "tensor<int32,[2]> y = gather(x=x, indices=x, axis=int32(0));", map[string]mil.Tensor{"x": ints(0, 2)}, "index 2 is outside the extent 2"},
		"an index from the end":    {"ios16", "tensor<int32,[2]> x", "tensor<int32,[2]> y = gather(x=x, indices=x, axis=int32(0));", map[string]mil.Tensor{"x": ints(0, -2)}, ""},
		"an index below zero":      {"CoreML7", "tensor<int32,[2]> x", "tensor<int32,[2]> y = gather(x=x, indices=x, axis=int32(0));", map[string]mil.Tensor{"x": ints(0, -2)}, "index -2 is outside"},
		"sums that float32 rounds": {"ios18", "tensor<int32,[1,2]> x", "tensor<int32,[1,1]> y = matmul(x=x, y=x, transpose_y=bool(true));", map[string]mil.Tensor{"x": ints(4096, 1)}, "float32"},
		"the same, from iOS 26 on": {"ios26", "tensor<int32,[1,2]> x", "tensor<int32,[1,1]> y = matmul(x=x, y=x, transpose_y=bool(true));", map[string]mil.Tensor{"x": ints(4096, 1)}, ""},
		"sums beyond int32":        {"ios26", "tensor<int32,[1,2]> x", "tensor<int32,[1,1]> y = matmul(x=x, y=x, transpose_y=bool(true));", map[string]mil.Tensor{"x": ints(46341, 0)}, "int32 does not hold"},
		"the widest products":      {"CoreML9", "tensor<int32,[1,2]> x", "tensor<int32,[1,1]> y = matmul(x=x, y=x, transpose_y=bool(true));", map[string]mil.Tensor{"x": ints(math.MinInt32, math.MinInt32)}, "int32 does not hold"},
	} {
		p, err := text.Parse("program(1.3)\n{\n func main<" + c.set + ">(" + c.params + ") {\n" + c.body + "\n} -> (y);\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Compile(p, "main", nil, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		in := c.in["x"]
		in.Shape = plan.Inputs[0].Shape
		out, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": in})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, %v, want %q", name, out, err, c.want)
		}
	}
}

// A scalar is [1] on both sides of the program.
func TestScalarsAtTheBoundary(t *testing.T) {
	plan, err := Compile(program(t, "fp32 x", "fp32 y = add(x=x, y=x);", "y"), "main", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": floats(3)})
	if err != nil || len(out["y"].Shape) != 1 || out["y"].Shape[0] != 1 || numbersOf(out["y"])[0] != 6 {
		t.Errorf("got %v, %v", out, err)
	}
	if _, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": floats(3, 4)}); err == nil {
		t.Error("two numbers are taken for a scalar")
	}
}

// A constant that is computed ahead costs no step, and one that is not integers is computed when the program runs.
func TestShapesAreComputedAhead(t *testing.T) {
	p := program(t, "tensor<fp32,[2,3,4]> x", `
	tensor<int32,[3]> s = shape(x=x);
	tensor<int32,[2]> k = slice_by_index(x=s, begin=tensor<int32,[1]>([1]), end=tensor<int32,[1]>([3]));
	tensor<int32,[1]> b = reverse(x=tensor<int32,[1]>([-1]));
	tensor<int32,[3]> t = concat(values=(b, k), axis=int32(0), interleave=bool(false));
	tensor<fp32,[2,3,4]> y = reshape(x=x, shape=t);
	tensor<fp32,[2]> z = add(x=tensor<fp32,[2]>([1,2]), y=tensor<fp32,[2]>([1,2]));`, "y, z")
	plan, err := Compile(p, "main", nil, Options{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, s := range plan.steps {
		ops = append(ops, s.op)
	}
	if strings.Join(ops, " ") != "reshape add" {
		t.Errorf("the steps are %v, expected the reshape and the sum of floating point", ops)
	}
	// The reason of a failure ahead is the obstacle.
	bad := program(t, "tensor<fp32,[2]> x", `tensor<int32,[1]> s = gather(x=tensor<int32,[2]>([7,8]), indices=tensor<int32,[1]>([5]), axis=int32(0)); tensor<fp32,[2]> y = relu(x=x);`, "y")
	if o := Check(bad, "main"); len(o) != 1 || o[0].Output != "s" || !strings.Contains(o[0].Problem, "index 5 is outside") {
		t.Errorf("got %v", o)
	}
}
