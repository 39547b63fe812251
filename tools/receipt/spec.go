package receipt

import (
	"fmt"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/strictjson"
)

// SpecSchema names the form of [Spec].
const SpecSchema = "coreml-gate/receipt-spec/v1"

// EvidencePaths are the evidence files of a gate's runs.
type EvidencePaths struct {
	CoreML   string `json:"coreml"`
	Canary   string `json:"canary"`
	Contrast string `json:"contrast"`
}

// Spec is the input file of gate_receipt: where the files are that a receipt binds. Paths are
// relative to the working directory. Members marked optional may be left out of the file.
type Spec struct {
	// Schema is SpecSchema.
	Schema string `json:"schema"`
	// Name is the label of the gate, as a reader of the receipt would type it.
	Name string `json:"name"`
	// Pin is the path of pin.json.
	Pin string `json:"pin"`
	// Sources is the path of what gate_sources wrote about the tree that was compiled.
	Sources string `json:"sources"`
	// Evidence are the paths of the three runs' evidence.
	Evidence EvidencePaths `json:"evidence"`
	// CLI, Model, Encoder (a directory) and Audio are hashed here and held against the evidence.
	CLI     string `json:"cli"`
	Model   string `json:"model"`
	Encoder string `json:"encoder"`
	Audio   string `json:"audio"`
	// ContrastCLI is the whisper-cli of the contrast run.
	ContrastCLI string `json:"contrast_cli"`
	// Reference is the transcript that the words are held against, a text file.
	Reference string `json:"reference"`
	// Policy is the gate's policy file.
	Policy string `json:"policy"`
	// Manifest and Patch are the files that the pin names, hashed and held against it; optional.
	Manifest string `json:"manifest,omitempty"`
	Patch    string `json:"patch,omitempty"`
	// Toolchain is what built the binaries: compiler and linker by digest, or the Xcode build; optional.
	Toolchain map[string]string `json:"toolchain,omitempty"`
	// ToolchainFile is a JSON file with one object of strings, added to Toolchain; optional.
	ToolchainFile string `json:"toolchain_file,omitempty"`
	// Policies are policy files of the judgements below; optional.
	Policies []string `json:"policies,omitempty"`
	// Judgements are files that other judges wrote (contract, parity, transcripts); optional.
	Judgements []string `json:"judgements,omitempty"`
	// Required names judgements without which this receipt can be no pass, beyond the policy's; optional.
	Required []string `json:"required,omitempty"`
}

// ReadSpec reads a spec file; unknown and missing members are refused.
func ReadSpec(path string) (*Spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read receipt spec: %w", err)
	}
	s := &Spec{}
	if err := strictjson.Decode(data, s); err != nil {
		return nil, fmt.Errorf("receipt spec %s: %w", path, err)
	}
	if s.Schema != SpecSchema {
		return nil, fmt.Errorf("receipt spec %s: schema is %q, expected %q", path, s.Schema, SpecSchema)
	}
	return s, nil
}
