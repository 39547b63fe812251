//go:build amd64 && !purego

package kernel

// useAsm is a variable only so that tests can compare the two paths.
var useAsm = detect()

func detect() bool {
	top, _, _, _ := cpuid(0, 0)
	if top < 7 {
		return false
	}
	const fma, f16c, osxsave, avx, avx2 = 1 << 12, 1 << 29, 1 << 27, 1 << 28, 1 << 5
	_, _, c, _ := cpuid(1, 0)
	if want := uint32(fma | f16c | osxsave | avx); c&want != want {
		return false
	}
	// The system must save the 128-bit and 256-bit halves across switches.
	if low, _ := xgetbv(); low&6 != 6 {
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	return b&avx2 != 0
}
