package artifact

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

func halves(shape []int64, v ...float32) *mil.Value {
	x := &mil.Value{Type: mil.TensorOf(mil.Float16, shape...)}
	for _, f := range v {
		x.Data = binary.LittleEndian.AppendUint16(x.Data, ggml.Float32ToFloat16(f))
	}
	return x
}

func bytesOf(d mil.DType, shape []int64, b ...byte) *mil.Value {
	return &mil.Value{Type: mil.TensorOf(d, shape...), Data: b}
}

func words(v ...uint32) *mil.Value {
	x := &mil.Value{Type: mil.TensorOf(mil.Uint32, int64(len(v)))}
	for _, w := range v {
		x.Data = binary.LittleEndian.AppendUint32(x.Data, w)
	}
	return x
}

// packed squeezes small integers into bits, low bits first.
func packed(bits int, v []int) []byte {
	b := make([]byte, (bits*len(v)+7)/8)
	for i, x := range v {
		for k := range bits {
			at := i*bits + k
			b[at/8] |= byte(x>>k&1) << (at % 8)
		}
	}
	return b
}

func attrs(kv ...any) []mil.Attr {
	var a []mil.Attr
	for i := 0; i < len(kv); i += 2 {
		a = append(a, mil.Attr{Name: kv[i].(string), Value: kv[i+1].(*mil.Value)})
	}
	return a
}

func inputs(kv ...any) []mil.Arg {
	var a []mil.Arg
	for i := 0; i < len(kv); i += 2 {
		b := mil.Binding{}
		switch v := kv[i+1].(type) {
		case *mil.Value:
			b.Value = v
		case string:
			b.Name = v
		}
		a = append(a, mil.Arg{Name: kv[i].(string), Bindings: []mil.Binding{b}})
	}
	return a
}

// scales gives each row's largest size over top, rounded to float16.
func scales(v []float32, rows int, top float32) []float32 {
	s := make([]float32, rows)
	for r := range s {
		for _, x := range v[r*len(v)/rows : (r+1)*len(v)/rows] {
			s[r] = max(s[r], float32(math.Abs(float64(x))))
		}
		s[r] = ggml.Float16ToFloat32(ggml.Float32ToFloat16(s[r] / top))
	}
	return s
}

func grid(v []float32, s []float32, low, high float64) []int {
	q := make([]int, len(v))
	for i, x := range v {
		q[i] = int(math.RoundToEven(min(max(float64(x/s[i*len(s)/len(v)]), low), high)))
	}
	return q
}

// levels is a palette of n equal steps, and the nearest entry of each value.
func levels(v []float32, n int) (lut []float32, at []int) {
	low, high := slices.Min(v), slices.Max(v)
	for i := range n {
		lut = append(lut, ggml.Float16ToFloat32(ggml.Float32ToFloat16(low+(high-low)*float32(i)/float32(n-1))))
	}
	for _, x := range v {
		best := 0
		for i := range lut {
			if math.Abs(float64(lut[i]-x)) < math.Abs(float64(lut[best]-x)) {
				best = i
			}
		}
		at = append(at, best)
	}
	return lut, at
}

