// Package verify checks a signed receipt offline, years later: its signature and form, that it
// agrees with itself, the demands of the one who verifies, and whatever files are at hand.
//
// What could not be checked for want of files is listed, never assumed. A receipt's own verdict
// counts: a receipt that says fail, correctly signed, does not verify.
package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// Reasons are the codes of this package, beside those of envelopes and receipts.
var Reasons = reason.Table{
	{Code: "PREDICATE_TYPE", Class: reason.Fail, Means: "The signed statement is of another kind: its type or its predicate type is not a receipt's. A valid signature over something else proves nothing here.", Do: "Give the receipt of a gate."},
	{Code: "RECEIPT_MALFORMED", Class: reason.Fail, Means: "The statement is not in the one form that a receipt has, or contradicts itself: unknown, missing or repeated members, bytes that are not canonical, a verdict that does not follow from its judgements.", Do: "Get the receipt again; if this is what was signed, gate again."},
	{Code: "VERDICT_NOT_PASS", Class: reason.Fail, Means: "The receipt is genuine and says that the gate failed.", Do: "Read its judgements."},
	{Code: "VERDICT_INCONCLUSIVE", Class: reason.Inconclusive, Means: "The receipt is genuine and says that the gate proved nothing.", Do: "Read its judgements."},
	{Code: "LANE_DEMANDED", Class: reason.Fail, Means: "The receipt was made on another lane than the one demanded. An emulated receipt never satisfies a demand for a physical one.", Do: "Gate on the lane that is demanded."},
	{Code: "PIN_DEMANDED", Class: reason.Fail, Means: "The binary was built from a revision other than the supported pin.", Do: "Build from the supported pin, or allow this one on purpose (--allow-unsupported-pin)."},
	{Code: "POLICY_DEMANDED", Class: reason.Fail, Means: "The receipt was not judged by the policy that is demanded, byte for byte, or by one that this program does not know as frozen.", Do: "Gate under that policy."},
	{Code: "JUDGEMENT_DEMANDED", Class: reason.Fail, Means: "The receipt does not have a judgement that is demanded.", Do: "Gate with it."},
	{Code: "FILE_MISMATCH", Class: reason.Fail, Means: "A file at hand is not the one that the receipt is about.", Do: "Ship the bytes that were gated."},
	{Code: "FILE_UNLISTED", Class: reason.Fail, Means: "A file at hand is named nowhere in the receipt. The list is closed: what it does not name is not covered.", Do: "Leave it out of the release, or gate it."},
	{Code: "EVIDENCE_UNLISTED", Class: reason.Fail, Means: "An evidence file at hand is not one that the receipt was made from.", Do: "Give the evidence of this gate."},
	{Code: "EVIDENCE_DIFFERS", Class: reason.Fail, Means: "Evidence that the receipt names tells of another lane, pin, program, model, encoder or audio than the receipt does.", Do: "Whoever signed it bound what did not run: gate again."},
	{Code: "JUDGEMENT_DIFFERS", Class: reason.Fail, Means: "Judging the evidence again does not give what the receipt says.", Do: "If the program that judges has changed since, gate again; otherwise the receipt was not made from this evidence."},
	{Code: "OS_BUILD_STALE", Class: reason.Inconclusive, Means: "The receipt was made on another build of the operating system. One artifact can be right on one build and wrong on another.", Do: "Gate on the build that you ship to."},
	{Code: "AGE_STALE", Class: reason.Inconclusive, Means: "What the receipt tells of is older than demanded, or lies in the future.", Do: "Gate again; check the clocks."},
	{Code: "AGE_UNKNOWN", Class: reason.Inconclusive, Means: "An age was demanded, and the signer did not vouch for when every run happened. The time of signing alone says nothing about the runs.", Do: "Sign with the observations of all runs."},
}

// Tables are all codes that a verification can give.
var Tables = []reason.Table{Reasons, envelope.Reasons, statement.Reasons, release.Reasons}

