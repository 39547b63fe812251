package fit

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// FromRuntime takes the need from what the runtime itself sized and printed while it loaded the same model, in a run whose evidence is
// kept: weights, caches, and compute buffers that it measured from its graphs. It is a lower bound, as what Core ML holds is not
// among it, but one that nobody modelled.
func FromRuntime(e *evidence.Evidence, asked Asked) (Need, error) {
	switch {
	case asked.Stage == Compile:
		return Need{}, fmt.Errorf("runtime's sizes: expected stage run or first_load, found %s, which whisper-cli has no part in", asked.Stage)
	case e.Digests.Model != asked.ModelSHA256:
		return Need{}, fmt.Errorf("runtime's sizes: expected evidence of the model %.12s, found %.12s", asked.ModelSHA256, e.Digests.Model)
	case string(e.Lane) != asked.Lane:
		return Need{}, fmt.Errorf("runtime's sizes: expected evidence of the %s lane, found %s", asked.Lane, e.Lane)
	}
	sizes, err := whispercpp.ReadSizes(e.Stderr.Lines)
	if err != nil {
		return Need{}, fmt.Errorf("runtime's sizes: %w", err)
	}
	if own := asked.EncoderDigest == ""; own != sizes.OwnEncoder() {
		return Need{}, fmt.Errorf("runtime's sizes: expected a log with ggml's own encoder %v, found %v: give the evidence of the run with the same encoder", own, !own)
	}
	n := Need{Stage: asked.Stage, From: "the runtime's own sizes"}
	for _, bytes := range sizes {
		n.FootprintBytes += bytes
		n.LargestBytes = max(n.LargestBytes, bytes)
	}
	n.ResidentBytes = n.FootprintBytes
	return n, nil
}
