package kernel

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// HalfToFloat32 widens one float16. Every value is exact, subnormals and signed
// zeros too; a NaN keeps sign and payload and stays signalling if it was.
func HalfToFloat32(h uint16) float32 { return math.Float32frombits(halfBits(h)) }

func halfBits(h uint16) uint32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h>>10) & 0x1f
	man := uint32(h & 0x3ff)
	switch {
	case exp == 0x1f:
		return sign | 0x7f800000 | man<<13
	case exp != 0:
		return sign | (exp+112)<<23 | man<<13
	case man == 0:
		return sign
	}
	// A subnormal: shift until the hidden bit shows.
	exp = 113
	for man&0x400 == 0 {
		man <<= 1
		exp--
	}
	return sign | exp<<23 | (man&0x3ff)<<13
}

// Float32ToHalf rounds to the nearest float16, ties to even; too large becomes
// infinity. A NaN keeps sign, quiet bit and the upper bits of its payload; a
// payload that lies only in the lost bits becomes the quiet NaN.
func Float32ToHalf(f float32) uint16 {
	b := math.Float32bits(f)
	return roundHalf(uint16(b>>16)&0x8000, int(b>>23)&0xff-127, uint64(b&0x7fffff)<<29, 0x80, b<<1 == 0)
}

// Float64ToHalf rounds a float64 directly, never through float32 (which would
// round twice).
func Float64ToHalf(f float64) uint16 {
	b := math.Float64bits(f)
	return roundHalf(uint16(b>>48)&0x8000, int(b>>52)&0x7ff-1023, b&(1<<52-1), 0x400, b<<1 == 0)
}

// Int64ToHalf rounds an integer directly.
func Int64ToHalf(v int64) uint16 {
	// Beyond 65520 the answer is infinity; below, float64 holds v exactly.
	if v > 1<<20 {
		return 0x7c00
	}
	if v < -1<<20 {
		return 0xfc00
	}
	return Float64ToHalf(float64(v))
}

// roundHalf rounds sign, unbiased exponent and a 52-bit fraction. special is the
// exponent that marks infinity and NaN in the source.
func roundHalf(sign uint16, exp int, frac uint64, special int, zero bool) uint16 {
	switch {
	case zero:
		return sign
	case exp == special:
		if frac == 0 {
			return sign | 0x7c00
		}
		if m := uint16(frac >> 42); m != 0 {
			return sign | 0x7c00 | m
		}
		return sign | 0x7e00
	case exp > 15:
		return sign | 0x7c00
	case exp < -26:
		// Below half of the smallest subnormal, source subnormals included.
		return sign
	}
	full := 1<<52 | frac
	shift := uint(42)
	biased := uint64(exp + 15)
	if exp < -14 {
		shift += uint(-14 - exp)
		biased = 0
	} else {
		full &= 1<<52 - 1
	}
	kept := full >> shift
	rest := full & (1<<shift - 1)
	halfway := uint64(1) << (shift - 1)
	if rest > halfway || rest == halfway && kept&1 == 1 {
		kept++ // may carry into the exponent, which is right
	}
	return sign | uint16(biased<<10+kept)
}

// Widen converts len(src) float16 values for arithmetic. Unlike copies made
// with [HalfToFloat32] a signalling NaN may become quiet.
func Widen(dst []float32, src []uint16) {
	i := 0
	if useWide {
		widenRows(dst, src, 0, 1, len(src))
		return
	}
	if useAsm {
		if n := len(src) &^ 7; n > 0 {
			_ = dst[n-1]
			widenHalf(&dst[0], &src[0], n)
			i = n
		}
		if i < len(src) {
			var from [8]uint16
			var to [8]float32
			copy(from[:], src[i:])
			widenHalf(&to[0], &from[0], len(to))
			copy(dst[i:len(src)], to[:])
			return
		}
	}
	for ; i < len(src); i++ {
		dst[i] = HalfToFloat32(src[i])
	}
}

// widenRows widens rows of n values, which begin ld elements apart, one behind the other.
func widenRows(dst []float32, src []uint16, ld, rows, n int) {
	if rows == 0 || n == 0 {
		return
	}
	if useWide {
		_, _ = dst[rows*n-1], src[(rows-1)*ld+n-1]
		widenRowsWide(&dst[0], &src[0], 2*ld, rows, n)
		return
	}
	for i := range rows {
		Widen(dst[i*n:(i+1)*n], src[i*ld:i*ld+n])
	}
}

