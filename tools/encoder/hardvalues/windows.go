package hardvalues

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func byName(a, b Case) int { return strings.Compare(a.Name, b.Name) }

// windows are poolings and paddings: padding never wins over what is negative, a NaN reaches the windows that hold it and no other,
// and several channels in front or behind keep their places.
func windows() []Case {
	var list []Case
	inf, nan := math.Inf(1), math.NaN()
	for _, dtype := range []string{"fp16", "fp32"} {
		add := func(name, call string, in, out []float64, inShape, outShape []int) {
			x, y := Tensor{Name: "x", DType: dtype, Shape: inShape, Data: numbers(dtype, in)}, Tensor{Name: "y", DType: dtype, Shape: outShape, Data: numbers(dtype, out)}
			list = append(list, Case{Name: name + ", " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y}, Body: op(y, call)})
		}
		const three = `kernel_sizes = tensor<int32, [1]>([3]), strides = tensor<int32, [1]>([2]), pad_type = string("custom"), pad = tensor<int32, [2]>([1, 1]), ceil_mode = bool(false)`
		negative, wild := []float64{-6, -3, -9, -12, -15}, []float64{1, nan, 2, inf, -inf}
		add("max_pool of negative values with padding", "max_pool(x = x, "+three+")", negative, []float64{-3, -3, -12}, []int{1, 1, 5}, []int{1, 1, 3})
		add("max_pool with NaN and infinities", "max_pool(x = x, "+three+")", wild, []float64{nan, nan, inf}, []int{1, 1, 5}, []int{1, 1, 3})
		add("avg_pool that counts padding", "avg_pool(x = x, "+three+", exclude_padding_from_average = bool(false))", negative, []float64{-3, -8, -9}, []int{1, 1, 5}, []int{1, 1, 3})
		add("avg_pool that leaves padding out", "avg_pool(x = x, "+three+", exclude_padding_from_average = bool(true))", negative, []float64{-4.5, -8, -13.5}, []int{1, 1, 5}, []int{1, 1, 3})
		add("avg_pool with NaN and infinities", "avg_pool(x = x, "+three+", exclude_padding_from_average = bool(true))", wild, []float64{nan, nan, nan}, []int{1, 1, 5}, []int{1, 1, 3})

		// Channels behind: turned to the front, pooled, and turned back.
		const h, w, channels = 4, 6, 3
		in := make([]float64, h*w*channels)
		for i := range in {
			in[i] = float64((i*37)%101 - 50)
		}
		var out []float64
		for i := range h / 2 {
			for j := range w / 2 {
				for c := range channels {
					at := func(di, dj int) float64 { return in[((2*i+di)*w+2*j+dj)*channels+c] }
					out = append(out, max(at(0, 0), at(0, 1), at(1, 0), at(1, 1)))
				}
			}
		}
		x, y := Tensor{Name: "x", DType: dtype, Shape: []int{1, h, w, channels}, Data: numbers(dtype, in)}, Tensor{Name: "y", DType: dtype, Shape: []int{1, h / 2, w / 2, channels}, Data: numbers(dtype, out)}
		list = append(list, Case{Name: "max_pool of channels behind, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y},
			Body: body(y, "transpose(x = p, perm = tensor<int32, [4]>([0, 2, 3, 1]))",
				fmt.Sprintf("tensor<%s, [1, 3, 4, 6]> f = transpose(x = x, perm = tensor<int32, [4]>([0, 3, 1, 2]))", dtype),
				fmt.Sprintf("tensor<%s, [1, 3, 2, 3]> p = max_pool(x = f, kernel_sizes = tensor<int32, [2]>([2, 2]), strides = tensor<int32, [2]>([2, 2]), pad_type = string(\"valid\"), pad = tensor<int32, [4]>([0, 0, 0, 0]), ceil_mode = bool(false))", dtype))})

		line := []float64{1, -inf, nan, 4}
		zero := dtype + "(0x1.8p+1)"
		for mode, want := range map[string][]float64{
			"constant":  {3, 3, 1, -inf, nan, 4, 3},
			"reflect":   {nan, -inf, 1, -inf, nan, 4, nan},
			"replicate": {1, 1, 1, -inf, nan, 4, 4},
		} {
			add("pad, "+mode, fmt.Sprintf("pad(x = x, pad = tensor<int32, [2]>([2, 1]), mode = string(%q), constant_val = %s)", mode, zero), line, want, []int{1, 4}, []int{1, 7})
		}
		// Of the mean, 2 and -1, and variances whose root is exact.
		const norm = "batch_norm(x = x, mean = tensor<%[1]s, [2]>([2.0, -1.0]), variance = tensor<%[1]s, [2]>([3.0, 15.0]), gamma = tensor<%[1]s, [2]>([4.0, -8.0]), beta = tensor<%[1]s, [2]>([0.5, 1.0]), epsilon = %[1]s(0x1p+0))"
		add("batch_norm with exact roots", fmt.Sprintf(norm, dtype), []float64{2, 3, inf, -1, 1, nan}, []float64{.5, 2.5, inf, 1, -3, nan}, []int{1, 2, 3}, []int{1, 2, 3})
	}
	slices.SortFunc(list, byName)
	return list
}

