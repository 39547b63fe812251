package transcript

import "github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"

// Decoding is how a text was decoded. Two sides are comparable only if it is the same on both.
type Decoding = whispercpp.Decoding

// Pinned is the decoding that the transcript gate asks for: greedy, one temperature, no timestamps, every window on its own.
// Anything that another implementation cannot do in the same way (beam order, carried prompts) is switched off.
func Pinned(language string) Decoding {
	return Decoding{Language: language, Task: "transcribe", BeamSize: 1, BestOf: 1}
}
