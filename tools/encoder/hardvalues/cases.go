package hardvalues

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Cases are the corpus.
func Cases() []Case {
	return slices.Concat(casts(), moves(), arithmetic(), unary(), matrices(), strided(), rows(), truths(), leaky(), choices(), windows(), indexed(), moved(), whole(), boundary(), refusals())
}

// op is one operation with one result.
func op(t Tensor, call string) string {
	return fmt.Sprintf("        %s = %s[name = string(\"%s_op\")];", t.declared(), call, t.Name)
}

func vector(name, dtype string, data []byte) Tensor {
	return Tensor{Name: name, DType: dtype, Shape: []int{len(data) / sizes[dtype]}, Data: data}
}

func casts() []Case {
	var halves []uint16
	var values, near []float32
	var nearest []uint16
	for h := range 1 << 16 {
		halves = append(halves, uint16(h))
		values = append(values, float32(halfValue(uint16(h))))
	}
	// What lies halfway to the next float16, and just before and behind it, of both signs. Halfway to infinity is 65520.
	for h := range 0x7c00 {
		next := 65536.0
		if h < 0x7bff {
			next = halfValue(uint16(h + 1))
		}
		mid := float32((halfValue(uint16(h)) + next) / 2)
		for _, v := range []float32{math.Nextafter32(mid, 0), mid, math.Nextafter32(mid, 1e9)} {
			near = append(near, v, -v)
			nearest = append(nearest, halfOf(float64(v)), halfOf(-float64(v)))
		}
	}
	cast := func(name, opset string, in, out Tensor) Case {
		return Case{Name: name, Opset: opset, Inputs: []Tensor{in}, Want: []Tensor{out},
			Body: op(out, fmt.Sprintf("cast(x = x, dtype = string(\"%s\"))", out.DType))}
	}
	list := []Case{
		cast("cast of every float16 to float32", "ios16", vector("x", "fp16", f16(halves...)), vector("y", "fp32", f32(values...))),
		cast("cast of every float16's value to float16", "ios16", vector("x", "fp32", f32(values...)), vector("y", "fp16", f16(halves...))),
		cast("cast of what lies between two float16", "ios16", vector("x", "fp32", f32(near...)), vector("y", "fp16", f16(nearest...))),
		cast("cast of whole and broken float32 to int32", "ios16", vector("x", "fp32", f32(0, float32(math.Copysign(0, -1)), 0.5, -0.5, 1.99, -1.99, 8388607.5, 16777216, -16777216)),
			vector("y", "int32", i32(0, 0, 0, 0, 1, -1, 8388607, 16777216, -16777216))),
	}
	// int8 is not a type of Core ML's interface: it stands between two casts.
	for _, small := range []struct {
		name string
		from int
	}{{"int8", -128}, {"uint8", 0}} {
		var ints []int32
		var asHalf []uint16
		var asFloat []float32
		for i := range 256 {
			v := small.from + i
			ints, asHalf, asFloat = append(ints, int32(v)), append(asHalf, halfOf(float64(v))), append(asFloat, float32(v))
		}
		for _, out := range []Tensor{vector("y", "fp16", f16(asHalf...)), vector("y", "fp32", f32(asFloat...)), vector("y", "int32", i32(ints...))} {
			list = append(list, Case{Name: "every " + small.name + " to " + out.DType, Opset: "ios17", Inputs: []Tensor{vector("x", "int32", i32(ints...))}, Want: []Tensor{out},
				Body: fmt.Sprintf("        tensor<%s, [256]> s = cast(x = x, dtype = string(\"%s\"))[name = string(\"small\")];\n", small.name, small.name) +
					op(out, fmt.Sprintf("cast(x = s, dtype = string(\"%s\"))", out.DType))})
		}
	}
	return list
}

