package judgements

import (
	"maps"
	"slices"
)

// Baselines are the processors whose evidence has the same bytes, by what whisper-cli was built for; "" is portable Go.
var Baselines = map[string]string{"avx2": "x86-64 with AVX2 and FMA", "baseline": "x86-64 with SSE4.2", "armv8": "arm64 with NEON", "": "portable Go"}

// Members of a receipt that are texts by key, and what each may be in a pass.

// Identity is the member lane_identity of a lane, as the rules core_ml_identity, core_ml_host and emulated_identity write it.
var Identity = map[string][]Fact{
	"emulated": {
		oneOf("lane", Must, "the lane", "", "emulated"),
		oneOf("core_ml", Must, "what stands for Core ML", "that of `bridge`", "coreml_double", "coreml_stand_in"),
		oneOf("bridge", Must, "the bridge", "", "double", "upstream"),
		text("version", Must, serial, "version of what stands for Core ML", ""),
		text("protocol", Must, serial, "version of what it says", ""),
		oneOf("evaluator", Must, "what computes", "", "tools/encoder/mil/eval"),
		oneOf("baseline", Must, "the processors whose evidence has the same bytes", "that of `instruction_set`", slices.Sorted(maps.Values(Baselines))...),
		oneOf("instruction_set", May, "what whisper-cli was built for", "", "avx2", "baseline", "armv8"),
	},
	"physical": {
		oneOf("lane", Must, "the lane", "", "physical"),
		oneOf("core_ml", Must, "Apple's Core ML", "", "CoreML.framework"),
		text("os_version", Must, version, "version of macOS", ""),
		text("os_build", Must, osBuild, "build of macOS", ""),
		text("hardware", Must, model, "the Mac", ""),
		text("chip", Must, named, "its chip", ""),
		text("xcode_version", Must, version, "version of Xcode", ""),
		text("xcode_build", Must, osBuild, "build of Xcode", ""),
	},
}

// Toolchain is the member toolchain, as the rule gate_receipt writes it: what built the binaries, by the word of the C++
// toolchain, with the digests of its programs. A receipt without any says so.
var Toolchain = []Fact{
	text("compiler", Must, word, "name of the compiler", ""),
	text("cpu", Must, word, "processor that it builds for", ""),
	text("libc", Must, word, "C library", ""),
	text("target", Must, word, "system that it builds for", ""),
	text("compiler_sha256", Must, hashed, "digest of the compiler", ""),
	text("linker_sha256", Must, hashed, "digest of the linker", ""),
}
