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
