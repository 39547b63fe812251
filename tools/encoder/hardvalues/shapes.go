package hardvalues

import (
	"fmt"
	"math"
	"slices"
)

// numbers encodes values that a type holds exactly.
func numbers(dtype string, values []float64) []byte {
	var b []byte
	for _, v := range values {
		switch dtype {
		case "fp16":
			b = append(b, f16(halfOf(v))...)
		case "fp32":
			b = append(b, f32(float32(v))...)
		default:
			b = append(b, i32(int32(v))...)
		}
	}
	return b
}

// small gives n whole numbers between -3 and 3, so that sums of products are exact in any order.
func small(n, seed int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64((i*(seed+5)+i*i*seed)%7 - 3)
	}
	return out
}

// times is a product by its definition.
func times(a, b []float64, m, k, n int) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for x := range k {
				out[i*n+j] += a[i*k+x] * b[x*n+j]
			}
		}
	}
	return out
}

func turn(a []float64, rows, cols int) []float64 {
	out := make([]float64, 0, len(a))
	for j := range cols {
		for i := range rows {
			out = append(out, a[i*cols+j])
		}
	}
	return out
}

// matrices are products of matrices that are not square, each argument as it is and transposed, one of them with values that
// are no numbers: those must reach their row or column and nothing else.
func matrices() []Case {
	var list []Case
	for _, dtype := range []string{"fp16", "fp32"} {
		for _, s := range [][3]int{{1, 7, 3}, {5, 1, 9}, {3, 17, 2}, {13, 33, 5}, {2, 300, 19}} {
			m, k, n := s[0], s[1], s[2]
			a, b := small(m*k, 3), small(k*n, 4)
			for turned := range 4 {
				list = append(list, matmul(dtype, fmt.Sprintf("%dx%d by %dx%d", m, k, k, n), a, b, m, k, n, turned&1 != 0, turned&2 != 0))
			}
		}
		a, b := small(5*7, 3), small(7*3, 4)
		a[1*7+2], a[3*7+6], b[4*3+1] = math.NaN(), math.Inf(1), math.Inf(-1)
		list = append(list, matmul(dtype, "5x7 by 7x3 with NaN and infinities", a, b, 5, 7, 3, false, false))

		w := small(4*7, 5)
		y := Tensor{Name: "y", DType: dtype, Shape: []int{5, 4}, Data: numbers(dtype, times(small(5*7, 3), turn(w, 4, 7), 5, 7, 4))}
		x := Tensor{Name: "x", DType: dtype, Shape: []int{5, 7}, Data: numbers(dtype, small(5*7, 3))}
		list = append(list, Case{Name: "linear 5x7 to 4, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y},
			Body: op(y, fmt.Sprintf("linear(x = x, weight = %s)", literal(dtype, []int{4, 7}, w)))})
	}
	return list
}

// literal writes whole numbers as an immediate value.
func literal(dtype string, shape []int, values []float64) string {
	text := "["
	for i := range shape[0] {
		if i > 0 {
			text += ", "
		}
		text += "["
		for j := range shape[1] {
			if j > 0 {
				text += ", "
			}
			text += fmt.Sprintf("%.1f", values[i*shape[1]+j])
		}
		text += "]"
	}
	return fmt.Sprintf("tensor<%s, [%d, %d]>(%s])", dtype, shape[0], shape[1], text)
}

func matmul(dtype, name string, a, b []float64, m, k, n int, turnA, turnB bool) Case {
	x, y := Tensor{Name: "x", DType: dtype, Shape: []int{m, k}}, Tensor{Name: "y", DType: dtype, Shape: []int{k, n}}
	z := Tensor{Name: "z", DType: dtype, Shape: []int{m, n}, Data: numbers(dtype, times(a, b, m, k, n))}
	if turnA {
		x.Shape, a = []int{k, m}, turn(a, m, k)
	}
	if turnB {
		y.Shape, b = []int{n, k}, turn(b, k, n)
	}
	x.Data, y.Data = numbers(dtype, a), numbers(dtype, b)
	return Case{Name: fmt.Sprintf("matmul %s, %s, transposed: %v %v", name, dtype, turnA, turnB), Opset: "ios16", Inputs: []Tensor{x, y}, Want: []Tensor{z},
		Body: op(z, fmt.Sprintf("matmul(x = x, y = y, transpose_x = bool(%v), transpose_y = bool(%v))", turnA, turnB))}
}

