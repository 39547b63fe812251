package placement

import (
	"fmt"
	"math"
	"regexp"
	"slices"
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
	// What lies beside the instrument that decides is compared too: a reader sees it.
	if _, beside := j.Facts[FactPlan]; by == ByPlan || beside || hasAny(j, planFacts) {
		checkPlan(f, j, p, by == ByPlan)
	}
	if _, beside := j.Facts[FactTrace]; by == ByTrace || beside || hasAny(j, traceFacts) {
		checkTrace(f, p, by == ByTrace)
	}
	for _, key := range []string{FactPower, FactPowerControl} {
		if _, ok := j.Facts[key]; ok {
			f.Match(key, powerForm)
		}
	}
	if len(f.Wrong) == 0 {
		f.Text(verdict.FactPlacement, claim(j))
	}
	return f.Wrong
}

// planFacts and traceFacts are what the two instruments leave.
var (
	planFacts  = []string{FactFramework, FactOperations, FactBreaks, factShare(computeplan.NeuralEngine), factShare(computeplan.GPU), factShare(computeplan.CPU), factShare(computeplan.Unknown)}
	traceFacts = []string{FactIntervals, FactPredictions, FactBusy}
)

func hasAny(j *verdict.Judgement, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, ok := j.Facts[key]
		return ok
	})
}

// powerForm is how a reading of power reads.
var powerForm = regexp.MustCompile(`^(?:no Neural Engine power in \d+ samples|Neural Engine power above zero in \d+ of \d+ samples, mean \d+\.\d{3} W, largest \d+\.\d{3} W)$`)

// checkPlan checks what a plan left; decides says whether the pass rests on it. A plan beside a recording may be one that nobody could read.
func checkPlan(f *verdict.FactReader, j *verdict.Judgement, p *policy.Policy, decides bool) {
	if decides {
		f.Text(FactFramework, computeplan.FrameworkApple)
		f.Text(verdict.FactUnitsAsked, computeplan.AllUnits)
	} else if _, ok := j.Facts[FactFramework]; ok {
		f.Text(FactFramework, computeplan.FrameworkApple, computeplan.FrameworkStandIn)
	}
	f.Digest(FactPlan)
	if !decides && !hasAny(j, planFacts[1:]) {
		return
	}
	total, operations, on := 0.0, 0, 0
	for _, d := range computeplan.Devices {
		least := 0.0
		if decides && d == Demanded(p) {
			least = p.Thresholds[planShareMin]
		}
		n := f.Count(factOperations(d), 0, 1<<30)
		if operations += n; d == Demanded(p) {
			on = n
		}
		if _, weighed := j.Facts[factShare(d)]; !decides && !weighed {
			continue // a plan without costs
		}
		share := f.Number(factShare(d), least, 1)
		if total += share; share > 0 && n == 0 {
			f.Fail(factOperations(d), "operations that the share is of", "none")
		}
	}
	if (decides || total > 0) && !(math.Abs(total-1) < 1e-5) {
		f.Fail(factShare(Demanded(p)), "shares that add up to 1", fmt.Sprint(total))
	}
	f.Count(FactOperations, operations, operations)
	// A break has an operation of the device on either side, and one of another device in it.
	breaks := f.Count(FactBreaks, 0, max(0, min(on-1, operations-on)))
	if noted := slices.ContainsFunc(j.Notes, func(r reason.Reason) bool { return r.Code == reason.PlacementChainBroken }); noted != (breaks > 0) {
		f.Fail(FactBreaks, fmt.Sprintf("a note %s where there are breaks, and none elsewhere", reason.PlacementChainBroken), fmt.Sprintf("%d breaks, noted: %v", breaks, noted))
	}
}

// checkTrace checks what a recording left; decides says whether the pass rests on it.
func checkTrace(f *verdict.FactReader, p *policy.Policy, decides bool) {
	least := 0
	if decides {
		least = max(1, int(p.Thresholds[tracePredictionsMin]))
	}
	f.Digest(FactTrace)
	intervals := f.Count(FactIntervals, least, 1<<30)
	predictions := f.Count(FactPredictions, least, max(least, intervals))
	if busy := f.Number(FactBusy, 0, math.MaxFloat32); (busy > 0) != (predictions > 0) {
		f.Fail(FactBusy, "a time above zero for predictions, and none without", fmt.Sprint(busy))
	}
}
