package tests

import (
	"os"
	"testing"
)

// TestWords: the Core ML encoder writes the words that the source model and ggml's own encoder write, within the frozen
// policy.
func TestWords(t *testing.T) {
	RequireJudgement(t, Environment(os.Getenv), "GATE_WORDS", "words")
}
