package hardvalues

import (
	"encoding/binary"
	"math"
)

// halfValue is the value of a float16, from the definition: a NaN's payload is lost.
func halfValue(h uint16) float64 {
	sign, exp, man := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)
	switch {
	case exp == 31 && man != 0:
		return math.NaN()
	case exp == 31:
		return sign * math.Inf(1)
	case exp == 0:
		return sign * math.Ldexp(man, -24)
	}
	return sign * math.Ldexp(1024+man, exp-25)
}

// halfOf is the float16 nearest to v, ties to even, from the definition: v in units of the last place, rounded. Exact
// in float64, where dividing by a power of two loses nothing.
func halfOf(v float64) uint16 {
	sign := uint16(0)
	if math.Signbit(v) {
		sign = 0x8000
	}
	switch {
	case v != v:
		return 0x7e00
	case v == 0:
		return sign
	case math.IsInf(v, 0):
		return sign | 0x7c00
	}
	_, exp := math.Frexp(v)
	exp = max(exp-1, -14)
	n := uint16(min(math.RoundToEven(math.Ldexp(math.Abs(v), 10-exp)), 2048))
	if exp > 15 || exp == 15 && n >= 2048 {
		return sign | 0x7c00
	}
	// n is 1024 to 2048 for a normal number, and 2048 is the next power of two's 1024.
	return sign | uint16(exp+14)<<10 + n
}

func f16(values ...uint16) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func f32(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func i32(values ...int32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// hard16 are the bits of the float16 that arithmetic is tried on, NaN last.
var hard16 = []uint16{0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3555, 0xb555, 0x3c01, 0x4248, 0x6801, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00}

// hard32 are the float32, NaN last.
var hard32 = []float32{0, float32(math.Copysign(0, -1)), 0x1p-149, -0x1p-149, 0x1.fffffcp-127, -0x1.fffffcp-127, 0x1p-126, -0x1p-126, 1, -1, 1.0 / 3, -1.0 / 3,
	1 + 0x1p-23, 16777217, 0x1p-75, 3.4e38, math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}

// pairs are all pairs of n things.
func pairs(n int, do func(i, j int)) {
	for i := range n {
		for j := range n {
			do(i, j)
		}
	}
}
