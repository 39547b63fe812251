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

// Runs of fields, tables and masks of any length give what elements one by one give.
func TestRunsAreTheirElements(t *testing.T) {
	data := make([]byte, 2000)
	for i := range data {
		data[i] = byte(i * i / 3)
	}
	for n := range 700 {
		for bits := 1; bits <= 8; bits++ {
			codes := unpack(data[:(n*bits+7)/8], bits, int64(n))
			for i, got := range codes {
				var want byte
				for k := range bits {
					at := i*bits + k
					want |= data[at/8] >> (at % 8) & 1 << k
				}
				if got != want {
					t.Fatalf("field %d of %d, %d bits each: %d, expected %d", i, n, bits, got, want)
				}
			}
		}
		for _, typ := range []mil.DType{mil.Uint8, mil.Float16, mil.Float32} {
			table, to := unpackedElements(mil.Tensor{DType: typ, Shape: []int64{256}, Data: data[:256*typ.Bits()/8]}), newElements(typ, int64(n)+3)
			to.gather(2, table, 0, data[:n])
			want := newElements(typ, int64(n)+3)
			for i, c := range data[:n] {
				want.set(int64(i)+2, table, int64(c))
			}
			if !bytes.Equal(to.data, want.data) {
				t.Fatalf("%d of %s by their codes: %x, expected %x", n, typ, to.data, want.data)
			}
			for _, bits := range []int{1, 2, 4, 6, 8} {
				to, want = newElements(typ, int64(n)), newElements(typ, int64(n))
				to.gatherPacked(table, data, bits, int64(n))
				for i, c := range unpack(data, bits, int64(n)) {
					want.set(int64(i), table, int64(c))
				}
				if !bytes.Equal(to.data, want.data) {
					t.Fatalf("%d of %s by fields of %d bits: %x, expected %x", n, typ, bits, to.data, want.data)
				}
			}
			set := unpack(data[:(n+7)/8], 1, int64(n))
			if got := countOnes(data[:(n+7)/8], int64(n)); got != int64(bytes.Count(set, []byte{1})) {
				t.Fatalf("%d ones among %d bits, expected %d", got, n, bytes.Count(set, []byte{1}))
			}
			from := unpackedElements(mil.Tensor{DType: typ, Shape: []int64{int64(bytes.Count(set, []byte{1}))}, Data: data[:bytes.Count(set, []byte{1})*typ.Bits()/8]})
			to, want = newElements(typ, int64(n)), newElements(typ, int64(n))
			to.scatter(data[:(n+7)/8], from)
			next := int64(0)
			for i, on := range set {
				if on == 1 {
					want.set(int64(i), from, next)
					next++
				}
			}
			if !bytes.Equal(to.data, want.data) {
				t.Fatalf("%d of %s by a mask: %x, expected %x", n, typ, to.data, want.data)
			}
		}
	}
}
