//go:build !purego

package reference

import "github.com/coreml-gate/rules_coreml_gate/tools/base/processor"

// wide says whether the processor has AVX2 and the system saves its registers. A variable only so that
// a test can compare both ways.
var wide = processor.Has("avx2")

//go:noescape
func tile256(k int, a *float64, aStride int, b, c *float64, cStride int, add bool)

//go:noescape
func exp256(x *float64, n int, high, divisor float64, coefficients *float64)

//go:noescape
func divide256(x *float64, n int, divisor float64)

// tile makes six rows of eight sums in c, or goes on with those that are there: the products of a's rows with a
// panel's columns, in order of k.
func tile(k int, a []float64, aStride int, b, c []float64, cStride int, add bool) {
	if !wide {
		tileGo(k, a, aStride, b, c, cStride, add)
		return
	}
	_, _, _ = a[(tileRows-1)*aStride+k-1], b[k*tileColumns-1], c[(tileRows-1)*cStride+tileColumns-1]
	tile256(k, &a[0], aStride, &b[0], &c[0], cStride, add)
}

// expRow replaces the first values of x, and says how many.
func expRow(x []float64, high, divisor float64) int {
	n := len(x) &^ 3
	if !wide || n == 0 {
		return 0
	}
	exp256(&x[0], n, high, divisor, &inverseFactorials[0])
	return n
}

// divideRow divides the first values of x, and says how many.
func divideRow(x []float64, divisor float64) int {
	n := len(x) &^ 3
	if !wide || n == 0 {
		return 0
	}
	divide256(&x[0], n, divisor)
	return n
}
