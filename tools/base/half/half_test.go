package half

import (
	"math"
	"math/big"
	"testing"
)

func TestRoundTripEveryHalf(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := ToFloat32(h)
		if f != f {
			if h&infBits != infBits || h&0x3ff == 0 {
				t.Fatalf("%#04x widened to a NaN", h)
			}
			if got := FromFloat32(f); got != h|0x200 {
				t.Fatalf("NaN %#04x came back as %#04x", h, got)
			}
			continue
		}
		if got := FromFloat32(f); got != h {
			t.Fatalf("%#04x widened to %g and came back as %#04x", h, f, got)
		}
		if got := FromFloat64(float64(f)); got != h {
			t.Fatalf("%#04x by float64 came back as %#04x", h, got)
		}
	}
}

// Between every two neighbours: below, at and above the midpoint.
func TestRoundsToNearestEven(t *testing.T) {
	for h := uint16(0); h < infBits; h++ {
		lo := float64(ToFloat32(h))
		hi := float64(ToFloat32(h + 1))
		if h+1 == infBits {
			hi = 65536
		}
		mid := lo + (hi-lo)/2
		even := h
		if h&1 == 1 {
			even = h + 1
		}
		for _, c := range []struct {
			x    float64
			want uint16
		}{{math.Nextafter(mid, 0), h}, {mid, even}, {math.Nextafter(mid, math.Inf(1)), h + 1}} {
			if got := FromFloat64(c.x); got != c.want {
				t.Fatalf("%x: want %#04x, got %#04x", c.x, c.want, got)
			}
			if got := FromFloat64(-c.x); got != c.want|signMask {
				t.Fatalf("%x: want %#04x, got %#04x", -c.x, c.want|signMask, got)
			}
		}
	}
}

func TestDirectRoundingFromFloat64(t *testing.T) {
	// 1 + 2^-11 + 2^-40: through float32 it would fall on the tie and round down.
	x, _ := new(big.Float).SetMode(big.ToNearestEven).SetPrec(53).
		Add(big.NewFloat(1+math.Ldexp(1, -11)), big.NewFloat(math.Ldexp(1, -40))).Float64()
	if got := FromFloat64(x); got != 0x3c01 {
		t.Errorf("want 0x3c01, got %#04x", got)
	}
}

func TestSpecials(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want uint16
	}{
		{0, 0}, {math.Copysign(0, -1), 0x8000}, {math.Inf(1), 0x7c00}, {math.Inf(-1), 0xfc00},
		{1e300, 0x7c00}, {-1e300, 0xfc00}, {5e-324, 0}, {-5e-324, 0x8000}, {65519.999, 0x7bff}, {65520, 0x7c00},
	} {
		if got := FromFloat64(c.x); got != c.want {
			t.Errorf("%g: want %#04x, got %#04x", c.x, c.want, got)
		}
	}
}
