//go:build amd64 && !purego

package kernel

// Variables only so that tests can compare the paths. useWide is for registers
// of 512 bits, which give the same bytes as those of 256.
var useAsm, useWide = detect()

const asmPath = PathAVX2

func detect() (asm, wide bool) {
	top, _, _, _ := cpuid(0, 0)
	if top < 7 {
		return false, false
	}
	const fma, f16c, osxsave, avx, avx2, bmi2, avx512f = 1 << 12, 1 << 29, 1 << 27, 1 << 28, 1 << 5, 1 << 8, 1 << 16
	_, _, c, _ := cpuid(1, 0)
	if want := uint32(fma | f16c | osxsave | avx); c&want != want {
		return false, false
	}
	// The system must save the registers across switches: bits 1 and 2 for those
	// of 256 bits, 5 to 7 for those of 512.
	low, _ := xgetbv()
	_, b, _, _ := cpuid(7, 0)
	asm = low&0x06 == 0x06 && b&avx2 != 0
	return asm, asm && low&0xe0 == 0xe0 && b&(avx512f|bmi2) == avx512f|bmi2
}
