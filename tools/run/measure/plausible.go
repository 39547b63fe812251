package measure

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/ceiling"
)

// implausible compares an arm's encode times with the machine's peak: operations and bytes of weights a second.
func implausible(s *Submission, a *Arm) []reason.Reason {
	where := s.Session + " " + a.Name
	c := s.Ceiling
	if s.Lane != "emulated" || a.Artifact.FLOP == nil || a.Artifact.Bytes == nil || c.FLOPPerSecond <= 0 || c.BytesPerSecond <= 0 {
		return []reason.Reason{{Code: reason.RateUnchecked, Where: where, Expected: "work of known amount on the units that the peak is of", Found: fmt.Sprintf("lane %s, peak of %s", s.Lane, orNone(c.Units))}}
	}
	var out []reason.Reason
	for i := range a.Runs {
		r := &a.Runs[i]
		if !a.Worked(r) {
			continue
		}
		seconds := r.Timings.Encode.each()
		at := fmt.Sprintf("%s run %d", where, r.Index)
		if ceiling.Exceeds(*a.Artifact.FLOP, seconds, c.FLOPPerSecond, c.Margin) {
			out = append(out, reason.Reason{Code: reason.ImplausibleRate, Where: at, Expected: fmt.Sprintf("at most %.1f times the machine's %.3g FLOP/s", c.Margin, c.FLOPPerSecond), Found: fmt.Sprintf("%.3g FLOP in %.4f s", *a.Artifact.FLOP, seconds)})
		}
		if ceiling.Exceeds(float64(*a.Artifact.Bytes), seconds, c.BytesPerSecond, c.Margin) {
			out = append(out, reason.Reason{Code: reason.ImplausibleRate, Where: at, Expected: fmt.Sprintf("at most %.1f times the machine's %.3g bytes/s", c.Margin, c.BytesPerSecond), Found: fmt.Sprintf("%d bytes of weights in %.4f s", *a.Artifact.Bytes, seconds)})
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
