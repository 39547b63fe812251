// Package evidence holds what one run of whisper-cli did, with no opinion about it.
//
// A run leaves two files. evidence.json is deterministic on the emulated lane: the same inputs give
// the same bytes on any machine of the same instruction-set baseline. observations.json beside it
// has what varies from run to run (wall time, memory, host, digests of the raw streams), and no
// judgement reads it. Both are canonical JSON (RFC 8785, see package strictjson) of [Evidence] and
// [Observations]; a file with an unknown, missing, repeated or differently spelled member, or in any
// other form than the canonical one, is refused. docs/evidence.md and docs/evidence.schema.json
// describe the files for readers in other languages.
//
// Streams are kept normalised (see [Normaliser]). Unless the fixture is declared public, the lines
// of stderr are only those that [Recognise] knows and stdout has no lines at all: digests remain.
package evidence

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// Schema is the version of both files' form.
const Schema = 1

// Kind says what a run was for.
type Kind string

// The kinds of run.
const (
	// KindCoreML is a positive run: the encoder is beside the model.
	KindCoreML Kind = "coreml"
	// KindCanary is the negative control: the same binary and model without the encoder.
	KindCanary Kind = "canary"
	// KindContrast is an ordinary run of a build without Core ML.
	KindContrast Kind = "contrast"
)

// Lane says where a run happened.
type Lane string

// The lanes.
const (
	// LanePhysical is macOS on Apple silicon with Apple's Core ML.
	LanePhysical Lane = "physical"
	// LaneEmulated is any host with this project's Core ML double.
	LaneEmulated Lane = "emulated"
)

// Digests are the SHA-256 values (lower-case hexadecimal) of what ran. Encoder is the tree digest of
// package tree, null when no encoder was staged; Evaluator is the emulated lane's evaluator, null
// where none was.
type Digests struct {
	CLI       string  `json:"cli"`
	Model     string  `json:"model"`
	Encoder   *string `json:"encoder"`
	Audio     string  `json:"audio"`
	Evaluator *string `json:"evaluator"`
}

// ExitKind says how a run ended.
type ExitKind string

// The ways in which a run ends.
const (
	// ExitCode: the program ended itself; Code is its exit code.
	ExitCode ExitKind = "code"
	// ExitSignal: a signal ended it; Signal is its number on the host that ran it.
	ExitSignal ExitKind = "signal"
	// ExitTimeout: the deadline passed and the process group was killed.
	ExitTimeout ExitKind = "timeout"
	// ExitMemory: the memory that was left fell below the governor's last step, and the run was stopped before the system
	// would kill it.
	ExitMemory ExitKind = "memory"
)

// Exit is how the program ended. Code and Signal are zero unless Kind names them. OOMKilled is the
// system's own word (cgroup memory.events oom_kill, a Jetsam report) that memory was the cause.
type Exit struct {
	Kind      ExitKind `json:"kind"`
	Code      int      `json:"code"`
	Signal    int      `json:"signal"`
	OOMKilled bool     `json:"oom_killed"`
}

// Stream is one normalised output stream.
type Stream struct {
	// SHA256 of the normalised stream, every line followed by LF.
	SHA256 string `json:"sha256"`
	// Count is the number of lines of the whole stream.
	Count int `json:"count"`
	// Truncated says that the stream was longer than the runner keeps.
	Truncated bool `json:"truncated"`
	// Complete says that Lines holds every line; otherwise it holds the recognised ones only.
	Complete bool     `json:"complete"`
	Lines    []string `json:"lines"`
}

// EncoderPath is the path that the runtime derives from the model's, and whether anything stood there.
type EncoderPath struct {
	Derived string `json:"derived"`
	Before  bool   `json:"present_before"`
	After   bool   `json:"present_after"`
}

