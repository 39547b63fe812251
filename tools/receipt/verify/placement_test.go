package verify_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
)

// TestPlacementDemanded holds that a demand for the judgement placement is met by one that an instrument saw, and by nothing else.
// Every row but the first claims more than that, signed with the right key.
func TestPlacementDemanded(t *testing.T) {
	for _, c := range []struct {
		name string
		// bend changes the receipt with its placement; nil leaves the receipt without one.
		bend func(s *statement.Statement, j *verdict.Judgement)
		code string
	}{
		{"seen by a plan", func(*statement.Statement, *verdict.Judgement) {}, ""},
		{"no placement", nil, "JUDGEMENT_DEMANDED"},
		{"the load marker", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "load marker" }, "RECEIPT_MALFORMED"},
		{"requested units", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "MLComputeUnitsAll" }, "RECEIPT_MALFORMED"},
		{"a speedup", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "speedup of 3.1" }, "RECEIPT_MALFORMED"},
		{"a transcript", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "transcript" }, "RECEIPT_MALFORMED"},
		{"power", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "powermetrics" }, "RECEIPT_MALFORMED"},
		{"the stand-in", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["framework"] = "stand-in" }, "RECEIPT_MALFORMED"},
		{"an empty judgement", func(s *statement.Statement, j *verdict.Judgement) {
			*j = *verdict.NewJudgement("placement")
			s.Predicate.Policies = s.Predicate.Policies[:len(s.Predicate.Policies)-1]
		}, "RECEIPT_MALFORMED"},
		{"a plan of another encoder", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["encoder_digest"] = strings.Repeat("0", 64)
		}, "JUDGEMENT_DIFFERS"},
		{"no digest of the plan", func(_ *statement.Statement, j *verdict.Judgement) { delete(j.Facts, "plan_sha256") }, "RECEIPT_MALFORMED"},
		{"a judgement that did not pass", func(s *statement.Statement, j *verdict.Judgement) {
			j.Add(reason.PlacementShare, "e.mlmodelc", "at least 0.9", "0.4")
			s.Predicate.Placement = "not observed"
		}, "RECEIPT_MALFORMED"},
	} {
		s := newScene(t)
		receipt, err := statement.Decode(s.payload)
		if err != nil {
			t.Fatal(err)
		}
		gatefixture.Physical(receipt)
		if c.bend != nil {
			c.bend(receipt, gatefixture.Placed(t, receipt))
		}
		if s.payload, err = strictjson.Canonical(receipt); err != nil {
			t.Fatal(err)
		}
		s.demands.Judgements, s.files = []string{"placement"}, verify.Files{AsSigned: true}
		r := s.verify(t, s.signed(t))
		if c.code == "" && r.Verdict != reason.Pass || c.code != "" && !r.Has(c.code) {
			t.Errorf("%s: %s %v, want %q", c.name, r.Verdict, r.Reasons, c.code)
		}
		if c.code == "" && r.Facts["placement"] != receipt.Predicate.Placement {
			t.Errorf("the result says placement %v", r.Facts["placement"])
		}
	}
}
