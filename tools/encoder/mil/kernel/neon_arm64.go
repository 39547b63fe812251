//go:build arm64 && !purego

package kernel

import (
	"math"
	"unsafe"
)

// Every arm64 processor that Go runs on has NEON. There is no path of wider registers.
var useAsm, useWide = true, false

const asmPath = PathNEON

func gemmWide(k, tiles int, a *float32, rs int, b *float32, gap int, c *float32, ldc, add int, ahead *float32, fetch int) {
	panic("kernel: no wide registers")
}
func gemmWidePacked(k, tiles int, a, b *float32, gap int, c *float32, ldc, add int, ahead *float32, fetch int) {
	panic("kernel: no wide registers")
}

func maxRowWide(src *float32, n int) float32 { panic("kernel: no wide registers") }
func expRowWide(dst, src *float32, n int, sub, by float32, ahead int) float64 {
	panic("kernel: no wide registers")
}
func expHalfRowWide(dst, src *float32, n int, sub float32, ahead int) float64 {
	panic("kernel: no wide registers")
}
func scaleHalfWide(v *float32, n int, by float32)              { panic("kernel: no wide registers") }
func addHalfWide(v, x *float32, n int)                         { panic("kernel: no wide registers") }
func widenRowsWide(dst *float32, src *uint16, ld, rows, n int) { panic("kernel: no wide registers") }
func narrowHalfWide(dst *uint16, src *float32, n int)          { panic("kernel: no wide registers") }
func fetchRows(src *byte, ld, rows, n int)                     { panic("kernel: no wide registers") }
func dequantizeWide(dst *float32, codes *byte, n int, zero, by float32) {
	panic("kernel: no wide registers")
}
func dequantizeSignedWide(dst *float32, codes *byte, n int, zero, by float32) {
	panic("kernel: no wide registers")
}
func layerNormRowWide(dst, src, gamma, beta *float32, n int, eps float64) {
	panic("kernel: no wide registers")
}
func windowsWide(dst, src *float32, ld, channels, taps int)    { panic("kernel: no wide registers") }
func windowsTwoWide(dst, src *float32, ld, channels, taps int) { panic("kernel: no wide registers") }
func widenWindowsWide(dst *float32, src *uint16, ld, channels, taps int) {
	panic("kernel: no wide registers")
}
func widenWindowsTwoWide(dst *float32, src *uint16, ld, channels, taps int) {
	panic("kernel: no wide registers")
}
func expandWide(dst, src *uint16, mask *byte, groups, stored int) int {
	panic("kernel: no wide registers")
}
func roundHalfWide(v *float32, n int)      { panic("kernel: no wide registers") }
func geluRowWide(dst, src *float32, n int) { panic("kernel: no wide registers") }

// expHalfRow writes exp(src-sub), both rounded to float16, and returns the sum of what it wrote.
func expHalfRow(dst, src *float32, n int, sub float32) float64 {
	high := [1]float32{sub}
	roundHalfRow(&high[0], 1)
	copy(unsafe.Slice(dst, n), unsafe.Slice(src, n))
	roundHalfRow(dst, n)
	return expRow(dst, dst, n, high[0])
}

// roundHalfRow rounds n values to the nearest float16.
func roundHalfRow(v *float32, n int) {
	values := unsafe.Slice(v, n)
	var h [256]uint16
	for len(values) > 0 {
		part := min(len(values), len(h))
		Narrow(h[:part], values[:part])
		Widen(values[:part], h[:part])
		values = values[part:]
	}
}

// scaleHalfRow multiplies n values by a factor and rounds them to the nearest float16.
func scaleHalfRow(v *float32, n int, by float32) {
	scaleRow(v, v, n, by)
	roundHalfRow(v, n)
}

// addHalfRow adds x to n values and rounds them to the nearest float16.
func addHalfRow(v, x *float32, n int) {
	addRows(v, v, x, n)
	roundHalfRow(v, n)
}

// packRows16 copies n rows of 16 values that begin ld bytes apart.
func packRows16(dst, src *float32, ld, n int) {
	step := ld / 4
	from, to := unsafe.Slice(src, (n-1)*step+tileCols), unsafe.Slice(dst, n*tileCols)
	for k := range n {
		copy(to[k*tileCols:(k+1)*tileCols], from[k*step:])
	}
}

// widenRows16 widens n rows of 16 values that begin ld bytes apart.
func widenRows16(dst *float32, src *uint16, ld, n int) {
	step := ld / 2
	from, to := unsafe.Slice(src, (n-1)*step+tileCols), unsafe.Slice(dst, n*tileCols)
	for k := range n {
		widenHalf(&to[k*tileCols], &from[k*step], tileCols)
	}
}

