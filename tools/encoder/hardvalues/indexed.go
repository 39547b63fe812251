package hardvalues

import (
	"fmt"
	"math"
	"slices"
)

// indexed are elements taken by an index. Below zero it counts from the end until iOS 16 and is outside from iOS 17 on.
func indexed() []Case {
	var list []Case
	bits := f32(0, 1, 2, 3, 4, 5, 6, float32(math.Copysign(0, -1)), 8, 9, 10)
	bits = append(bits, 1, 0, 0x80, 0x7f) // a signalling NaN
	x := Tensor{Name: "x", DType: "fp32", Shape: []int{3, 4}, Data: bits}
	take := func(shape []int, at ...int) Tensor {
		y := Tensor{Name: "y", DType: "fp32", Shape: shape}
		for _, i := range at {
			y.Data = append(y.Data, bits[4*i:4*i+4]...)
		}
		return y
	}
	for _, c := range []struct {
		name, opset string
		indices     []int32
		shape       []int
		call        string
		want        Tensor
		refused     bool
	}{
		{"gather of rows", "ios16", []int32{2, 0, 2}, []int{3}, "gather(x = x, indices = i, axis = int32(0))", take([]int{3, 4}, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11), false},
		{"gather of columns", "ios17", []int32{3, 1}, []int{2, 1}, "gather(x = x, indices = i, axis = int32(1))", take([]int{3, 2, 1}, 3, 1, 7, 5, 11, 9), false},
		{"gather by a scalar", "ios17", []int32{1}, nil, "gather(x = x, indices = i, axis = int32(-2))", take([]int{4}, 4, 5, 6, 7), false},
		{"gather from the end", "ios16", []int32{-1, -3}, []int{2}, "gather(x = x, indices = i, axis = int32(0))", take([]int{2, 4}, 8, 9, 10, 11, 0, 1, 2, 3), false},
		{"gather below zero", "ios17", []int32{-1}, []int{1}, "gather(x = x, indices = i, axis = int32(0))", take([]int{1, 4}, 8, 9, 10, 11), true},
		{"gather behind the end", "ios16", []int32{3}, []int{1}, "gather(x = x, indices = i, axis = int32(0))", take([]int{1, 4}, 8, 9, 10, 11), true},
		{"gather_along_axis", "ios16", []int32{1, 0, 2, 2}, []int{1, 4}, "gather_along_axis(x = x, indices = i, axis = int32(0))", take([]int{1, 4}, 4, 1, 10, 11), false},
		{"gather_nd", "ios16", []int32{2, 3, 0, 1}, []int{2, 2}, "gather_nd(x = x, indices = i, batch_dims = int32(0))", take([]int{2}, 11, 1), false},
		{"gather_nd of rows", "ios16", []int32{2, 0}, []int{2, 1}, "gather_nd(x = x, indices = i, batch_dims = int32(0))", take([]int{2, 4}, 8, 9, 10, 11, 0, 1, 2, 3), false},
	} {
		i := Tensor{Name: "i", DType: "int32", Shape: c.shape, Data: i32(c.indices...)}
		k := Case{Name: c.name, Opset: c.opset, Inputs: []Tensor{x, i}, Want: []Tensor{c.want}, Body: op(c.want, c.call), Bits: true, Refused: c.refused}
		if c.shape == nil {
			// Arrays have a dimension at least: the scalar is made inside.
			k.Inputs[1].Shape = []int{1}
			k.Body = body(c.want, "gather(x = x, indices = s, axis = int32(-2))", "int32 s = squeeze(x = i)")
		}
		list = append(list, k)
	}
	return list
}

