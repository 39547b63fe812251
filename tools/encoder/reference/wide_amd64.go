//go:build !purego

package reference

import (
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
)

// widest is how many values a register holds that this processor has and the system saves: 8 with AVX-512, 4
// with AVX2 and FMA, otherwise 1.
var widest = func() int {
	switch {
	case !processor.Has("avx2") || !processor.Has("fma"):
		return 1
	case !processor.Has("avx512f"):
		return 4
	}
	return 8
}()

// width is how many are used. A variable only so that a test can compare all ways.
var width = widest

//go:noescape
func tile256(k int, a *float64, aStride int, b, c *float64, cStride int, add bool)

//go:noescape
func tile512(k int, a *float64, aStride int, b, b8, c *float64, cStride int, add bool)

//go:noescape
func high256(x *float64, n int, lanes *float64)

//go:noescape
func exp256(x *float64, n int, high, scale float64, coefficients, lanes *float64)

//go:noescape
func scale256(x *float64, n int, factor float64)

// tile makes six rows of eight sums in c, or goes on with those that are there: the products of a's rows with a
// panel's columns, in order of k.
func tile(k int, a []float64, aStride int, b, c []float64, cStride int, add bool) {
	if width == 1 {
		tileGo(k, a, aStride, b, c, cStride, add)
		return
	}
	_, _, _ = a[(tileRows-1)*aStride+k-1], b[k*tileColumns-1], c[(tileRows-1)*cStride+tileColumns-1]
	tile256(k, &a[0], aStride, &b[0], &c[0], cStride, add)
}

// fourTiles is tile for twice as many rows and two panels side by side, where the registers are wide enough;
// otherwise it does nothing.
func fourTiles(k int, a []float64, aStride int, b, b8, c []float64, cStride int, add bool) bool {
	if width < 8 {
		return false
	}
	const rows, columns = 2 * tileRows, 2 * tileColumns
	_, _, _, _ = a[(rows-1)*aStride+k-1], b[k*tileColumns-1], b8[k*tileColumns-1], c[(rows-1)*cStride+columns-1]
	tile512(k, &a[0], aStride, &b[0], &b8[0], &c[0], cStride, add)
	return true
}

// wide is how many of a row's values go through wide registers.
func wide(x []float64) int {
	if width == 1 {
		return 0
	}
	return len(x) / sumLanes * sumLanes
}

// highRow is the largest of the first values of x, and says how many.
func highRow(x []float64) (float64, int) {
	high, n := math.Inf(-1), wide(x)
	if n == 0 {
		return high, 0
	}
	var lanes [4]float64
	high256(&x[0], n, &lanes[0])
	for _, v := range lanes {
		if v > high {
			high = v
		}
	}
	return high, n
}

// expRow replaces the first values of x and adds them up in lanes, and says how many.
func expRow(x []float64, high, scale float64, lanes *[sumLanes]float64) int {
	n := wide(x)
	if n > 0 {
		exp256(&x[0], n, high, scale, &inverseFactorials[0], &lanes[0])
	}
	return n
}

// scaleRow multiplies the first values of x, and says how many.
func scaleRow(x []float64, factor float64) int {
	n := wide(x)
	if n > 0 {
		scale256(&x[0], n, factor)
	}
	return n
}
