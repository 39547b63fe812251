package mutants

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/power"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/trace"
)

// What placements are claimed for.
const placedEncoder = "ggml-model-encoder.mlmodelc"

var placedDigest = strings.Repeat("e", 64)

// placed judges what is known about a placement, with something done to it.
func placed(policyName string, bend func(*placement.Given)) func() (*verdict.Findings, error) {
	return func() (*verdict.Findings, error) {
		p, err := policy.Frozen(policyName)
		if err != nil {
			return nil, err
		}
		g := &placement.Given{Lane: evidence.LanePhysical, Encoder: placedEncoder, EncoderDigest: placedDigest, OSBuild: "24G84",
			Plan: placementtest.Record(placedDigest, placementtest.Encoder())}
		bend(g)
		return &placement.Judge(g, p).Findings, nil
	}
}

// planned is [placed] with another plan.
func planned(p *computeplan.Plan) func() (*verdict.Findings, error) {
	return placed("placement_plan_v1", func(g *placement.Given) { g.Plan.Plan = p })
}

// traced is [placed] by a recording of the labels.
func traced(contents string, labels ...string) func() (*verdict.Findings, error) {
	return func() (*verdict.Findings, error) {
		c, err := trace.ParseContents([]byte(contents))
		if err != nil {
			return nil, err
		}
		intervals, err := trace.ParseIntervals([]byte(placementtest.Intervals("ane-hw-intervals", labels...)))
		if err != nil {
			return nil, err
		}
		return placed("placement_trace_v1", func(g *placement.Given) {
			g.Trace = &placement.Recording{About: placement.About{Program: "whisper-cli", EncoderDigest: placedDigest}, Contents: c, Intervals: intervals, SHA256: strings.Repeat("c", 64)}
		})()
	}
}

// claimed computes a placement that passes again, with its facts bent, as whoever reads a receipt does.
func claimed(bend func(facts map[string]any)) func() (*verdict.Findings, error) {
	return func() (*verdict.Findings, error) {
		p, err := policy.Frozen("placement_plan_v1")
		if err != nil {
			return nil, err
		}
		j := placement.Judge(&placement.Given{Lane: evidence.LanePhysical, Encoder: placedEncoder, EncoderDigest: placedDigest,
			Plan: placementtest.Record(placedDigest, placementtest.Encoder())}, p)
		bend(j.Facts)
		f := verdict.From(placement.CheckFacts(j, p)...)
		return &f, nil
	}
}

// by claims a placement from something that is no instrument.
func by(what string) func() (*verdict.Findings, error) {
	return claimed(func(facts map[string]any) { facts[verdict.FactInstrument] = what })
}

