package repeat

import (
	"slices"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

const release = "release"

// Latency is how long single predictions took, from the call until it returned. The first one of each load and those that follow
// it are two figures and never one: the first may compile for the device.
type Latency struct {
	First []time.Duration `json:"first_ns"` // one a load, in order
	// Warm counts the predictions that follow; the others are of those.
	Warm    int           `json:"warm"`
	Median  time.Duration `json:"warm_median_ns"`
	Fastest time.Duration `json:"warm_fastest_ns"`
	Slowest time.Duration `json:"warm_slowest_ns"`
}

// Latency gives the times of a report that has them.
func (r *Report) Latency() Latency {
	l := Latency{First: []time.Duration{}}
	var warm []time.Duration
	for _, c := range r.Cycles {
		for i, n := range c.Nanoseconds {
			if i == 0 {
				l.First = append(l.First, time.Duration(n))
			} else {
				warm = append(warm, time.Duration(n))
			}
		}
	}
	slices.Sort(warm)
	if l.Warm = len(warm); l.Warm > 0 {
		// The middle one, or the mean of the two.
		l.Median, l.Fastest, l.Slowest = (warm[(l.Warm-1)/2]+warm[l.Warm/2])/2, warm[0], warm[l.Warm-1]
	}
	return l
}

// JudgeTimes gives the reasons why the times of a report are no measurement, whatever the predictions were.
func JudgeTimes(r *Report) []reason.Reason {
	if r == nil || r.Build == release {
		return nil
	}
	return []reason.Reason{{Code: reason.BuildNotRelease, Where: "coremlprobe", Expected: "a release build", Found: r.Build}}
}