// whole are integers: division by its definition, products that are accumulated in int32, quantised numbers, and what becomes of an
// integer in float16.
func whole() []Case {
	x, y := []int32{7, -7, 7, -7, 0, 6, -6, 16777216}, []int32{2, 2, -2, -2, 5, 3, 3, 7}
	ints := func(name, dtype string, v ...int32) Tensor { return vector(name, dtype, i32(v...)) }
	var list []Case
	for name, want := range map[string][]int32{"floor_div": {3, -4, -4, 3, 0, 2, -2, 2396745}, "mod": {1, 1, -1, -1, 0, 0, 0, 1}} {
		z := ints("z", "int32", want...)
		list = append(list, Case{Name: name + " of int32", Opset: "ios16", Inputs: []Tensor{ints("x", "int32", x...), ints("y", "int32", y...)}, Want: []Tensor{z}, Body: op(z, name+"(x = x, y = y)")})
	}
	z := ints("z", "int32", -4, 0, 3)
	list = append(list, Case{Name: "real_div of int32 that divide", Opset: "ios16", Inputs: []Tensor{ints("x", "int32", -8, 0, 27), ints("y", "int32", 2, -5, 9)}, Want: []Tensor{z}, Body: op(z, "real_div(x = x, y = y)")})

	// Every int32 up to 65519 is exact in float32, so that rounding once and twice agree; 65520 is halfway to what is infinite.
	wide := []int32{2047, 2048, 2049, 2050, 2051, 2053, 4098, 4102, 32769, 65503, 65504, 65519, 65520, 65535, 65536, 16777217, math.MaxInt32, math.MinInt32, -65519, -65520, -2049, -2051}
	var half []uint16
	for _, v := range wide {
		half = append(half, halfOf(float64(v)))
	}
	out := vector("y", "fp16", f16(half...))
	list = append(list, Case{Name: "cast of wide int32 to float16", Opset: "ios16", Inputs: []Tensor{ints("x", "int32", wide...)}, Want: []Tensor{out}, Body: op(out, `cast(x = x, dtype = string("fp16"))`)})

	// int8 in and out, all 256 of them.
	var every []byte
	var scaled []float64
	for v := -128; v < 128; v++ {
		every = append(every, byte(v))
		scaled = append(scaled, float64(v-3)*0.5)
	}
	in, same := Tensor{Name: "x", DType: "int8", Shape: []int{256}, Data: every}, Tensor{Name: "y", DType: "int8", Shape: []int{256}, Data: every}
	list = append(list, Case{Name: "identity of every int8", Opset: "ios26", Bits: true, Inputs: []Tensor{in}, Want: []Tensor{same}, Body: op(same, "identity(x = x)")})
	for _, dtype := range []string{"fp16", "fp32"} {
		real := vector("y", dtype, numbers(dtype, scaled))
		list = append(list, Case{Name: "dequantize of every int8, " + dtype, Opset: "ios26", Inputs: []Tensor{in}, Want: []Tensor{real},
			Body: op(real, fmt.Sprintf("dequantize(input = x, zero_point = int8(3), scale = %s(0x1p-1))", dtype))})
		// Halves between two integers go to the even one, and what is outside int8 is clipped. Infinities are.
		near := []float64{0.25, 0.75, -0.25, -0.75, 1.25, 64, -64.25, 1000, -1000, math.Inf(1), math.Inf(-1), 62.25}
		want := Tensor{Name: "y", DType: "int8", Shape: []int{12}, Data: bytesOf(3, 5, 3, 1, 5, 127, -125, 127, -128, 127, -128, 127)}
		list = append(list, Case{Name: "quantize to int8, " + dtype, Opset: "ios26", Inputs: []Tensor{vector("x", dtype, numbers(dtype, near))}, Want: []Tensor{want},
			Body: op(want, fmt.Sprintf("quantize(input = x, zero_point = int8(3), scale = %s(0x1p-1), output_dtype = string(\"int8\"))", dtype))})
	}
	for _, s := range [][3]int{{2, 5, 3}, {3, 300, 2}} {
		list = append(list, matmulInt8(s[0], s[1], s[2]))
	}
	slices.SortFunc(list, byName)
	return list
}

