package reference

import (
	"math"
	"math/big"
	"sync"
)

// exp and erf are written out, since those of package math differ in the last bit between processors
// that fuse a product with an addition and those that do not. Here a sum of a product is math.FMA, rounded
// once, wherever it is written so, and nowhere else.

// inverseFactorials are 1/13! down to 1/0!.
var inverseFactorials = [14]float64{
	1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
	1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1,
}

// exp is e^x for x up to zero, within two units of the last place; below -708, where e^x is about to
// leave the normal numbers, it is e^-708. With k the whole number next to x/ln(2) and r = x − k·ln(2),
// it is 2^k times the Taylor series of e^r, whose first term left out is below 2^-57.
func exp(x float64) float64 {
	const (
		whole   = 3 << 51 // added, it leaves no bits behind the point
		ln2High = 0x1.62e42feep-1
		ln2Low  = 0x1.a39ef35793c76p-33
	)
	if x < -708 {
		x = -708
	}
	shifted := math.FMA(x, math.Log2E, whole)
	k := shifted - whole
	r := math.FMA(-k, ln2Low, math.FMA(-k, ln2High, x))
	sum := inverseFactorials[0]
	for _, c := range inverseFactorials[1:] {
		sum = math.FMA(sum, r, c)
	}
	return sum * math.Float64frombits((math.Float64bits(shifted)+1023)<<52)
}

// erf is computed from Taylor series around the middles of intervals 1/16 wide, up to erfEnd, from where
// on it is 1 in float64. It is within 2^-52 of the true value.
const (
	erfSteps = 16
	erfEnd   = 6
	erfTerms = 10
)

// erfSeries are the coefficients around each middle, the highest power first.
var erfSeries = sync.OnceValue(func() *[erfSteps * erfEnd][erfTerms]float64 {
	var table [erfSteps * erfEnd][erfTerms]float64
	for i := range table {
		middle := (float64(i) + 0.5) / erfSteps
		// With g = erf' = 2/√π·e^(−x²), g' = −2x·g gives each coefficient of g from the two before.
		before, g := 0.0, 2/math.Sqrt(math.Pi)*exp(-middle*middle)
		table[i][erfTerms-1] = erfAt(middle)
		for n := 1; n < erfTerms; n++ {
			table[i][erfTerms-1-n] = g / float64(n)
			before, g = g, float64(float64(-2*middle*g)-float64(2*before))/float64(n)
		}
	}
	return &table
})

// erfAt is erf(x) = 2/√π·(x − x³/(1!·3) + x⁵/(2!·5) − …), with enough bits for what the terms cancel.
func erfAt(x float64) float64 {
	const precision = 192
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	sum, power, square := number(0), number(x), number(-x*x)
	for n := 1.0; ; n++ {
		term := number(0).Quo(power, number(2*n-1))
		sum.Add(sum, term)
		if term.MantExp(nil) < -60 {
			break
		}
		power.Quo(power.Mul(power, square), number(n))
	}
	scale, _ := number(0).SetString("1.12837916709551257389615890312154517168810125865799771368817144")
	v, _ := sum.Mul(sum, scale).Float64()
	return v
}

func gelu(x float64, series *[erfSteps * erfEnd][erfTerms]float64) float64 {
	z := math.Abs(x / math.Sqrt2)
	e := 1.0
	if z < erfEnd {
		i := int(z * erfSteps)
		d := z - (float64(i)+0.5)/erfSteps
		c := &series[i]
		e = c[0]
		for _, v := range c[1:] {
			e = math.FMA(e, d, v)
		}
	} else if z != z {
		return x
	}
	return x / 2 * (1 + math.Copysign(e, x))
}
