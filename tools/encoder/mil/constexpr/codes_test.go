package constexpr

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Values that are looked up by their code are those that are computed one by one, for every code, type, axis and kind of scale.
func TestAffineByCode(t *testing.T) {
	const rows, columns = 3, 700
	data := make([]byte, rows*columns)
	for i := range data {
		data[i] = byte(i * 7)
	}
	scales, zeros := []float32{0.5, 0.013, 3}, []byte{0, 3, 251}
	for _, code := range []mil.DType{mil.Int8, mil.Uint8} {
		for _, typ := range []mil.DType{mil.Float16, mil.Float32} {
			for name, shape := range map[string][]int64{"one number": nil, "by rows": {rows}} {
				for _, extents := range [][]int64{{rows, columns}, {rows, 10, columns / 10}, {rows * columns / 3, 3}} {
					axis := int32(0)
					if extents[0] != rows {
						axis = 1 // too few values to a code
					}
					scale, zero := &mil.Value{Type: mil.TensorOf(typ, shape...)}, &mil.Value{Type: mil.TensorOf(code, shape...)}
					for k := range max(1, len(shape)*rows) {
						if typ == mil.Float16 {
							scale.Data = binary.LittleEndian.AppendUint16(scale.Data, half.FromFloat32(scales[k]))
						} else {
							scale.Data = binary.LittleEndian.AppendUint32(scale.Data, math.Float32bits(scales[k]))
						}
						zero.Data = append(zero.Data, zeros[k])
					}
					op := &mil.Op{Type: "constexpr_affine_dequantize", Outputs: []mil.Param{{Name: "r", Type: mil.TensorOf(typ, extents...)}}, Attrs: []mil.Attr{
						{Name: "quantized_data", Value: &mil.Value{Type: mil.TensorOf(code, extents...), Data: data}},
						{Name: "scale", Value: scale}, {Name: "zero_point", Value: zero}, {Name: "axis", Value: mil.Int32Value(axis)}}}
					got, err := Apply(op, nil, nil)
					if err != nil {
						t.Fatalf("%s, %s of %s, %v: %v", name, code, typ, extents, err)
					}
					number := func(b byte) float32 {
						if code == mil.Int8 {
							return float32(int8(b))
						}
						return float32(b)
					}
					scaleAt, err := Floats(mil.Tensor{DType: typ, Shape: shape, Data: scale.Data})
					if err != nil {
						t.Fatal(err)
					}
					want := newNumbers(typ, int64(len(data)))
					for i, b := range data {
						ch := 0
						if shape != nil {
							ch = i / columns
							if axis == 1 {
								ch = i % 3
							}
						}
						want.put((number(b) - number(zero.Data[ch])) * scaleAt(int64(ch)))
					}
					if !bytes.Equal(got[0].Data, want.out) {
						t.Errorf("%s, %s of %s, %v: other values by their codes", name, code, typ, extents)
					}
				}
			}
		}
	}
}
