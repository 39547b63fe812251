// Package half converts between IEEE 754 binary16 and wider floats.
//
// Narrowing rounds once, to nearest with ties to even, whatever the width of
// the source: float64 goes to binary16 directly, never by way of float32.
// Subnormals and the sign of zero are kept. Widening is exact and keeps the
// payload of a NaN.
package half

import "math"

const (
	signMask = 0x8000
	infBits  = 0x7c00
)

// FromFloat32 rounds x to binary16.
func FromFloat32(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000: // NaN: keep the high payload bits, and stay NaN
		return sign | 0x7e00 | uint16(abs>>13)&0x3ff
	case abs >= 0x477ff000: // rounds to 65536 or more, or is infinite
		return sign | 0x7c00
	case abs >= 0x38800000: // normal half
		r := abs - 112<<23
		return sign | uint16((r+0xfff+(r>>13&1))>>13)
	case abs <= 0x33000000: // at most half of the smallest subnormal: ties to zero
		return sign
	}
	// Subnormal half: shift the full significand so that one unit is 2^-24.
	shift := 126 - abs>>23
	m := abs&0x7fffff | 0x800000
	q := m >> shift
	rest := m & (1<<shift - 1)
	if half := uint32(1) << (shift - 1); rest > half || rest == half && q&1 == 1 {
		q++
	}
	return sign | uint16(q)
}

// FromFloat64 rounds x to binary16.
func FromFloat64(x float64) uint16 {
	b := math.Float64bits(x)
	sign := uint16(b >> 48 & signMask)
	exp := int(b>>52&0x7ff) - 1023
	frac := b & (1<<52 - 1)
	switch {
	case exp == 1024 && frac != 0:
		return sign | infBits | 0x200 | uint16(frac>>42)
	case exp > 15:
		return sign | infBits
	case exp < -25:
		// Below half of the smallest subnormal, float64 subnormals included.
		return sign
	}
	frac |= 1 << 52
	shift := uint(42)
	if exp < -14 {
		shift += uint(-14 - exp)
	}
	q := frac >> shift
	rest, tie := frac&(1<<shift-1), uint64(1)<<(shift-1)
	if rest > tie || rest == tie && q&1 == 1 {
		q++
	}
	if exp < -14 {
		return sign | uint16(q) // may carry into the smallest normal
	}
	// q holds the implicit bit at position 10; a carry moves the exponent up,
	// at the top of the range into infinity.
	return sign | uint16(uint64(exp+14)<<10+q)
}

// ToFloat32 widens h exactly.
func ToFloat32(h uint16) float32 {
	sign := uint32(h&signMask) << 16
	exp := uint32(h >> 10 & 0x1f)
	frac := uint32(h & 0x3ff)
	switch {
	case exp == 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case exp == 0:
		// Subnormal or zero: an exact multiple of 2^-24.
		v := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(v) | sign)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
