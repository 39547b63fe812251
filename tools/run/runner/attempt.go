package runner

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// claimAttempt creates the attempt token, if the spec names one or a ledger, and returns which attempt
// this is at least: a service may have lost an earlier one. Of two that claim at the same time one is
// the second, since the file system makes a file once (local ones and NFS from version 3 on).
func (s *Spec) claimAttempt(st *staging) (int, error) {
	token, err := s.token(st)
	if err != nil || token == "" {
		return 1, err
	}
	f, err := os.OpenFile(token, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if os.IsExist(err) {
		return 2, nil
	}
	if err != nil {
		return 0, fmt.Errorf("claim attempt token: %w: expected a folder outside of the action that this worker may write to", err)
	}
	return 1, f.Close()
}

// canaryKey is what makes two starts the same attempt: the program, what it is given to refuse, the gate's
// audio, and the kind of worker. Everything else of a spec is left out (deadline, threads, language, further
// arguments, whether words may be kept, paths): a canary that was started again with another one of those was
// started again. Another audio is another gate, since the three runs of a gate have one audio.
type canaryKey struct {
	Kind         evidence.Kind     `json:"kind"`
	Lane         evidence.Lane     `json:"lane"`
	LaneIdentity map[string]string `json:"lane_identity"`
	Fault        string            `json:"fault"`
	CLI          string            `json:"cli"`
	Model        string            `json:"model"`
	Audio        string            `json:"audio"`
	Encoder      string            `json:"encoder"`
	Evaluator    string            `json:"evaluator"`
}

// token is where this attempt leaves its mark, or "". In a ledger its name is a digest of [canaryKey].
func (s *Spec) token(st *staging) (string, error) {
	if s.AttemptLedger == "" {
		return s.AttemptToken, nil
	}
	identity, err := s.identity()
	if err != nil {
		return "", err
	}
	data, err := strictjson.Canonical(&canaryKey{
		Kind: s.Kind, Lane: s.Lane, LaneIdentity: identity, Fault: s.fault(),
		CLI: st.cli, Model: st.model, Audio: st.audioSum, Encoder: deref(st.encoder), Evaluator: deref(st.evaluator),
	})
	if err != nil {
		return "", fmt.Errorf("name the attempt: %w", err)
	}
	return filepath.Join(s.AttemptLedger, evidence.SHA256(data)+"."+string(s.Kind)), nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
