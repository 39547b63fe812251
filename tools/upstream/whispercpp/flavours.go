package whispercpp

import "strings"

// The ways in which whisper-cli is built.
const (
	FlavourGGML                   = "ggml"
	FlavourCoreML                 = "coreml"
	FlavourAllowFallback          = "coreml_allow_fallback"
	FlavourUnpatched              = "coreml_unpatched"
	FlavourAllowFallbackUnpatched = "coreml_allow_fallback_unpatched"
	MacroCoreML                   = "WHISPER_USE_COREML"
	MacroAllowFallback            = "WHISPER_COREML_ALLOW_FALLBACK"
)

// Flavours are all flavours; the last three are for experiments and pass no gate.
var Flavours = []string{FlavourGGML, FlavourCoreML, FlavourAllowFallback, FlavourUnpatched, FlavourAllowFallbackUnpatched}

// HasCoreML says that a flavour is compiled with Core ML.
func HasCoreML(flavour string) bool { return strings.HasPrefix(flavour, FlavourCoreML) }

// AllowsFallback says that a flavour runs ggml's encoder when the Core ML encoder does not load.
func AllowsFallback(flavour string) bool { return strings.HasPrefix(flavour, FlavourAllowFallback) }
