package tests

import (
	"os"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// TestMarkers: the Core ML encoder executed, and no other.
func TestMarkers(t *testing.T) {
	Require(t, Load(t, Environment(os.Getenv)), judge.Markers)
}
