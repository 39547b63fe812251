// Package fit says, before a run starts, whether it fits into the memory that there is: it fits, it does not (by which gate, and
// by how much), or that cannot be told.
//
// Two gates, since passing the first alone is how programs start and then die:
//
//	gate 1  what the run allocates, and a reserve, is at most what is available now
//	gate 2  the whole working set, mapped files included, and the reserve is at most the limit
//
// What is known of the need before anything was measured is a lower bound: what whisper.cpp itself allocates, computed from
// the model's header. A lower bound can say that a run does not fit, and never that it does. What Core ML holds for an encoder
// follows from no file's size and differs by compute units and system: it has to be measured once, and is taken from the
// submission that did, for that digest, those units and that build of the system alone.
package fit

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

// Status is the answer.
type Status string

// The three answers.
const (
	Fits       Status = "fits"
	DoesNotFit Status = "does not fit"
	CannotTell Status = "cannot tell"
)

// Stage is what is about to run. Compiling an encoder and its first load on a device need memory of their own.
type Stage string

// The stages.
const (
	Run       Stage = "run"
	Compile   Stage = "compile"
	FirstLoad Stage = "first_load"
)

// Budget is the memory that there is, read now.
type Budget struct {
	// AvailableBytes can still be allocated; FootprintBytes is what this process has already.
	AvailableBytes *int64 `json:"available_bytes"`
	FootprintBytes *int64 `json:"footprint_bytes"`
	// Bytes is their sum: the whole of what this process may have, to which no table of machines is ever applied.
	Bytes *int64 `json:"bytes"`
	// LimitBytes is gate 2's: the machine's or the control group's, less what is left for the system.
	LimitBytes *int64 `json:"limit_bytes"`
	Source     string `json:"source"`
	Measured   bool   `json:"measured"`
}

// Need is what a run needs.
type Need struct {
	Stage Stage `json:"stage"`
	// FootprintBytes is what it allocates, ResidentBytes its whole working set.
	FootprintBytes int64 `json:"footprint_bytes"`
	ResidentBytes  int64 `json:"resident_bytes"`
	// LargestBytes is the largest single allocation, estimated from the program's shapes.
	LargestBytes int64 `json:"largest_bytes"`
	// Measured says that the need is a peak that was observed, and From in which session; else it is a lower bound.
	Measured bool   `json:"measured"`
	From     string `json:"from"`
}

// Assessment is the answer with its grounds.
type Assessment struct {
	Status       Status `json:"status"`
	Need         Need   `json:"need"`
	Budget       Budget `json:"budget"`
	ReserveBytes int64  `json:"reserve_bytes"`
	// Gate that says no, 1 or 2, and by how many bytes; 0 otherwise.
	Gate      int   `json:"gate"`
	OverBytes int64 `json:"over_bytes"`
	// Overcommit is the working set over the limit. Nothing above 1 is allowed: clean pages can be dropped, but then they are
	// read again with every encode.
	Overcommit *float64 `json:"overcommit"`
	// Why says what cannot be told.
	Why string `json:"why"`
}

// Assess compares a need with a budget.
func Assess(n Need, b Budget, reserve int64) Assessment {
	a := Assessment{Status: CannotTell, Need: n, Budget: b, ReserveBytes: reserve}
	if b.LimitBytes != nil && *b.LimitBytes > 0 {
		share := float64(n.ResidentBytes) / float64(*b.LimitBytes)
		a.Overcommit = &share
	}
	if b.AvailableBytes != nil {
		if over := memory.Sum(n.FootprintBytes, reserve) - *b.AvailableBytes; over > 0 {
			a.Status, a.Gate, a.OverBytes = DoesNotFit, 1, over
			return a
		}
		// One allocation larger than all that is left fails whatever the sum says.
		if over := n.LargestBytes - *b.AvailableBytes; over > 0 {
			a.Status, a.Gate, a.OverBytes = DoesNotFit, 1, over
			return a
		}
	}
	if b.LimitBytes != nil {
		if over := memory.Sum(n.ResidentBytes, reserve) - *b.LimitBytes; over > 0 {
			a.Status, a.Gate, a.OverBytes = DoesNotFit, 2, over
			return a
		}
	}
	switch {
	case b.AvailableBytes == nil:
		a.Why = "the system does not say what is available"
	case b.LimitBytes == nil:
		a.Why = "the system does not say its limit"
	case !n.Measured:
		a.Why = "what runs was not measured for this encoder, compute units and build of the system; the need is a lower bound"
	default:
		a.Status = Fits
	}
	return a
}

// Reasons are the assessment as findings.
func (a Assessment) Reasons() []reason.Reason {
	var out []reason.Reason
	where := fmt.Sprintf("memory for %s", a.Need.Stage)
	if a.Status != CannotTell && !a.Budget.Measured {
		out = append(out, reason.Reason{Code: reason.FitGuessed, Where: where, Expected: "a live reading", Found: "source " + a.Budget.Source})
	}
	switch a.Status {
	case Fits:
		return out
	case CannotTell:
		return append(out, reason.Reason{Code: reason.FitUnknown, Where: where, Expected: "a measured need and a readable budget", Found: a.Why})
	}
	expected, found := "", ""
	if a.Gate == 1 {
		expected = "at most " + memory.ShowMaybe(a.Budget.AvailableBytes) + " available now (" + a.Budget.Source + ")"
		found = fmt.Sprintf("%s to allocate and %s of reserve, %s too much", memory.Show(a.Need.FootprintBytes), memory.Show(a.ReserveBytes), memory.Show(a.OverBytes))
	} else {
		expected = "a working set within the limit of " + memory.ShowMaybe(a.Budget.LimitBytes)
		found = fmt.Sprintf("%s and %s of reserve, %s too much", memory.Show(a.Need.ResidentBytes), memory.Show(a.ReserveBytes), memory.Show(a.OverBytes))
	}
	return append(out, reason.Reason{Code: reason.FitExceeded, Where: fmt.Sprintf("%s, gate %d", where, a.Gate), Expected: expected, Found: found})
}

// Refusal is the error of a run that does not fit, or nil: what cannot be told is started, and watched.
func (a Assessment) Refusal() error {
	if a.Status != DoesNotFit {
		return nil
	}
	reasons := a.Reasons()
	return &reason.Error{Reason: reasons[len(reasons)-1]}
}
