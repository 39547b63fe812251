package ggml

import (
	"math"
	"testing"
)

// slowHalf is the definition: sign, then the value of exponent and fraction.
func slowHalf(h uint16) float64 {
	e, f := int(h>>10)&31, float64(h&1023)
	v := math.Ldexp(1+f/1024, e-15)
	switch {
	case e == 0:
		v = math.Ldexp(f, -24)
	case e == 31 && f == 0:
		v = math.Inf(1)
	case e == 31:
		return math.NaN()
	}
	if h&0x8000 != 0 {
		v = math.Copysign(v, -1)
	}
	return v
}

func TestEveryHalf(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got, want := Float16ToFloat32(h), slowHalf(h)
		if math.IsNaN(want) {
			if got == got {
				t.Fatalf("half %04x: expected NaN, found %v", h, got)
			}
			if back := Float32ToFloat16(got); back != h|0x200 {
				t.Fatalf("half %04x: NaN came back as %04x", h, back)
			}
			continue
		}
		if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
			t.Fatalf("half %04x: expected %v, found %v", h, want, got)
		}
		if back := Float32ToFloat16(got); back != h {
			t.Fatalf("half %04x came back as %04x", h, back)
		}
	}
}

func TestHalfRounding(t *testing.T) {
	// Between every two neighbouring halves: the middle goes to the even one,
	// the float32 next to the middle to the nearer one.
	for i := range 0x7c00 {
		lo := uint16(i)
		a, b := slowHalf(lo), slowHalf(lo+1)
		if lo+1 == 0x7c00 {
			b = 65536 // where infinity begins, for rounding
		}
		middle := float32((a + b) / 2)
		even := lo + lo&1
		for _, c := range []struct {
			f    float32
			want uint16
		}{{middle, even}, {math.Nextafter32(middle, 0), lo}, {math.Nextafter32(middle, 1e9), lo + 1}} {
			if got := Float32ToFloat16(c.f); got != c.want {
				t.Fatalf("%v: expected half %04x, found %04x", c.f, c.want, got)
			}
			if got := Float32ToFloat16(-c.f); got != c.want|0x8000 {
				t.Fatalf("%v: expected half %04x, found %04x", -c.f, c.want|0x8000, got)
			}
		}
	}
}