// widenTransposed16 widens 16 rows that begin ld bytes apart and turns their values into lanes.
func widenTransposed16(dst *float32, src *uint16, ld, n int) {
	step := ld / 2
	from := unsafe.Slice(src, (tileCols-1)*step+n)
	var rows [tileCols * 64]float32
	for k := 0; k < n; k += 64 {
		part := min(64, n-k)
		for j := range tileCols {
			widenHalf(&rows[j*64], &from[j*step+k], part)
		}
		packTransposed16(unsafe.SliceData(unsafe.Slice(dst, n*tileCols)[k*tileCols:]), &rows[0], 4*64, part)
	}
}

// lanes is the width in which rows are walked and sums are formed, as on x86-64.
const lanes = 8

// block is what does not fill the lanes: values, and behind them what changes no result.
type block [lanes]float32

func padded(p *float32, at, n int, with float32) block {
	var b block
	for i := copy(b[:], unsafe.Slice(p, n)[at:]); i < lanes; i++ {
		b[i] = with
	}
	return b
}

func keep(p *float32, at, n int, b *block) { copy(unsafe.Slice(p, n)[at:], b[:]) }

func maxRow(src *float32, n int) float32 {
	whole := n &^ (lanes - 1)
	if whole == n {
		return maxBlocks(src, n)
	}
	low := float32(math.Inf(-1))
	if whole > 0 {
		low = maxBlocks(src, whole)
	}
	b := padded(src, whole, n, low)
	return max(low, maxBlocks(&b[0], lanes))
}

func expRow(dst, src *float32, n int, sub float32) float64 {
	var sums [lanes]float64
	whole := n &^ (lanes - 1)
	if whole > 0 {
		expBlocks(dst, src, whole, sub, &sums)
	}
	if whole < n {
		// e to the power of minus infinity adds nothing, or NaN where every sum is NaN.
		b := padded(src, whole, n, float32(math.Inf(-1)))
		expBlocks(&b[0], &b[0], lanes, sub, &sums)
		keep(dst, whole, n, &b)
	}
	return tree(&sums)
}

// tree adds eight lanes in the order of the x86-64 path.
func tree(s *[lanes]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func scaleRow(dst, src *float32, n int, by float32) {
	rowsOf(dst, src, n, func(dst, src *float32, n int) { scaleBlocks(dst, src, n, by) })
}

func geluRow(dst, src *float32, n int) { rowsOf(dst, src, n, geluBlocks) }

// rowsOf walks a row by a routine for whole lanes.
func rowsOf(dst, src *float32, n int, do func(dst, src *float32, n int)) {
	whole := n &^ (lanes - 1)
	if whole > 0 {
		do(dst, src, whole)
	}
	if whole < n {
		b := padded(src, whole, n, 0)
		do(&b[0], &b[0], lanes)
		keep(dst, whole, n, &b)
	}
}

func layerNormRow(dst, src, gamma, beta *float32, n int, eps float64) {
	whole := n &^ (lanes - 1)
	rest := unsafe.Slice(src, n)[whole:]
	var sums, squares [lanes]float64
	if whole > 0 {
		sumBlocks(src, whole, &sums)
	}
	for i, v := range rest {
		sums[i] += float64(v)
	}
	mean := tree(&sums) / float64(n)
	if whole > 0 {
		squareBlocks(src, whole, mean, &squares)
	}
	for i, v := range rest {
		d := float64(v) - mean
		squares[i] = math.FMA(d, d, squares[i])
	}
	scale := 1 / math.Sqrt(tree(&squares)/float64(n)+eps)
	if whole > 0 {
		normBlocks(dst, src, gamma, beta, whole, mean, scale)
	}
	if whole < n {
		b, g, s := padded(src, whole, n, 0), padded(gamma, whole, n, 0), padded(beta, whole, n, 0)
		normBlocks(&b[0], &b[0], &g[0], &s[0], lanes, mean, scale)
		keep(dst, whole, n, &b)
	}
}

func pairRows(dst, x, y *float32, n int, do func(dst, x, y *float32, n int)) {
	whole := n &^ (lanes - 1)
	if whole > 0 {
		do(dst, x, y, whole)
	}
	if whole < n {
		a, b := padded(x, whole, n, 0), padded(y, whole, n, 1)
		do(&a[0], &a[0], &b[0], lanes)
		keep(dst, whole, n, &a)
	}
}

func addRows(dst, x, y *float32, n int) { pairRows(dst, x, y, n, addBlocks) }
func subRows(dst, x, y *float32, n int) { pairRows(dst, x, y, n, subBlocks) }
func mulRows(dst, x, y *float32, n int) { pairRows(dst, x, y, n, mulBlocks) }
func divRows(dst, x, y *float32, n int) { pairRows(dst, x, y, n, divBlocks) }
