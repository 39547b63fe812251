package tests

import (
	"os"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// TestContrast: ggml's own encoder shows its own marker, so that markers discriminate.
func TestContrast(t *testing.T) {
	Require(t, Load(t, Environment(os.Getenv)), judge.Contrast)
}
