package judge

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// TestDefines compares flavours with the macros that reached the compiler.
func TestDefines(t *testing.T) {
	const coreml, fallback = "WHISPER_USE_COREML", "WHISPER_COREML_ALLOW_FALLBACK"
	for _, c := range []struct {
		flavour string
		defines []string
		reasons int
	}{
		{"coreml", []string{coreml}, 0},
		{"coreml", nil, 0}, // nothing is known
		{"coreml", []string{"NDEBUG", coreml + "=1"}, 0},
		{"coreml", []string{}, 1},
		{"coreml", []string{coreml, fallback}, 1},
		{"coreml_allow_fallback", []string{coreml, fallback}, 0},
		// A41: the name that CMake once passed, which did nothing.
		{"coreml_allow_fallback", []string{coreml, "WHISPER_USE_COREML_ALLOW_FALLBACK"}, 1},
		{"coreml_unpatched", []string{coreml}, 0},
		{"ggml", []string{"NDEBUG"}, 0},
		{"ggml", []string{coreml}, 1},
	} {
		f := verdict.NewJudgement("markers")
		defines(f, &Run{Flavour: c.flavour, Defines: c.defines})
		if len(f.Reasons) != c.reasons {
			t.Errorf("%s with %v: %v, want %d reasons", c.flavour, c.defines, f.Reasons, c.reasons)
		}
		for _, r := range f.Reasons {
			if r.Code != "DEFINES_CONTRADICT" {
				t.Errorf("%s with %v: %s", c.flavour, c.defines, r.Code)
			}
		}
	}
}
