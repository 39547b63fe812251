package statement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// A judgement of numbers says in its facts what computed them: our evaluator by its code, or Core ML by the machine.
const (
	parityKind    = "parity"
	factEvaluator = "kernel_path"
	factCoreML    = "core_ml_host"
	noteEvaluator = reason.EmulatedUnits
)

// byCoreML and byEvaluator are facts that only the one or the other leaves.
var (
	byCoreML    = []string{factCoreML, "compute_units_loaded", "compute_units_asked", "load_attempts"}
	byEvaluator = []string{factEvaluator}
)

// ofNumbers says whether a judgement is one that needs a policy of numbers, whatever policy it has.
func ofNumbers(j *verdict.Judgement) bool {
	_, says := j.Facts["satisfies_gate"]
	return says || j.Name == parityKind
}

// checkSource holds what computed a judgement's numbers against the lane and its identity: what was expected and what was
// found, both "" where they agree. Numbers that pass must say it; kind is that of the judgement's policy.
func checkSource(j *verdict.Judgement, kind string, lane evidence.Lane, identity map[string]string) (expected, found string) {
	expected = "numbers of the emulated lane's evaluator (" + factEvaluator + ")"
	own, foreign := factEvaluator, byCoreML
	if lane == evidence.LanePhysical {
		expected = "numbers of Core ML on build " + identity["os_build"] + " (" + factCoreML + ")"
		own, foreign = factCoreML, byEvaluator
		if slices.ContainsFunc(j.Notes, func(r reason.Reason) bool { return r.Code == noteEvaluator }) {
			return expected, "note " + noteEvaluator
		}
	}
	for _, fact := range foreign {
		if value, ok := j.Facts[fact]; ok {
			return expected, fmt.Sprintf("%s %v", fact, value)
		}
	}
	source, ok := j.Facts[own].(string)
	switch {
	case !ok && j.Verdict == reason.Pass && (ofNumbers(j) || kind == parityKind):
		return expected, "nothing that says what computed them"
	case ok && own == factCoreML && !strings.HasSuffix(source, "("+identity["os_build"]+")"):
		return expected, factCoreML + " " + source
	}
	return "", ""
}
