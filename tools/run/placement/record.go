package placement

import (
	"errors"
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
)

// Record is one reading of a compute plan, as it is kept (schema 1): of which encoder, by which program, what came.
type Record struct {
	Schema int `json:"schema"`
	// EncoderDigest is the tree digest of the compiled encoder, the same before and after the reading.
	EncoderDigest string `json:"encoder_digest"`
	ProbeSHA256   string `json:"probe_sha256"`
	// Ended says how coremlprobe ended if not with exit 0, and Said is the last line that it wrote then; "" otherwise.
	Ended    string `json:"ended"`
	TimedOut bool   `json:"timed_out"`
	Said     string `json:"said"`
	// Plan is nil where the program left no report.
	Plan *computeplan.Plan `json:"plan"`
}

// Encode writes a record canonically.
func (r *Record) Encode() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return strictjson.Canonical(r)
}

// ParseRecord reads a record and checks it.
func ParseRecord(data []byte) (*Record, error) {
	if len(data) > computeplan.MaxBytes {
		return nil, fmt.Errorf("record of a compute plan: %d bytes, expected at most %d", len(data), computeplan.MaxBytes)
	}
	r := &Record{}
	if err := strictjson.Decode(data, r); err != nil {
		return nil, fmt.Errorf("record of a compute plan: %w", err)
	}
	return r, r.Check()
}

// Check compares a record with itself.
func (r *Record) Check() error {
	switch {
	case r.Schema != 1:
		return fmt.Errorf("record of a compute plan: schema %d, expected 1", r.Schema)
	case !digestForm.MatchString(r.EncoderDigest) || !digestForm.MatchString(r.ProbeSHA256):
		return fmt.Errorf("record of a compute plan: encoder %.80q, probe %.80q: expected two SHA-256", r.EncoderDigest, r.ProbeSHA256)
	case r.Ended == "" && (r.TimedOut || r.Said != "" || r.Plan == nil):
		return errors.New("record of a compute plan: the probe ended well, and yet it has a deadline or last words, or left no plan")
	case r.Plan == nil:
		return nil
	case r.Ended == "" && r.Plan.Result == computeplan.Pending:
		return errors.New("record of a compute plan: the probe ended well, and yet the plan is pending")
	case r.Ended != "" && r.Plan.Result != computeplan.Pending:
		return fmt.Errorf("record of a compute plan: the probe ended by %s, and yet the plan is %s", r.Ended, r.Plan.Result)
	}
	if err := r.Plan.Check(); err != nil {
		return fmt.Errorf("record of a compute plan: %w", err)
	}
	return nil
}
