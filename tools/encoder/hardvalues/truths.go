package hardvalues

import (
	"fmt"
	"math"
	"slices"
)

// body joins operations; the last one gives out.
func body(out Tensor, last string, before ...string) string {
	text := ""
	for i, line := range before {
		text += fmt.Sprintf("        %s[name = string(\"before_%d\")];\n", line, i)
	}
	return text + op(out, last)
}

// truths are comparisons, logic and their results as numbers. Core ML has no array of booleans, so each is cast.
func truths() []Case {
	var list []Case
	for _, o := range []struct {
		name string
		f    func(a, b float64) bool
	}{
		{"equal", func(a, b float64) bool { return a == b }}, {"not_equal", func(a, b float64) bool { return a != b }},
		{"less", func(a, b float64) bool { return a < b }}, {"less_equal", func(a, b float64) bool { return a <= b }},
		{"greater", func(a, b float64) bool { return a > b }}, {"greater_equal", func(a, b float64) bool { return a >= b }},
	} {
		ints := []int32{0, 1, -1, 2, 16777215, -16777216, 16777216}
		values := map[string][]float64{}
		data := map[string]func(i int) []byte{
			"fp16":  func(i int) []byte { return f16(hard16[i]) },
			"fp32":  func(i int) []byte { return f32(hard32[i]) },
			"int32": func(i int) []byte { return i32(ints[i]) },
		}
		for _, h := range hard16 {
			values["fp16"] = append(values["fp16"], halfValue(h))
		}
		for _, v := range hard32 {
			values["fp32"] = append(values["fp32"], float64(v))
		}
		for _, v := range ints {
			values["int32"] = append(values["int32"], float64(v))
		}
		for _, dtype := range []string{"fp16", "fp32", "int32"} {
			var x, y []byte
			var want []int32
			v := values[dtype]
			pairs(len(v), func(i, j int) {
				x, y = append(x, data[dtype](i)...), append(y, data[dtype](j)...)
				want = append(want, number(o.f(v[i], v[j])))
			})
			z := vector("z", "int32", i32(want...))
			list = append(list, Case{Name: o.name + " of hard values, " + dtype, Opset: "ios16", Inputs: []Tensor{vector("x", dtype, x), vector("y", dtype, y)}, Want: []Tensor{z},
				Body: body(z, `cast(x = b, dtype = string("int32"))`, fmt.Sprintf("tensor<bool, [%d]> b = %s(x = x, y = y)", len(want), o.name))})
		}
	}
	a, b := []int32{0, 0, 1, 1, 2, -1}, []int32{0, 1, 0, 1, 0, -7}
	for name, f := range map[string]func(p, q bool) bool{
		"logical_and": func(p, q bool) bool { return p && q }, "logical_or": func(p, q bool) bool { return p || q },
		"logical_xor": func(p, q bool) bool { return p != q }, "logical_not": func(p, _ bool) bool { return !p },
	} {
		var want []int32
		for i := range a {
			want = append(want, number(f(a[i] != 0, b[i] != 0)))
		}
		z, args := vector("z", "int32", i32(want...)), "x = p, y = q"
		if name == "logical_not" {
			args = "x = p"
		}
		list = append(list, Case{Name: name + " of zeros, ones and others, as uint8", Opset: "ios17", Inputs: []Tensor{vector("x", "int32", i32(a...)), vector("y", "int32", i32(b...))}, Want: []Tensor{z},
			Body: body(z, `cast(x = u, dtype = string("int32"))`, `tensor<bool, [6]> p = cast(x = x, dtype = string("bool"))`, `tensor<bool, [6]> q = cast(x = y, dtype = string("bool"))`,
				"tensor<bool, [6]> r = "+name+"("+args+")", `tensor<uint8, [6]> u = cast(x = r, dtype = string("uint8"))`)})
	}
	slices.SortFunc(list, byName)
	return list
}

