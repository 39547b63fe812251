package placement_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/power"
)

const encoder = "ggml-tiny.en-encoder.mlmodelc"

var (
	digest = strings.Repeat("e", 64)
	other  = strings.Repeat("0", 64)
)

func frozen(t testing.TB, name string) *policy.Policy {
	t.Helper()
	p, err := policy.Frozen(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func codes(reasons []reason.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Code)
	}
	return strings.Join(out, " ")
}

func recording(t *testing.T, contents, intervals string) *placement.Recording {
	t.Helper()
	r, err := placement.ReadRecording(placementtest.Recording(t, digest, contents, intervals))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// given is what a Mac says about an encoder that is on its Neural Engine.
func given() *placement.Given {
	return &placement.Given{Lane: evidence.LanePhysical, Encoder: encoder, EncoderDigest: digest, OSBuild: "24G84", Plan: placementtest.Record(digest, placementtest.Encoder())}
}

func TestByPlan(t *testing.T) {
	ended := func(by string, timed bool, said string) func(*placement.Given) {
		return func(g *placement.Given) {
			g.Plan.Ended, g.Plan.TimedOut, g.Plan.Said, g.Plan.Plan = by, timed, said, placementtest.Unfinished(computeplan.Pending, "")
		}
	}
	plan := func(p *computeplan.Plan) func(*placement.Given) {
		return func(g *placement.Given) { g.Plan.Plan = p }
	}
	for _, c := range []struct {
		name           string
		bend           func(*placement.Given)
		reasons, notes string
		found          string
	}{
		{"on the Neural Engine", func(*placement.Given) {}, "", "", ""},
		{"without a demand for a build", func(g *placement.Given) { g.OSBuild = "" }, "", "", ""},
		{"a device list that has one", func(g *placement.Given) { g.Devices = placementtest.List(true) }, "", "", ""},
		{"a device list that has none", func(g *placement.Given) { g.Devices = placementtest.List(false) }, "PLACEMENT_NO_NEURAL_ENGINE", "", "CPU, GPU"},
		{"a plan whose machine has none", func(g *placement.Given) {
			g.Plan.Plan = placementtest.Plan("ios16.conv a cpu 1")
			g.Plan.Plan.Devices, g.Plan.Plan.Operations[0].Supported = placementtest.List(false).Devices, []computeplan.Device{computeplan.CPU}
		}, "PLACEMENT_NO_NEURAL_ENGINE", "", "CPU, GPU"},
		{"the emulated lane", func(g *placement.Given) { g.Lane, g.Plan = evidence.LaneEmulated, nil }, "PLACEMENT_EMULATED PLACEMENT_NO_INSTRUMENT", "", "emulated"},
		{"a plan of Apple's on the emulated lane", func(g *placement.Given) { g.Lane = evidence.LaneEmulated }, "PLACEMENT_EMULATED", "", "emulated"},
		{"the stand-in", func(g *placement.Given) { g.Plan.Plan.Framework = computeplan.FrameworkStandIn }, "PLACEMENT_STAND_IN", "", "stand-in"},
		{"nothing", func(g *placement.Given) { g.Plan = nil }, "PLACEMENT_NO_INSTRUMENT", "", "nothing"},
		{"power alone", func(g *placement.Given) {
			g.Plan, g.Power = nil, &power.Reading{Samples: 1, Named: 1, NonZero: 1, MaxWatts: 5}
		},
			"PLACEMENT_NO_INSTRUMENT", "POWER_CORROBORATES", "a reading of power"},
		{"another encoder", func(g *placement.Given) { g.EncoderDigest = other }, "PLACEMENT_OTHER_ENCODER", "", digest},
		{"another build", func(g *placement.Given) { g.OSBuild = "25A354" }, "PLACEMENT_OTHER_HOST", "", "24G84"},
		{"other units", func(g *placement.Given) { g.Plan.Plan.Units = "cpu_and_neural_engine" }, "PLACEMENT_UNITS", "", "cpu_and_neural_engine"},
		{"an aborted reader", ended("signal: aborted", false, "It is not a valid .mlmodelc file."), "PLAN_READER_ABORTED", "", "signal: aborted, saying: It is not a valid"},
		{"a reader that never answers", ended("deadline of 15m0s", true, ""), "PROBE_TIMEOUT", "", "none until the deadline of 15m0s"},
		{"a reader that left nothing", func(g *placement.Given) { g.Plan.Ended, g.Plan.Plan = "signal: killed", nil }, "PLAN_READER_ABORTED", "", "signal: killed"},
		{"a failed plan", plan(placementtest.Unfinished(computeplan.Failed, "Failed to build the model execution plan")), "COMPUTE_PLAN_FAILED", "", "Failed to build"},
		{"an old system", plan(placementtest.Unfinished(computeplan.NotObserved, "MLComputePlan needs macOS 14.4")), "PLACEMENT_NOT_OBSERVED", "", "14.4"},
		{"a package", plan(placementtest.Unfinished(computeplan.NotAsked, "it holds no coremldata.bin")), "LOAD_NOT_ASKED", "", "coremldata.bin"},
		{"the CPU, though the Neural Engine is supported (B11)", plan(placementtest.Plan("cast a cpu 0.1", "matmul b cpu 0.8", "cast c cpu 0.1")), "PLACEMENT_SHARE", "", "matmul (layer b) on CPU"},
		{"softmax on the GPU", plan(placementtest.Broken("ios16.softmax", computeplan.GPU)), "PLACEMENT_SHARE", "PLACEMENT_CHAIN_BROKEN", "ios16.softmax (layer layer_0_softmax_cast_fp16) on GPU"},
		{"no costs at all", plan(placementtest.Plan("cast a cpu -", "conv b ne -")), "PLACEMENT_UNWEIGHED", "", "none among 2; 1 of them on Neural Engine"},
		{"costs of zero", plan(placementtest.Plan("cast a cpu 0", "conv b cpu 0")), "PLACEMENT_UNWEIGHED", "", "none among 2; 0 of them"},
		{"an operation elsewhere without a cost", plan(placementtest.Plan("conv a ne 0.9", "topk b cpu -")), "PLACEMENT_UNWEIGHED", "", "topk (layer b) on CPU"},
		{"power too", func(g *placement.Given) {
			g.Power = &power.Reading{Samples: 2, Named: 2, NonZero: 1, MaxWatts: 1, MeanWatts: 0.5}
		}, "", "POWER_CORROBORATES", ""},
		{"no power, without a control (B19)", func(g *placement.Given) { g.Power = &power.Reading{Samples: 2, Named: 2} }, "", "POWER_SILENT", ""},
		{"no power, and a control without", func(g *placement.Given) {
			g.Power, g.Control = &power.Reading{Samples: 2, Named: 2}, &power.Reading{Samples: 2, Named: 2}
		}, "", "POWER_SILENT", ""},
		{"no power, where a control has some", func(g *placement.Given) {
			g.Power, g.Control = &power.Reading{Samples: 2, Named: 2}, &power.Reading{Samples: 2, Named: 2, NonZero: 2, MaxWatts: 3}
		}, "", "PLACEMENT_DISAGREES", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := given(), frozen(t, "placement_plan_v1")
			c.bend(g)
			j := placement.Judge(g, p)
			if codes(j.Reasons) != c.reasons || codes(j.Notes) != c.notes {
				t.Fatalf("reasons %v, notes %v, want %q and %q", j.Reasons, j.Notes, c.reasons, c.notes)
			}
			if c.found != "" && !strings.Contains(j.Reasons[0].Found, c.found) && !strings.Contains(j.Reasons[len(j.Reasons)-1].Found, c.found) {
				t.Errorf("%v, want what was found to say %q", j.Reasons, c.found)
			}
			// Only a pass claims, and what it claims can be computed again.
			claim, claims := j.Facts["placement"]
			if claims != (j.Verdict == reason.Pass) {
				t.Errorf("verdict %s, placement %v", j.Verdict, claim)
			}
			if wrong := placement.CheckFacts(j, p); (len(wrong) == 0) != claims {
				t.Errorf("verdict %s, but its facts say %v", j.Verdict, wrong)
			}
		})
	}
}

