package statement

import (
	"fmt"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// Spec is the input file of gate_receipt: where the files are that a receipt binds. Paths are
// relative to the working directory. Members marked optional may be left out of the file.
type Spec struct {
	// Schema is 1.
	Schema int `json:"schema"`
	// Name is the label of the gate, as a reader of the receipt would type it.
	Name string `json:"name"`
	// Pin is the path of pin.json.
	Pin string `json:"pin"`
	// Sources is the path of what gate_sources wrote about the tree that was compiled.
	Sources string `json:"sources"`
	// Manifest and Patch are the files that the pin names, hashed and held against it.
	Manifest string `json:"manifest"`
	Patch    string `json:"patch"`
	// CLI, Model, Encoder (a directory) and Audio are hashed here and held against the evidence.
	CLI     string `json:"cli"`
	Model   string `json:"model"`
	Encoder string `json:"encoder"`
	Audio   string `json:"audio"`
	// ContrastCLI is the whisper-cli of the contrast run.
	ContrastCLI string `json:"contrast_cli"`
	// Toolchain is what built the binaries: compiler and linker, or the Xcode build.
	Toolchain map[string]string `json:"toolchain"`
	// ToolchainPrograms are paths of what built the binaries ("compiler", "linker"), added to Toolchain as
	// NAME_sha256; optional.
	ToolchainPrograms map[string]string `json:"toolchain_programs,omitempty"`
	// CoreML, Canary and Contrast are the evidence files of the three runs.
	CoreML   string `json:"coreml"`
	Canary   string `json:"canary"`
	Contrast string `json:"contrast"`
	// Reference is the transcript that the words are held against, a text file.
	Reference string `json:"reference"`
	// Policies are policy files, the gate's own among them.
	Policies []string `json:"policies"`
	// Judgements are files that other judges wrote (contract, parity, transcripts); optional.
	Judgements []string `json:"judgements,omitempty"`
	// Required names judgements without which this receipt can be no pass, beyond those that every
	// receipt and its policies require; optional.
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
	if s.Schema != 1 {
		return nil, fmt.Errorf("receipt spec %s: schema is %d, expected 1", path, s.Schema)
	}
	return s, nil
}
