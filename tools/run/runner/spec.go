// Package runner starts whisper-cli once, in a closed world, and writes down what it did.
//
// It is driven by a JSON file, [Spec], which the Bazel rule or `coregate run` writes. A spec that
// the contract forbids is refused before anything starts; once the program was started the runner
// always succeeds, whatever the program did: that is evidence, and judging is for others.
//
// What one run is:
//   - the program, the model, the encoder and the audio are copied, side by side, into a fresh
//     directory under neutral names (whisper-cli, ggml-model.bin, ggml-model-encoder.mlmodelc,
//     audio.EXT), hashed while they are copied, and the program is hashed again before it starts;
//   - the working directory is that directory, so argument strings hold no path of the machine;
//   - the environment is built from a list (see [environment]); nothing is inherited;
//   - both streams are read to their end, up to a bound, and normalised (package evidence);
//   - the program leads its own process group, which is killed when it ends or its deadline passes;
//   - it is started once. A physical positive run may have one warm-up before; a canary never.
package runner

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Spec is the input file of a run. Paths are relative to the working directory of the runner. Members
// marked optional may be left out of the file.
type Spec struct {
	// Schema is 1.
	Schema int `json:"schema"`
	// Kind is coreml, canary or contrast.
	Kind evidence.Kind `json:"kind"`
	// Lane is physical or emulated, from the toolchain.
	Lane evidence.Lane `json:"lane"`
	// LaneIdentity is what the toolchain says about itself, inline; optional.
	LaneIdentity map[string]string `json:"lane_identity,omitempty"`
	// LaneIdentityFile is a JSON file with one object of strings, added to LaneIdentity; optional.
	LaneIdentityFile string `json:"lane_identity_file,omitempty"`
	// Flavour is how whisper-cli was built: ggml, coreml, coreml_allow_fallback, coreml_unpatched,
	// coreml_allow_fallback_unpatched.
	Flavour string `json:"flavour"`
	// Defines is the path of a JSON array with the -D arguments of the actions that compiled
	// whisper.cpp; optional.
	Defines string `json:"defines,omitempty"`
	// Pin is the path of the repository rule's pin.json.
	Pin string `json:"pin"`
	// CLI is the path of whisper-cli.
	CLI string `json:"cli"`
	// Model is the path of the ggml model, a .bin file.
	Model string `json:"model"`
	// Encoder is the path of the .mlmodelc directory; required for coreml, forbidden for the others.
	Encoder string `json:"encoder,omitempty"`
	// Audio is the path of the fixture.
	Audio string `json:"audio"`
	// Language is the spoken language; required for multilingual models, "en" at most for others.
	Language string `json:"language,omitempty"`
	// Threads is whisper-cli's -t, at least 1.
	Threads int `json:"threads"`
	// DeadlineSeconds covers load and first encode, which may compile on a device: minutes.
	DeadlineSeconds int `json:"deadline_seconds"`
	// Evaluator is the path of gate_evaluator; required on the emulated lane for coreml flavours.
	Evaluator string `json:"evaluator,omitempty"`
	// Fault is the double's setting for tests; optional, "none" if left out.
	Fault string `json:"fault,omitempty"`
	// HeapFill is the byte that glibc's malloc fills fresh memory with, 1 to 255; 0 leaves the heap
	// alone. A canary runs with a filled heap, so that memory which was never initialised cannot be
	// zero by luck and hide a crash. Emulated lane only; optional.
	HeapFill int `json:"heap_fill,omitempty"`
	// Public says that the fixture's words may be kept in evidence.
	Public bool `json:"public"`
	// WarmUp asks for one run before the measured one; physical coreml runs only.
	WarmUp bool `json:"warm_up,omitempty"`
	// Arguments are added to whisper-cli's, subject to the contract; optional.
	Arguments []string `json:"arguments,omitempty"`
	// AttemptToken is the path of a file outside the action that the start of the program creates;
	// when it is there already, the evidence says that this was not the first attempt. Optional.
	AttemptToken string `json:"attempt_token,omitempty"`
	// AttemptLedger is an absolute folder outside of the action, which all workers share: the token is a
	// file there whose name is made of the spec and of what was staged, so that the same action finds it
	// wherever it is started again. Optional; not beside AttemptToken.
	AttemptLedger string `json:"attempt_ledger,omitempty"`
	// Attempt is the number under which a positive run was asked for again; 0, left out, for the first.
	Attempt int `json:"attempt,omitempty"`
}

// ReadSpec reads a spec file; unknown and missing members are refused.
func ReadSpec(path string) (*Spec, error) {
	data, err := readPlain(path)
	if err != nil {
		return nil, fmt.Errorf("read run spec: %w", err)
	}
	s := &Spec{}
	if err := strictjson.Decode(data, s); err != nil {
		return nil, fmt.Errorf("run spec %s: %w", path, err)
	}
	return s, nil
}
