package placement

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
)

// Facts of the judgement, beside those that all judgements share.
const (
	// FactDevice is the device that the policy demands.
	FactDevice = "device"
	// FactEncoderName is the name of the encoder's folder, by which a recording's labels name it.
	FactEncoderName = "encoder_name"
	// FactFramework is what answered: com.apple.CoreML, or stand-in.
	FactFramework = "framework"
	// FactPlan is the SHA-256 of the plan's record, and FactTrace that of the recording's files.
	FactPlan  = "plan_sha256"
	FactTrace = "trace_sha256"
	// FactOperations counts the operations that have a device, and FactBreaks the breaks of the chain on the demanded one.
	FactOperations = "operations"
	FactBreaks     = "chain_breaks"
	// FactIntervals counts the Neural Engine's intervals of the whole system, FactPredictions those of the encoder; FactBusy is
	// their time in milliseconds.
	FactIntervals   = "trace_intervals"
	FactPredictions = "trace_predictions"
	FactBusy        = "trace_busy_ms"
	// FactPower and FactPowerControl say what powermetrics shows.
	FactPower        = "power"
	FactPowerControl = "power_control"
)

// factShare is the fact that holds a device's share of the estimated cost, 0 to 1, and factOperations its number of operations.
func factShare(d computeplan.Device) string      { return "share_" + string(d) }
func factOperations(d computeplan.Device) string { return "operations_" + string(d) }

// claim is the placement in words, from the facts: what was seen, and by which instrument.
func claim(j *verdict.Judgement) string {
	if j.Facts[verdict.FactInstrument] == ByTrace {
		n, _ := verdict.Number(j.Facts[FactPredictions])
		return fmt.Sprintf("%d predictions of the encoder on %s, recorded (%s)", int(n), computeplan.NeuralEngine.Title(), ByTrace)
	}
	var shares []string
	for _, d := range computeplan.Devices {
		if share, ok := verdict.Number(j.Facts[factShare(d)]); ok && (share > 0 || string(d) == j.Facts[FactDevice]) {
			shares = append(shares, fmt.Sprintf("%s %.1f %%", d.Title(), 100*share))
		}
	}
	return strings.Join(shares, ", ") + " of the estimated cost, planned (" + ByPlan + ")"
}

var nameForm = regexp.MustCompile(`^[^/]+\.mlmodelc$`)

var buildForm = regexp.MustCompile(`^[0-9]+[A-Z][0-9A-Za-z]+$`)

// CheckFacts computes a judgement that passes again, from its own facts and its policy, and returns what does not allow the pass.
func CheckFacts(j *verdict.Judgement, p *policy.Policy) []reason.Reason {
	f := verdict.ReadFacts(j)
	by, err := Instrument(p)
	if err != nil {
		f.Fail("policy", "a frozen policy of kind "+Kind, p.Name)
		return f.Wrong
	}
	f.Text(verdict.FactInstrument, by)
	f.Text(FactDevice, p.AppliesTo)
	// Only Apple's Core ML places anything.
	f.Text(verdict.FactLane, string(evidence.LanePhysical))
	f.Digest(verdict.FactEncoder)
	f.Match(FactEncoderName, nameForm)
	build := f.Match(verdict.FactOSBuild, buildForm)
	if host, ok := j.Facts[verdict.FactCoreMLHost].(string); !ok || !strings.HasSuffix(host, "("+build+")") {
		f.Fail(verdict.FactCoreMLHost, "the machine, with build ("+build+")", fmt.Sprint(j.Facts[verdict.FactCoreMLHost]))
	}
	if by == ByPlan {
		checkPlan(f, j, p)
	} else {
		f.Digest(FactTrace)
		intervals := f.Count(FactIntervals, 1, 1<<30)
		f.Count(FactPredictions, max(1, int(p.Thresholds[tracePredictionsMin])), max(1, intervals))
		f.Number(FactBusy, 0, math.MaxFloat32)
	}
	if len(f.Wrong) == 0 {
		f.Text(verdict.FactPlacement, claim(j))
	}
	return f.Wrong
}

func checkPlan(f *verdict.FactReader, j *verdict.Judgement, p *policy.Policy) {
	f.Text(FactFramework, computeplan.FrameworkApple)
	f.Text(verdict.FactUnitsAsked, computeplan.AllUnits)
	f.Digest(FactPlan)
	total, operations := 0.0, 0
	for _, d := range computeplan.Devices {
		least := 0.0
		if d == Demanded(p) {
			least = p.Thresholds[planShareMin]
		}
		total += f.Number(factShare(d), least, 1)
		operations += f.Count(factOperations(d), 0, 1<<30)
	}
	if !(math.Abs(total-1) < 1e-5) {
		f.Fail(factShare(Demanded(p)), "shares that add up to 1", fmt.Sprint(total))
	}
	f.Count(FactOperations, operations, operations)
	f.Count(FactBreaks, 0, operations)
}
