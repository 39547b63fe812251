package tests

import (
	"os"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// TestTranscript: both encoders write the reference words.
func TestTranscript(t *testing.T) {
	Require(t, Load(t, Environment(os.Getenv)), judge.Transcript)
}
