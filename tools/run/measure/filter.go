package measure

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// filterOrder is the order in which exclusions are listed.
var filterOrder = []string{reason.MeasuredRunFailed, reason.MemoryUnread, reason.ThermalNotNominal, reason.LowPowerMode, reason.BuildNotRelease, reason.VirtualMachine, reason.OtherAction, reason.MachineBusy}

// Excluded lists why a run makes no figure, as codes; an empty list is a run that passes. An unknown is never a pass.
func (p *Protocol) Excluded(m environment.Machine, prog environment.Program, r *Run) []string {
	out := []string{}
	add := func(bad bool, code string) {
		if bad {
			out = append(out, code)
		}
	}
	add(r.Idle(prog.Flavour) != "", reason.MeasuredRunFailed)
	add(r.Idle(prog.Flavour) == "" && r.Memory.PeakFootprintBytes == nil, reason.MemoryUnread)
	add(r.Before.Thermal != "nominal", reason.ThermalNotNominal)
	add(r.Before.LowPower != "off", reason.LowPowerMode)
	add(prog.BuildMode != "release", reason.BuildNotRelease)
	add(m.VirtualMachine != "no", reason.VirtualMachine)
	add(len(r.Before.OurActions) > 0 || len(r.After.OurActions) > 0, reason.OtherAction)
	add(p.busy(r.Before.BusyShare) || r.OthersShare != nil && *r.OthersShare > p.BusyShare, reason.MachineBusy)
	return out
}

func (p *Protocol) busy(share *float64) bool { return share == nil || *share > p.BusyShare }

// PassesEnvironmentFilter says whether a run makes a figure.
func (p *Protocol) PassesEnvironmentFilter(m environment.Machine, prog environment.Program, r *Run) bool {
	return len(p.Excluded(m, prog, r)) == 0
}

// excludedArm lists why an arm of a submission makes no figure: any of its cold and warm runs that does not pass, missing
// ones, and work that varies.
func (p *Protocol) excludedArm(s *Submission, a *Arm) []reason.Reason {
	var out []reason.Reason
	where := s.Session + " " + a.Name
	if s.Status != Complete {
		out = append(out, reason.Reason{Code: reason.MeasurementInterrupted, Where: where, Expected: string(Complete), Found: string(s.Status)})
	}
	counts, codes := map[Kind]int{}, map[string]int{}
	for i := range a.Runs {
		counts[a.Runs[i].Kind]++
		for _, code := range p.Excluded(s.Machine, a.Program, &a.Runs[i]) {
			codes[code]++
		}
	}
	for _, d := range filterOrder {
		if n := codes[d]; n > 0 {
			out = append(out, reason.Reason{Code: d, Where: where, Expected: "all runs to pass the filter of " + p.Ref.Name, Found: fmt.Sprintf("%d of %d do not", n, len(a.Runs))})
		}
	}
	if s.Mode == Burst && s.Status == Complete && (counts[Cold] != p.ColdRuns || counts[Warm] != p.WarmRuns || counts[WarmUp] != p.WarmUps) {
		out = append(out, reason.Reason{Code: reason.MeasurementRefused, Where: where,
			Expected: fmt.Sprintf("%d cold, %d discarded and %d warm runs", p.ColdRuns, p.WarmUps, p.WarmRuns),
			Found:    fmt.Sprintf("%d, %d and %d", counts[Cold], counts[WarmUp], counts[Warm])})
	}
	if found := variation(a); found != "" {
		out = append(out, reason.Reason{Code: reason.WorkVaries, Where: where, Expected: "every run of an arm to do the same", Found: found})
	}
	return out
}

// variation says in what two successful runs of an arm did different work, or "".
func variation(a *Arm) string {
	var first *Run
	for i := range a.Runs {
		r := &a.Runs[i]
		switch {
		case !a.Worked(r):
		case first == nil:
			first = r
		case r.Words != first.Words:
			return fmt.Sprintf("run %d wrote %d words, run %d wrote %d, or other ones", first.Index, first.Words.Count, r.Index, r.Words.Count)
		case r.Timings.Encode.Runs != first.Timings.Encode.Runs:
			return fmt.Sprintf("run %d encoded %d times, run %d %d times", first.Index, first.Timings.Encode.Runs, r.Index, r.Timings.Encode.Runs)
		}
	}
	return ""
}
