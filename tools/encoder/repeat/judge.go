package repeat

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// maxGrowth is what every load may leave behind once its model is gone, in bytes: allocators keep some of what they were given.
const maxGrowth = 32 << 20

// Judge gives the reasons why the repetitions are not as a program needs them, none where they are.
func Judge(o *Outcome, q *Request) []reason.Reason {
	var reasons []reason.Reason
	add := func(code, where, expected, found string) {
		reasons = append(reasons, reason.Reason{Code: code, Where: where, Expected: expected, Found: found})
	}
	r := o.Report
	switch {
	case o.TimedOut:
		add(reason.ProbeTimeout, "coremlprobe", "an end before the deadline", o.Ended)
		return reasons
	case o.Ended != "" || r == nil:
		at := "before it wrote anything"
		if r != nil {
			at = r.at()
		}
		add(reason.ProbeCrashed, "coremlprobe", "an answer of Core ML", fmt.Sprintf("%s, %s", o.Ended, at))
		return reasons
	}
	for i, m := range r.Inputs {
		if !m.Aligned {
			add(reason.RepeatAlignment, fmt.Sprintf("input %d", i+1), fmt.Sprintf("memory that begins on a multiple of %d bytes", m.Alignment), "memory that does not")
		}
	}
	if !r.InputsUnchanged {
		add(reason.ParityInputChanged, "inputs", "inputs as they were", "inputs that a prediction changed")
	}
	for i, c := range r.Cycles {
		where, of := fmt.Sprintf("load %d of %d", i+1, q.Loads), c.Overlapped
		switch {
		case c.Load != probe.Loaded && c.Error != nil && c.Error.Domain == "coremlprobe":
			add(reason.LoadNotAsked, where, "a compiled model that Core ML can be asked to load", c.Error.String())
		case c.Load != probe.Loaded && i == 0:
			add(reason.LoadFailed, where, "a model that loads at all compute units", c.Error.String())
		case c.Load != probe.Loaded:
			add(reason.RepeatFailed, where, "a model that loads again", c.Error.String())
		case c.Failed > 0:
			add(reason.RepeatFailed, where, fmt.Sprintf("%d predictions", q.Predictions), fmt.Sprintf("%d that failed: %s", c.Failed, c.Error.String()))
		}
		if c.Differ > 0 {
			add(reason.RepeatDiffers, where, "the bytes that the same inputs gave first", fmt.Sprintf("%d of %d predictions that differ", c.Differ, c.Predicted))
		}
		if of.Failed > 0 {
			add(reason.RepeatFailed, where, fmt.Sprintf("%d overlapping predictions", q.Overlap), fmt.Sprintf("%d that failed", of.Failed))
		}
		if of.Differ > 0 {
			add(reason.RepeatDiffers, where, "the bytes that the same inputs gave first", fmt.Sprintf("%d of %d overlapping predictions that differ", of.Differ, of.Predicted))
		}
		if of.State == NotAvailable {
			add(reason.RepeatNotOverlapped, where, fmt.Sprintf("%d overlapping predictions", q.Overlap), "a macOS before 14, which has no call for them")
		}
	}
	if len(reasons) == 0 && len(r.Cycles) < q.Loads {
		add(reason.RepeatFailed, "coremlprobe", fmt.Sprintf("%d loads", q.Loads), fmt.Sprintf("%d", len(r.Cycles)))
	}
	if grown := r.growth(); grown > maxGrowth {
		add(reason.RepeatMemory, "coremlprobe", fmt.Sprintf("at most %d MiB more memory after each load is gone", maxGrowth>>20), fmt.Sprintf("%d MiB more after each of them", grown>>20))
	}
	return reasons
}

// growth is the least that any load but the first left behind: what does not come back comes with every load. 0 where it is not known.
func (r *Report) growth() int64 {
	least := int64(0)
	for i := 1; i < len(r.Cycles); i++ {
		before, after := r.Cycles[i-1].ResidentBytes, r.Cycles[i].ResidentBytes
		if before == 0 || after == 0 || r.Cycles[i].Load != probe.Loaded {
			return 0
		}
		if d := after - before; i == 1 || d < least {
			least = d
		}
	}
	return max(least, 0)
}

// at says what was pending when the report was written last.
func (r *Report) at() string {
	if len(r.Cycles) == 0 {
		return "before the first load"
	}
	switch c := r.Cycles[len(r.Cycles)-1]; {
	case c.Load == probe.Pending:
		return fmt.Sprintf("in load %d or its predictions", len(r.Cycles))
	case c.Overlapped.State == Pending:
		return fmt.Sprintf("in the overlapping predictions of load %d", len(r.Cycles))
	}
	return fmt.Sprintf("after load %d", len(r.Cycles))
}
