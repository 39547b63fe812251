// Package placement judges where an encoder runs: on the Neural Engine, the GPU or the CPU.
//
// Two instruments can say it: Core ML's compute plan (package computeplan), and a recording by Instruments (package trace). A
// frozen policy of kind placement says which of them decides, for which device, and how much it must see:
//
//	applies_to             the device: neural_engine, gpu or cpu
//	plan_share_min         the least share of the estimated cost that the plan must give to the device
//	trace_predictions_min  the least number of recorded predictions of the encoder on the device
//
// with one of the two thresholds. A load marker, requested compute units, a speedup or a transcript support no placement. What
// powermetrics shows (package power) is noted and decides nothing. Whatever else was given is kept beside what decides, also
// where the two disagree. docs/placement.md describes the commands.
package placement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/power"
)

// Name of the judgement, and Kind of its policies.
const (
	Name = judgements.Placement
	Kind = "placement"
)

// Instruments that can say where a model runs, as a judgement names them.
const (
	ByPlan  = "MLComputePlan"
	ByTrace = "Instruments trace"
)

// ByPower is where notes say what powermetrics shows, which is no instrument of placement.
const ByPower = "powermetrics"

// Instruments lists them.
var Instruments = []string{ByPlan, ByTrace}

// Thresholds of policies.
const (
	planShareMin        = "plan_share_min"
	tracePredictionsMin = "trace_predictions_min"
)

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Instrument is the instrument that decides under a policy; an error where the policy is none for placement.
func Instrument(p *policy.Policy) (string, error) {
	by, refused := instrument(p)
	if refused != nil {
		return "", refused
	}
	return by, nil
}

func instrument(p *policy.Policy) (string, *reason.Error) {
	_, plan := p.Thresholds[planShareMin]
	_, trace := p.Thresholds[tracePredictionsMin]
	devices := []computeplan.Device{computeplan.NeuralEngine, computeplan.GPU, computeplan.CPU}
	if trace {
		// The table that a recording is read from has no other device.
		devices = devices[:1]
	}
	switch {
	case p.Kind != Kind || !p.IsFrozen():
		return "", reason.Errorf(reason.PlacementPolicy, p.Name, "a frozen policy of kind "+Kind, "kind %s, frozen: %v", p.Kind, p.IsFrozen())
	case plan == trace:
		return "", reason.Errorf(reason.PlacementPolicy, p.Name, "one of "+planShareMin+" and "+tracePredictionsMin, "%d thresholds", len(p.Thresholds))
	case !slices.Contains(devices, Demanded(p)):
		return "", reason.Errorf(reason.PlacementPolicy, p.Name, fmt.Sprintf("one of %q in applies_to", devices), "%q", p.AppliesTo)
	case plan:
		return ByPlan, nil
	}
	return ByTrace, nil
}

// Demanded is the device of a policy.
func Demanded(p *policy.Policy) computeplan.Device { return computeplan.Device(p.AppliesTo) }

// Given is what is known about the placement of one encoder. Whatever is missing is nil.
type Given struct {
	Lane evidence.Lane
	// Encoder is the name of its folder, and EncoderDigest the digest of its tree.
	Encoder, EncoderDigest string
	// OSBuild is the build of macOS that the gate names; "" takes the instrument's own.
	OSBuild string
	Devices *computeplan.DeviceList
	Plan    *Record
	Trace   *Recording
	// Power is read beside the run, and Control beside a model that is known to use the Neural Engine.
	Power, Control *power.Reading
}

// Judge judges under a policy that [Instrument] accepts; under any other it refuses.
func Judge(g *Given, p *policy.Policy) *verdict.Judgement {
	j := verdict.NewJudgement(Name)
	j.Policy = &verdict.PolicyRef{Name: p.Name, SHA256: p.SHA256}
	by, refused := instrument(p)
	if refused != nil {
		j.AddReason(refused.Reason)
		return j
	}
	j.Facts[verdict.FactEncoder], j.Facts[verdict.FactLane], j.Facts[FactDevice] = g.EncoderDigest, string(g.Lane), string(Demanded(p))
	j.Facts[FactEncoderName] = g.Encoder
	if NoNeuralEngine(g.Devices, p) {
		j.AddReason(noNeuralEngine(g.Devices.Devices))
		return j
	}
	if g.Lane != evidence.LanePhysical {
		j.Add(reason.PlacementEmulated, "lane", "the physical lane, whose Core ML places operations", string(g.Lane))
	}
	if g.Plan != nil {
		g.judgePlan(j, p, by == ByPlan)
	}
	if g.Trace != nil {
		g.judgeTrace(j, p, by == ByTrace)
	}
	if by == ByPlan && g.Plan == nil || by == ByTrace && g.Trace == nil {
		j.Add(reason.PlacementNoInstrument, g.Encoder, by, g.others())
	}
	g.compare(j, Demanded(p))
	g.notePower(j)
	if j.Verdict == reason.Pass {
		j.Facts[verdict.FactInstrument] = by
		j.Facts[verdict.FactPlacement] = claim(j)
	}
	return j
}

