package statement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// Names of the judgements that this package makes, and of the one over where the encoder ran.
const (
	Binding   = judgements.Binding
	Sources   = judgements.Sources
	Placement = judgements.Placement
)

// Judged is one judgement that a receipt can hold: its registration, and how a pass of it is computed again.
type Judged struct {
	judgements.Kind
	computed
}

// computed says by which thresholds a judgement goes and what computes a pass again.
type computed struct {
	// Policy is the kind of policy that it goes by: named by the judgement itself, or for the gate's own kind by the
	// receipt. "" for a judgement without thresholds.
	Policy string
	// Check computes a pass again from the facts; p is nil for a judgement without thresholds.
	Check func(j *verdict.Judgement, p *policy.Policy) []reason.Reason
}

// checks has a row for each judgement that is registered in package judgements; a test refuses one without.
var checks = map[string]computed{
	Binding:               {},
	Sources:               {},
	judgements.Markers:    {judge.PolicyKind, judge.CheckFacts},
	judgements.Canary:     {judge.PolicyKind, judge.CheckFacts},
	judgements.Contrast:   {judge.PolicyKind, judge.CheckFacts},
	judgements.Transcript: {judge.PolicyKind, agreement.CheckFacts},
	judgements.Contract: {Check: func(j *verdict.Judgement, _ *policy.Policy) []reason.Reason {
		return artifact.CheckFacts(j)
	}},
	judgements.Parity: {parity.Kind, parity.CheckFacts},
	judgements.Words:  {transcript.PolicyKind, transcript.CheckFacts},
	Placement:         {placement.Kind, placement.CheckFacts},
}

// judged finds a judgement's row; nil for a name that none has.
func judged(name string) *Judged {
	kind, registered := judgements.Lookup(name)
	how, checked := checks[name]
	if !registered || !checked {
		return nil
	}
	return &Judged{kind, how}
}

// always are the judgements that every receipt needs, whatever its policy says.
func always() []string { return judgements.Demanded(judgements.Always) }

// ownPolicy says whether the judgement itself names its policy.
func (k *Judged) ownPolicy() bool { return k.Policy != "" && k.Policy != judge.PolicyKind }

// policyOf is the policy that a judgement goes by, as the receipt names it; false where it names none.
func (p *Predicate) policyOf(k *Judged, j *verdict.Judgement) (PolicyRef, bool) {
	for _, ref := range p.Policies {
		switch {
		case k.Policy == "" || ref.Kind != k.Policy:
		case !k.ownPolicy():
			return ref, true
		case j.Policy != nil && ref.Name == j.Policy.Name && ref.SHA256 == j.Policy.SHA256:
			return ref, true
		}
	}
	return PolicyRef{}, false
}

// told refuses a judgement that does not pass and has a fact that no such judgement has, or one of another type, unless one
// of its own reasons says so: building adds it.
func (p *Predicate) told(j *verdict.Judgement) error {
	for _, wrong := range judged(j.Name).CheckFacts(j, string(p.Lane)) {
		if !slices.ContainsFunc(j.Reasons, func(r reason.Reason) bool { return r.Code == wrong.Code && r.Where == wrong.Where }) {
			return &reason.Error{Reason: wrong}
		}
	}
	return nil
}

// checkFacts computes each judgement that passes again from its facts, also in a receipt that is no pass, and refuses what
// another has beyond its list.
func (s *Statement) checkFacts() error {
	for _, j := range s.Predicate.Judgements {
		if j.Verdict != reason.Pass {
			if err := s.Predicate.told(j); err != nil {
				return err
			}
			continue
		}
		for _, r := range s.hold(j) {
			return &reason.Error{Reason: r}
		}
	}
	return nil
}

