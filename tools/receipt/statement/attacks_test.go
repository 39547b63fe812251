package statement_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
)

// TestBuildAttacks gives the builder judgements that no gate's action wrote, and sources that were not all hashed. Each row
// bears the id of its attack. The receipt is written, and says fail.
func TestBuildAttacks(t *testing.T) {
	for _, c := range []struct {
		id        string
		change    func(t *testing.T, w *gatefixture.World)
		judgement string
		code      string
	}{
		{"B01 a contract without facts", func(_ *testing.T, w *gatefixture.World) { w.Contract.Facts = map[string]any{} }, "contract", "JUDGEMENT_DIFFERS"},
		{"B01 a contract that names no model", func(_ *testing.T, w *gatefixture.World) { delete(w.Contract.Facts, "model_sha256") }, "contract", "JUDGEMENT_DIFFERS"},
		{"B02 parity by the gate's policy", func(t *testing.T, w *gatefixture.World) {
			w.Under(t, w.Parity, "gate_v2")
			w.Parity.Facts["snr_db"], w.Parity.Facts["cosine"] = -40, 0.1
		}, "parity", "JUDGEMENT_DIFFERS"},
		{"B02 parity by a policy of words", func(t *testing.T, w *gatefixture.World) { w.Under(t, w.Parity, "words_v1") }, "parity", "JUDGEMENT_DIFFERS"},
		{"B02 parity below its policy", func(t *testing.T, w *gatefixture.World) { w.Parity.Facts["snr_db"] = -40 }, "parity", "JUDGEMENT_DIFFERS"},
		{"B03 parity of another encoder, its digests cut out", func(_ *testing.T, w *gatefixture.World) {
			delete(w.Parity.Facts, "encoder_digest")
			delete(w.Parity.Facts, "model_sha256")
		}, "parity", "JUDGEMENT_DIFFERS"},
		{"B06 words without facts and policy", func(t *testing.T, w *gatefixture.World) {
			w.Spec.Judgements = append(w.Spec.Judgements, w.JSON(t, "words.json", verdict.NewJudgement("words")))
		}, "words", "JUDGEMENT_DIFFERS"},
		{"B06 words of other programs", func(t *testing.T, w *gatefixture.World) {
			j := w.Words(t)
			delete(j.Facts, "cli_sha256")
			w.Spec.Judgements = append(w.Spec.Judgements, w.JSON(t, "words.json", j))
		}, "words", "JUDGEMENT_DIFFERS"},
		{"B21 sources of one file", func(_ *testing.T, w *gatefixture.World) { w.Sources.Files = 1 }, "sources", "SOURCES_CHANGED"},
		{"B21 sources of all files but one", func(_ *testing.T, w *gatefixture.World) { w.Sources.Files -= 2 }, "sources", "SOURCES_CHANGED"},
		{"B22 sources of another pin", func(_ *testing.T, w *gatefixture.World) { w.Sources.Pin = "other" }, "sources", "SOURCES_CHANGED"},
		{"one program for both sides", func(t *testing.T, w *gatefixture.World) {
			w.File(t, "whisper-cli-ggml", "program")
			w.Contrast.Digests.CLI = w.CoreML.Digests.CLI
		}, "binding", "DIGEST_MISMATCH"},
		{"no evaluator on the emulated lane", func(_ *testing.T, w *gatefixture.World) {
			w.CoreML.Digests.Evaluator, w.Canary.Digests.Evaluator = nil, nil
		}, "binding", "DIGEST_MISMATCH"},
		{"no evaluator in the canary", func(_ *testing.T, w *gatefixture.World) { w.Canary.Digests.Evaluator = nil }, "binding", "DIGEST_MISMATCH"},
	} {
		w := gatefixture.New(t)
		c.change(t, w)
		w.Write(t)
		s := decoded(t, w)
		j := s.Predicate.Judgement(c.judgement)
		if s.Predicate.Verdict != reason.Failed || j == nil || !j.Has(c.code) {
			t.Errorf("%s: verdict %s, %s is %+v, want %s", c.id, s.Predicate.Verdict, c.judgement, j, c.code)
		}
	}
}

// TestHiddenJudgement holds that a judgement whose model says hidden things of itself leaves a receipt that can be read.
func TestHiddenJudgement(t *testing.T) {
	w := gatefixture.New(t)
	w.Contract.Facts["producer"] = "converter\x1b[2J\n::error::x\u202e"
	w.Write(t)
	s := decoded(t, w)
	if got := s.Predicate.Judgement("contract").Facts["producer"]; s.Predicate.Verdict != reason.Pass || got != `converter\u001b[2J\n::error::x\u202e` {
		t.Errorf("verdict %s, producer %q", s.Predicate.Verdict, got)
	}
}

// TestB05 holds that a receipt of the runs alone says what it lacks for the release gate.
func TestB05(t *testing.T) {
	w := gatefixture.New(t)
	w.Contract, w.Parity, w.Spec.Judgements, w.Spec.Required = nil, nil, nil, []string{}
	w.Write(t)
	s := decoded(t, w)
	if got := strings.Join(s.Predicate.Missing(), ", "); s.Predicate.Verdict != reason.Pass || got != "contract, parity" {
		t.Errorf("verdict %s, missing %q", s.Predicate.Verdict, got)
	}
	for _, c := range []struct {
		profile statement.Profile
		lacks   string
	}{{statement.ProfileRelease, "contract, parity"}, {statement.ProfileNumbers, "contract, parity"}, {statement.ProfileRuns, ""}} {
		if got := strings.Join(c.profile.Lacks(s.Predicate.Missing()), ", "); got != c.lacks {
			t.Errorf("profile %s lacks %q, want %q", c.profile, got, c.lacks)
		}
	}
}

