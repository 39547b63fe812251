package verify_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
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
		{"the load marker", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "load marker" }, "JUDGEMENT_DIFFERS"},
		{"requested units", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "MLComputeUnitsAll" }, "JUDGEMENT_DIFFERS"},
		{"a speedup", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "speedup of 3.1" }, "JUDGEMENT_DIFFERS"},
		{"a transcript", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "transcript" }, "JUDGEMENT_DIFFERS"},
		{"power", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "powermetrics" }, "JUDGEMENT_DIFFERS"},
		{"the stand-in", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["framework"] = "stand-in" }, "JUDGEMENT_DIFFERS"},
		{"an empty judgement", func(s *statement.Statement, j *verdict.Judgement) {
			*j = *verdict.NewJudgement("placement")
			s.Predicate.Policies = s.Predicate.Policies[:len(s.Predicate.Policies)-1]
		}, "JUDGEMENT_DIFFERS"},
		{"a plan of another encoder", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["encoder_digest"] = strings.Repeat("0", 64)
		}, "JUDGEMENT_DIFFERS"},
		{"R43 operations of nothing, and their share", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["operations_neural_engine"], j.Facts["operations"] = 0, 2
		}, "JUDGEMENT_DIFFERS"},
		{"R12 more breaks than operations allow", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["chain_breaks"] = 13
		}, "JUDGEMENT_DIFFERS"},
		{"R23 a note of breaks that its facts do not have", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Add(reason.PlacementChainBroken, "e", "one chain", "9 breaks")
		}, "JUDGEMENT_DIFFERS"},
		{"R12 a recording beside the plan, of impossible counts", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["trace_predictions"], j.Facts["trace_intervals"], j.Facts["trace_busy_ms"] = -5, "many", 0
		}, "JUDGEMENT_DIFFERS"},
		{"R43 power in words of its own", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["power"] = "12 W, which proves the Neural Engine"
		}, "JUDGEMENT_DIFFERS"},
		{"R43 the stand-in beside, with a share above 1", func(s *statement.Statement, j *verdict.Judgement) {
			byTrace(s, j)
			j.Facts["framework"], j.Facts["share_neural_engine"] = "stand-in", 7
		}, "JUDGEMENT_DIFFERS"},
		{"R43 a recording in which nothing was busy", func(s *statement.Statement, j *verdict.Judgement) {
			byTrace(s, j)
			j.Facts["trace_busy_ms"] = 0
		}, "JUDGEMENT_DIFFERS"},
		{"seen by a recording", byTrace, ""},
		{"R43 a Neural Engine that failed in the canary", func(s *statement.Statement, _ *verdict.Judgement) {
			p := s.Predicate.Judgement("canary")
			p.Notes = append(p.Notes, reason.Reason{Code: reason.AneFallback, Where: "x", Expected: "y", Found: "ANECCompile() FAILED"})
		}, "PLACEMENT_CONTRADICTED"},
		{"no digest of the plan", func(_ *statement.Statement, j *verdict.Judgement) { delete(j.Facts, "plan_sha256") }, "JUDGEMENT_DIFFERS"},
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

// byTrace lets a placement go by a recording in place of a plan.
func byTrace(s *statement.Statement, j *verdict.Judgement) {
	known, err := policy.Frozen("placement_trace_v1")
	if err != nil {
		panic(err)
	}
	j.Policy = &verdict.PolicyRef{Name: known.Name, SHA256: known.SHA256}
	s.Predicate.Policies[len(s.Predicate.Policies)-1] = statement.PolicyRef{Name: known.Name, Kind: known.Kind, SHA256: known.SHA256, Frozen: true}
	j.Facts["instrument"] = "Instruments trace"
	j.Facts["trace_sha256"], j.Facts["trace_intervals"], j.Facts["trace_predictions"], j.Facts["trace_busy_ms"] = strings.Repeat("a", 64), 100, 100, 5.5
	claim := "100 predictions of the encoder on Neural Engine, recorded (Instruments trace)"
	j.Facts["placement"], s.Predicate.Placement = claim, claim
}

// TestPlacementAgain holds that a placement is judged again from the plan that it names, and that no other plan is taken for it.
func TestPlacementAgain(t *testing.T) {
	other := placementtest.Broken("ios16.softmax", computeplan.CPU)
	for _, c := range []struct {
		name string
		// facts of the judgement, beside those that the plan gives.
		facts     map[string]any
		plan      func(digest, build string) *placement.Record
		code      string
		unchecked bool
	}{
		{"the plan", nil, sameRecord, "", false},
		{"no plan", nil, nil, "", true},
		{"another plan", nil, func(digest, build string) *placement.Record {
			other.Host.OSBuild = build
			return placementtest.Record(digest, other)
		}, "JUDGEMENT_DIFFERS", false},
		{"another share of the same plan", map[string]any{"share_neural_engine": 0.999999, "share_cpu": 0.000001, "share_gpu": 0,
			"placement": "Neural Engine 100.0 %, CPU 0.0 % of the estimated cost, planned (MLComputePlan)"}, sameRecord, "JUDGEMENT_DIFFERS", false},
		{"a recording that it was not judged from", map[string]any{"trace_sha256": strings.Repeat("c", 64), "trace_intervals": 9, "trace_predictions": 9, "trace_busy_ms": 5.5}, sameRecord, "", true},
	} {
		s := newScene(t)
		receipt, err := statement.Decode(s.payload)
		if err != nil {
			t.Fatal(err)
		}
		gatefixture.Physical(receipt)
		j := gatefixture.Placed(t, receipt)
		for fact, value := range c.facts {
			j.Facts[fact] = value
		}
		receipt.Predicate.Placement = j.Facts["placement"].(string)
		if s.payload, err = statement.Encode(receipt); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s.files = verify.Files{AsSigned: true}
		if c.plan != nil {
			data, err := c.plan(receipt.Digest(statement.SubjectEncoder), receipt.Predicate.LaneIdentity["os_build"]).Encode()
			if err != nil {
				t.Fatal(err)
			}
			s.files.Plan = s.world.File(t, "plan.json", string(data))
		}
		r := s.verify(t, s.signed(t))
		if c.code == "" && r.Verdict != reason.Pass || c.code != "" && !r.Has(c.code) {
			t.Errorf("%s: %s %v, want %q", c.name, r.Verdict, r.Reasons, c.code)
		}
		if c.unchecked != strings.Contains(strings.Join(r.Unchecked, "\n"), "the placement again") {
			t.Errorf("%s: unchecked %q", c.name, r.Unchecked)
		}
	}
	// A plan beside a receipt without a placement.
	s := newScene(t)
	s.files = verify.Files{AsSigned: true, Plan: s.world.File(t, "plan.json", "{}")}
	if r := s.verify(t, s.signed(t)); !r.Has(reason.FileUnlisted) {
		t.Errorf("%s %v, want FILE_UNLISTED", r.Verdict, r.Reasons)
	}
}

func sameRecord(digest, build string) *placement.Record {
	plan := placementtest.Encoder()
	plan.Host.OSBuild = build
	return placementtest.Record(digest, plan)
}
