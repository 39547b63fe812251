package ab

import "math"

// z95 is the 97.5 % point of the normal distribution: two-sided intervals of 95 %.
const z95 = 1.959963984540054

// Wilson is the 95 % score interval (Wilson 1927) of a proportion of which k out of n were seen. Unlike the
// textbook interval it is not empty at k = 0 or k = n: 100 clean exits of 100 leave up to 3.7 % open.
func Wilson(k, n int) (low, high float64) {
	if n <= 0 || k < 0 || k > n {
		return 0, 1
	}
	p, m, z2 := float64(k)/float64(n), float64(n), z95*z95
	centre := (p + z2/(2*m)) / (1 + z2/m)
	half := z95 / (1 + z2/m) * math.Sqrt(p*(1-p)/m+z2/(4*m*m))
	low, high = math.Max(0, centre-half), math.Min(1, centre+half)
	// The formula is exact at the ends, its arithmetic is not.
	if k == 0 {
		low = 0
	}
	if k == n {
		high = 1
	}
	return low, high
}