// moves are operations that compute nothing: every bit must survive, NaN payloads and signalling NaN too.
func moves() []Case {
	nan16 := append(slices.Clone(hard16), 0x7c01, 0x7dff, 0xfe55, 0xfc01)
	nan32 := f32(hard32...)
	for _, bits := range []uint32{0x7f800001, 0x7fbfffff, 0xffc12345} {
		nan32 = binary.LittleEndian.AppendUint32(nan32, bits)
	}
	var list []Case
	for dtype, data := range map[string][]byte{"fp16": f16(nan16...), "fp32": nan32, "int32": i32(0, -1, 1, math.MaxInt32, math.MinInt32, 16777217)} {
		size, n := sizes[dtype], len(data)/sizes[dtype]
		x := Tensor{Name: "x", DType: dtype, Shape: []int{2, n / 2}, Data: data}
		turned := Tensor{Name: "y", DType: dtype, Shape: []int{n / 2, 2}}
		for i := range n {
			at := (i%2*(n/2) + i/2) * size
			turned.Data = append(turned.Data, data[at:at+size]...)
		}
		flat := Tensor{Name: "y", DType: dtype, Shape: []int{1, n, 1}, Data: data}
		twice := Tensor{Name: "y", DType: dtype, Shape: []int{4, n / 2}, Data: slices.Concat(data, data)}
		for _, c := range []struct {
			name, call string
			want       Tensor
		}{
			{"transpose", "transpose(x = x, perm = tensor<int32, [2]>([1, 0]))", turned},
			{"reshape", fmt.Sprintf("reshape(x = x, shape = tensor<int32, [3]>([1, %d, 1]))", n), flat},
			{"concat", "concat(values = (x, x), axis = int32(0), interleave = bool(false))", twice},
		} {
			list = append(list, Case{Name: c.name + " keeps the bits of " + dtype, Opset: "ios16", Body: op(c.want, c.call), Inputs: []Tensor{x}, Want: []Tensor{c.want}, Bits: true})
		}
	}
	slices.SortFunc(list, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// arithmetic has every hard value against every other. float32 is Go's own; a float16 result is the exact one, rounded:
// float64 holds sums and products, and has digits enough that rounding a quotient twice changes nothing.
func arithmetic() []Case {
	var list []Case
	for _, o := range []struct {
		name   string
		single func(a, b float32) float32
		double func(a, b float64) float64
	}{
		{"add", func(a, b float32) float32 { return a + b }, func(a, b float64) float64 { return a + b }},
		{"sub", func(a, b float32) float32 { return a - b }, func(a, b float64) float64 { return a - b }},
		{"mul", func(a, b float32) float32 { return a * b }, func(a, b float64) float64 { return a * b }},
		{"real_div", func(a, b float32) float32 { return a / b }, func(a, b float64) float64 { return a / b }},
	} {
		var x32, y32, z32 []float32
		pairs(len(hard32), func(i, j int) {
			x32, y32, z32 = append(x32, hard32[i]), append(y32, hard32[j]), append(z32, o.single(hard32[i], hard32[j]))
		})
		var x16, y16, z16 []uint16
		pairs(len(hard16), func(i, j int) {
			x16, y16, z16 = append(x16, hard16[i]), append(y16, hard16[j]), append(z16, halfOf(o.double(halfValue(hard16[i]), halfValue(hard16[j]))))
		})
		for dtype, data := range map[string][3][]byte{"fp32": {f32(x32...), f32(y32...), f32(z32...)}, "fp16": {f16(x16...), f16(y16...), f16(z16...)}} {
			z := vector("z", dtype, data[2])
			list = append(list, Case{Name: o.name + " of hard values, " + dtype, Opset: "ios16", Body: op(z, o.name+"(x = x, y = y)"),
				Inputs: []Tensor{vector("x", dtype, data[0]), vector("y", dtype, data[1])}, Want: []Tensor{z}})
		}
	}
	slices.SortFunc(list, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	sum := vector("z", "int32", i32(16777218, -16777218))
	return append(list, Case{Name: "int32 add above 2^24", Opset: "ios16", Body: op(sum, "add(x = x, y = y)"),
		Inputs: []Tensor{vector("x", "int32", i32(16777217, -16777217)), vector("y", "int32", i32(1, -1))}, Want: []Tensor{sum}})
}

func unary() []Case {
	var list []Case
	for _, o := range []struct {
		name string
		f    func(v float64) float64
	}{
		{"abs", math.Abs}, {"ceil", math.Ceil}, {"floor", math.Floor}, {"sqrt", math.Sqrt},
		// Zero for what is below it; which zero comes of minus zero is not said, so it is left out.
		{"relu", func(v float64) float64 { return max(v, 0) }},
	} {
		var x32, y32 []float32
		for _, v := range hard32 {
			if o.name != "relu" || v != 0 {
				x32, y32 = append(x32, v), append(y32, float32(o.f(float64(v))))
			}
		}
		var x16, y16 []uint16
		for _, h := range hard16 {
			if v := halfValue(h); o.name != "relu" || v != 0 {
				x16, y16 = append(x16, h), append(y16, halfOf(o.f(v)))
			}
		}
		for _, c := range [][2]Tensor{{vector("x", "fp16", f16(x16...)), vector("y", "fp16", f16(y16...))}, {vector("x", "fp32", f32(x32...)), vector("y", "fp32", f32(y32...))}} {
			list = append(list, Case{Name: o.name + " of hard values, " + c[1].DType, Opset: "ios16", Body: op(c[1], o.name+"(x = x)"), Inputs: c[:1], Want: c[1:]})
		}
	}
	return list
}
