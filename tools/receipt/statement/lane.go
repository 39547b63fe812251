package statement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// byCoreML and byEvaluator are facts that only the one or the other leaves.
var (
	byCoreML    = []string{verdict.FactCoreMLHost, verdict.FactUnitsLoaded, verdict.FactUnitsAsked, verdict.FactLoadAttempts}
	byEvaluator = []string{verdict.FactEvaluator, judge.FactDoublePredictions}
)

// Members of a lane's identity that the other lane's never has, as the rules core_ml_identity and emulated_identity write them.
var (
	ofMac      = []string{"os_version", "os_build", "hardware", "chip", "xcode_version", "xcode_build"}
	ofEmulated = []string{"bridge", "version", "protocol", "evaluator", "baseline", "double"}
)

// checkIdentity refuses an identity of one lane that has what only the other lane's has: an emulated run that names a Mac, or
// a Mac whose Core ML is the double.
func checkIdentity(lane evidence.Lane, identity map[string]string) error {
	foreign := ofMac
	if lane == evidence.LanePhysical {
		foreign = ofEmulated
		if by := identity["core_ml"]; by == evidence.CoreMLDouble || by == evidence.CoreMLStandIn {
			return fmt.Errorf("receipt: lane is %s, but its identity's core_ml is %s", lane, by)
		}
	}
	for _, member := range foreign {
		if value, ok := identity[member]; ok {
			return fmt.Errorf("receipt: lane is %s, but its identity has the member %s (%q), which only the other lane's has", lane, member, value)
		}
	}
	return nil
}

// checkSource compares what computed a judgement's numbers with the lane and its identity: what was expected and what was
// found, both "" where they agree. Numbers that pass must say it.
func checkSource(j *verdict.Judgement, lane evidence.Lane, identity map[string]string) (expected, found string) {
	expected = "numbers of the emulated lane's evaluator (" + verdict.FactEvaluator + ")"
	own, foreign := verdict.FactEvaluator, byCoreML
	if lane == evidence.LanePhysical {
		expected = "numbers of Core ML on build " + identity["os_build"] + " (" + verdict.FactCoreMLHost + ")"
		own, foreign = verdict.FactCoreMLHost, byEvaluator
		if slices.ContainsFunc(j.Notes, func(r reason.Reason) bool { return r.Code == reason.EmulatedUnits }) {
			return expected, "note " + reason.EmulatedUnits
		}
	}
	for _, fact := range foreign {
		if value, ok := j.Facts[fact]; ok {
			return expected, fmt.Sprintf("%s %v", fact, value)
		}
	}
	source, ok := j.Facts[own].(string)
	switch {
	case !ok && j.Verdict == reason.Pass && (j.Name == parity.Name || j.Name == Placement):
		return expected, "nothing that says what computed them"
	case ok && own == verdict.FactCoreMLHost && (!judgements.IsMac(source) || !strings.HasSuffix(source, "("+identity["os_build"]+")")):
		return expected, verdict.FactCoreMLHost + " " + source
	}
	return "", ""
}

// checkMembers compares what a passing receipt says of its lane and its toolchain with the lists of package judgements.
func (p *Predicate) checkMembers() error {
	if err := judgements.CheckMembers(judgements.Identity[string(p.Lane)], "receipt: lane_identity", p.LaneIdentity); err != nil {
		return err
	}
	below := map[string]string{"double": evidence.CoreMLDouble, "upstream": evidence.CoreMLStandIn}[p.LaneIdentity["bridge"]]
	if found := p.LaneIdentity["core_ml"]; p.Lane == evidence.LaneEmulated && found != below {
		return fmt.Errorf("receipt: lane_identity.core_ml is %q, expected %q, which is below the bridge %s", found, below, p.LaneIdentity["bridge"])
	}
	if set := p.LaneIdentity["instruction_set"]; p.Lane == evidence.LaneEmulated && p.LaneIdentity["baseline"] != judgements.Baselines[set] {
		return fmt.Errorf("receipt: lane_identity.baseline is %q, expected %q, which is that of the instruction set %q", p.LaneIdentity["baseline"], judgements.Baselines[set], set)
	}
	if len(p.Toolchain) == 0 {
		return nil // and the receipt says that it is not recorded
	}
	return judgements.CheckMembers(judgements.Toolchain, "receipt: toolchain", p.Toolchain)
}