// moved are operations that repeat and turn around; every bit must survive.
func moved() []Case {
	var list []Case
	for dtype, data := range map[string][]byte{
		"fp16":  f16(0x7c01, 0x8000, 0x0001, 0xfe55, 0x7c00, 0x3c00),
		"fp32":  append(f32(float32(math.Copysign(0, -1)), 1, 0x1p-149, 2, 3), 1, 0, 0x80, 0x7f),
		"int32": i32(math.MaxInt32, 16777217, 2, math.MinInt32, -1, 0),
	} {
		size := sizes[dtype]
		x := Tensor{Name: "x", DType: dtype, Shape: []int{1, 2, 3}, Data: data}
		take := func(shape []int, at ...int) Tensor {
			y := Tensor{Name: "y", DType: dtype, Shape: shape}
			for _, i := range at {
				y.Data = append(y.Data, data[size*i:size*(i+1)]...)
			}
			return y
		}
		add := func(name, call string, want Tensor) {
			list = append(list, Case{Name: name + " keeps the bits of " + dtype, Opset: "ios16", Bits: true, Inputs: []Tensor{x}, Want: []Tensor{want}, Body: op(want, call)})
		}
		add("reverse of all axes", "reverse(x = x)", take([]int{1, 2, 3}, 5, 4, 3, 2, 1, 0))
		add("reverse of one axis", "reverse(x = x, axes = tensor<int32, [1]>([1]))", take([]int{1, 2, 3}, 3, 4, 5, 0, 1, 2))
		add("tile", "tile(x = x, reps = tensor<int32, [3]>([2, 1, 2]))", take([]int{2, 2, 6}, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5))
		if dtype != "int32" {
			add("upsample_nearest_neighbor", "upsample_nearest_neighbor(x = x, scale_factor_height = int32(2), scale_factor_width = int32(1))", take([]int{1, 4, 3}, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5))
		}
	}
	slices.SortFunc(list, byName)
	return list
}

// boundary are scalars, and shapes that the program itself computes.
func boundary() []Case {
	var list []Case
	for _, dtype := range []string{"fp16", "fp32", "int32"} {
		x := Tensor{Name: "x", DType: dtype, Shape: []int{1}, Data: numbers(dtype, []float64{-3})}
		y := Tensor{Name: "y", DType: dtype, Data: numbers(dtype, []float64{-6})}
		list = append(list, Case{Name: "a scalar leaves as [1], " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y}, Body: body(y, "add(x = s, y = s)", dtype+" s = squeeze(x = x)")})
		pair := Tensor{Name: "y", DType: dtype, Shape: []int{2}, Data: numbers(dtype, []float64{-3, -6})}
		list = append(list, Case{Name: "concat of scalars, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{pair},
			Body: body(pair, "concat(values = (s, d), axis = int32(0), interleave = bool(false))", dtype+" s = squeeze(x = x)", dtype+" d = add(x = s, y = s)")})
	}
	x := Tensor{Name: "x", DType: "fp32", Shape: []int{2, 3, 4}}
	values := make([]float64, 24)
	for i := range values {
		values[i] = float64(i)
	}
	x.Data = numbers("fp32", values)
	y := Tensor{Name: "y", DType: "fp32", Shape: []int{2, 12}, Data: x.Data}
	shape := "tensor<int32, [3]> s = shape(x = x)"
	list = append(list, Case{Name: "reshape to a computed shape", Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y},
		Body: body(y, "reshape(x = x, shape = t)", shape, "int32 b = gather(x = s, indices = int32(0), axis = int32(0))",
			"tensor<int32, [2]> t = concat(values = (b, int32(-1)), axis = int32(0), interleave = bool(false))")})
	half := Tensor{Name: "y", DType: "fp32", Shape: []int{2, 3, 2}, Data: numbers("fp32", []float64{0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21})}
	list = append(list, Case{Name: "slice_by_index with computed bounds", Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{half},
		Body: body(half, "slice_by_index(x = x, begin = tensor<int32, [3]>([0, 0, 0]), end = e)", shape,
			"tensor<int32, [3]> e = floor_div(x = s, y = tensor<int32, [3]>([1, 1, 2]))")})
	steps := Tensor{Name: "y", DType: "int32", Shape: []int{2}, Data: i32(1, 3)}
	one := Tensor{Name: "x", DType: "int32", Shape: []int{1}, Data: i32(1)}
	list = append(list, Case{Name: "range_1d of constants", Opset: "ios16", Inputs: []Tensor{one}, Want: []Tensor{steps},
		Body: body(steps, "add(x = r, y = o)", "tensor<int32, [2]> r = range_1d(start = int32(0), end = int32(3), step = int32(2))", "tensor<int32, [1]> o = identity(x = x)")})
	filled := Tensor{Name: "y", DType: "fp32", Shape: []int{2, 3, 4}, Data: numbers("fp32", slices.Repeat([]float64{-2}, 24))}
	list = append(list, Case{Name: "fill of a computed shape", Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{filled}, Body: body(filled, fmt.Sprintf("fill(shape = s, value = %s)", "fp32(-0x1p+1)"), shape)})
	return list
}
