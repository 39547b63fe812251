package pressure

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// Spare says whether a processor is kept for everything else.
type Spare bool

// A machine that somebody uses, or whose other load is watched, keeps one. Of a worker nothing but its state limits threads: its
// processors are claimed for the run.
const (
	KeepOne  Spare = true
	KeepNone Spare = false
)

// unlimited is what nothing limits.
const unlimited = 1 << 30

// MostThreads is how many threads a program may have on a machine of so many processors: all but the one that is kept, half
// of all in low-power mode or in serious heat, a third in critical heat; at least one. What is not known limits nothing.
func MostThreads(processors int, s environment.Strain, keep Spare) int {
	most := unlimited
	if keep {
		most = processors - 1
	}
	if s.LowPower == "on" || s.Thermal == "serious" {
		most = min(most, processors/2)
	}
	if s.Thermal == "critical" {
		most = min(most, processors/3)
	}
	return max(1, most)
}

// CheckThreads refuses more threads than [MostThreads]. The number of threads is a part of what a run is, so it is never lowered.
func CheckThreads(threads, processors int, s environment.Strain, keep Spare) error {
	most := MostThreads(processors, s, keep)
	if threads <= most {
		return nil
	}
	return reason.Errorf(reason.ThreadsExceed, "threads", fmt.Sprintf("at most %d on %d processors, thermal state %s, low-power mode %s", most, processors, s.Thermal, s.LowPower), "%d", threads)
}

// WarmUp says whether a run may be warmed up: a hot machine is spared what is not needed.
func WarmUp(s environment.Strain) bool { return s.Thermal != "serious" && s.Thermal != "critical" }
