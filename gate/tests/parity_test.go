package tests

import (
	"os"
	"testing"
)

// TestParity: the encoder computes what the model's own tensors say, within the frozen policy.
func TestParity(t *testing.T) {
	RequireJudgement(t, Environment(os.Getenv), "GATE_PARITY", "parity")
}