func bytesOf(v ...int) []byte {
	var b []byte
	for _, x := range v {
		b = append(b, byte(x))
	}
	return b
}

// matmulInt8 is a product of int8 with zero points: both are widened, the zero points taken off and the sums kept in int32. The
// longer one has sums above 2^24 that float32 does not hold.
func matmulInt8(m, k, n int) Case {
	const zeroX, zeroY = 127, -127
	edges := []int{-128, 127, -127, -128, 126, -1, -128}
	x, y := Tensor{Name: "x", DType: "int8", Shape: []int{m, k}}, Tensor{Name: "y", DType: "int8", Shape: []int{k, n}}
	for i := range m * k {
		v := edges[(i*3+i/k)%len(edges)]
		if k > 100 && i%2 == 0 {
			v = -128
		}
		x.Data = append(x.Data, byte(v))
	}
	for i := range k * n {
		v := edges[(i*5+1)%len(edges)]
		if k > 100 {
			v = 127 - i%3
		}
		y.Data = append(y.Data, byte(v))
	}
	var sums []int32
	for i := range m {
		for j := range n {
			var sum int32
			for q := range k {
				sum += (int32(int8(x.Data[i*k+q])) - zeroX) * (int32(int8(y.Data[q*n+j])) - zeroY)
			}
			sums = append(sums, sum)
		}
	}
	z := Tensor{Name: "z", DType: "int32", Shape: []int{m, n}, Data: i32(sums...)}
	widened := func(to, from string, rows, cols int) string {
		return fmt.Sprintf("tensor<int32, [%d, %d]> %s = %s", rows, cols, to, from)
	}
	return Case{Name: fmt.Sprintf("matmul of int8 %dx%d by %dx%d with zero points, in int32", m, k, k, n), Opset: "ios26", Inputs: []Tensor{x, y}, Want: []Tensor{z},
		Body: body(z, "matmul(x = c, y = d, transpose_x = bool(false), transpose_y = bool(false))",
			widened("a", `cast(x = x, dtype = string("int32"))`, m, k), widened("b", `cast(x = y, dtype = string("int32"))`, k, n),
			widened("c", fmt.Sprintf("sub(x = a, y = int32(%d))", zeroX), m, k), widened("d", fmt.Sprintf("sub(x = b, y = int32(%d))", zeroY), k, n))}
}