// TestPlacement holds that a placement is the one that a known instrument saw, on the lane that places anything, under a frozen policy.
func TestPlacement(t *testing.T) {
	good := gatefixture.New(t).Receipt(t)
	for _, c := range []struct {
		name   string
		change func(s *statement.Statement, j *verdict.Judgement)
		says   string
	}{
		{"seen by a plan", func(*statement.Statement, *verdict.Judgement) {}, ""},
		{"seen by nobody", func(_ *statement.Statement, j *verdict.Judgement) { delete(j.Facts, "instrument") }, "placement is"},
		{"seen by a guess", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["instrument"] = "powermetrics" }, "placement is"},
		{"seen elsewhere", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["placement"] = "CPU" }, "placement is"},
		{"told of as more than was seen", func(s *statement.Statement, j *verdict.Judgement) {
			const all = "Neural Engine 100.0 % of the estimated cost, planned (MLComputePlan)"
			j.Facts["placement"], s.Predicate.Placement = all, all
		}, "placement is"},
		{"a share that the policy does not allow", func(s *statement.Statement, j *verdict.Judgement) {
			j.Facts["share_neural_engine"], j.Facts["share_cpu"] = 0.4, 0.6
			const claim = "Neural Engine 40.0 %, CPU 60.0 % of the estimated cost, planned (MLComputePlan)"
			j.Facts["placement"], s.Predicate.Placement = claim, claim
		}, "placement is"},
		{"the stand-in's", func(_ *statement.Statement, j *verdict.Judgement) { j.Facts["framework"] = "stand-in" }, "placement is"},
		{"under no policy", func(_ *statement.Statement, j *verdict.Judgement) { j.Policy = nil }, "placement is"},
		{"under a policy of another kind", func(s *statement.Statement, j *verdict.Judgement) {
			j.Policy.Name, j.Policy.SHA256 = s.Predicate.Policies[0].Name, s.Predicate.Policies[0].SHA256
		}, "placement is"},
		{"under a policy that was edited", func(_ *statement.Statement, j *verdict.Judgement) { j.Policy.SHA256 = strings.Repeat("0", 64) }, "placement is"},
		{"of another encoder", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["encoder_digest"] = strings.Repeat("0", 64)
		}, "JUDGEMENT_DIFFERS"},
		{"of another build of macOS", func(_ *statement.Statement, j *verdict.Judgement) {
			j.Facts["os_build"], j.Facts["core_ml_host"] = "25A354", "Mac16,10, Apple M4, macOS 26.0 (25A354)"
		}, "judgement \"placement\" has core_ml_host"},
		{"of a run whose Neural Engine failed", func(s *statement.Statement, _ *verdict.Judgement) {
			m := s.Predicate.Judgement("markers")
			m.Notes = append(m.Notes, reason.Reason{Code: reason.AneFallback, Where: "stderr line 4", Expected: "no failure of the Neural Engine", Found: "ANECCompile() FAILED"})
		}, "PLACEMENT_CONTRADICTED"},
		{"on the emulated lane", func(s *statement.Statement, _ *verdict.Judgement) {
			s.Predicate.Lane, s.Predicate.LaneIdentity = evidence.LaneEmulated, map[string]string{"lane": "emulated"}
		}, "on lane emulated"},
		{"seen and not told of", func(s *statement.Statement, _ *verdict.Judgement) {
			s.Predicate.Placement = "not observed"
			s.Predicate.Provisional = append(s.Predicate.Provisional, "placement: not observed")
		}, "has seen it"},
	} {
		s, err := statement.Decode(good)
		if err != nil {
			t.Fatal(err)
		}
		gatefixture.Physical(s)
		c.change(s, gatefixture.Placed(t, s))
		_, err = statement.Encode(s)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// TestPlacementOfTheEmulatedLane holds that a judgement without a placement leaves a receipt that says so, and no pass.
func TestPlacementOfTheEmulatedLane(t *testing.T) {
	w := gatefixture.New(t)
	p, err := policy.Frozen("placement_plan_v1")
	if err != nil {
		t.Fatal(err)
	}
	standIn := placementtest.Record(*w.CoreML.Digests.Encoder, placementtest.Encoder())
	standIn.Plan.Framework = computeplan.FrameworkStandIn
	others := w.Spec.Judgements
	for name, given := range map[string]*placement.Given{
		reason.PlacementEmulated: {Lane: evidence.LaneEmulated, Encoder: "ggml-model-encoder.mlmodelc", EncoderDigest: *w.CoreML.Digests.Encoder},
		reason.PlacementStandIn:  {Lane: evidence.LaneEmulated, Encoder: "ggml-model-encoder.mlmodelc", EncoderDigest: *w.CoreML.Digests.Encoder, Plan: standIn},
	} {
		j := placement.Judge(given, p)
		w.Spec.Judgements = append(slices.Clone(others), w.JSON(t, "placement.json", j))
		s := decoded(t, w)
		if got := s.Predicate.Judgement("placement"); s.Predicate.Verdict != reason.Unknown || s.Predicate.Placement != "not observed" || !got.Has(name) {
			t.Errorf("%s: verdict %s, placement %q, %+v", name, s.Predicate.Verdict, s.Predicate.Placement, got)
		}
		if b := s.Predicate.Judgement("binding"); b.Verdict != reason.Pass {
			t.Errorf("%s: binding %+v", name, b)
		}
	}
}
