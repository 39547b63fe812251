package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/blob"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// form is one way to store an encoder's weights.
type form struct {
	name      string
	precision encoder.Precision
	// compress gives the operation that makes a matrix of these values, and what of its operands lies in the weight file; nil where
	// matrices are stored as they are.
	compress func(v []float32, rows int64, out mil.Param) (op string, operands []operand)
	// atLeast is how near its output is to float32's, in dB; no real weights are asked to be.
	atLeast float64
}

// operand is an operand of a constexpr operation, in the weight file if it is large.
type operand struct {
	name string
	typ  *mil.Type
	data []byte
}

var forms = []form{
	{name: "float32", precision: encoder.Float32, atLeast: math.Inf(1)},
	{name: "float16", precision: encoder.Float16, atLeast: 30},
	{name: "int8 per channel", precision: encoder.Float16, compress: int8s, atLeast: 10},
	{name: "palettes of 8 bits", precision: encoder.Float16, compress: palettes(8), atLeast: 5},
	{name: "palettes of 4 bits", precision: encoder.Float16, compress: palettes(4), atLeast: -10},
	{name: "pruned by half", precision: encoder.Float16, compress: pruned, atLeast: -10},
}

// compressedFrom is the number of values from which a matrix is compressed.
const compressedFrom = 1 << 12

// write writes the encoder in its form: a package, and what is compiled from it.
func (f form) write(pkg, dest string, src encoder.Source) error {
	if err := encoder.WritePackage(pkg, src, f.precision); err != nil {
		return err
	}
	defer os.RemoveAll(pkg)
	if f.compress == nil {
		return compile(pkg, dest)
	}
	other := pkg + ".compressed.mlpackage"
	defer os.RemoveAll(other)
	if err := f.rewrite(pkg, other); err != nil {
		return err
	}
	return compile(other, dest)
}

// rewrite writes a package again with its matrices compressed.
func (f form) rewrite(from, to string) error {
	a, err := bundle.Open(from)
	if err != nil {
		return err
	}
	defer a.Close()
	a.Program.Functions[0].Opset, a.Model.SpecificationVersion = "CoreML6", 7 // these operations came with iOS 16
	var layout blob.Layout
	var pieces [][]byte
	place := func(t *mil.Type, data []byte) (*mil.Value, error) {
		types := map[mil.DType]blob.Type{mil.Float16: blob.Float16, mil.Float32: blob.Float32, mil.Int8: blob.Int8, mil.Uint8: blob.Uint8}
		n, err := t.Elements()
		if err != nil {
			return nil, err
		}
		info, err := layout.Add(types[t.DType], uint64(n))
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, data)
		return mil.BlobValue(t, bundle.WeightPath, info.Meta), nil
	}
	compressed := 0
	for _, op := range a.Program.Functions[0].Body.Ops {
		v := op.Attr("val")
		if op.Type != "const" || v == nil || v.Blob == nil {
			continue
		}
		t, err := mil.Resolve(v, a)
		if err != nil {
			return err
		}
		if t.DType != mil.Float16 || len(t.Shape) < 2 || len(t.Data)/2 < compressedFrom {
			moved, err := place(v.Type, slices.Clone(t.Data))
			if err != nil {
				return err
			}
			op.Attrs = []mil.Attr{{Name: "val", Value: moved}}
			continue
		}
		values := make([]float32, len(t.Data)/2)
		for i := range values {
			values[i] = ggml.Float16ToFloat32(binary.LittleEndian.Uint16(t.Data[2*i:]))
		}
		kind, operands := f.compress(values, t.Shape[0], op.Outputs[0])
		op.Type, op.Attrs, op.Inputs = kind, nil, nil
		for _, o := range operands {
			value := &mil.Value{Type: o.typ, Data: o.data}
			if len(o.data) > 64 {
				if value, err = place(o.typ, o.data); err != nil {
					return err
				}
			}
			op.Attrs = append(op.Attrs, mil.Attr{Name: o.name, Value: value})
		}
		compressed++
	}
	if compressed == 0 {
		return fmt.Errorf("no matrix of at least %d values was compressed", compressedFrom)
	}
	return bundle.WritePackage(to, a.Model, func(w io.Writer) error {
		return layout.Write(w, func(n int, w io.Writer) error {
			_, err := w.Write(pieces[n])
			return err
		})
	})
}

func half(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint16(b, ggml.Float32ToFloat16(v))
}

// int8s rounds each row to 255 steps.
func int8s(v []float32, rows int64, out mil.Param) (string, []operand) {
	codes, scales := make([]byte, len(v)), []byte(nil)
	row := len(v) / int(rows)
	for r := range int(rows) {
		top := float32(0)
		for _, x := range v[r*row : (r+1)*row] {
			top = max(top, float32(math.Abs(float64(x))))
		}
		scale := ggml.Float16ToFloat32(ggml.Float32ToFloat16(max(top/127, 1e-6)))
		scales = half(scales, scale)
		for i, x := range v[r*row : (r+1)*row] {
			codes[r*row+i] = byte(int8(math.RoundToEven(min(max(float64(x/scale), -127), 127))))
		}
	}
	return "constexpr_affine_dequantize", []operand{
		{"quantized_data", mil.TensorOf(mil.Int8, out.Type.Shape...), codes},
		{"scale", mil.TensorOf(mil.Float16, rows), scales},
		{"zero_point", mil.TensorOf(mil.Int8), []byte{0}},
		{"axis", mil.TensorOf(mil.Int32), []byte{0, 0, 0, 0}},
	}
}

// extents gives a shape as an operand.
func extents(shape []int64) operand {
	var b []byte
	for _, d := range shape {
		b = binary.LittleEndian.AppendUint32(b, uint32(d))
	}
	return operand{"shape", mil.TensorOf(mil.Uint32, int64(len(shape))), b}
}

// palettes takes the nearest of equal steps between the outermost values.
func palettes(bits int) func([]float32, int64, mil.Param) (string, []operand) {
	return func(v []float32, _ int64, out mil.Param) (string, []operand) {
		low, high := slices.Min(v), slices.Max(v)
		last := float32(int(1)<<bits - 1)
		var lut []byte
		for i := range 1 << bits {
			lut = half(lut, low+(high-low)*float32(i)/last)
		}
		codes := make([]byte, (len(v)*bits+7)/8)
		for i, x := range v {
			at := byte(math.RoundToEven(float64((x - low) / (high - low) * last)))
			codes[i*bits/8] |= at << (i * bits % 8)
		}
		return "constexpr_lut_to_dense", []operand{
			{"indices", mil.TensorOf(mil.Uint8, int64(len(codes))), codes},
			{"lut", mil.TensorOf(mil.Float16, 1<<bits), lut}, extents(out.Type.Shape)}
	}
}

// pruned keeps the larger half.
func pruned(v []float32, _ int64, out mil.Param) (string, []operand) {
	sizes := make([]float32, len(v))
	for i, x := range v {
		sizes[i] = float32(math.Abs(float64(x)))
	}
	slices.Sort(sizes)
	limit := sizes[len(sizes)/2]
	mask, kept := make([]byte, (len(v)+7)/8), []byte(nil)
	for i, x := range v {
		if float32(math.Abs(float64(x))) >= limit {
			mask[i/8] |= 1 << (i % 8)
			kept = half(kept, x)
		}
	}
	return "constexpr_sparse_to_dense", []operand{
		{"nonzero_data", mil.TensorOf(mil.Float16, int64(len(kept)/2)), kept},
		{"mask", mil.TensorOf(mil.Uint8, int64(len(mask))), mask}, extents(out.Type.Shape)}
}
