package statement

import (
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// Profile says how much a receipt must prove.
type Profile string

// The profiles, the most demanding first.
const (
	// ProfileRelease is the release gate: the runs, contract, parity under [parity.GatePolicy], and words where the
	// gate has recordings.
	ProfileRelease Profile = "release"
	// ProfileNumbers is the release gate with parity under any frozen policy of its kind, for float16 and compressed encoders.
	ProfileNumbers Profile = "numbers"
	// ProfileRuns is the judgements that every receipt has: nothing of the encoder's contents.
	ProfileRuns Profile = "runs"
)

// Profiles are all, the most demanding first.
var Profiles = []Profile{ProfileRelease, ProfileNumbers, ProfileRuns}

// ParseProfile reads a profile's name; "" is [ProfileRelease].
func ParseProfile(text string) (Profile, error) {
	p := Profile(text)
	if p == "" {
		return ProfileRelease, nil
	}
	if !slices.Contains(Profiles, p) {
		return "", fmt.Errorf("profile %q: expected one of %v", text, Profiles)
	}
	return p, nil
}

// gateParity is how a lack of parity under the release policy reads.
const gateParity = parity.Name + " under " + parity.GatePolicy

// Missing lists what the release gate demands and the receipt does not have, sorted; empty for one that satisfies it.
func (p *Predicate) Missing() []string {
	out := []string{}
	passed := func(name string) *verdict.Judgement {
		i := slices.IndexFunc(p.Judgements, func(j *verdict.Judgement) bool { return j.Name == name && j.Verdict == reason.Pass })
		if i < 0 {
			return nil
		}
		return p.Judgements[i]
	}
	names := append(always(), artifact.JudgementName, parity.Name)
	if slices.Contains(p.Required, transcript.JudgementName) {
		names = append(names, transcript.JudgementName)
	}
	for _, name := range names {
		if passed(name) == nil {
			out = append(out, name)
		}
	}
	if j := passed(parity.Name); j != nil && (j.Policy == nil || j.Policy.Name != parity.GatePolicy) {
		out = append(out, gateParity)
	}
	slices.Sort(out)
	return out
}

// CheckMissing says whether a list is one that [Predicate.Missing] could have made.
func CheckMissing(list []string) error {
	for i, name := range list {
		if name != gateParity && judged(name) == nil || i > 0 && list[i-1] >= name {
			return fmt.Errorf("receipt: missing is %q, expected names of judgements, sorted", list)
		}
	}
	return nil
}

// Lacks returns those of the missing judgements that a profile demands.
func (p Profile) Lacks(missing []string) []string {
	var out []string
	for _, name := range missing {
		k := judged(name)
		switch {
		case p == ProfileRuns && (k == nil || k.Demand != judgements.Always):
		case p == ProfileNumbers && name == gateParity:
		default:
			out = append(out, name)
		}
	}
	return out
}

// HasWords says whether what was heard beyond the gate's own audio was judged.
func (p *Predicate) HasWords() bool { return p.has(transcript.JudgementName) }
