package statement

import (
	"fmt"
	"slices"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Sealed returns the receipt with what its signer vouches for: the time of signing, and when and on
// what the runs happened. Each observation must be of evidence that the receipt names.
func (s *Statement) Sealed(at time.Time, observations []*evidence.Observations) (*Statement, error) {
	if s.Predicate.Signing != nil {
		return nil, fmt.Errorf("receipt was sealed before, at %s: sign the receipt that the build wrote", s.Predicate.Signing.At)
	}
	data, err := Encode(s)
	if err != nil {
		return nil, err
	}
	signing := &Signing{ReceiptSHA256: evidence.SHA256(data), At: at.UTC().Format(time.RFC3339), Runs: []ObservedRun{}}
	for _, o := range observations {
		signing.Runs = append(signing.Runs, ObservedRun{EvidenceSHA256: o.EvidenceSHA256, StartedAt: o.StartedAt, Host: o.Host})
	}
	out := *s
	out.Predicate.Signing = signing
	return &out, out.Check()
}

// Unsealed returns the receipt as the build wrote it.
func (s *Statement) Unsealed() *Statement {
	out := *s
	out.Predicate.Signing = nil
	return &out
}

// checkSigning holds the signer's part against the rest of the receipt.
func (s *Statement) checkSigning() error {
	signing := s.Predicate.Signing
	data, err := strictjson.Canonical(s.Unsealed())
	if err != nil {
		return err
	}
	if sum := evidence.SHA256(data); sum != signing.ReceiptSHA256 {
		return fmt.Errorf("receipt: signing names receipt %s, but this one is %s", signing.ReceiptSHA256, sum)
	}
	if err := checkTime(signing.At); err != nil {
		return fmt.Errorf("receipt: signing.at: %w", err)
	}
	for i, run := range signing.Runs {
		if !slices.ContainsFunc(s.Predicate.Evidence, func(e EvidenceRef) bool { return e.SHA256 == run.EvidenceSHA256 }) {
			return fmt.Errorf("receipt: signing tells of a run with evidence %s, which the receipt does not name", run.EvidenceSHA256)
		}
		if err := checkTime(run.StartedAt); err != nil {
			return fmt.Errorf("receipt: signing.runs: %w", err)
		}
		// Both are RFC 3339 in UTC without fractions, which sorts as text.
		if run.StartedAt > signing.At {
			return fmt.Errorf("receipt: signed at %s, before the run that it tells of started at %s", signing.At, run.StartedAt)
		}
		if slices.ContainsFunc(signing.Runs[:i], func(o ObservedRun) bool { return o.EvidenceSHA256 == run.EvidenceSHA256 }) {
			return fmt.Errorf("receipt: signing tells twice of the run with evidence %s", run.EvidenceSHA256)
		}
	}
	return nil
}

func checkTime(text string) error {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.UTC().Format(time.RFC3339) != text {
		return fmt.Errorf("time is %q, expected RFC 3339 in UTC", text)
	}
	return nil
}

// Times are the oldest and the newest time that the signer vouches for, zero when there is none; all says
// that the time of every run is among them.
func (s *Statement) Times() (oldest, newest time.Time, all bool) {
	signing := s.Predicate.Signing
	if signing == nil {
		return oldest, newest, false
	}
	texts := []string{signing.At}
	for _, run := range signing.Runs {
		texts = append(texts, run.StartedAt)
	}
	// All were found to be RFC 3339 in UTC, which sorts as text.
	slices.Sort(texts)
	oldest, _ = time.Parse(time.RFC3339, texts[0])
	newest, _ = time.Parse(time.RFC3339, texts[len(texts)-1])
	return oldest, newest, len(signing.Runs) == len(s.Predicate.Evidence)
}
