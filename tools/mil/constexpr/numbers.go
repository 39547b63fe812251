package constexpr

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/half"
)

// unpacked returns one byte for each element of a type of at most 8 bits: its
// bits, not sign-extended.
func unpacked(t mil.Tensor) []byte {
	bits := t.DType.Bits()
	if bits == 8 {
		return t.Data
	}
	return unpack(t.Data, bits, product(t.Shape))
}

// unpack splits n fields of 1 to 7 bits, low bits first.
func unpack(data []byte, bits int, n int64) []byte {
	out := make([]byte, n)
	mask := byte(1<<bits - 1)
	var acc uint32
	have, at := 0, 0
	for i := range out {
		for have < bits {
			acc |= uint32(data[at]) << have
			at++
			have += 8
		}
		out[i] = byte(acc) & mask
		acc >>= bits
		have -= bits
	}
	return out
}

// pack is the inverse of unpack for a whole tensor.
func pack(codes []byte, d mil.DType) []byte {
	bits := d.Bits()
	if bits == 8 {
		return codes
	}
	out := make([]byte, 0, (len(codes)*bits+7)/8)
	var acc uint32
	have := 0
	for _, c := range codes {
		acc |= uint32(c) << have
		for have += bits; have >= 8; have -= 8 {
			out = append(out, byte(acc))
			acc >>= 8
		}
	}
	if have > 0 {
		out = append(out, byte(acc))
	}
	return out
}

// Floats returns a function from index to value in float32, exact for every
// type that the operations allow, and an error for the others. The tensor's
// bytes must agree with its shape, as those of Apply and Constants do.
func Floats(t mil.Tensor) (func(int64) float32, error) {
	le := binary.LittleEndian
	switch t.DType {
	case mil.Float32:
		return func(i int64) float32 { return math.Float32frombits(le.Uint32(t.Data[4*i:])) }, nil
	case mil.Float16:
		return func(i int64) float32 { return half.ToFloat32(le.Uint16(t.Data[2*i:])) }, nil
	case mil.Int8:
		return func(i int64) float32 { return float32(int8(t.Data[i])) }, nil
	case mil.Int4:
		codes := unpacked(t)
		return func(i int64) float32 { return float32(int8(codes[i]<<4) >> 4) }, nil
	case mil.Uint1, mil.Uint2, mil.Uint3, mil.Uint4, mil.Uint6, mil.Uint8:
		codes := unpacked(t)
		return func(i int64) float32 { return float32(codes[i]) }, nil
	}
	return nil, fmt.Errorf("numbers of type %s are not known here", t.DType)
}

// arith is arithmetic in float16 or float32. Float16 results are computed in
// float32 and rounded, which gives the correctly rounded sum or product.
type arith struct {
	dtype mil.DType
	// exact says that operands and their differences are integers that
	// float16 holds, so that only the product needs rounding.
	exact bool
	out   []byte
}

// newArith is for n results of type d; data and offset are the operands' types.
func newArith(d, data, offset mil.DType, n int64) *arith {
	small := func(t mil.DType) bool { return t.IsInt() && t.Bits() <= 8 }
	return &arith{dtype: d, exact: d == mil.Float32 || small(data) && small(offset), out: make([]byte, 0, n*int64(d.Bits()/8))}
}

func (a *arith) round(x float32) float32 {
	if a.exact {
		return x
	}
	return half.ToFloat32(half.FromFloat32(x))
}

// put appends scale·(x − offset), rounded after each step.
func (a *arith) put(x, offset, scale float32) {
	y := scale * a.round(a.round(x)-a.round(offset))
	if a.dtype == mil.Float16 {
		a.out = binary.LittleEndian.AppendUint16(a.out, half.FromFloat32(y))
		return
	}
	a.out = binary.LittleEndian.AppendUint32(a.out, math.Float32bits(y))
}

// elements moves elements of any type by index.
type elements struct {
	dtype mil.DType
	size  int64 // bytes of one element here; sub-byte types take one
	data  []byte
}

func unpackedElements(t mil.Tensor) elements {
	if t.DType.Bits() <= 8 {
		return elements{t.DType, 1, unpacked(t)}
	}
	return elements{t.DType, int64(t.DType.Bits() / 8), t.Data}
}

func newElements(d mil.DType, n int64) elements {
	size := int64(1)
	if d.Bits() > 8 {
		size = int64(d.Bits() / 8)
	}
	return elements{d, size, make([]byte, n*size)}
}

// set copies element j of from to element i.
func (e elements) set(i int64, from elements, j int64) {
	copy(e.data[i*e.size:(i+1)*e.size], from.data[j*e.size:])
}

// tensor packs the elements again.
func (e elements) tensor(shape []int64) mil.Tensor {
	data := e.data
	if e.dtype.Bits() < 8 {
		data = pack(e.data, e.dtype)
	}
	return mil.Tensor{DType: e.dtype, Shape: shape, Data: data}
}
