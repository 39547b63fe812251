package processor

const arch = "amd64"

func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// xgetbv says which registers the system saves when it switches threads.
func xgetbv() (eax uint32)

// features asks the processor. Registers of 256 and of 512 bits and tiles count only if the system saves them.
func features() map[string]bool {
	top, _, _, _ := cpuid(0, 0)
	_, _, c1, _ := cpuid(1, 0)
	bit := func(word uint32, n int) bool { return word>>n&1 == 1 }
	var saved uint32
	if bit(c1, 27) {
		saved = xgetbv()
	}
	wide := bit(c1, 28) && saved&0x06 == 0x06
	f := map[string]bool{
		"sse3": bit(c1, 0), "ssse3": bit(c1, 9), "sse4.1": bit(c1, 19), "sse4.2": bit(c1, 20), "movbe": bit(c1, 22), "popcnt": bit(c1, 23),
		"avx": wide, "fma": wide && bit(c1, 12), "f16c": wide && bit(c1, 29),
	}
	_, _, extended, _ := cpuid(0x80000001, 0)
	f["lzcnt"] = bit(extended, 5)
	if top < 7 {
		return f
	}
	subleaves, b7, c7, d7 := cpuid(7, 0)
	f["avx2"], f["bmi1"], f["bmi2"] = wide && bit(b7, 5), bit(b7, 3), bit(b7, 8)
	full := wide && saved&0xe0 == 0xe0
	for name, has := range map[string]bool{
		"avx512f": bit(b7, 16), "avx512dq": bit(b7, 17), "avx512cd": bit(b7, 28), "avx512bw": bit(b7, 30), "avx512vl": bit(b7, 31), "avx512_vbmi": bit(c7, 1), "avx512_vnni": bit(c7, 11),
	} {
		f[name] = full && has
	}
	f["amx_int8"] = saved&0x60000 == 0x60000 && bit(d7, 25)
	if subleaves >= 1 {
		a71, _, _, _ := cpuid(7, 1)
		f["avx_vnni"], f["avx512_bf16"] = wide && bit(a71, 4), full && bit(a71, 5)
	}
	return f
}
