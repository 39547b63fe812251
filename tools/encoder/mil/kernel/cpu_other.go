//go:build (!amd64 && !arm64) || purego

package kernel

var useAsm, useWide = false, false

const asmPath = PathPortable

func gemmTile(k int, a *float32, rs, cs int, b, c *float32, ldc, add int) {
	panic("kernel: no assembly")
}
func packTransposed16(dst, src *float32, ld, n int)        { panic("kernel: no assembly") }
func packRows16(dst, src *float32, ld, n int)              { panic("kernel: no assembly") }
func maxRow(src *float32, n int) float32                   { panic("kernel: no assembly") }
func expRow(dst, src *float32, n int, sub float32) float64 { panic("kernel: no assembly") }
func maxRowWide(src *float32, n int) float32               { panic("kernel: no assembly") }
func expRowWide(dst, src *float32, n int, sub, by float32, ahead int) float64 {
	panic("kernel: no assembly")
}
func scaleRow(dst, src *float32, n int, by float32) { panic("kernel: no assembly") }
func geluRow(dst, src *float32, n int)              { panic("kernel: no assembly") }
func expHalfRowWide(dst, src *float32, n int, sub float32, ahead int) float64 {
	panic("kernel: no assembly")
}
func scaleHalfWide(v *float32, n int, by float32)                       { panic("kernel: no assembly") }
func addHalfWide(v, x *float32, n int)                                  { panic("kernel: no assembly") }
func widenRowsWide(dst *float32, src *uint16, ld, rows, n int)          { panic("kernel: no assembly") }
func widenTransposed16(dst *float32, src *uint16, ld, n int)            { panic("kernel: no assembly") }
func narrowHalfWide(dst *uint16, src *float32, n int)                   { panic("kernel: no assembly") }
func fetchRows(src *byte, ld, rows, n int)                              { panic("kernel: no assembly") }
func dequantizeWide(dst *float32, codes *byte, n int, zero, by float32) { panic("kernel: no assembly") }
func dequantizeSignedWide(dst *float32, codes *byte, n int, zero, by float32) {
	panic("kernel: no assembly")
}
func expHalfRow(dst, src *float32, n int, sub float32) float64 { panic("kernel: no assembly") }
func roundHalfRow(v *float32, n int)                           { panic("kernel: no assembly") }
func scaleHalfRow(v *float32, n int, by float32)               { panic("kernel: no assembly") }
func addHalfRow(v, x *float32, n int)                          { panic("kernel: no assembly") }
func layerNormRowWide(dst, src, gamma, beta *float32, n int, eps float64) {
	panic("kernel: no assembly")
}
func windowsWide(dst, src *float32, ld, channels, taps int)    { panic("kernel: no assembly") }
func windowsTwoWide(dst, src *float32, ld, channels, taps int) { panic("kernel: no assembly") }
func widenWindowsWide(dst *float32, src *uint16, ld, channels, taps int) {
	panic("kernel: no assembly")
}
func widenWindowsTwoWide(dst *float32, src *uint16, ld, channels, taps int) {
	panic("kernel: no assembly")
}
func expandWide(dst, src *uint16, mask *byte, groups, stored int) int { panic("kernel: no assembly") }
func roundHalfWide(v *float32, n int)                                 { panic("kernel: no assembly") }
func widenRows16(dst *float32, src *uint16, ld, n int)                { panic("kernel: no assembly") }
func geluRowWide(dst, src *float32, n int)                            { panic("kernel: no assembly") }
func addRows(dst, x, y *float32, n int)                               { panic("kernel: no assembly") }
func subRows(dst, x, y *float32, n int)                               { panic("kernel: no assembly") }
func mulRows(dst, x, y *float32, n int)                               { panic("kernel: no assembly") }
func divRows(dst, x, y *float32, n int)                               { panic("kernel: no assembly") }
func widenHalf(dst *float32, src *uint16, n int)                      { panic("kernel: no assembly") }
func narrowHalf(dst *uint16, src *float32, n int)                     { panic("kernel: no assembly") }
func layerNormRow(dst, src, gamma, beta *float32, n int, eps float64) { panic("kernel: no assembly") }
func gemmWide(k, tiles int, a *float32, rs int, b *float32, gap int, c *float32, ldc, add int, ahead *float32, fetch int) {
	panic("kernel: no assembly")
}
func gemmWidePacked(k, tiles int, a, b *float32, gap int, c *float32, ldc, add int, ahead *float32, fetch int) {
	panic("kernel: no assembly")
}