// strided are inputs whose elements do not lie next to each other.
func strided() []Case {
	var list []Case
	for _, dtype := range []string{"fp16", "fp32", "int32"} {
		for _, s := range []struct {
			name    string
			strides []int
		}{{"padded rows", []int{20, 8, 1}}, {"every other element", []int{30, 10, 2}}, {"columns first", []int{1, 2, 6}}, {"odd everywhere", []int{53, 17, 3}}} {
			x := Tensor{Name: "x", DType: dtype, Shape: []int{2, 3, 5}, Strides: s.strides}
			last := s.strides[0] + 2*s.strides[1] + 4*s.strides[2]
			values := make([]float64, last+1)
			for i := range values {
				values[i] = float64(i + 1)
			}
			x.Data = numbers(dtype, values)
			y := Tensor{Name: "y", DType: dtype, Shape: []int{5, 3, 2}}
			var want []float64
			for k := range 5 {
				for j := range 3 {
					for i := range 2 {
						want = append(want, float64(1+i*s.strides[0]+j*s.strides[1]+k*s.strides[2]))
					}
				}
			}
			y.Data = numbers(dtype, want)
			list = append(list, Case{Name: "input with " + s.name + ", " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y},
				Body: op(y, "transpose(x = x, perm = tensor<int32, [3]>([2, 1, 0]))")})
		}
	}
	return list
}

// rows are sums over rows whose answer is exact.
func rows() []Case {
	inf, nan := math.Inf(1), math.NaN()
	var list []Case
	for _, dtype := range []string{"fp16", "fp32"} {
		in := []float64{2, 2, 2, 2, 0, -inf, -inf, 0, -inf, 5, -inf, -inf, 1, inf, 1, 1, nan, 1, 1, 1}
		out := []float64{.25, .25, .25, .25, .5, 0, 0, .5, 0, 1, 0, 0, nan, nan, nan, nan, nan, nan, nan, nan}
		x := Tensor{Name: "x", DType: dtype, Shape: []int{5, 4}, Data: numbers(dtype, in)}
		y := Tensor{Name: "y", DType: dtype, Shape: []int{5, 4}, Data: numbers(dtype, out)}
		list = append(list, Case{Name: "softmax with infinities, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y}, Body: op(y, "softmax(x = x, axis = int32(-1))")})

		// The largest and smallest of rows of one element, and of rows with both infinities.
		x = Tensor{Name: "x", DType: dtype, Shape: []int{3, 3}, Data: numbers(dtype, []float64{inf, 0, -inf, -inf, -inf, -inf, 3, -7, 1})}
		y = Tensor{Name: "y", DType: dtype, Shape: []int{3}, Data: numbers(dtype, []float64{inf, -inf, 3})}
		list = append(list, Case{Name: "reduce_max with infinities, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y},
			Body: op(y, "reduce_max(x = x, axes = tensor<int32, [1]>([-1]), keep_dims = bool(false))")})

		// A row of equal values has no deviation: what is left is the shift.
		x = Tensor{Name: "x", DType: dtype, Shape: []int{2, 3}, Data: numbers(dtype, []float64{7, 7, 7, -2, -2, -2})}
		y = Tensor{Name: "y", DType: dtype, Shape: []int{2, 3}, Data: numbers(dtype, []float64{0, 0, 0, 0, 0, 0})}
		list = append(list, Case{Name: "layer_norm of equal values, " + dtype, Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y},
			Body: op(y, fmt.Sprintf("layer_norm(x = x, axes = tensor<int32, [1]>([-1]), epsilon = %s(0x1p-10))", dtype))})
	}
	return list
}

// refusals are shapes that Core ML has not.
func refusals() []Case {
	var list []Case
	for _, shape := range [][]int{{1, 1, 2, 1, 1, 2}, {2, 0, 3}} {
		x := Tensor{Name: "x", DType: "fp32", Shape: shape, Data: f32(make([]float32, count(shape))...)}
		y := x
		y.Name = "y"
		list = append(list, Case{Name: fmt.Sprintf("shape %v", slices.Clone(shape)), Opset: "ios16", Inputs: []Tensor{x}, Want: []Tensor{y}, Refused: true, Body: op(y, "relu(x = x)")})
	}
	return list
}