// NoNeuralEngine says whether a policy demands the Neural Engine where the device list has none. A list that was not observed
// denies nothing.
func NoNeuralEngine(l *computeplan.DeviceList, p *policy.Policy) bool {
	return l != nil && l.Result == computeplan.Observed && Demanded(p) == computeplan.NeuralEngine && !l.Has(computeplan.NeuralEngine)
}

func noNeuralEngine(devices []computeplan.Listed) reason.Reason {
	return reason.Reason{Code: reason.PlacementNoNeuralEngine, Where: "MLAllComputeDevices", Expected: "a Neural Engine", Found: listed(devices)}
}

// Refusal is the error of a demand that no run on this machine can meet; nil where one can.
func Refusal(l *computeplan.DeviceList, p *policy.Policy) error {
	if !NoNeuralEngine(l, p) {
		return nil
	}
	return &reason.Error{Reason: noNeuralEngine(l.Devices)}
}

func listed(devices []computeplan.Listed) string {
	var names []string
	for _, d := range devices {
		names = append(names, d.Kind.Title())
	}
	if names == nil {
		return "no device"
	}
	return strings.Join(names, ", ")
}

// others names what was given beside the instrument that is missing.
func (g *Given) others() string {
	var given []string
	for name, has := range map[string]bool{"a compute plan": g.Plan != nil, "a trace": g.Trace != nil, "a reading of power": g.Power != nil, "a device list": g.Devices != nil} {
		if has {
			given = append(given, name)
		}
	}
	if given == nil {
		return "nothing"
	}
	slices.Sort(given)
	return strings.Join(given, ", ")
}

// finding adds what an instrument does not show: a reason if the instrument decides, and a note otherwise. What is about another
// encoder or machine is a reason in any case.
func finding(j *verdict.Judgement, decides bool, code, where, expected, found string) {
	if decides || code == reason.PlacementOtherEncoder || code == reason.PlacementOtherHost {
		j.Add(code, where, expected, found)
		return
	}
	j.Add(reason.PlacementBeside, where, expected, found+" ("+code+")")
}

// notePower adds what powermetrics shows. It decides nothing.
func (g *Given) notePower(j *verdict.Judgement) {
	if g.Power == nil {
		return
	}
	j.Facts[FactPower] = g.Power.String()
	const where, expected = ByPower, "Neural Engine power beside the run"
	control := "no positive control"
	if g.Control != nil {
		control = "the control has " + g.Control.String()
		j.Facts[FactPowerControl] = g.Control.String()
	}
	switch {
	case g.Power.NonZero > 0:
		j.Add(reason.PowerCorroborates, where, expected, g.Power.String())
	case g.Control != nil && g.Control.NonZero > 0:
		j.Add(reason.PlacementDisagrees, where, expected, g.Power.String()+"; "+control)
	default:
		j.Add(reason.PowerSilent, where, expected, g.Power.String()+"; "+control)
	}
}

// compare notes where plan and recording say different things about the device.
func (g *Given) compare(j *verdict.Judgement, d computeplan.Device) {
	planned, hasPlan := verdict.Number(j.Facts[factShare(d)])
	recorded, hasTrace := verdict.Number(j.Facts[FactPredictions])
	if hasPlan && hasTrace && (planned > 0) != (recorded > 0) {
		j.Add(reason.PlacementDisagrees, "plan and trace", "the same device in both",
			fmt.Sprintf("the plan gives %s %.1f %% of the cost, the trace has %d predictions there", d.Title(), 100*planned, int(recorded)))
	}
}
