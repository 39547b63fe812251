package statement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// byCoreML and byEvaluator are facts that only the one or the other leaves.
var (
	byCoreML    = []string{verdict.FactCoreMLHost, verdict.FactUnitsLoaded, verdict.FactUnitsAsked, verdict.FactLoadAttempts}
	byEvaluator = []string{verdict.FactEvaluator}
)

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
	case ok && own == verdict.FactCoreMLHost && !strings.HasSuffix(source, "("+identity["os_build"]+")"):
		return expected, verdict.FactCoreMLHost + " " + source
	}
	return "", ""
}
