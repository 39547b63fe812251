package constexpr

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/realtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

func parse(t testing.TB, ops string) *Constants {
	t.Helper()
	p, err := text.Parse("program(1.3) { func main<ios18>(fp32 x) { " + ops + " } -> (x); }")
	if err != nil {
		t.Fatal(err)
	}
	return NewConstants(p.Functions[0].Body, nil)
}

// spell gives a tensor as type and numbers.
func spell(t testing.TB, v mil.Tensor) string {
	t.Helper()
	at, err := Floats(v)
	if err != nil {
		t.Fatal(err)
	}
	var nums []float32
	for i := range product(v.Shape) {
		nums = append(nums, at(i))
	}
	return fmt.Sprint(mil.TensorOf(v.DType, v.Shape...), nums)
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ name, ops, want string }{
		{"affine, one scale", `tensor<fp32, [2, 2]> r = constexpr_affine_dequantize()[axis = int32(0),
			quantized_data = tensor<int8, [2, 2]>([[-128, -1], [0, 127]]), scale = fp32(0.5), zero_point = int8(-1)];`,
			"tensor<fp32, [2, 2]> [-63.5 0 0.5 64]"},
		{"affine, along the last axis", `tensor<fp16, [2, 2]> r = constexpr_affine_dequantize()[axis = int32(-1),
			quantized_data = tensor<uint8, [2, 2]>([[1, 2], [3, 255]]), scale = tensor<fp16, [2]>([1, 0x1p-3]), zero_point = tensor<uint8, [2]>([1, 5])];`,
			"tensor<fp16, [2, 2]> [0 -0.375 2 31.25]"},
		{"affine, float zero point", `tensor<fp32, [1]> r = constexpr_affine_dequantize()[axis = int32(0),
			quantized_data = tensor<uint8, [1]>([3]), scale = fp32(2), zero_point = fp32(0.5)];`, "tensor<fp32, [1]> [5]"},
		// 2049 is a tie in float16 and goes to the even neighbour.
		{"affine, rounded once", `tensor<fp16, [1]> r = constexpr_affine_dequantize()[axis = int32(0),
			quantized_data = tensor<uint8, [1]>([3]), scale = fp16(683), zero_point = uint8(0)];`, "tensor<fp16, [1]> [2048]"},
		{"packed table of two bits", `tensor<fp16, [5]> r = constexpr_lut_to_dense()[indices = tensor<uint8, [2]>([108, 3]),
			lut = tensor<fp16, [4]>([1, 5, 9, 13]), shape = tensor<uint32, [1]>([5])];`, "tensor<fp16, [5]> [1 13 9 5 13]"},
		{"packed table of six bits", `tensor<int8, [3]> r = constexpr_lut_to_dense()[indices = tensor<uint8, [3]>([193, 255, 0]),
			lut = tensor<int8, [64]>([` + ramp(64) + `]), shape = tensor<uint32, [1]>([3])];`, "tensor<int8, [3]> [1 63 15]"},
		{"packed mask", `tensor<fp32, [5]> r = constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([12]),
			nonzero_data = tensor<fp32, [2]>([7, -0.0]), shape = tensor<uint32, [1]>([5])];`, "tensor<fp32, [5]> [0 0 7 -0 0]"},
		{"cast", `tensor<fp32, [2]> r = constexpr_cast()[output_dtype = string("fp32"), source_val = tensor<fp16, [2]>([0x1p-24, inf])];`,
			"tensor<fp32, [2]> [5.9604645e-08 +Inf]"},
		{"blocks in both axes", `tensor<int4, [2, 4]> d = const()[val = tensor<int4, [2, 4]>([[-8, -1, 0, 1], [2, 3, 6, 7]])];
			tensor<fp16, [2, 2]> s = const()[val = tensor<fp16, [2, 2]>([[1, 2], [0.5, 4]])];
			tensor<int4, [2, 2]> o = const()[val = tensor<int4, [2, 2]>([[1, 0], [-1, 7]])];
			tensor<fp16, [2, 4]> r = constexpr_blockwise_shift_scale(data = d, offset = o, scale = s);`,
			"tensor<fp16, [2, 4]> [-9 -2 0 2 1.5 2 -4 0]"},
		{"blocks without offset, as attributes", `tensor<fp32, [2]> r = constexpr_blockwise_shift_scale()[
			data = tensor<uint4, [2]>([15, 1]), scale = tensor<fp32, [1]>([0.25])];`, "tensor<fp32, [2]> [3.75 0.25]"},
		{"grouped tables", `tensor<uint2, [6, 2]> i = const()[val = tensor<uint2, [6, 2]>([[2, 3], [3, 0], [1, 0], [3, 0], [2, 1], [0, 3]])];
			tensor<fp16, [2, 1, 4, 1]> l = const()[val = tensor<fp16, [2, 1, 4, 1]>([[[[1], [5], [9], [13]]], [[[2], [10], [18], [26]]]])];
			tensor<fp16, [6, 2]> r = constexpr_lut_to_dense(indices = i, lut = l);`,
			"tensor<fp16, [6, 2]> [9 13 13 1 5 1 26 2 18 10 2 26]"},
		{"vectors along axis 1", vectors(1, "[2, 6, 2]"),
			"tensor<int8, [2, 6, 2]> [10 10 11 11 12 12 20 10 21 11 22 12 20 20 21 21 22 22 10 10 11 11 12 12]"},
		{"vectors along axis 2", vectors(-1, "[2, 2, 6]"),
			"tensor<int8, [2, 2, 6]> [10 11 12 10 11 12 20 21 22 10 11 12 20 21 22 20 21 22 10 11 12 10 11 12]"},
		{"mask of bits", `tensor<uint1, [2, 2]> m = const()[val = tensor<uint1, [2, 2]>([[0, 1], [1, 0]])];
			tensor<int4, [2, 2]> r = constexpr_sparse_to_dense(mask = m, nonzero_data = tensor<int4, [2]>([-3, 5]));`,
			"tensor<int4, [2, 2]> [0 -3 5 0]"},
		{"quantised and sparse", `tensor<uint1, [4, 4]> m = const()[val = tensor<uint1, [4, 4]>([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]])];
			tensor<uint8, [9]> d = const()[val = tensor<uint8, [9]>([10, 11, 3, 4, 5, 6, 7, 8, 9])];
			tensor<uint1, [4, 4]> n, tensor<fp32, [9]> v = constexpr_sparse_blockwise_shift_scale(data_mask = m, nonzero_data = d,
				offset = tensor<uint8, [1, 4]>([[1, 2, 3, 4]]), scale = tensor<fp32, [1, 4]>([[1, 2, 3, 4]]));
			tensor<fp32, [4, 4]> r = constexpr_sparse_to_dense(mask = n, nonzero_data = v);`,
			"tensor<fp32, [4, 4]> [9 18 0 0 2 4 6 0 0 0 9 12 7 14 0 0]"},
		{"tables and sparse, vectors", `tensor<uint1, [2, 2]> m = const()[val = tensor<uint1, [2, 2]>([[1, 0], [1, 1]])];
			tensor<uint1, [3]> d = const()[val = tensor<uint1, [3]>([0, 1, 0])];
			tensor<uint1, [4, 2]> n, tensor<fp16, [6]> v = constexpr_lut_to_sparse(indices_mask = m, indices_nonzero_data = d,
				lut = tensor<fp16, [1, 1, 2, 2]>([[[[1, 2], [3, 4]]]]), vector_axis = int32(0));
			tensor<fp16, [4, 2]> r = constexpr_sparse_to_dense(mask = n, nonzero_data = v);`,
			"tensor<fp16, [4, 2]> [1 0 2 0 3 1 4 2]"},
		{"table of int8 that is scaled", `tensor<uint1, [2]> i = const()[val = tensor<uint1, [2]>([1, 0])];
			tensor<int8, [2]> d = constexpr_lut_to_dense(indices = i, lut = tensor<int8, [1, 2, 1]>([[[-4], [6]]]));
			tensor<fp16, [2]> r = constexpr_blockwise_shift_scale(data = d, scale = tensor<fp16, [1]>([0.5]));`,
			"tensor<fp16, [2]> [3 -2]"},
		// Exact arithmetic gives other numbers in some of these; coremltools
		// answers 3.0000005, 3.0000005, 1022.5, 1023, 2046 and 2047.
		{"float zero point, each step in float32", `tensor<fp32, [1]> r = constexpr_affine_dequantize()[axis = int32(0),
			quantized_data = tensor<int8, [1]>([3]), scale = fp32(0x1.000002p+0), zero_point = fp32(0x1p-26)];`, "tensor<fp32, [1]> [3.0000005]"},
		{"float offset, each step in float32", shifted("int8", "3", "fp32", "0x1.000002p+0", "fp32", "0x1p-26"), "tensor<fp32, [1]> [3.0000005]"},
		{"fp32 offset and fp16 scale, float32 until the end", shifted("int8", "3", "fp16", "341", "fp32", "0.0009"), "tensor<fp16, [1]> [1022.5]"},
		{"fp16 offset and scale, each step in float16", shifted("int8", "3", "fp16", "341", "fp16", "0.0009"), "tensor<fp16, [1]> [1023]"},
		{"fp32 data and offset, data to the type of scale", shifted("fp32", "2049", "fp16", "1", "fp32", "1.5"), "tensor<fp16, [1]> [2046]"},
		{"fp32 data, fp16 offset", shifted("fp32", "2049", "fp16", "1", "fp16", "1"), "tensor<fp16, [1]> [2047]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := parse(t, c.ops)
			got, err := k.Tensor("r")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, spell(t, got)); diff != "" {
				t.Error(diff)
			}
			for name, err := range checkAll(k) {
				if err != nil {
					t.Errorf("%s is refused without weights: %v", name, err)
				}
			}
		})
	}
}

