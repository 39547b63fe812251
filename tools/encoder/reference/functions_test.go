package reference

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// ulps is the distance of two values in units of the last place.
func ulps(a, b float64) float64 {
	return math.Abs(a-b) / (math.Nextafter(math.Abs(b), math.Inf(1)) - math.Abs(b))
}

func TestExpIsWithinTwoUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		x := -700 * math.Pow(r.Float64(), 4)
		if d := ulps(exp(x), math.Exp(x)); d > 2 {
			t.Fatalf("exp(%v) is %v, %v units from %v", x, exp(x), d, math.Exp(x))
		}
	}
	if exp(0) != 1 || exp(-1e300) != exp(-708) || exp(math.Inf(-1)) != exp(-708) || !math.IsNaN(exp(math.NaN())) {
		t.Errorf("exp(0) %v, exp(-1e300) %v, exp(-Inf) %v, exp(NaN) %v", exp(0), exp(-1e300), exp(math.Inf(-1)), exp(math.NaN()))
	}
}

func TestErfIsWithinItsBound(t *testing.T) {
	series := erfSeries()
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 200_000 {
		x := 20*r.Float64() - 10
		if i%2 == 0 {
			x /= 20
		}
		want := x / 2 * (1 + math.Erf(x/math.Sqrt2))
		if d := math.Abs(gelu(x, series) - want); d > math.Abs(x)*0x1p-52 {
			t.Fatalf("gelu(%v) is %v, not %v: %v beside", x, gelu(x, series), want, d)
		}
	}
	for _, x := range []float64{0, 40, 1e300, math.Inf(1)} {
		if gelu(x, series) != x {
			t.Errorf("gelu(%v) is %v", x, gelu(x, series))
		}
	}
	if v := gelu(-40, series); v != 0 {
		t.Errorf("gelu(-40) is %v", v)
	}
	if !math.IsNaN(gelu(math.NaN(), series)) {
		t.Error("gelu of no number is a number")
	}
}

// Both ways of computing give the same bits, at every place of a tile, a chain and a row.
func TestWideRegistersGiveTheSameBits(t *testing.T) {
	t.Logf("widths up to %d are tried", widest)
	values := func(n int) []float64 {
		r := rand.New(rand.NewPCG(uint64(n), 6))
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64() * math.Exp2(float64(r.IntN(40)-20))
		}
		return v
	}
	run := &run{Encoder: &Encoder{}, threads: 3, ctx: t.Context()}
	for _, s := range [][3]int{{1, 1, 1}, {6, 8, 256}, {7, 9, 257}, {61, 20, 600}, {5, 31, 3}, {130, 17, 64}} {
		m, n, k := s[0], s[1], s[2]
		a, b := values(m*k), values(n*k)
		want := make([]float64, m*n)
		for i := range m {
			for j := range n {
				for x := range k {
					want[i*n+j] = math.FMA(a[i*k+x], b[j*k+x], want[i*n+j])
				}
			}
		}
		for _, w := range widths() {
			got := make([]float64, m*n)
			withWidth(w, func() { run.multiply(got, n, view(a, m, k), pack(run, view(b, n, k).transposed())) })
			if !slices.Equal(got, want) {
				t.Errorf("%v, width %d: the product has other bits than sums in order", s, w)
			}
		}
	}
	for n := range 40 {
		x := values(n + 1)
		y := slices.Clone(x)
		withWidth(1, func() { softmax(y, 0.125) })
		for _, w := range widths() {
			z := slices.Clone(x)
			withWidth(w, func() { softmax(z, 0.125) })
			if !slices.Equal(z, y) {
				t.Errorf("softmax over %d values differs at width %d", n+1, w)
			}
		}
	}
}

func TestNoNumberSpoilsItsRow(t *testing.T) {
	for at := range 9 {
		for _, w := range widths() {
			x := make([]float64, 9)
			x[at] = math.NaN()
			withWidth(w, func() { softmax(x, 1) })
			if !math.IsNaN(x[0]) || !math.IsNaN(x[8]) {
				t.Errorf("no number at %d, width %d: %v", at, w, x)
			}
		}
	}
}

// widths are those that this processor has.
func widths() []int {
	return slices.DeleteFunc([]int{1, 4, 8}, func(w int) bool { return w > widest })
}

// withWidth calls do with registers of that many values.
func withWidth(w int, do func()) {
	before := width
	width = w
	defer func() { width = before }()
	do()
}

// The bytes of one encoding, whatever the processor and the number of threads.
func TestEncodingHasItsDigest(t *testing.T) {
	const want = "481436538a67fbba4a91cf8c80a66489ea3d1d30b5070936e0d19b4aac5b2537"
	for _, w := range widths() {
		h := sha256.New()
		withWidth(w, func() {
			if err := binary.Write(h, binary.LittleEndian, encode(t, small(t, nil), 2, nil)); err != nil {
				t.Fatal(err)
			}
		})
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("width %d: the digest is %s, want %s", w, got, want)
		}
	}
}