// WidenStrided is Widen of len(dst) values that lie step apart in src; step may be zero.
func WidenStrided(dst []float32, src []uint16, step int) {
	if step == 1 {
		Widen(dst, src[:len(dst)])
		return
	}
	var close [64]uint16
	for len(dst) > 0 {
		n := min(len(dst), len(close))
		for i := range n {
			close[i] = src[i*step]
		}
		Widen(dst[:n], close[:n])
		if dst = dst[n:]; len(dst) > 0 {
			src = src[n*step:]
		}
	}
}

// Narrow rounds len(src) float32 values to float16, nearest even.
func Narrow(dst []uint16, src []float32) {
	i := 0
	if n := len(src); useWide && n > 0 {
		_ = dst[n-1]
		narrowHalfWide(&dst[0], &src[0], n)
		return
	}
	if useAsm {
		if n := len(src) &^ 7; n > 0 {
			_ = dst[n-1]
			narrowHalf(&dst[0], &src[0], n)
			i = n
		}
		if i < len(src) {
			var from [8]float32
			var to [8]uint16
			copy(from[:], src[i:])
			narrowHalf(&to[0], &from[0], len(to))
			copy(dst[i:len(src)], to[:])
			return
		}
	}
	for ; i < len(src); i++ {
		dst[i] = Float32ToHalf(src[i])
	}
}

// roundToHalf rounds each value to the nearest float16.
func roundToHalf(v []float32) {
	switch {
	case len(v) == 0:
	case useWide:
		roundHalfWide(&v[0], len(v))
	case useAsm:
		roundHalfRow(&v[0], len(v))
	default:
		for i, x := range v {
			v[i] = HalfToFloat32(Float32ToHalf(x))
		}
	}
}

// scaleToHalf multiplies each value by one factor and rounds it to the nearest float16.
func scaleToHalf(v []float32, by float32) {
	switch {
	case len(v) == 0:
	case useWide:
		scaleHalfWide(&v[0], len(v), by)
	case useAsm:
		scaleHalfRow(&v[0], len(v), by)
	default:
		scale(v, by)
		roundToHalf(v)
	}
}

// addToHalf adds x to each value and rounds the sum to the nearest float16.
func addToHalf(v, x []float32) {
	if len(v) == 0 {
		return
	}
	_ = x[len(v)-1]
	switch {
	case useWide:
		addHalfWide(&v[0], &x[0], len(v))
	case useAsm:
		addHalfRow(&v[0], &x[0], len(v))
	default:
		Add(v, v, x)
		roundToHalf(v)
	}
}

// WidenBytes is Widen for values as they lie in a file, on a little-endian host. dst takes twice the bytes of src.
func WidenBytes(dst, src []byte) {
	n := len(src) / 2
	if n == 0 {
		return
	}
	_ = dst[4*n-1]
	Widen(unsafe.Slice((*float32)(unsafe.Pointer(&dst[0])), n), unsafe.Slice((*uint16)(unsafe.Pointer(&src[0])), n))
}

// NarrowBytes is Narrow to values as they lie in a file. dst takes half the bytes of src.
func NarrowBytes(dst []byte, src []float32) {
	n := len(src)
	if n == 0 {
		return
	}
	_ = dst[2*n-1]
	if useAsm { // on processors that store the lower byte first
		Narrow(unsafe.Slice((*uint16)(unsafe.Pointer(&dst[0])), n), src)
		return
	}
	for i, v := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], Float32ToHalf(v))
	}
}

// Dequantize writes (code-zero)*by, each step rounded to float32, for len(dst) codes of one byte, signed or not.
func Dequantize(dst []float32, codes []byte, signed bool, zero, by float32) {
	n := len(dst)
	if n == 0 {
		return
	}
	_ = codes[n-1]
	switch {
	case useWide && signed:
		dequantizeSignedWide(&dst[0], &codes[0], n, zero, by)
	case useWide:
		dequantizeWide(&dst[0], &codes[0], n, zero, by)
	case signed:
		for i := range dst {
			dst[i] = (float32(int8(codes[i])) - zero) * by
		}
	default:
		for i := range dst {
			dst[i] = (float32(codes[i]) - zero) * by
		}
	}
}