func placements() []Mutant {
	claim := func(id, made, code string, answer func() (*verdict.Findings, error)) Mutant {
		return Mutant{ID: "placement-" + id, Fakes: "an encoder on the Neural Engine", Made: made, Code: code, Answer: answer}
	}
	const name = "ggml-model-encoder"
	good := placementtest.Contents("whisper-cli", "Core ML", "launched", 0)
	standIn := placementtest.Encoder()
	standIn.Framework = computeplan.FrameworkStandIn
	otherUnits := placementtest.Encoder()
	otherUnits.Units = "cpu_and_neural_engine"
	zero, some := &power.Reading{Samples: 9, Named: 9}, &power.Reading{Samples: 9, Named: 9, NonZero: 9, MeanWatts: 3, MaxWatts: 5.655}
	return []Mutant{
		claim("by-load-marker", "claimed from the load marker", reason.JudgementDiffers, by("load marker")),
		claim("by-requested-units", "claimed from the compute units that were asked for", reason.JudgementDiffers, by("MLComputeUnitsAll")),
		claim("by-speed", "claimed from a speedup", reason.JudgementDiffers, by("a speedup of 3.1")),
		claim("by-transcript", "claimed from a transcript", reason.JudgementDiffers, by("transcript")),
		claim("by-power", "claimed from powermetrics", reason.JudgementDiffers, by("powermetrics")),
		claim("by-other-instrument", "a plan's facts under the name of a trace", reason.JudgementDiffers, by(placement.ByTrace)),
		claim("more-than-seen", "a claim of 100 % over facts of 98 %", reason.JudgementDiffers, claimed(func(f map[string]any) {
			f[verdict.FactPlacement] = "Neural Engine 100.0 % of the estimated cost, planned (MLComputePlan)"
		})),
		claim("no-build", "a claim that names no build of macOS", reason.JudgementDiffers, claimed(func(f map[string]any) { delete(f, verdict.FactOSBuild) })),
		claim("no-encoder", "a claim that names no encoder", reason.JudgementDiffers, claimed(func(f map[string]any) { delete(f, verdict.FactEncoder) })),
		claim("emulated-facts", "a claim whose facts are of the emulated lane", reason.JudgementDiffers, claimed(func(f map[string]any) { f[verdict.FactLane] = "emulated" })),
		claim("nothing", "no instrument at all", reason.PlacementNoInstrument, placed("placement_plan_v1", func(g *placement.Given) { g.Plan = nil })),
		claim("power-alone", "Neural Engine power beside the run, and no plan", reason.PlacementNoInstrument, placed("placement_plan_v1", func(g *placement.Given) { g.Plan, g.Power, g.Control = nil, some, zero })),
		claim("emulated-lane", "a plan given to a gate of the emulated lane", reason.PlacementEmulated, placed("placement_plan_v1", func(g *placement.Given) { g.Lane = evidence.LaneEmulated })),
		claim("stand-in", "a plan of the stand-in for Core ML", reason.PlacementStandIn, planned(standIn)),
		claim("no-neural-engine", "a device list without one", reason.PlacementNoNeuralEngine, placed("placement_plan_v1", func(g *placement.Given) { g.Devices = placementtest.List(false) })),
		claim("other-encoder", "the plan of another encoder", reason.PlacementOtherEncoder, placed("placement_plan_v1", func(g *placement.Given) { g.Plan.EncoderDigest = strings.Repeat("0", 64) })),
		claim("other-build", "a plan from another build of macOS", reason.PlacementOtherHost, placed("placement_plan_v1", func(g *placement.Given) { g.OSBuild = "25A354" })),
		claim("other-units", "a plan for fewer compute units", reason.PlacementUnits, planned(otherUnits)),
		claim("supported-only", "the Neural Engine supports each operation, and the CPU is preferred", reason.PlacementShare, planned(placementtest.Plan("cast a cpu 0.1", "matmul b cpu 0.8", "cast c cpu 0.1"))),
		claim("by-count", "most operations on the Neural Engine, most of the cost on the GPU", reason.PlacementShare, planned(placementtest.Plan("add a ne 0.02", "add b ne 0.02", "add c ne 0.02", "matmul d gpu 0.9"))),
		claim("broken-chain", "softmax of every layer on the CPU", reason.PlacementShare, planned(placementtest.Broken("ios16.softmax", computeplan.CPU))),
		claim("no-costs", "a plan without costs", reason.PlacementUnweighed, planned(placementtest.Plan("conv a ne -", "conv b ne -"))),
		claim("costs-of-zero", "a plan whose costs are all zero", reason.PlacementUnweighed, planned(placementtest.Plan("conv a ne 0", "conv b ne 0"))),
		claim("cost-hidden", "the operation that leaves the Neural Engine has no cost", reason.PlacementUnweighed, planned(placementtest.Plan("conv a ne 1", "topk b cpu -"))),
		claim("old-system", "a system without MLComputePlan", reason.PlacementNotObserved, planned(placementtest.Unfinished(computeplan.NotObserved, "MLComputePlan needs macOS 14.4"))),
		claim("plan-failed", "Core ML builds no plan", reason.ComputePlanFailed, planned(placementtest.Unfinished(computeplan.Failed, "Failed to build the model execution plan"))),
		claim("reader-aborted", "the plan's reader aborts", reason.PlanReaderAborted, placed("placement_plan_v1", func(g *placement.Given) {
			g.Plan.Ended, g.Plan.Plan = "signal: aborted", placementtest.Unfinished(computeplan.Pending, "")
		})),
		claim("package", "a package in place of a compiled encoder", reason.LoadNotAsked, planned(placementtest.Unfinished(computeplan.NotAsked, "it holds no coremldata.bin"))),
		claim("policy-of-numbers", "judged under a policy for numbers", reason.PlacementPolicy, placed("fp32_v2", func(*placement.Given) {})),
		claim("trace-empty", "a recording without intervals", reason.PlacementTraceSilent, traced(good)),
		claim("trace-of-others", "intervals that name no encoder", reason.PlacementTraceUnattributed, traced(good, "Neural Engine Prediction", "VisionModel_main__Op0_AneInference")),
		claim("trace-of-loading", "the encoder was loaded there, and not run", reason.PlacementTraceUnattributed, traced(good, name+" Load: prepare and cache")),
		claim("trace-of-longer-name", "an encoder whose name begins with this one's", reason.PlacementTraceUnattributed, traced(good, name+"2_main__Op0_AneInference")),
		claim("trace-of-other-program", "a recording of another program", reason.PlacementTraceTarget, traced(placementtest.Contents("python3", "Core ML", "launched", 0), name+" Prediction")),
		claim("trace-attached", "a recording that was attached to a running program", reason.PlacementTraceTarget, traced(placementtest.Contents("whisper-cli", "Core ML", "attached", 0), name+" Prediction")),
		claim("trace-of-failed-run", "a recording of a run that failed", reason.PlacementTraceTarget, traced(placementtest.Contents("whisper-cli", "Core ML", "launched", 3), name+" Prediction")),
	}
}
