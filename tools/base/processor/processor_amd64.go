package processor

const arch = "amd64"

func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// xgetbv says which registers the system saves when it switches threads.
func xgetbv() (eax uint32)

// features asks the processor. Registers of 256 and of 512 bits count only if the system saves them.
func features() map[string]bool {
	_, _, c1, _ := cpuid(1, 0)
	bit := func(word uint32, n int) bool { return word>>n&1 == 1 }
	wide := bit(c1, 27) && bit(c1, 28) && xgetbv()&0x06 == 0x06
	f := map[string]bool{"sse4.2": bit(c1, 20), "avx": wide, "fma": wide && bit(c1, 12), "f16c": wide && bit(c1, 29)}
	if top, _, _, _ := cpuid(0, 0); top >= 7 {
		_, b7, _, _ := cpuid(7, 0)
		f["avx2"], f["bmi2"] = wide && bit(b7, 5), bit(b7, 8)
		f["avx512f"] = wide && xgetbv()&0xe0 == 0xe0 && bit(b7, 16)
	}
	return f
}
