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

// token is where this attempt leaves its mark, or "". In a ledger its name is a digest of what decides
// what the program is asked, and of whom: the spec, the staged bytes and the worker's identity, since the same canary on
// another kind of worker is another action. Paths of inputs are left out, as two checkouts of one source are one action.
func (s *Spec) token(st *staging) (string, error) {
	if s.AttemptLedger == "" {
		return s.AttemptToken, nil
	}
	identity, err := s.identity()
	if err != nil {
		return "", err
	}
	asked := *s
	asked.LaneIdentity = identity
	asked.LaneIdentityFile, asked.Defines, asked.Pin, asked.AttemptLedger = "", "", "", ""
	asked.CLI, asked.Model, asked.Audio, asked.Encoder, asked.Evaluator = st.cli, st.model, st.audioSum, deref(st.encoder), deref(st.evaluator)
	data, err := strictjson.Canonical(&asked)
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
