package parity

import (
	"fmt"
	"testing"
)

// What people read of a sidecar is what made the tensor.
func TestSidecarString(t *testing.T) {
	s := &Sidecar{Schema: 1, Role: "reference", Model: "m", Revision: "r", Tool: "torch 2", DType: "float32", Mode: "eval", Device: "cpu", Attention: "eager", MelSHA256: "ab"}
	if got, want := fmt.Sprint(s), "m at r, by torch 2 (float32, eval, cpu, eager attention)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
