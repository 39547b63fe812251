package kernel

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// nearestHalf finds the answer by search among all finite float16, in exact
// arithmetic, with no knowledge of bit layouts beyond HalfToFloat32.
func nearestHalf(f float64) uint16 {
	sign := uint16(0)
	if math.Signbit(f) {
		sign = 0x8000
	}
	a := math.Abs(f)
	if a >= 65520 {
		return sign | 0x7c00
	}
	want := new(big.Float).SetPrec(300).SetFloat64(a)
	lo, hi := uint16(0), uint16(0x7c00) // magnitudes are ordered like their bits
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if float64(HalfToFloat32(mid)) <= a {
			lo = mid
		} else {
			hi = mid
		}
	}
	if hi == 0x7c00 {
		// Halfway to where 65536 would be is the bound checked above.
		return sign | lo
	}
	below := new(big.Float).SetPrec(300).Sub(want, new(big.Float).SetFloat64(float64(HalfToFloat32(lo))))
	above := new(big.Float).SetPrec(300).Sub(new(big.Float).SetFloat64(float64(HalfToFloat32(hi))), want)
	switch c := below.Cmp(above); {
	case c < 0 || c == 0 && lo%2 == 0:
		return sign | lo
	}
	return sign | hi
}

func TestEveryHalfSurvivesARoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		if got := Float32ToHalf(HalfToFloat32(h)); got != h {
			t.Fatalf("%#04x became %#04x through float32", h, got)
		}
		// A float64 made by Go's conversion quiets a NaN; payloads are checked above.
		if f := HalfToFloat32(h); f == f {
			if got := Float64ToHalf(float64(f)); got != h {
				t.Fatalf("%#04x became %#04x through float64", h, got)
			}
		}
	}
}

func TestRoundingToHalf(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1, -1, 65504, 65519.99, 65520, -65520, 1e9, math.Inf(1), math.Inf(-1),
		0x1p-24, 0x1p-25, 0x1.000001p-25, -0x1p-25, 0x1.8p-24, 0x1p-26, 0x1p-14, 0x1.ffcp-15, 0x1.ffep-15, 1e-45, 5e-324,
		1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-11 + 0x1p-40, 2047, 2049, 2051}
	// Midpoints all over the range; a prime step meets every exponent and parity.
	for i := 0; i < 0x7bff; i += 7 {
		a, b := float64(HalfToFloat32(uint16(i))), float64(HalfToFloat32(uint16(i+1)))
		mid := (a + b) / 2
		values = append(values, mid, math.Nextafter(mid, 0), math.Nextafter(mid, 1e9))
	}
	for _, v := range values {
		for _, f := range []float64{v, -v} {
			want := nearestHalf(f)
			if math.IsInf(f, 0) {
				want = map[bool]uint16{true: 0xfc00, false: 0x7c00}[f < 0]
			}
			if got := Float64ToHalf(f); got != want {
				t.Fatalf("Float64ToHalf(%g) = %#04x, want %#04x", f, got, want)
			}
			f32 := float32(f)
			want = nearestHalf(float64(f32))
			if math.IsInf(float64(f32), 0) {
				want = map[bool]uint16{true: 0xfc00, false: 0x7c00}[f32 < 0]
			}
			if got := Float32ToHalf(f32); got != want {
				t.Fatalf("Float32ToHalf(%g) = %#04x, want %#04x", f32, got, want)
			}
			in := [8]float32{f32, f32, f32, f32, f32, f32, f32, f32}
			var out [8]uint16
			if Narrow(out[:], in[:]); out[3] != want {
				t.Fatalf("Narrow(%g) = %#04x, want %#04x", f32, out[3], want)
			}
		}
	}
}

func TestRoundingOnceNotTwice(t *testing.T) {
	// Through float32 the first would tie to 1 and then stay there.
	f := 1 + 0x1p-11 + 0x1p-40
	if got := Float64ToHalf(f); got != 0x3c01 {
		t.Errorf("Float64ToHalf(%b) = %#04x, want 0x3c01", f, got)
	}
	for v, want := range map[int64]uint16{0: 0, 2049: 0x6800, 2051: 0x6802, -2051: 0xe802, 65519: 0x7bff, 65520: 0x7c00,
		math.MaxInt64: 0x7c00, math.MinInt64: 0xfc00, 70000: 0x7c00} {
		if got := Int64ToHalf(v); got != want {
			t.Errorf("Int64ToHalf(%d) = %#04x, want %#04x", v, got, want)
		}
	}
}

