package placement

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/trace"
)

// shown is how many operations or breaks a reason lists.
const shown = 8

// judgePlan adds what a plan says. decides says whether the policy goes by it.
func (g *Given) judgePlan(j *verdict.Judgement, p *policy.Policy, decides bool) {
	add := func(code, expected, found string) { finding(j, decides, code, g.Encoder, expected, found) }
	r := g.Plan
	if data, err := r.Encode(); err == nil {
		j.Facts[FactPlan] = evidence.SHA256(data)
	}
	if r.EncoderDigest != g.EncoderDigest {
		add(reason.PlacementOtherEncoder, "the plan of encoder "+g.EncoderDigest, "one of "+r.EncoderDigest)
		return
	}
	if r.Ended != "" {
		said := ""
		if r.Said != "" {
			said = ", saying: " + r.Said
		}
		if r.TimedOut {
			add(reason.ProbeTimeout, "a compute plan", "none until the "+r.Ended+said)
		} else {
			add(reason.PlanReaderAborted, "a compute plan", r.Ended+said)
		}
		return
	}
	plan := r.Plan
	j.Facts[FactFramework] = plan.Framework
	switch plan.Result {
	case computeplan.NotAsked:
		add(reason.LoadNotAsked, "a compiled model", plan.Error.String())
		return
	case computeplan.NotObserved:
		add(reason.PlacementNotObserved, "a compute plan", plan.Error.String())
		return
	case computeplan.Failed:
		add(reason.ComputePlanFailed, "a compute plan", plan.Error.String())
		return
	}
	if plan.Framework != computeplan.FrameworkApple {
		add(reason.PlacementStandIn, "a plan of "+computeplan.FrameworkApple, plan.Framework)
	} else {
		// Facts that only Core ML leaves: a receipt of the emulated lane has none of them.
		j.Facts[verdict.FactCoreMLHost], j.Facts[verdict.FactOSBuild], j.Facts[verdict.FactUnitsAsked] = plan.Host.String(), plan.Host.OSBuild, plan.Units
		if g.OSBuild != "" && g.OSBuild != plan.Host.OSBuild {
			add(reason.PlacementOtherHost, "macOS build "+g.OSBuild, plan.Host.OSBuild)
		}
	}
	if plan.Units != computeplan.AllUnits {
		add(reason.PlacementUnits, computeplan.AllUnits, plan.Units)
	}
	g.judgeShares(j, p, decides)
}

func (g *Given) judgeShares(j *verdict.Judgement, p *policy.Policy, decides bool) {
	add := func(code, expected, found string) { finding(j, decides, code, g.Encoder, expected, found) }
	plan, device := g.Plan.Plan, Demanded(p)
	j.Facts[FactOperations] = len(plan.Placed())
	least := p.Thresholds[planShareMin]
	for _, s := range plan.Shares() {
		if !math.IsNaN(s.Weight) {
			j.Facts[factShare(s.Device)] = round(s.Weight)
		}
		j.Facts[factOperations(s.Device)] = s.Operations
	}
	breaks := plan.Breaks(device)
	j.Facts[FactBreaks] = len(breaks)
	if len(breaks) > 0 {
		j.Add(reason.PlacementChainBroken, g.Encoder, "one chain of operations on "+device.Title(), fmt.Sprintf("%d breaks: %s", len(breaks), listBreaks(breaks)))
	}
	share := plan.ShareOf(device)
	unweighed := plan.Unweighed(device)
	switch {
	case device == computeplan.NeuralEngine && !plan.Has(device):
		j.AddReason(noNeuralEngine(plan.Devices))
	case math.IsNaN(share.Weight):
		add(reason.PlacementUnweighed, "operations with an estimated cost", fmt.Sprintf("none among %d; %d of them on %s", len(plan.Placed()), share.Operations, device.Title()))
	case len(unweighed) > 0:
		add(reason.PlacementUnweighed, "a cost of each operation that is not on "+device.Title(), fmt.Sprintf("%d without: %s", len(unweighed), list(unweighed)))
	case decides && !(round(share.Weight) >= least):
		add(reason.PlacementShare, fmt.Sprintf("at least %g of the estimated cost on %s", least, device.Title()),
			fmt.Sprintf("%.4f; elsewhere: %s", share.Weight, list(elsewhere(plan, device))))
	}
}