// A matrix that is compressed in each of the ways that Core ML knows still
// belongs to its model, is described as what it is, and belongs to no other.
func TestCompressed(t *testing.T) {
	const rows, cols = 256, 64 // mlp.0.weight of wide
	shape := []int64{rows, cols}
	int8s := func(q []int) []byte {
		b := make([]byte, len(q))
		for i, x := range q {
			b[i] = byte(x)
		}
		return b
	}
	for _, c := range []struct {
		name   string
		scheme string
		make   func(v []float32, out mil.Param) []*mil.Op
	}{
		{"affine, iOS 16", "int8 linear, per channel", func(v []float32, out mil.Param) []*mil.Op {
			s := scales(v, rows, 127)
			return []*mil.Op{{Type: "constexpr_affine_dequantize", Outputs: []mil.Param{out}, Attrs: attrs(
				"quantized_data", bytesOf(mil.Int8, shape, int8s(grid(v, s, -127, 127))...), "scale", halves([]int64{rows}, s...),
				"zero_point", bytesOf(mil.Int8, []int64{}, 0), "axis", mil.Int32Value(0))}}
		}},
		{"blockwise, iOS 18", "int4 linear, per block of 32", func(v []float32, out mil.Param) []*mil.Op {
			s := scales(v, rows*2, 7)
			q := grid(v, s, -8, 7)
			for i := range q {
				q[i] &= 15
			}
			return []*mil.Op{{Type: "constexpr_blockwise_shift_scale", Outputs: []mil.Param{out}, Inputs: inputs(
				"data", bytesOf(mil.Int4, shape, packed(4, q)...), "scale", halves([]int64{rows, 2}, s...))}}
		}},
		{"palette, iOS 16", "6-bit palettised, per tensor", func(v []float32, out mil.Param) []*mil.Op {
			lut, at := levels(v, 64)
			b := packed(6, at)
			return []*mil.Op{{Type: "constexpr_lut_to_dense", Outputs: []mil.Param{out}, Attrs: attrs(
				"indices", bytesOf(mil.Uint8, []int64{int64(len(b))}, b...), "lut", halves([]int64{64}, lut...), "shape", words(rows, cols))}}
		}},
		{"palettes, iOS 18", "4-bit palettised, 2 palettes", func(v []float32, out mil.Param) []*mil.Op {
			lutA, a := levels(v[:len(v)/2], 16)
			lutB, b := levels(v[len(v)/2:], 16)
			return []*mil.Op{{Type: "constexpr_lut_to_dense", Outputs: []mil.Param{out}, Inputs: inputs(
				"indices", bytesOf(mil.Uint4, shape, packed(4, append(a, b...))...),
				"lut", halves([]int64{2, 1, 16, 1}, append(lutA, lutB...)...))}}
		}},
		{"pruned, iOS 16", "fp16 pruned, 50% zeros", func(v []float32, out mil.Param) []*mil.Op {
			kept, mask := prune(v)
			b := packed(1, mask)
			return []*mil.Op{{Type: "constexpr_sparse_to_dense", Outputs: []mil.Param{out}, Attrs: attrs(
				"nonzero_data", halves([]int64{int64(len(kept))}, kept...), "mask", bytesOf(mil.Uint8, []int64{int64(len(b))}, b...),
				"shape", words(rows, cols))}}
		}},
		{"pruned and palettised, iOS 18", "4-bit pruned+palettised, per tensor, 50% zeros", func(v []float32, out mil.Param) []*mil.Op {
			kept, mask := prune(v)
			lut, at := levels(kept, 16)
			n := int64(len(kept))
			m := bytesOf(mil.Uint1, shape, packed(1, mask)...)
			return []*mil.Op{
				{Type: "constexpr_lut_to_sparse", Outputs: []mil.Param{
					{Name: "inner_mask", Type: mil.TensorOf(mil.Uint1, shape...)}, {Name: "inner", Type: mil.TensorOf(mil.Float16, n)}},
					Inputs: inputs("indices_mask", m, "indices_nonzero_data", bytesOf(mil.Uint4, []int64{n}, packed(4, at)...),
						"lut", halves([]int64{1, 1, 16, 1}, lut...))},
				{Type: "constexpr_sparse_to_dense", Outputs: []mil.Param{out}, Inputs: inputs("nonzero_data", "inner", "mask", "inner_mask")},
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			model := filepath.Join(dir, "ggml-x.bin")
			good := modelBytes(t, wide)
			writeFile(t, model, good)
			writeEncoder(t, dir, "plain", good, milencoder.Float16)
			pkg := filepath.Join(dir, "compressed.mlpackage")
			replaceWeight(t, filepath.Join(dir, "plain.mlpackage"), pkg, shape, c.make)
			r := expect(t, model, pkg, Options{ContentsOnly: true})
			if p := r.Encoder.Precision; p.Class != "compressed" || len(p.Compression) != 1 || p.Compression[0].String() != c.scheme {
				t.Errorf("expected %q, found %+v", c.scheme, p)
			}
			if r.Pairing.Rule != ruleBounded && strings.Contains(c.scheme, "pruned") {
				t.Errorf("values that were pruned are called equal: %s", r.Pairing.Rule)
			}
			if note, want := slices.Contains(codes(r.Notes), "PALETTE_SCALED"), strings.HasSuffix(c.scheme, " palettes"); note != want {
				t.Errorf("noted as palettes that trouble macOS 26: %t, want %t", note, want)
			}
			// The same weights with that one matrix of another model.
			other := wide
			other.Seed = 9
			strange := blockValues(t, other)["encoder.blocks.0.mlp.0.weight"]
			other.Seed = wide.Seed
			other.Adjust = func(tensor string, i int64, v float32) float32 {
				if tensor == "encoder.blocks.0.mlp.0.weight" {
					return strange[i]
				}
				return v
			}
			writeFile(t, model, modelBytes(t, other))
			expect(t, model, pkg, Options{ContentsOnly: true}, "PAIRING_ABSENT")
		})
	}
}

// prune keeps the larger half.
func prune(v []float32) (kept []float32, mask []int) {
	sizes := make([]float64, len(v))
	for i, x := range v {
		sizes[i] = math.Abs(float64(x))
	}
	slices.Sort(sizes)
	for _, x := range v {
		if math.Abs(float64(x)) >= sizes[len(sizes)/2] {
			kept, mask = append(kept, x), append(mask, 1)
		} else {
			mask = append(mask, 0)
		}
	}
	return kept, mask
}

// replaceWeight writes a package in which the first constant of a shape is made
// by other operations.
func replaceWeight(t *testing.T, from, to string, shape []int64, make func(v []float32, out mil.Param) []*mil.Op) {
	t.Helper()
	a, err := bundle.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	body := a.Program.Functions[0].Body
	a.Program.Functions[0].Opset, a.Model.SpecificationVersion = "CoreML8", 9
	at := slices.IndexFunc(body.Ops, func(op *mil.Op) bool {
		return op.Type == "const" && len(op.Outputs) == 1 && slices.Equal(op.Outputs[0].Type.Shape, shape)
	})
	if at < 0 {
		t.Fatalf("no constant of extents %v", shape)
	}
	tensor, err := mil.Resolve(body.Ops[at].Attr("val"), a)
	if err != nil {
		t.Fatal(err)
	}
	values := append([]float32{}, decodeHalves(tensor.Data)...)
	body.Ops = slices.Replace(body.Ops, at, at+1, make(values, body.Ops[at].Outputs[0])...)
	err = bundle.WritePackage(to, a.Model, func(w io.Writer) error {
		b, err := os.ReadFile(filepath.Join(from, "Data", "com.apple.CoreML", "weights", "weight.bin"))
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func decodeHalves(b []byte) []float32 {
	v := make([]float32, len(b)/2)
	for i := range v {
		v[i] = ggml.Float16ToFloat32(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return v
}