// leaky are the hard values but zeros, of which it is not said which one comes out.
func leaky() []Case {
	var x32, y32 []float32
	for _, v := range hard32 {
		if v != 0 {
			x32, y32 = append(x32, v), append(y32, float32(leak(float64(v))))
		}
	}
	var x16, y16 []uint16
	for _, h := range hard16 {
		if v := halfValue(h); v != 0 {
			x16, y16 = append(x16, h), append(y16, halfOf(leak(v)))
		}
	}
	var list []Case
	for _, c := range [][2]Tensor{{vector("x", "fp16", f16(x16...)), vector("y", "fp16", f16(y16...))}, {vector("x", "fp32", f32(x32...)), vector("y", "fp32", f32(y32...))}} {
		list = append(list, Case{Name: "leaky_relu of hard values, " + c[1].DType, Opset: "ios16", Inputs: c[:1], Want: c[1:], Body: op(c[1], fmt.Sprintf("leaky_relu(x = x, alpha = %s(0x1p-2))", c[1].DType))})
	}
	return list
}

func leak(v float64) float64 {
	if v < 0 {
		return v / 4
	}
	return v
}

func number(v bool) int32 {
	if v {
		return 1
	}
	return 0
}

// choices are select, which moves bits, and the operations that choose among elements.
func choices() []Case {
	cond := []int32{1, 0, 0, 1, 1, 0}
	var list []Case
	for dtype, sides := range map[string][2][]byte{
		"fp16":  {f16(0x7c01, 0x8000, 0x0001, 0xfe55, 0x7c00, 0x3c00), f16(0x0000, 0xfc01, 0x83ff, 0x7bff, 0x8000, 0x7dff)},
		"fp32":  {append(f32(float32(math.Copysign(0, -1)), 1, 0x1p-149, 2, 3), 1, 0, 0x80, 0xff), append([]byte{1, 0, 0x80, 0x7f}, f32(0, -1, float32(math.Inf(-1)), 7, 8)...)},
		"int32": {i32(math.MaxInt32, 1, 2, math.MinInt32, -1, 0), i32(5, 16777217, -16777217, 6, 7, 8)},
	} {
		size := sizes[dtype]
		var want []byte
		for i, c := range cond {
			want = append(want, sides[1-c][i*size:(i+1)*size]...)
		}
		z := vector("z", dtype, want)
		list = append(list, Case{Name: "select keeps the bits of " + dtype, Opset: "ios16", Bits: true, Want: []Tensor{z},
			Inputs: []Tensor{vector("c", "int32", i32(cond...)), vector("x", dtype, sides[0]), vector("y", dtype, sides[1])},
			Body:   body(z, "select(cond = b, a = x, b = y)", `tensor<bool, [6]> b = cast(x = c, dtype = string("bool"))`)})
	}
	inf := math.Inf(1)
	values := []float64{3, -inf, 7, 0, 65504, inf, -1, 0.5, -65504, 2}
	for _, dtype := range []string{"fp16", "fp32"} {
		x := Tensor{Name: "x", DType: dtype, Shape: []int{2, 5}, Data: numbers(dtype, values)}
		y := Tensor{Name: "y", DType: dtype, Shape: []int{2, 2}, Data: numbers(dtype, []float64{65504, 7, inf, 2})}
		i := Tensor{Name: "i", DType: "int32", Shape: []int{2, 2}, Data: i32(4, 2, 0, 4)}
		call := op(Tensor{Name: "i", DType: "int32", Shape: []int{2, 2}}, "topk(x = x, k = int32(2), axis = int32(-1), ascending = bool(false))")
		call = "        " + y.declared() + "," + call[7:]
		list = append(list, Case{Name: "topk with infinities, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y, i}, Body: call})
		for name, want := range map[string][]int32{"reduce_argmax": {4, 0}, "reduce_argmin": {1, 3}} {
			out := Tensor{Name: "y", DType: "int32", Shape: []int{2}, Data: i32(want...)}
			list = append(list, Case{Name: name + " with infinities, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{out},
				Body: op(out, name+"(x = x, axis = int32(1), keep_dims = bool(false))")})
		}
	}
	slices.SortFunc(list, byName)
	return list
}
