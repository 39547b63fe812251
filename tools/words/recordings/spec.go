// Package recordings runs whisper-cli with ggml's own encoder and with the Core ML encoder on the same recordings and
// compares what they heard with the source model's transcript (package transcript).
//
// Words of a recording that is not public exist only in the memory of this process: they are compared here, where the
// programs ran, and what is written are digests and counts. The probe item is run first; if its sides disagree, nothing
// else is run, since the rest would measure the set-up.
package recordings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// Spec is the input: two builds of the same pin, one model, its encoder, and recordings. Paths are relative to the
// working directory. Members marked optional may be left out of the file.
type Spec struct {
	// Schema is 1.
	Schema int `json:"schema"`
	// Lane, LaneIdentity, LaneIdentityFile, Pin, Model, Encoder, Evaluator, Fault, Threads and DeadlineSeconds are as in
	// [runner.Spec]; the deadline is of each run.
	Lane             evidence.Lane     `json:"lane"`
	LaneIdentity     map[string]string `json:"lane_identity,omitempty"`
	LaneIdentityFile string            `json:"lane_identity_file,omitempty"`
	Pin              string            `json:"pin"`
	Model            string            `json:"model"`
	Encoder          string            `json:"encoder"`
	Evaluator        string            `json:"evaluator,omitempty"`
	Fault            string            `json:"fault,omitempty"`
	Threads          int               `json:"threads"`
	DeadlineSeconds  int               `json:"deadline_seconds"`
	// SideBySide is how many recordings are heard at a time; optional, 1 if left out. It changes no result.
	SideBySide int `json:"side_by_side,omitempty"`
	// CoreMLCLI is the whisper-cli of flavour coreml, GGMLCLI the one of flavour ggml.
	CoreMLCLI string `json:"coreml_cli"`
	GGMLCLI   string `json:"ggml_cli"`
	// Source is the file of the source model's transcripts (transcript.SourceFile); optional.
	Source string `json:"source,omitempty"`
	// Fixtures are the recordings.
	Fixtures []Fixture `json:"fixtures"`
}

// Fixture is one recording.
type Fixture struct {
	// Name is shown only if Public.
	Name  string `json:"name"`
	Audio string `json:"audio"`
	// Language as whisper-cli takes it.
	Language string `json:"language"`
	Public   bool   `json:"public"`
	// Silence, Probe and Human are as in [transcript.Fixture]; optional.
	Silence bool   `json:"silence,omitempty"`
	Probe   bool   `json:"probe,omitempty"`
	Human   string `json:"human,omitempty"`
}

// ReadSpec reads a spec file; unknown and missing members are refused.
func ReadSpec(path string) (*Spec, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read words spec: %w", err)
	}
	s := &Spec{}
	if err := strictjson.Decode(data, s); err != nil {
		return nil, fmt.Errorf("words spec %s: %w", path, err)
	}
	return s, s.check()
}

func (s *Spec) check() error {
	if s.Schema != 1 {
		return fmt.Errorf("words spec: schema is %d, expected 1", s.Schema)
	}
	if len(s.Fixtures) == 0 {
		return fmt.Errorf("words spec: no fixtures: expected at least one recording")
	}
	if s.SideBySide < 0 || s.SideBySide > 64 {
		return fmt.Errorf("words spec: side_by_side is %d, expected 1 to 64, or none for 1", s.SideBySide)
	}
	probes := 0
	for i, f := range s.Fixtures {
		if f.Audio == "" {
			return fmt.Errorf("words spec: fixture %d has no audio", i+1)
		}
		if f.Public {
			if err := transcript.NameError(f.Name); err != nil {
				return fmt.Errorf("words spec: fixture %d: %w", i+1, err)
			}
		}
		if f.Probe {
			probes++
		}
	}
	if probes > 1 {
		return fmt.Errorf("words spec: %d fixtures are marked as the probe item, expected one at most", probes)
	}
	return nil
}

// probeFirst gives the fixtures in the order of their runs.
func (s *Spec) probeFirst() []Fixture {
	ordered := slices.Clone(s.Fixtures)
	slices.SortStableFunc(ordered, func(a, b Fixture) int {
		switch {
		case a.Probe == b.Probe:
			return 0
		case a.Probe:
			return -1
		}
		return 1
	})
	return ordered
}

// run is the runner's spec for one side of a fixture, with the pinned decoding.
func (s *Spec) run(f Fixture, kind evidence.Kind) *runner.Spec {
	r := &runner.Spec{
		Schema: 1, Kind: kind, Lane: s.Lane, LaneIdentity: s.LaneIdentity, LaneIdentityFile: s.LaneIdentityFile,
		Pin: s.Pin, Model: s.Model, Audio: f.Audio, Language: f.Language, Threads: s.Threads, DeadlineSeconds: s.DeadlineSeconds,
		Public: f.Public, Arguments: transcript.Pinned(f.Language).Arguments(),
	}
	if kind == evidence.KindCoreML {
		r.Flavour, r.CLI, r.Encoder, r.Evaluator, r.Fault = "coreml", s.CoreMLCLI, s.Encoder, s.Evaluator, s.Fault
	} else {
		r.Flavour, r.CLI = "ggml", s.GGMLCLI
	}
	return r
}

// sourceOf reads the source transcripts; nil where there are none.
func (s *Spec) sources() (*transcript.SourceFile, error) {
	if s.Source == "" {
		return nil, nil
	}
	data, err := regular.ReadFile(s.Source)
	if err != nil {
		return nil, fmt.Errorf("read source transcripts: %w", err)
	}
	f, err := transcript.ParseSources(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Source, err)
	}
	return f, nil
}

// language is the language that whisper-cli was told, as the source file has it.
func (f Fixture) language() string { return strings.ToLower(f.Language) }