func TestClaim(t *testing.T) {
	j := placement.Judge(given(), frozen(t, "placement_plan_v1"))
	for fact, want := range map[string]any{
		"instrument": "MLComputePlan", "lane": "physical", "encoder_digest": digest, "os_build": "24G84", "device": "neural_engine", "framework": "com.apple.CoreML",
		"placement":    "Neural Engine 98.0 %, CPU 2.0 % of the estimated cost, planned (MLComputePlan)",
		"core_ml_host": "Mac16,10, Apple M4, macOS 15.6 (24G84)", "chain_breaks": 0, "operations": 14, "operations_neural_engine": 12, "share_neural_engine": 0.979592,
	} {
		if j.Facts[fact] != want {
			t.Errorf("%s is %v, want %v", fact, j.Facts[fact], want)
		}
	}
	if j.Policy == nil || j.Policy.Name != "placement_plan_v1" {
		t.Errorf("policy %+v", j.Policy)
	}
}

func TestByTrace(t *testing.T) {
	good := placementtest.Contents("whisper-cli", "Core ML", "launched", 0)
	name := strings.TrimSuffix(encoder, ".mlmodelc")
	predicted := placementtest.Intervals("ane-hw-intervals", name+"_main Load", name+"_main__Op0_AneInference", name+"_main__Op0_AneInference")
	for _, c := range []struct {
		name                string
		contents, intervals string
		bend                func(*placement.Given)
		reasons, notes      string
	}{
		{"two predictions", good, predicted, nil, "", ""},
		{"no intervals", good, placementtest.Intervals("ane-hw-intervals"), nil, "PLACEMENT_TRACE_SILENT", ""},
		{"of someone", good, placementtest.Intervals("ane-hw-intervals", "Neural Engine Prediction"), nil, "PLACEMENT_TRACE_UNATTRIBUTED", ""},
		{"loading alone", good, placementtest.Intervals("ane-hw-intervals", name+" Load"), nil, "PLACEMENT_TRACE_UNATTRIBUTED", ""},
		{"another program", placementtest.Contents("python3", "Core ML", "launched", 0), predicted, nil, "PLACEMENT_TRACE_TARGET", ""},
		{"an attached program", placementtest.Contents("whisper-cli", "Core ML", "attached", 0), predicted, nil, "PLACEMENT_TRACE_TARGET", ""},
		{"another template", placementtest.Contents("whisper-cli", "Time Profiler", "launched", 0), predicted, nil, "PLACEMENT_TRACE_TARGET", ""},
		{"a run that failed", placementtest.Contents("whisper-cli", "Core ML", "launched", 3), predicted, nil, "PLACEMENT_TRACE_TARGET", ""},
		{"another encoder", good, predicted, func(g *placement.Given) { g.EncoderDigest = other }, "PLACEMENT_OTHER_ENCODER", ""},
		{"another build", good, predicted, func(g *placement.Given) { g.OSBuild = "25A354" }, "PLACEMENT_OTHER_HOST", ""},
		{"a plan in its place", good, predicted, func(g *placement.Given) { g.Trace, g.Plan = nil, placementtest.Record(digest, placementtest.Encoder()) }, "PLACEMENT_NO_INSTRUMENT", ""},
		{"a plan that says the same", good, predicted, func(g *placement.Given) { g.Plan = placementtest.Record(digest, placementtest.Encoder()) }, "", ""},
		{"a plan that says otherwise", good, predicted, func(g *placement.Given) { g.Plan = placementtest.Record(digest, placementtest.Plan("conv a cpu 1")) }, "", "PLACEMENT_DISAGREES"},
		{"a plan of the stand-in", good, predicted, func(g *placement.Given) {
			g.Plan = placementtest.Record(digest, placementtest.Encoder())
			g.Plan.Plan.Framework = computeplan.FrameworkStandIn
		}, "", "PLACEMENT_BESIDE"},
		{"a plan of another encoder", good, predicted, func(g *placement.Given) { g.Plan = placementtest.Record(other, placementtest.Encoder()) }, "PLACEMENT_OTHER_ENCODER", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := given(), frozen(t, "placement_trace_v1")
			g.Plan, g.Trace = nil, recording(t, c.contents, c.intervals)
			if c.bend != nil {
				c.bend(g)
			}
			j := placement.Judge(g, p)
			if codes(j.Reasons) != c.reasons || codes(j.Notes) != c.notes {
				t.Fatalf("reasons %v, notes %v, want %q and %q", j.Reasons, j.Notes, c.reasons, c.notes)
			}
			if wrong := placement.CheckFacts(j, p); (len(wrong) == 0) != (j.Verdict == reason.Pass) {
				t.Errorf("verdict %s, but its facts say %v", j.Verdict, wrong)
			}
			if j.Verdict == reason.Pass && j.Facts["placement"] != "2 predictions of the encoder on Neural Engine, recorded (Instruments trace)" {
				t.Errorf("placement %v", j.Facts["placement"])
			}
		})
	}
	// The plan decides, and the recording that says otherwise is kept beside it.
	g := given()
	g.Trace = recording(t, good, placementtest.Intervals("ane-hw-intervals"))
	if j := placement.Judge(g, frozen(t, "placement_plan_v1")); j.Verdict != reason.Pass || codes(j.Notes) != "PLACEMENT_DISAGREES" || j.Facts["trace_intervals"] != 0 {
		t.Errorf("%s %v %v", j.Verdict, j.Notes, j.Facts)
	}
}