func TestNaNPayloadIsKept(t *testing.T) {
	for _, h := range []uint16{0x7e00, 0x7c01, 0xfe2a, 0xfdff} {
		if got := math.Float32bits(HalfToFloat32(h)); got != uint32(h&0x8000)<<16|0x7f800000|uint32(h&0x3ff)<<13 {
			t.Errorf("widening %#04x gave %#08x", h, got)
		}
	}
	// A payload in the lost bits alone must not turn into infinity.
	if got := Float32ToHalf(math.Float32frombits(0x7f800001)); got != 0x7e00 {
		t.Errorf("narrowing 0x7f800001 gave %#04x, want 0x7e00", got)
	}
}

func TestWidenEveryHalf(t *testing.T) {
	src := make([]uint16, 1<<16)
	for i := range src {
		src[i] = uint16(i)
	}
	dst := make([]float32, len(src))
	Widen(dst, src)
	for i, h := range src {
		want := math.Float32bits(HalfToFloat32(h))
		got := math.Float32bits(dst[i])
		if h&0x7c00 == 0x7c00 && h&0x3ff != 0 {
			want |= 1 << 22 // a signalling NaN may become quiet
			got |= 1 << 22
		}
		if got != want {
			t.Fatalf("Widen(%#04x) = %#08x, want %#08x", h, got, want)
		}
	}
}

// Rows of every length are converted as single values are, in place and with steps too.
func TestHalfRows(t *testing.T) {
	bothPaths(t, func(t *testing.T) {
		for n := range 140 {
			v := operands(n, uint32(n)+1)
			for i := range v {
				v[i] *= []float32{1, 1e-7, 6e4, 3e-5}[i%4] // subnormals and what is too large among them
			}
			narrow, wide, placed := make([]uint16, n), make([]float32, n), slices.Clone(v)
			Narrow(narrow, v)
			Widen(wide, narrow)
			roundToHalf(placed)
			for i, x := range v {
				want := HalfToFloat32(Float32ToHalf(x))
				if narrow[i] != Float32ToHalf(x) || wide[i] != want || placed[i] != want {
					t.Fatalf("value %d of %d, %g: %#04x, %g and in place %g; expected %#04x, %g", i, n, x, narrow[i], wide[i], placed[i], Float32ToHalf(x), want)
				}
			}
			for _, step := range []int{0, 1, 3} {
				got := make([]float32, (n+2)/3)
				if n == 0 {
					continue
				}
				WidenStrided(got, narrow, step)
				for i := range got {
					if got[i] != wide[i*step] {
						t.Fatalf("value %d of %d in steps of %d: %g; expected %g", i, n, step, got[i], wide[i*step])
					}
				}
			}
		}
	})
}

// Rows of any distance become lanes, whatever their values.
func TestWidenTransposed(t *testing.T) {
	if !useAsm {
		t.Skip("this processor has none of the instructions that the assembly needs")
	}
	for _, s := range [][2]int{{8, 8}, {8, 11}, {64, 64}, {72, 100}, {256, 300}} {
		n, ld := s[0], s[1]
		src, dst := make([]uint16, 15*ld+n), make([]float32, n*tileCols+1)
		for i := range src {
			src[i] = uint16(i * 40503)
		}
		dst[n*tileCols] = 7
		widenTransposed16(&dst[0], &src[0], 2*ld, n)
		for k := range n {
			for j := range tileCols {
				want := HalfToFloat32(src[j*ld+k])
				if got := dst[k*tileCols+j]; got != want && (got == got || want == want) {
					t.Fatalf("n %d, rows %d apart: lane %d of %d is %g; expected %g", n, ld, j, k, got, want)
				}
			}
		}
		if dst[n*tileCols] != 7 {
			t.Fatalf("n %d: wrote behind the last lane", n)
		}
	}
}

// Codes of every value and rows of every length, in wide registers and without.
func TestDequantize(t *testing.T) {
	have := useWide
	defer func() { useWide = have }()
	codes := make([]byte, 300)
	for i := range codes {
		codes[i] = byte(i * 7)
	}
	for _, useWide = range []bool{false, have} {
		for n := range codes {
			for _, signed := range []bool{false, true} {
				got := make([]float32, n+1)
				got[n] = 7
				Dequantize(got[:n], codes, signed, 3, 0.37)
				for i, v := range got[:n] {
					code := float32(codes[i])
					if signed {
						code = float32(int8(codes[i]))
					}
					if want := (code - 3) * 0.37; v != want {
						t.Fatalf("wide %v, signed %v: code %d of %d, %d, is %g; expected %g", useWide, signed, i, n, codes[i], v, want)
					}
				}
				if got[n] != 7 {
					t.Fatalf("wide %v, signed %v: wrote behind %d values", useWide, signed, n)
				}
			}
		}
	}
}
