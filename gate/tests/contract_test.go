package tests

import (
	"os"
	"testing"
)

// TestContract: the model and the encoder beside it belong together and keep the runtime's contract,
// as far as their bytes say.
func TestContract(t *testing.T) {
	RequireJudgement(t, Environment(os.Getenv), "GATE_CONTRACT", "contract")
}