// round keeps a share to a millionth: what a receipt says is what is compared.
func round(share float64) float64 { return math.Round(share*1e6) / 1e6 }

// elsewhere are the operations that are not on a device.
func elsewhere(plan *computeplan.Plan, d computeplan.Device) []*computeplan.Operation {
	var out []*computeplan.Operation
	for _, o := range plan.Placed() {
		if *o.Preferred != d {
			out = append(out, o)
		}
	}
	return out
}

// short is a name as a list shows it: a model may give names of any length.
func short(name string) string {
	if runes := []rune(name); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return name
}

func list(operations []*computeplan.Operation) string {
	var names []string
	for i, o := range operations {
		if i == shown {
			names = append(names, fmt.Sprintf("and %d more", len(operations)-shown))
			break
		}
		names = append(names, fmt.Sprintf("%s (layer %s) on %s", short(o.Operator), short(o.Layer()), o.Preferred.Title()))
	}
	return strings.Join(names, "; ")
}

func listBreaks(breaks []computeplan.Break) string {
	var texts []string
	for i, b := range breaks {
		if i == shown {
			texts = append(texts, fmt.Sprintf("and %d more", len(breaks)-shown))
			break
		}
		texts = append(texts, fmt.Sprintf("between %s and %s: %s", short(b.After), short(b.Before), list(b.Operations)))
	}
	return strings.Join(texts, " | ")
}

// judgeTrace adds what a recording says.
func (g *Given) judgeTrace(j *verdict.Judgement, p *policy.Policy, decides bool) {
	add := func(code, where, expected, found string) { finding(j, decides, code, where, expected, found) }
	r, c := g.Trace, g.Trace.Contents
	j.Facts[FactTrace] = r.SHA256
	if r.About.EncoderDigest != g.EncoderDigest {
		add(reason.PlacementOtherEncoder, "recording.json", "a recording of encoder "+g.EncoderDigest, "one of "+r.About.EncoderDigest)
		return
	}
	exit := "unknown"
	if c.ExitStatus != nil {
		exit = fmt.Sprint(*c.ExitStatus)
	}
	if c.Template != trace.Template || c.Type != "launched" || c.Program != r.About.Program || exit != "0" {
		add(reason.PlacementTraceTarget, "toc.xml", fmt.Sprintf("%s, launched by the template %s, exit 0", r.About.Program, trace.Template),
			fmt.Sprintf("%s, %s by the template %s, exit %s", c.Program, c.Type, c.Template, exit))
	}
	if decides || j.Facts[verdict.FactOSBuild] == nil {
		j.Facts[verdict.FactOSBuild] = c.OSBuild
		j.Facts[verdict.FactCoreMLHost] = c.Hardware + ", macOS " + c.OSVersion + " (" + c.OSBuild + ")"
	}
	if g.OSBuild != "" && g.OSBuild != c.OSBuild {
		add(reason.PlacementOtherHost, "toc.xml", "macOS build "+g.OSBuild, c.OSBuild)
	}
	name := strings.TrimSuffix(path.Base(g.Encoder), path.Ext(g.Encoder))
	a := trace.Of(r.Intervals, name)
	j.Facts[FactIntervals], j.Facts[FactPredictions], j.Facts[FactBusy] = a.Intervals, a.Predictions, float64(a.BusyNanoseconds)/1e6
	least := int(p.Thresholds[tracePredictionsMin])
	switch {
	case !decides:
	case a.Intervals == 0:
		add(reason.PlacementTraceSilent, "intervals.xml", "intervals of the Neural Engine", "none")
	case a.Predictions < least:
		add(reason.PlacementTraceUnattributed, "intervals.xml", fmt.Sprintf("at least %d predictions whose label begins with %s", least, name),
			fmt.Sprintf("%d among %d intervals", a.Predictions, a.Intervals))
	}
}
