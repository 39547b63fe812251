package transcript_test

import (
	"reflect"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// The frozen policy of words has every threshold that a judgement needs, and no other.
func TestFrozenPolicy(t *testing.T) {
	frozen, err := policy.Frozen("words_v2")
	if err != nil {
		t.Fatal(err)
	}
	p, err := transcript.PolicyFrom(frozen.Thresholds)
	if err != nil {
		t.Fatal(err)
	}
	want := transcript.Policy{CorpusRateMax: 0.02, FileRateMax: 0.1, FileEditsFree: 1, WorseThanGGMLMax: 0.01, CorpusVsGGMLMax: 0.02, FileVsGGMLMax: 0.1, FixturesMin: 10, UnitsMin: 300,
		Strict: &transcript.StrictPolicy{CorpusRateMax: 0.03, FileRateMax: 0.15, CorpusVsGGMLMax: 0.03, FileVsGGMLMax: 0.15}}
	if frozen.Kind != "transcript" || !reflect.DeepEqual(p, want) {
		t.Errorf("kind %q, policy %+v, want transcript, %+v", frozen.Kind, p, want)
	}
}
