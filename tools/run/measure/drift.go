package measure

import "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"

// DriftOf is how much longer the control arm takes now than in another session of the same machine; ok is false where the two
// are not of one machine and one control artifact.
func DriftOf(now, last *Submission) (ratio float64, ok bool) {
	a, b := now.arm(now.Control), last.arm(last.Control)
	if a == nil || b == nil || now.Machine.ID == environment.Unknown || now.Machine.ID != last.Machine.ID || len(unlike(now, last)) > 0 || unlikeArms(a, b) != "" {
		return 0, false
	}
	x, y := SpreadOf(values(a, Warm, Encode)), SpreadOf(values(b, Warm, Encode))
	if x.N == 0 || y.N == 0 || y.Median <= 0 {
		return 0, false
	}
	return x.Median / y.Median, true
}