// hold returns what does not allow a judgement to pass: a policy of another kind, a fact that is missing or about
// something else, numbers that miss their limits. Building adds these reasons; checking refuses a receipt that has any.
func (s *Statement) hold(j *verdict.Judgement) []reason.Reason {
	p := &s.Predicate
	k := judged(j.Name)
	if k == nil {
		return []reason.Reason{{Code: reason.JudgementDiffers, Where: j.Name, Expected: "a judgement that a gate makes", Found: "one of another name"}}
	}
	f := verdict.ReadFacts(j)
	if k.ownPolicy() != (j.Policy != nil) {
		f.Fail("policy", map[bool]string{true: "one of kind " + k.Policy, false: "none"}[k.ownPolicy()], map[bool]string{true: "one", false: "none"}[j.Policy != nil])
		return f.Wrong
	}
	// What the list of facts does not have, nothing below can compare.
	if f.Wrong = k.CheckFacts(j, string(p.Lane)); len(f.Wrong) > 0 {
		return f.Wrong
	}
	for _, fact := range k.About {
		f.Text(fact, row(fact).In(s))
	}
	// What it says beyond that must be the receipt's too.
	for i := range bounds {
		b := &bounds[i]
		if found, ok := j.Facts[b.Fact]; b.Fact != "" && ok && !slices.Contains(k.About, b.Fact) && found != b.In(s) {
			f.Fail(b.Fact, b.In(s), fmt.Sprint(found))
		}
	}
	ref, named := p.policyOf(k, j)
	if k.Policy != "" && !named {
		f.Fail("policy", "one of kind "+k.Policy+" among the receipt's policies", policyText(j))
		return f.Wrong
	}
	if j.Name == Placement {
		f.Wrong = append(f.Wrong, p.contradiction()...)
	}
	if k.Check == nil {
		return f.Wrong
	}
	if k.Policy == "" {
		return append(f.Wrong, k.Check(j, nil)...)
	}
	// A policy that this program does not know has thresholds that it does not know: whoever verifies must name its bytes.
	if known, ok := policy.Known(ref.Name, ref.SHA256); ok {
		if known.Kind != k.Policy {
			f.Fail("policy", "one of kind "+k.Policy, known.Name+" of kind "+known.Kind)
			return f.Wrong
		}
		return append(f.Wrong, k.Check(j, known)...)
	}
	return f.Wrong
}

// compressed is the class of a precision of compressed weights.
const compressed = "compressed"

// checkEncoder compares what contract and parity say of the one encoder: its precision decides which policy its numbers go by.
func (p *Predicate) checkEncoder() error {
	contract, numbers := p.Judgement(artifact.JudgementName), p.Judgement(parity.Name)
	if contract == nil || numbers == nil {
		return nil
	}
	for _, fact := range []string{verdict.FactPrecision, verdict.FactEncoderForm} {
		a, b := contract.Facts[fact], numbers.Facts[fact]
		// Numbers are of compressed weights by their bits, or pruned ones: of both the contract says "compressed".
		if text, _ := b.(string); fact == verdict.FactPrecision && a == compressed && (strings.HasPrefix(text, compressed) || text == "pruned") {
			continue
		}
		if a != b {
			return reason.Errorf(reason.JudgementDiffers, numbers.Name+"."+fact, fmt.Sprintf("%v, as %s says", a, contract.Name), "%v", b)
		}
	}
	// A reference that was computed from the coarser weights is no reference for the release gate (REFERENCE_COARSE).
	if finer := contract.Facts[artifact.FactFiner] == true; finer && numbers.Policy.Name == parity.GatePolicy && numbers.Facts[parity.FactReference] == parity.Computed {
		return reason.Errorf(reason.JudgementDiffers, numbers.Name+"."+parity.FactReference, "a tensor that was given, since the encoder's weights are finer than the model's (contract."+artifact.FactFiner+")", "%s", parity.Computed)
	}
	return nil
}

func policyText(j *verdict.Judgement) string {
	if j.Policy == nil {
		return "none"
	}
	return j.Policy.Name + " " + j.Policy.SHA256
}
