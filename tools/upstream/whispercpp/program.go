package whispercpp

// CoreMLTexts are upstream's texts around a Core ML load, in the order in which they are printed. A build without
// Core ML has none of them; a fallback build has all.
var CoreMLTexts = []string{textLoading, textLoadFailed, textLoaded}

// BridgeSymbols are the bridge's functions (src/coreml/whisper-encoder.h), sorted.
var BridgeSymbols = []string{"whisper_coreml_encode", "whisper_coreml_free", "whisper_coreml_init"}

// Texts by which a program is recognised.
const (
	// ContextErrorText is in every whisper-cli.
	ContextErrorText = "error: failed to initialize whisper context"
	// StubText is in the program that upstream installs under whisper-cli's old names.
	StubText = "examples/deprecation-warning/README.md"
)

const (
	textLoading    = "loading Core ML model from '"
	textLoadFailed = "failed to load Core ML model from '"
	textLoaded     = "Core ML model loaded"
	// initState is the function that prints the load lines.
	initState = "whisper_init_state: "
)

// InstructionPrefix begins the names of ggml's functions that say for which instructions ggml-cpu was compiled
// (ggml/src/ggml-cpu/ggml-cpu.c, ggml_cpu_has_avx and so on): each returns 1 or 0, as the compiler's macros were.
const InstructionPrefix = "ggml_cpu_has_"

// Instructions are what follows that prefix where it is an instruction set of a processor, by architecture, with the name
// that processors' makers give the set.
var Instructions = map[string]map[string]string{
	"x86_64": {
		"sse3": "sse3", "ssse3": "ssse3", "avx": "avx", "avx2": "avx2", "avx_vnni": "avx_vnni", "bmi2": "bmi2", "f16c": "f16c", "fma": "fma",
		"avx512": "avx512f", "avx512_vbmi": "avx512_vbmi", "avx512_vnni": "avx512_vnni", "avx512_bf16": "avx512_bf16", "amx_int8": "amx_int8",
	},
	"arm64": {
		"neon": "neon", "arm_fma": "fma", "fp16_va": "fp16", "dotprod": "dotprod", "matmul_int8": "i8mm", "sve": "sve", "sme": "sme",
	},
}
