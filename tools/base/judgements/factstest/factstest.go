// Package factstest checks in tests that what a judge writes is what the lists of package judgements have.
package factstest

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// Check reports each fact of a judgement that its list does not have so. lane is that of the run, physical or emulated.
func Check(t testing.TB, j *verdict.Judgement, lane string) {
	t.Helper()
	kind, ok := judgements.Lookup(j.Name)
	if !ok {
		t.Errorf("no judgement is called %q", j.Name)
	}
	for _, r := range kind.CheckFacts(j, lane) {
		t.Errorf("%s: %v", j.Verdict, r)
	}
}
