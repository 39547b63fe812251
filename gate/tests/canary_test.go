package tests

import (
	"os"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// TestCanary: the same program refuses cleanly without its encoder.
func TestCanary(t *testing.T) {
	Require(t, Load(t, Environment(os.Getenv)), judge.Canary)
}
