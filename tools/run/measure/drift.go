package measure

import "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"

// DriftOf is how much longer the control arm takes now than in another session of the same machine. why says, where there is no drift,
// why not: "" is a drift.
func DriftOf(now, last *Submission) (ratio float64, why string) {
	a, b := now.arm(now.Control), last.arm(last.Control)
	switch {
	case a == nil || b == nil:
		return 0, "a session without its control arm"
	case now.Machine.ID == environment.Unknown || last.Machine.ID == environment.Unknown:
		return 0, "the machine does not say which it is"
	case now.Machine.ID != last.Machine.ID:
		return 0, "the last session is of another machine"
	}
	if found := unlike(now, last); len(found) > 0 {
		return 0, "the last session is unlike this one: " + found[0].Where
	}
	if found := unlikeArms(a, b); found != "" {
		return 0, "the last session's control is " + found
	}
	if a.Program != b.Program {
		return 0, "the last session's control ran another program, by digest or build"
	}
	x, y := SpreadOf(values(a, Warm, Encode)), SpreadOf(values(b, Warm, Encode))
	if x.N == 0 || y.N == 0 || y.Median <= 0 {
		return 0, "no warm run of the control arm in one of the sessions"
	}
	return x.Median / y.Median, ""
}