// Demands are what the one who verifies asks for.
type Demands struct {
	// Key is the public key of the signer.
	Key *envelope.Key
	// Lane must be the receipt's, unless empty.
	Lane evidence.Lane
	// AllowUnsupportedPin lets receipts of other pins through.
	AllowUnsupportedPin bool
	// Policies are SHA-256 values by policy name that the receipt must have been judged by.
	Policies map[string]string
	// Judgements are names that the receipt must have, beyond those it requires itself.
	Judgements []string
	// OSBuild must be the lane identity's os_build, unless empty.
	OSBuild string
	// MaxAge bounds how long ago the oldest thing happened that the signer vouches for; 0 for any.
	MaxAge time.Duration
	// Now is the time of verification.
	Now time.Time
}

// Result is what a verification found.
type Result struct {
	Verdict reason.Verdict  `json:"verdict"`
	Reasons []reason.Reason `json:"reasons"`
	Notes   []reason.Reason `json:"notes"`
	// Unchecked lists what could not be checked, and what it would take.
	Unchecked []string       `json:"unchecked"`
	Facts     map[string]any `json:"facts"`
	// Receipt is the receipt, once its signature and form were found right.
	Receipt *statement.Statement `json:"-"`
}

// Add adds a finding.
func (r *Result) Add(code, where, expected, found string, args ...any) {
	r.Reasons = append(r.Reasons, reason.Errorf(code, where, expected, found, args...).Reason)
}

// conclude sets the verdict that follows from the reasons.
func (r *Result) conclude() *Result {
	all := reason.Table{}
	for _, t := range Tables {
		all = append(all, t...)
	}
	r.Verdict = all.Verdict(r.Reasons)
	return r
}

// Verify checks a signed receipt against demands and the files at hand. An error means that it could
// not be tried; whatever is wrong with the receipt or the files is in the result.
func Verify(ctx context.Context, signed []byte, d Demands, files Files) (*Result, error) {
	r := &Result{Reasons: []reason.Reason{}, Notes: []reason.Reason{}, Unchecked: []string{}, Facts: map[string]any{}}
	payload, kind, ok := r.open(ctx, signed, d.Key)
	if !ok {
		return r.conclude(), nil
	}
	if kind == release.PredicateType {
		if err := r.release(ctx, payload, d, files); err != nil {
			return nil, err
		}
		return r.conclude(), nil
	}
	s, err := statement.Decode(payload)
	if err != nil {
		r.Add("RECEIPT_MALFORMED", "payload", "a receipt in canonical form", "%v", err)
		return r.conclude(), nil
	}
	r.Receipt = s
	r.facts(s)
	if err := r.demand(s, d); err != nil {
		return nil, err
	}
	if err := r.files(s, files); err != nil {
		return nil, err
	}
	return r.conclude(), nil
}

// open checks the signature and the kind of statement, and returns the payload and its predicate type;
// false where either is wrong.
func (r *Result) open(ctx context.Context, signed []byte, key *envelope.Key) (payload []byte, kind string, ok bool) {
	e, err := envelope.Parse(signed)
	if err != nil {
		r.fault(err, "ENVELOPE_MALFORMED", "signed file")
		r.predicateType(signed)
		return nil, "", false
	}
	payload, others, err := e.Open(ctx, key)
	if err != nil {
		r.fault(err, "SIGNATURE_INVALID", "signatures")
		return nil, "", false
	}
	if others > 0 {
		r.Unchecked = append(r.Unchecked, fmt.Sprintf("%d signatures by other keys", others))
	}
	kind, ok = r.predicateType(payload)
	return payload, kind, ok
}

// predicateType returns the statement's predicate type, and adds PREDICATE_TYPE and false for one of
// another kind. It is a first look, to name the fault; the strict readers decide.
func (r *Result) predicateType(data []byte) (string, bool) {
	kind := struct {
		Type          *string `json:"_type"`
		PredicateType *string `json:"predicateType"`
	}{}
	if json.Unmarshal(data, &kind) != nil || kind.PredicateType == nil {
		return "", true
	}
	known := *kind.PredicateType == statement.PredicateType || *kind.PredicateType == release.PredicateType
	if known && (kind.Type == nil || *kind.Type == statement.StatementType) {
		return *kind.PredicateType, true
	}
	found := "none"
	if kind.Type != nil {
		found = *kind.Type
	}
	r.Add("PREDICATE_TYPE", "statement", statement.StatementType+" with "+statement.PredicateType, "%s with %s", found, *kind.PredicateType)
	return "", false
}

