//go:build !amd64 || purego

package reference

import "math"

// No registers but those of the compiled code.
const widest = 1

var width = widest

func tile(k int, a []float64, aStride int, b, c []float64, cStride int, add bool) {
	tileGo(k, a, aStride, b, c, cStride, add)
}

func fourTiles(_ int, _ []float64, _ int, _, _, _ []float64, _ int, _ bool) bool { return false }

func highRow(_ []float64) (float64, int) { return math.Inf(-1), 0 }

func expRow(_ []float64, _, _ float64, _ *[sumLanes]float64) int { return 0 }

func scaleRow(_ []float64, _ float64) int { return 0 }
