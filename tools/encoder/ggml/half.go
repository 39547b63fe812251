package ggml

import "math"

// Float16ToFloat32 widens an IEEE 754 half. Every half has an exact float32;
// NaN payloads are kept.
func Float16ToFloat32(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp := uint32(h>>10) & 0x1f
	frac := uint32(h) & 0x3ff
	switch exp {
	case 0:
		// Zero or subnormal: frac * 2^-24 is exact in float32.
		f := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// Float32ToFloat16 rounds to the nearest half, ties to even; values beyond the
// range become infinities, NaN stays NaN.
func Float32ToFloat16(f float32) uint16 {
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

// bfloat16ToFloat32 widens a bfloat16.
func bfloat16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