// fault adds an error's own reason, or one with a code for errors that bring none.
func (r *Result) fault(err error, code, where string) {
	var known *reason.Error
	if errors.As(err, &known) {
		r.Reasons = append(r.Reasons, known.Reason)
		return
	}
	r.Add(code, where, "what a signed receipt has there", "%v", err)
}

// facts are what a reader wants to see first.
func (r *Result) facts(s *statement.Statement) {
	p := &s.Predicate
	r.Facts["gate"] = p.Name
	r.Facts["lane"] = string(p.Lane)
	r.Facts["pin"] = p.Pin.Name + " (" + p.Pin.Status + ")"
	r.Facts["placement"] = p.Placement
	r.Facts["receipt_verdict"] = string(p.Verdict)
	for _, subject := range s.Subject {
		r.Facts[subject.Name] = subject.Digest["sha256"]
	}
	if p.Signing != nil {
		r.Facts["signed_at"] = p.Signing.At
	}
	if len(p.Provisional) > 0 {
		r.Facts["provisional"] = strings.Join(p.Provisional, "; ")
	}
}

// demand holds the receipt against what is asked for.
func (r *Result) demand(s *statement.Statement, d Demands) error {
	p := &s.Predicate
	switch p.Verdict {
	case reason.Pass:
	case reason.Unknown, reason.Inadmissible:
		r.Add("VERDICT_INCONCLUSIVE", "predicate.verdict", "pass", "%s", failures(p.Judgements))
	default:
		r.Add("VERDICT_NOT_PASS", "predicate.verdict", "pass", "%s", failures(p.Judgements))
	}
	if d.Lane != "" && p.Lane != d.Lane {
		r.Add("LANE_DEMANDED", "predicate.lane", string(d.Lane), "%s", p.Lane)
	}
	if err := r.demandPin("predicate.pin", p.Pin.Identity, d); err != nil {
		return err
	}
	if d.OSBuild != "" && p.LaneIdentity["os_build"] != d.OSBuild {
		r.Add("OS_BUILD_STALE", "predicate.lane_identity.os_build", d.OSBuild, "%q", p.LaneIdentity["os_build"])
	}
	for _, name := range d.Judgements {
		if !has(p.Judgements, name) {
			r.Add("JUDGEMENT_DEMANDED", "predicate.judgements", name, "none")
		}
	}
	r.demandPolicies(p, d)
	r.demandAge(s, d)
	return nil
}

func failures(judgements []*judge.Judgement) string {
	var out []string
	for _, j := range judgements {
		if j.Verdict != reason.Pass {
			text := j.Name + " " + string(j.Verdict)
			if len(j.Reasons) > 0 {
				text += " (" + j.Reasons[0].Code + ")"
			}
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "a required judgement is missing"
	}
	return strings.Join(out, ", ")
}

func has(judgements []*judge.Judgement, name string) bool {
	for _, j := range judgements {
		if j.Name == name {
			return true
		}
	}
	return false
}

// demandAge holds the times that the signer vouches for against the demand. A run that nobody tells of may
// be of any age.
func (r *Result) demandAge(s *statement.Statement, d Demands) {
	if d.MaxAge == 0 {
		return
	}
	oldest, newest, all := s.Times()
	if !all {
		r.Add("AGE_UNKNOWN", "predicate.signing", "times of all runs that the signer vouches for", "fewer")
	}
	if oldest.IsZero() {
		return
	}
	if age := d.Now.Sub(oldest); age > d.MaxAge {
		r.Add("AGE_STALE", "predicate.signing", "at most "+d.MaxAge.String()+" old", "%s", age.Round(time.Second))
	}
	if newest.After(d.Now) {
		r.Add("AGE_STALE", "predicate.signing", "times before "+d.Now.UTC().Format(time.RFC3339), "%s", newest.Format(time.RFC3339))
	}
}