func shifted(data, d, scale, s, offset, o string) string {
	return fmt.Sprintf(`tensor<%[3]s, [1]> r = constexpr_blockwise_shift_scale()[data = tensor<%[1]s, [1]>([%[2]s]),
		scale = tensor<%[3]s, [1]>([%[4]s]), offset = tensor<%[5]s, [1]>([%[6]s])];`, data, d, scale, s, offset, o)
}

// checkAll checks every operation with its data moved to a weight file that
// is not there.
func checkAll(c *Constants) map[string]error {
	away := func(v *mil.Value) {
		if v.Type.DType != mil.String {
			v.Data, v.Blob = nil, &mil.BlobRef{Path: "@model_path/weights/weight.bin", Offset: 64}
		}
	}
	for _, m := range c.made {
		if !Is(m.op) {
			continue
		}
		for _, a := range m.op.Attrs {
			if !slices.Contains([]string{"axis", "shape", "vector_axis"}, a.Name) {
				away(a.Value)
			}
		}
		for _, in := range m.op.Inputs {
			for _, b := range in.Bindings {
				if b.Value != nil && in.Name != "vector_axis" {
					away(b.Value)
				}
			}
		}
	}
	found := map[string]error{}
	for name, m := range c.made {
		if Is(m.op) {
			found[name] = Check(m.op, func(name string) (*mil.Value, error) {
				m, ok := c.made[name]
				if !ok {
					return nil, fmt.Errorf("%q is not a constant of the program", name)
				}
				v := &mil.Value{Type: m.op.Outputs[m.out].Type}
				away(v)
				return v, nil
			})
		}
	}
	return found
}