// Evidence is the content of evidence.json.
type Evidence struct {
	Schema       int               `json:"schema"`
	Kind         Kind              `json:"kind"`
	Lane         Lane              `json:"lane"`
	LaneIdentity map[string]string `json:"lane_identity"`
	Flavour      string            `json:"flavour"`
	// Defines are the -D arguments of the actions that compiled whisper.cpp, sorted, without the -D;
	// left out where nothing is known about them.
	Defines []string `json:"defines,omitempty"`
	// Pin is what the repository rule wrote in pin.json about the source of the binary.
	Pin pin.Identity `json:"pin"`
	// Argv is what the program was started with, staged names and all.
	Argv []string `json:"argv"`
	// Environment is the whole environment of the program, paths replaced by names.
	Environment map[string]string `json:"environment"`
	// Fault is the setting of the emulated lane's double for tests; "none" in every real run.
	Fault string `json:"fault"`
	// Public says that the fixture's words may be kept.
	Public      bool        `json:"public"`
	Digests     Digests     `json:"digests"`
	EncoderPath EncoderPath `json:"encoder_path"`
	// Attempts counts starts of the program for this evidence, warm-ups not included.
	Attempts int `json:"attempts"`
	// Attempt is the number under which a positive run was asked for again; left out for the first, and
	// never there for a canary.
	Attempt int `json:"attempt,omitempty"`
	// WarmUps counts warm-up runs before the measured one.
	WarmUps int  `json:"warm_ups"`
	Exit    Exit `json:"exit"`
	// Normalisation is the version of the rules that the streams went through.
	Normalisation int    `json:"normalisation"`
	Stderr        Stream `json:"stderr"`
	Stdout        Stream `json:"stdout"`
	// Words replaces the words on stdout where those may not be kept; left out of public evidence.
	Words *WordCount `json:"words,omitempty"`
	// Heard compares those words with the reference words; left out of public evidence, and where no reference was given.
	Heard *Heard `json:"heard,omitempty"`
}

// Observations is the content of observations.json: what varies from run to run. SHA256 binds it to
// its evidence.
type Observations struct {
	Schema         int               `json:"schema"`
	EvidenceSHA256 string            `json:"evidence_sha256"`
	StartedAt      string            `json:"started_at"`
	Host           map[string]string `json:"host"`
	WallSeconds    float64           `json:"wall_seconds"`
	WarmUpSeconds  []float64         `json:"warm_up_seconds"`
	// PeakResidentBytes of the program and those it waited for; 0 when the system did not say.
	PeakResidentBytes int64   `json:"peak_resident_bytes"`
	UserSeconds       float64 `json:"user_seconds"`
	SystemSeconds     float64 `json:"system_seconds"`
	RawStderrSHA256   string  `json:"raw_stderr_sha256"`
	RawStdoutSHA256   string  `json:"raw_stdout_sha256"`
	RawStderrBytes    int64   `json:"raw_stderr_bytes"`
	RawStdoutBytes    int64   `json:"raw_stdout_bytes"`
	// Timings are the "… time" figures that whisper-cli printed itself, in milliseconds.
	Timings map[string]float64 `json:"timings_ms"`
	// Fit is what was known of the run's memory before it started; left out where the model's header could not be read.
	Fit *Fit `json:"fit,omitempty"`
	// Pressure is how hard the machine was pressed just before the program started, and just after it ended.
	Pressure []Pressure `json:"pressure,omitempty"`
}

// Pressure is how hard a machine was pressed at one time; null and "unknown" where the system did not say.
type Pressure struct {
	At             string `json:"at"`
	Level          string `json:"level"`
	Thermal        string `json:"thermal"`
	LowPower       string `json:"low_power"`
	AvailableBytes *int64 `json:"available_bytes"`
	// FootprintBytes is of the runner and what it started.
	FootprintBytes *int64 `json:"footprint_bytes"`
	BudgetBytes    *int64 `json:"budget_bytes"`
}

// Fit is whether a run fits into memory, as far as that was known before it started.
type Fit struct {
	// Status is "cannot tell" of a run that started: one that does not fit is refused.
	Status         string `json:"status"`
	NeedBytes      int64  `json:"need_bytes"`
	AvailableBytes *int64 `json:"available_bytes"`
	Source         string `json:"source"`
	// Measured says that the need was observed and is not a lower bound.
	Measured bool `json:"measured"`
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Encode returns the canonical bytes of e, which must pass [Evidence.Check].
func Encode(e *Evidence) ([]byte, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	return strictjson.Canonical(e)
}

// Decode reads the bytes of an evidence.json. Of a newer schema or newer rules of normalisation than this version knows,
// it returns a [*reason.Error] with the code EVIDENCE_NEWER.
func Decode(data []byte) (*Evidence, error) {
	var version struct{ Schema, Normalisation int }
	if json.Unmarshal(data, &version) == nil && (version.Schema > Schema || version.Normalisation > NormalisationVersion) {
		return nil, reason.Errorf(reason.EvidenceNewer, "evidence", fmt.Sprintf("schema %d and normalisation %d at most", Schema, NormalisationVersion),
			"schema %d and normalisation %d", version.Schema, version.Normalisation)
	}
	e := &Evidence{}
	if err := strictjson.DecodeCanonical(data, e); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	return e, nil
}

// ReadFile reads an evidence.json and returns its bytes' SHA-256 too.
func ReadFile(path string) (*Evidence, string, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("read evidence: %w", err)
	}
	e, err := Decode(data)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return e, SHA256(data), nil
}