func TestPolicies(t *testing.T) {
	for _, c := range []struct{ name, by string }{{"placement_plan_v1", placement.ByPlan}, {"placement_trace_v1", placement.ByTrace}, {"fp32_v2", ""}, {"gate_v2", ""}} {
		by, err := placement.Instrument(frozen(t, c.name))
		if by != c.by || (err == nil) != (c.by != "") {
			t.Errorf("%s: %q, %v", c.name, by, err)
		}
	}
	if j := placement.Judge(given(), frozen(t, "fp32_v2")); codes(j.Reasons) != "PLACEMENT_POLICY" {
		t.Errorf("judged under a policy for numbers: %v", j.Reasons)
	}
	for name, bend := range map[string]func(*policy.Policy){
		"both instruments": func(p *policy.Policy) { p.Thresholds["trace_predictions_min"] = 1 },
		"no instrument":    func(p *policy.Policy) { p.Thresholds = map[string]float64{} },
		"another device":   func(p *policy.Policy) { p.AppliesTo = "ane" },
		"a changed policy": func(p *policy.Policy) { p.SHA256 = other },
	} {
		p := *frozen(t, "placement_plan_v1")
		p.Thresholds = map[string]float64{"plan_share_min": 0.9}
		bend(&p)
		if _, err := placement.Instrument(&p); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestCheckFacts holds that no fact of a pass can be bent.
func TestCheckFacts(t *testing.T) {
	p := frozen(t, "placement_plan_v1")
	for fact, to := range map[string]any{
		"instrument": "load marker", "device": "cpu", "framework": "stand-in", "lane": "emulated", "encoder_digest": "x", "os_build": "", "core_ml_host": "Mac (23A1)",
		"compute_units_asked": "cpu_only", "encoder_name": "a/b", "plan_sha256": nil, "share_neural_engine": 0.5, "share_cpu": 0.5, "operations": 3, "operations_gpu": -1, "chain_breaks": 99,
		"placement": "Neural Engine 100.0 % of the estimated cost, planned (MLComputePlan)",
	} {
		j := placement.Judge(given(), p)
		if _, ok := j.Facts[fact]; !ok {
			t.Fatalf("no fact %s", fact)
		}
		j.Facts[fact] = to
		if len(placement.CheckFacts(j, p)) == 0 {
			t.Errorf("%s: %v is taken", fact, to)
		}
		delete(j.Facts, fact)
		if len(placement.CheckFacts(j, p)) == 0 {
			t.Errorf("%s is not missed", fact)
		}
	}
	for _, instrument := range []string{"load marker", "MLComputeUnitsAll", "speedup", "transcript", "powermetrics", "requested units", "Instruments trace"} {
		j := placement.Judge(given(), p)
		j.Facts[verdict.FactInstrument] = instrument
		if len(placement.CheckFacts(j, p)) == 0 {
			t.Errorf("a placement is claimed from: %s", instrument)
		}
	}
}
