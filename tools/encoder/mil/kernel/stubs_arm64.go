//go:build arm64 && !purego

package kernel

// The routines of kernel_arm64.s. Counts n are multiples of eight, for packTransposed16 of four; strides are in bytes.

//go:noescape
func gemmTile(k int, a *float32, rs int, cs int, b *float32, c *float32, ldc int, add int)

//go:noescape
func packTransposed16(dst *float32, src *float32, ld int, n int)

//go:noescape
func maxBlocks(src *float32, n int) (largest float32)

// expBlocks writes exp(src-sub) and adds it to eight lanes.
//
//go:noescape
func expBlocks(dst *float32, src *float32, n int, sub float32, lanes *[8]float64)

//go:noescape
func scaleBlocks(dst *float32, src *float32, n int, by float32)

//go:noescape
func geluBlocks(dst *float32, src *float32, n int)

// sumBlocks adds src to eight lanes.
//
//go:noescape
func sumBlocks(src *float32, n int, lanes *[8]float64)

// squareBlocks adds the squares of src-mean to eight lanes.
//
//go:noescape
func squareBlocks(src *float32, n int, mean float64, lanes *[8]float64)

//go:noescape
func normBlocks(dst *float32, src *float32, gamma *float32, beta *float32, n int, mean float64, scale float64)

//go:noescape
func addBlocks(dst *float32, x *float32, y *float32, n int)

//go:noescape
func subBlocks(dst *float32, x *float32, y *float32, n int)

//go:noescape
func mulBlocks(dst *float32, x *float32, y *float32, n int)

//go:noescape
func divBlocks(dst *float32, x *float32, y *float32, n int)

//go:noescape
func widenHalf(dst *float32, src *uint16, n int)

//go:noescape
func narrowHalf(dst *uint16, src *float32, n int)
