package statement

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
)

// placementUnknown is the placement that no instrument saw.
const placementUnknown = "not observed"

// checkPlacement demands the judgement that saw the placement. Only Apple's Core ML places anything.
func (p *Predicate) checkPlacement() error {
	j := p.Judgement(Placement)
	switch {
	case p.Placement == placementUnknown:
		if j != nil && j.Verdict == reason.Pass {
			return fmt.Errorf("receipt: placement is %q, but a judgement of that name has seen it", p.Placement)
		}
	case p.Lane != evidence.LanePhysical:
		return fmt.Errorf("receipt: placement is %q on lane %s, expected %q", p.Placement, p.Lane, placementUnknown)
	case j != nil && len(p.contradiction()) > 0:
		return &reason.Error{Reason: p.contradiction()[0]}
	case j == nil || j.Verdict != reason.Pass:
		return fmt.Errorf("receipt: placement is %q, but no judgement of that name passes: expected %q", p.Placement, placementUnknown)
	default:
		if wrong := unseen(j, p); len(wrong) > 0 {
			return fmt.Errorf("receipt: placement is %q, but its judgement does not show it: %w", p.Placement, &reason.Error{Reason: wrong[0]})
		}
	}
	return nil
}

// unseen is what does not allow a placement judgement that passes to be the receipt's: facts that do not hold, also under the
// policy that it names, which must be one that this program knows, and another placement.
func unseen(j *verdict.Judgement, p *Predicate) []reason.Reason {
	f := verdict.ReadFacts(j)
	if j.Policy == nil {
		f.Fail("policy", "one of kind "+placement.Kind, "none")
		return f.Wrong
	}
	known, ok := policy.Known(j.Policy.Name, j.Policy.SHA256)
	if !ok {
		f.Fail("policy", "one that this program knows", policyText(j))
		return f.Wrong
	}
	if wrong := judged(j.Name).CheckFacts(j, string(p.Lane)); len(wrong) > 0 {
		return wrong
	}
	f.Wrong = placement.CheckFacts(j, known)
	f.Text(verdict.FactPlacement, p.Placement)
	return f.Wrong
}

// contradiction is what does not allow a placement that its own judgement sees: the log of a run, or of Core ML's own numbers, says that the device failed.
func (p *Predicate) contradiction() []reason.Reason {
	var out []reason.Reason
	for _, j := range p.Judgements {
		for _, n := range j.Notes {
			if n.Code == reason.AneFallback {
				out = append(out, reason.Reason{Code: reason.PlacementContradicted, Where: Placement, Expected: "runs whose Neural Engine did not fail", Found: j.Name + ": " + n.Found})
			}
		}
	}
	return out
}