func ramp(n int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprint(i)
	}
	return strings.Join(s, ", ")
}

func vectors(axis int, shape string) string {
	return fmt.Sprintf(`tensor<uint1, [2, 2, 2]> i = const()[val = tensor<uint1, [2, 2, 2]>([[[0, 0], [1, 0]], [[1, 1], [0, 0]]])];
		tensor<int8, %s> r = constexpr_lut_to_dense(indices = i,
		lut = tensor<int8, [1, 1, 1, 2, 3]>([[[[[10, 11, 12], [20, 21, 22]]]]]), vector_axis = int32(%d));`, shape, axis)
}

// The snippet of a real style of writer has its weights outside; here they are given.
func TestRealSnippet(t *testing.T) {
	p, err := text.Parse(realtest.Text(t, "snippets/quantized-constexpr.model.mil"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := NewConstants(p.Functions[0].Body, fixed{0, 1, 0xff, 0x80}).Tensor("constant")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("tensor<fp32, [4]> [0.5 1 0 -63.5]", spell(t, got)); diff != "" {
		t.Error(diff)
	}
}

type fixed []byte

func (f fixed) Blob(mil.BlobRef) (mil.DType, []byte, error) { return mil.Int8, f, nil }

func TestRefusals(t *testing.T) {
	affine := func(q, s, z, axis, typ string) string {
		return typ + " r = constexpr_affine_dequantize()[axis = int32(" + axis + "), quantized_data = " + q + ", scale = " + s + ", zero_point = " + z + "];"
	}
	for _, c := range []struct{ name, ops, want string }{
		{"unknown", "tensor<fp32, [1]> r = constexpr_magic();", "not one that decompresses weights"},
		{"missing", "tensor<fp32, [1]> r = constexpr_cast();", "source_val is missing"},
		{"result type", affine("tensor<int8, [1]>([1])", "fp16(1)", "int8(0)", "0", "tensor<fp32, [1]>"), "the program says tensor<fp32, [1]>, the operands give tensor<fp16, [1]>"},
		{"operand type", affine("tensor<int16, [1]>([1])", "fp16(1)", "int8(0)", "0", "tensor<fp16, [1]>"), "element type int16 is not allowed"},
		{"axis", affine("tensor<int8, [1]>([1])", "fp16(1)", "int8(0)", "1", "tensor<fp16, [1]>"), "expected one number from -1 to 0"},
		{"scale count", affine("tensor<int8, [3]>([1, 2, 3])", "tensor<fp16, [2]>([1, 1])", "int8(0)", "0", "tensor<fp16, [3]>"), "expected one number, or 3"},
		{"lut size", `tensor<fp16, [1]> r = constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([0]), lut = tensor<fp16, [3]>([1, 2, 3]), shape = tensor<uint32, [1]>([1])];`,
			"expected a vector of 2, 4, 16"},
		{"index count", `tensor<fp16, [9]> r = constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([0]), lut = tensor<fp16, [2]>([1, 2]), shape = tensor<uint32, [1]>([9])];`,
			"expected 2 bytes for 9 indices of 1 bits"},
		{"too large", `tensor<fp16, [9]> r = constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([0]), lut = tensor<fp16, [2]>([1, 2]), shape = tensor<uint32, [2]>([4294967295, 4294967295])];`,
			"the number of elements overflows"},
		{"vectors larger than the result", `tensor<fp16, [2]> r = constexpr_lut_to_dense(indices = tensor<uint1, [2]>([0, 1]), lut = tensor<fp16, [1, 2, 2]>([[[1, 2], [3, 4]]]), vector_axis = int32(0));`,
			"the program says tensor<fp16, [2]>, the operands give tensor<fp16, [4]>"},
		{"data larger than the result", `tensor<fp16, [1]> r = constexpr_blockwise_shift_scale()[data = tensor<int8, [2]>([1, 2]), scale = tensor<fp16, [1]>([1])];`,
			"the program says tensor<fp16, [1]>, the operands give tensor<fp16, [2]>"},
		{"shape too large", `tensor<fp16, [9]> r = constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([0]), lut = tensor<fp16, [2]>([1, 2]), shape = tensor<uint32, [1]>([4294967295])];`,
			"the limit is 268435456"},
		{"values that are no vector", `tensor<fp16, [1]> r = constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([1]), nonzero_data = tensor<fp16, [1, 1]>([[1]]), shape = tensor<uint32, [1]>([1])];`,
			"expected a vector"},
		{"one result of two", `tensor<uint1, [1]> r = constexpr_lut_to_sparse(indices_mask = tensor<uint1, [1]>([1]), indices_nonzero_data = tensor<uint1, [1]>([1]), lut = tensor<fp16, [1, 2, 1]>([[[1], [2]]]));`,
			"expected 2 results, the program names 1"},
		{"declared too large", `tensor<fp16, [1073741824]> r = constexpr_blockwise_shift_scale()[data = tensor<int8, [1]>([1]), scale = tensor<fp16, [1]>([1])];`,
			"the limit is 268435456"},
		{"mask padding", `tensor<fp16, [1]> r = constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([3]), nonzero_data = tensor<fp16, [2]>([1, 2]), shape = tensor<uint32, [1]>([1])];`,
			"bits behind its last element"},
		{"mask count", `tensor<fp16, [1]> r = constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([1]), nonzero_data = tensor<fp16, [2]>([1, 2]), shape = tensor<uint32, [1]>([1])];`,
			"expected the 1 elements that the mask has bits for"},
		{"block size", `tensor<fp16, [3]> r = constexpr_blockwise_shift_scale()[data = tensor<int8, [3]>([1, 2, 3]), scale = tensor<fp16, [2]>([1, 2])];`,
			"does not divide"},
		{"offset shape", `tensor<fp16, [2]> r = constexpr_blockwise_shift_scale()[data = tensor<int8, [2]>([1, 2]), scale = tensor<fp16, [2]>([1, 2]), offset = tensor<int8, [1]>([0])];`,
			"expected the shape of scale"},
		{"offset type", `tensor<fp16, [1]> r = constexpr_blockwise_shift_scale()[data = tensor<int8, [1]>([1]), scale = tensor<fp16, [1]>([1]), offset = tensor<uint8, [1]>([0])];`,
			"expected the shape of scale"},
		{"vectors without axis", `tensor<fp16, [2]> r = constexpr_lut_to_dense(indices = tensor<uint1, [1]>([0]), lut = tensor<fp16, [1, 2, 2]>([[[1, 2], [3, 4]]]));`,
			"vector_axis is missing"},
		{"cast target", `tensor<fp32, [1]> r = constexpr_cast()[output_dtype = string("fp64"), source_val = tensor<fp16, [1]>([1])];`, "only fp32 is defined"},
		{"given twice", `tensor<fp32, [1]> r = constexpr_cast(source_val = tensor<fp16, [1]>([1]))[output_dtype = string("fp32"), source_val = tensor<fp16, [1]>([1])];`,
			"as input and as attribute"},
		{"not a constant", `tensor<fp32, [1]> r = constexpr_cast(source_val = x)[output_dtype = string("fp32")];`, `"x" is not a constant`},
	} {
		k := parse(t, c.ops)
		_, err := k.Tensor("r")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
		// All but what a mask holds shows without weights.
		seen := c.name != "mask padding" && c.name != "mask count"
		if err := checkAll(k)["r"]; (err != nil) != seen || seen && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, without weights: want %q, got %v", c.name, c.want, err)
		}
	}
}

// Lines that use a value twice each must not take exponential time.
func TestChainsAreBounded(t *testing.T) {
	ops := "tensor<fp16, [1]> c0 = const()[val = tensor<fp16, [1]>([1])];"
	for i := range 100 {
		ops += fmt.Sprintf("tensor<fp16, [1]> c%d = constexpr_blockwise_shift_scale(data = c%d, offset = c%d, scale = c%d);", i+1, i, i, i)
	}
	_, err := parse(t, ops).Tensor("c100")
	if err == nil || !strings.Contains(err.Error(), "feed into each other") {
		t.Errorf("got %v", err)
	}
}

// A caller's own limit holds for what feeds into the operation that it asks for.
func TestLimit(t *testing.T) {
	c := parse(t, `tensor<int8, [3]> wide = constexpr_lut_to_dense(indices = tensor<uint1, [3]>([1, 0, 1]), lut = tensor<int8, [1, 2, 1]>([[[-4], [6]]]));
		tensor<fp16, [2]> r = constexpr_sparse_to_dense(mask = tensor<uint1, [2]>([0, 1]), nonzero_data = wide);`)
	c.Limit = 2
	if _, err := c.Tensor("r"); err == nil || !strings.Contains(err.Error(), "a result of 3 elements, the limit is 2") {
		t.Errorf("got %v", err)
	}
}

func TestPackIsTheInverseOfUnpack(t *testing.T) {
	for _, d := range []mil.DType{mil.Uint1, mil.Uint2, mil.Uint3, mil.Uint4, mil.Uint6} {
		for n := range int64(20) {
			codes := make([]byte, n)
			for i := range codes {
				codes[i] = byte(i*7+3) & (1<<d.Bits() - 1)
			}
			packed := pack(codes, d)
			if size, _ := mil.PackedSize(d, n); int64(len(packed)) != size {
				t.Fatalf("%d of %s pack into %d bytes, want %d", n, d, len(packed), size)
			}
			if got := unpack(packed, d.Bits(), n); !bytes.Equal(got, codes) {
				t.Fatalf("%s: packed % x, got back % x", d, codes, got)
			}
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add(`tensor<fp16, [5]> r = constexpr_lut_to_dense()[indices = tensor<uint8, [2]>([108, 3]), lut = tensor<fp16, [4]>([1, 5, 9, 13]), shape = tensor<uint32, [1]>([5])];`)
	f.Add(vectors(1, "[2, 6, 2]"))
	f.Add(`tensor<fp32, [5]> r = constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([12]), nonzero_data = tensor<fp32, [2]>([7, 0]), shape = tensor<uint32, [1]>([5])];`)
	f.Add(`tensor<fp16, [1]> r = constexpr_blockwise_shift_scale()[data = tensor<int8, [1]>([1]), scale = tensor<fp16, [1]>([1]), offset = tensor<int8, [1]>([0])];`)
	f.Fuzz(func(t *testing.T, ops string) {
		p, err := text.Parse("program(1.3) { func main<ios18>(fp32 x) { " + ops + " } -> (x); }")
		if err != nil {
			return
		}
		c := NewConstants(p.Functions[0].Body, nil)
		for _, op := range p.Functions[0].Body.Ops {
			for _, o := range op.Outputs {
				if n, err := o.Type.Elements(); err != nil || n > 1<<16 {
					continue // memory is bounded, but not small enough for fuzzing
				}
				got, err := c.Tensor(o.Name)
				if err != nil {
					continue
				}
				if size, err := mil.PackedSize(got.DType, product(got.Shape)); err != nil || int64(len(got.Data)) != size {
					t.Fatalf("%s has %d bytes", mil.TensorOf(got.DType, got.Shape...), len(got.Data))
				}
			}
		}
	})
}
