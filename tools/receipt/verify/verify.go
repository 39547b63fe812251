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
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Demands are what the one who verifies asks for. The zero value of each member but Key demands the most that can be
// demanded of every receipt: weaker ones say so.
type Demands struct {
	// Key is the public key of the signer.
	Key *envelope.Key
	// Profile is how much must be proven; "" is the release gate.
	Profile statement.Profile
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
	verdict.Findings
	// Unchecked lists what could not be checked, and what it would take.
	Unchecked []string       `json:"unchecked"`
	Facts     map[string]any `json:"facts"`
	// sources says that the check of the sources was at hand.
	sources bool
	// Receipt is the receipt, once its signature and form were found right.
	Receipt *statement.Statement `json:"-"`
}

// Verify checks a signed receipt against demands and the files at hand. An error means that it could
// not be tried; whatever is wrong with the receipt or the files is in the result.
func Verify(ctx context.Context, signed []byte, d Demands, files Files) (*Result, error) {
	var err error
	if d.Profile, err = statement.ParseProfile(string(d.Profile)); err != nil {
		return nil, err
	}
	r := newResult()
	payload, kind, ok := r.open(ctx, signed, d.Key)
	if !ok {
		return r, nil
	}
	if kind == release.PredicateType {
		if err := r.release(ctx, payload, d, files); err != nil {
			return nil, err
		}
		return r, nil
	}
	if kind == modulearchive.PredicateType {
		if err := r.archive(payload, d, files); err != nil {
			return nil, err
		}
		return r, nil
	}
	s, err := statement.Decode(payload)
	if err != nil {
		r.malformed(err, "payload")
		return r, nil
	}
	r.Receipt = s
	r.facts(s)
	if err := r.demand(s, d); err != nil {
		return nil, err
	}
	r.beyond(s, d)
	if err := r.files(s, files); err != nil {
		return nil, err
	}
	if err := r.rejudge(ctx, s, files); err != nil {
		return nil, err
	}
	return r, nil
}

func newResult() *Result {
	return &Result{Findings: verdict.New(), Unchecked: []string{}, Facts: map[string]any{}}
}

// malformed adds what is wrong with a statement: the judgement that its own facts do not give, or its form.
func (r *Result) malformed(err error, where string) {
	var known *reason.Error
	if errors.As(err, &known) {
		r.AddReason(known.Reason)
		return
	}
	r.Add(reason.ReceiptMalformed, where, "a receipt in canonical form, which agrees with itself", err.Error())
}

// beyond lists what the release gate would prove and this receipt does not.
func (r *Result) beyond(s *statement.Statement, d Demands) {
	missing := s.Predicate.Missing()
	for _, name := range missing {
		if !slices.Contains(d.Profile.Lacks(missing), name) {
			r.Unchecked = append(r.Unchecked, name+", which the release gate demands and profile "+string(d.Profile)+" does not")
		}
	}
	if !s.Predicate.HasWords() {
		r.Unchecked = append(r.Unchecked, "words beyond the gate's own audio: it has no recordings")
	}
}

// open checks the signature and the kind of statement, and returns the payload and its predicate type;
// false where either is wrong.
func (r *Result) open(ctx context.Context, signed []byte, key *envelope.Key) (payload []byte, kind string, ok bool) {
	e, err := envelope.Parse(signed)
	if err != nil {
		r.fault(err, reason.EnvelopeMalformed, "signed file")
		r.predicateType(signed)
		return nil, "", false
	}
	payload, others, err := e.Open(ctx, key)
	if err != nil {
		r.fault(err, reason.SignatureInvalid, "signatures")
		return nil, "", false
	}
	if others > 0 {
		r.Unchecked = append(r.Unchecked, fmt.Sprintf("%d signatures by other keys", others))
	}
	kind, ok = r.predicateType(payload)
	return payload, kind, ok
}

// kinds are the predicate types that are verified.
var kinds = []string{statement.PredicateType, release.PredicateType, modulearchive.PredicateType}

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
	if err := statement.Newer(data, kinds...); err != nil {
		r.AddReason(err.Reason)
		return "", false
	}
	if slices.Contains(kinds, *kind.PredicateType) && (kind.Type == nil || *kind.Type == statement.StatementType) {
		return *kind.PredicateType, true
	}
	found := "none"
	if kind.Type != nil {
		found = *kind.Type
	}
	r.Addf(reason.PredicateType, "statement", statement.StatementType+" with "+statement.PredicateType, "%s with %s", found, *kind.PredicateType)
	return "", false
}

// fault adds an error's own reason, or one with a code for errors that bring none.
func (r *Result) fault(err error, code, where string) {
	var known *reason.Error
	if errors.As(err, &known) {
		r.AddReason(known.Reason)
		return
	}
	r.Addf(code, where, "what a signed receipt has there", "%v", err)
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
		r.Addf(reason.VerdictInconclusive, "predicate.verdict", "pass", "%s", failures(p.Judgements))
	default:
		r.Addf(reason.VerdictNotPass, "predicate.verdict", "pass", "%s", failures(p.Judgements))
	}
	if d.Lane != "" && p.Lane != d.Lane {
		r.Addf(reason.LaneDemanded, "predicate.lane", string(d.Lane), "%s", p.Lane)
	}
	if err := r.demandPin("predicate.pin", p.Pin.Identity, d); err != nil {
		return err
	}
	if d.OSBuild != "" && p.LaneIdentity["os_build"] != d.OSBuild {
		r.Addf(reason.OSBuildStale, "predicate.lane_identity.os_build", d.OSBuild, "%q", p.LaneIdentity["os_build"])
	}
	for _, name := range d.Judgements {
		if !has(p.Judgements, name) {
			r.Add(reason.JudgementDemanded, "predicate.judgements", name, "none")
		}
	}
	if p.Verdict == reason.Pass {
		r.lacks("predicate.judgements", p.Missing(), d)
	}
	if err := r.sourceFiles(p); err != nil {
		return err
	}
	r.demandPolicies(p, d)
	r.demandAge(s, d)
	return nil
}

// lacks adds what a profile demands and a receipt does not have.
func (r *Result) lacks(where string, missing []string, d Demands) {
	for _, name := range d.Profile.Lacks(missing) {
		r.Add(reason.JudgementDemanded, where, name+", a pass, which profile "+string(d.Profile)+" demands", "none")
	}
}

func failures(judgements []*verdict.Judgement) string {
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

func has(judgements []*verdict.Judgement, name string) bool {
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
		r.Add(reason.AgeUnknown, "predicate.signing", "times of all runs that the signer vouches for", "fewer")
	}
	if oldest.IsZero() {
		return
	}
	if age := d.Now.Sub(oldest); age > d.MaxAge {
		r.Addf(reason.AgeStale, "predicate.signing", "at most "+d.MaxAge.String()+" old", "%s", age.Round(time.Second))
	}
	if newest.After(d.Now) {
		r.Addf(reason.AgeStale, "predicate.signing", "times before "+d.Now.UTC().Format(time.RFC3339), "%s", newest.Format(time.RFC3339))
	}
}
