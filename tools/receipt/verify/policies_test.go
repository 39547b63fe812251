package verify_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// TestThresholds compares what a parity judgement says that it measured with the limits of its policy.
func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		facts        map[string]any
		where        string
	}{
		{"as measured", "fp32_v2", map[string]any{}, ""},
		{"at the limit", "fp32_v2", map[string]any{"snr_db": 100, "cosine": 1}, ""},
		{"too noisy", "fp32_v2", map[string]any{"snr_db": 99.9}, "parity.snr_db"},
		{"too far", "fp32_v2", map[string]any{"cosine": 0.5}, "parity.cosine"},
		{"in words", "fp32_v2", map[string]any{"snr_db": "120"}, "parity.snr_db"},
		{"of another precision", "fp32_v2", map[string]any{"precision": "float16"}, "parity.precision"},
		{"that denies its gate", "fp32_v2", map[string]any{"satisfies_gate": false}, "parity.satisfies_gate"},
		{"under a laxer policy", "fp16_v1", map[string]any{"precision": "float16", "satisfies_gate": false, "snr_db": 50}, ""},
		{"under a laxer policy that claims the gate", "fp16_v1", map[string]any{"precision": "float16", "snr_db": 50}, "parity.satisfies_gate"},
	} {
		s := newScene(t)
		s.demands.Profile = statement.ProfileNumbers
		gatefixture.Precise(t, s.world.Contract, s.world.Parity, map[string]string{"fp32_v2": "float32", "fp16_v1": "float16"}[c.policy], c.policy)
		s.rebuild(t)
		s.bend(t, func(p *statement.Predicate) {
			facts := p.Judgement("parity").Facts
			for name, value := range c.facts {
				facts[name] = value
			}
			if c.name == "under a laxer policy that claims the gate" {
				facts["satisfies_gate"] = true
			}
		})
		r := s.verify(t, s.signed(t))
		where := ""
		if len(r.Reasons) > 0 {
			where = r.Reasons[0].Where
		}
		if where != c.where || c.where != "" && r.Reasons[0].Code != "JUDGEMENT_DIFFERS" {
			t.Errorf("%s: %v, want JUDGEMENT_DIFFERS at %q", c.name, r.Reasons, c.where)
		}
	}
}

// TestJudgementLane holds that a receipt of the emulated lane whose numbers are said to be a Mac's does not verify, whoever signs it.
func TestJudgementLane(t *testing.T) {
	s := newScene(t)
	if r := s.verify(t, s.signed(t)); r.Verdict != reason.Pass {
		t.Fatalf("the evaluator's numbers: %v", r.Reasons)
	}
	s.bend(t, func(p *statement.Predicate) {
		facts := p.Judgement("parity").Facts
		delete(facts, "kernel_path")
		facts["core_ml_host"] = "Mac16,10"
	})
	r := s.verify(t, s.signed(t))
	if r.Verdict != reason.Failed || len(r.Reasons) != 1 || r.Reasons[0].Code != "RECEIPT_MALFORMED" || !strings.Contains(r.Reasons[0].Found, "core_ml_host") {
		t.Errorf("numbers of a Mac on the emulated lane: %v", r.Reasons)
	}
}
