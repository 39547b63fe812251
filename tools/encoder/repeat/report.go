package repeat

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// States of the overlapping predictions of one load.
const (
	NotAsked     = "not_asked"
	NotAvailable = "not_available" // before macOS 14
	Pending      = "pending"
	Asked        = "asked"
)

// Report is what the probe did and found. It names no path and no feature: inputs and outputs go by their order in the request.
type Report struct {
	Schema        int              `json:"schema"` // 1
	Version       string           `json:"version"`
	Host          coremlprobe.Host `json:"host"`
	Configuration []probe.Field    `json:"configuration"`
	// Build is how the probe was compiled, release or debug, and Framework what it asked: com.apple.CoreML, or stand-in.
	Build     string   `json:"build"`
	Framework string   `json:"framework"`
	Inputs    []Memory `json:"inputs"`
	Cycles    []Cycle  `json:"cycles"`
	// InputsUnchanged is false if a prediction wrote to its inputs.
	InputsUnchanged bool     `json:"inputs_unchanged"`
	Counters        Counters `json:"counters"`
}

// Memory is how an input lay in memory.
type Memory struct {
	Bytes int `json:"bytes"`
	// Alignment is what memory of this size is aligned to, in bytes, and Aligned whether every set of the input was, and its elements too.
	Alignment int  `json:"alignment"`
	Aligned   bool `json:"aligned"`
}

// Cycle is one load, its predictions, and the unload.
type Cycle struct {
	Load  string             `json:"load"` // loaded, failed or pending
	Error *coremlprobe.Error `json:"error"`
	// Predicted, Failed and Differ count the predictions one after the other; Differ those whose bytes are not those that the same
	// inputs gave first, under any load.
	Predicted  int        `json:"predicted"`
	Failed     int        `json:"failed"`
	Differ     int        `json:"differ"`
	Overlapped Overlapped `json:"overlapped"`
	// Nanoseconds are of the predictions one after the other, in their order, from the call until it returned; empty where no times were
	// asked for. The first one of a load is cold.
	Nanoseconds []int64 `json:"nanoseconds"`
	// ResidentBytes is the process's memory once the model was gone: the footprint on macOS. 0 where it is not known.
	ResidentBytes int64 `json:"resident_bytes"`
}

// Overlapped are the predictions that were under way at once.
type Overlapped struct {
	State     string `json:"state"`
	Most      int    `json:"most"` // at once
	Predicted int    `json:"predicted"`
	Failed    int    `json:"failed"`
	Differ    int    `json:"differ"`
}

// Counters are what the probe itself did with memory. Core ML's own copies are not among it.
type Counters struct {
	// DirectBindings counts arrays over the probe's memory that Core ML was given without a copy.
	DirectBindings int64 `json:"direct_bindings"`
	// CopiedBytes counts what the probe copied: from files into its memory, and from outputs.
	CopiedBytes int64 `json:"copied_bytes"`
	Allocations int64 `json:"allocations"`
}

// parse reads a report and checks it against the request and itself.
func parse(data []byte, q *Request) (*Report, error) {
	r := &Report{}
	if err := strictjson.Decode(data, r); err != nil {
		return nil, fmt.Errorf("report of coremlprobe: %w", err)
	}
	if err := r.check(q); err != nil {
		return nil, fmt.Errorf("report of coremlprobe: %w", err)
	}
	return r, nil
}

func (r *Report) check(q *Request) error {
	if r.Schema != 1 || r.Version == "" {
		return fmt.Errorf("expected schema 1 and a version, found schema %d, version %q", r.Schema, r.Version)
	}
	if r.Build != release && r.Build != "debug" || r.Framework == "" {
		return fmt.Errorf("expected a build release or debug and a framework, found %q and %q", r.Build, r.Framework)
	}
	if len(r.Inputs) != len(q.Inputs) || len(r.Cycles) > q.Loads {
		return fmt.Errorf("expected %d inputs and at most %d loads, found %d and %d", len(q.Inputs), q.Loads, len(r.Inputs), len(r.Cycles))
	}
	for i, m := range r.Inputs {
		if m.Bytes != len(q.Inputs[i].Sets[0]) || m.Alignment != AlignmentFor(m.Bytes, m.Alignment) {
			return fmt.Errorf("input %d: %d bytes with an alignment of %d, expected %d bytes, aligned by their size", i, m.Bytes, m.Alignment, len(q.Inputs[i].Sets[0]))
		}
	}
	bindings := int64(0)
	for i, c := range r.Cycles {
		if err := c.check(q, i == len(r.Cycles)-1); err != nil {
			return fmt.Errorf("load %d: %w", i+1, err)
		}
		if c.Load == probe.Loaded {
			o := c.Overlapped
			bindings += int64(c.Predicted + c.Failed + o.Predicted + o.Failed)
		}
	}
	bindings *= int64(len(q.Inputs))
	if n := r.Counters.DirectBindings; n > bindings && r.finished() || n < 0 || r.Counters.CopiedBytes < 0 {
		return fmt.Errorf("counters: %d direct bindings, more than the %d that the predictions need", n, bindings)
	}
	if want := int64(len(q.Inputs) * len(q.Inputs[0].Sets)); r.Counters.Allocations != want {
		return fmt.Errorf("counters: %d allocations, expected %d: one for each set of each input", r.Counters.Allocations, want)
	}
	return nil
}

// finished says that no load or prediction was pending when the report was written.
func (r *Report) finished() bool {
	return !slices.ContainsFunc(r.Cycles, func(c Cycle) bool { return c.Load == probe.Pending || c.Overlapped.State == Pending })
}

func (c *Cycle) check(q *Request, last bool) error {
	o := c.Overlapped
	switch {
	case !slices.Contains([]string{probe.Loaded, probe.Failed, probe.Pending}, c.Load):
		return fmt.Errorf("unknown result %q", c.Load)
	case c.Load != probe.Loaded && !last:
		return fmt.Errorf("%s, and yet another load follows", c.Load)
	case min(c.Predicted, c.Failed, c.Differ, o.Most, o.Predicted, o.Failed, o.Differ) < 0 || c.ResidentBytes < 0:
		return errors.New("a count is below zero")
	case c.Differ > c.Predicted || o.Differ > o.Predicted || c.Predicted+c.Failed > q.Predictions || o.Predicted+o.Failed > q.Overlap || o.Most > q.Overlap:
		return fmt.Errorf("%+v: more predictions than were asked for, or more that differ than there are", *c)
	case q.Time && c.Load == probe.Loaded && len(c.Nanoseconds) != c.Predicted, !q.Time && len(c.Nanoseconds) > 0, slices.ContainsFunc(c.Nanoseconds, func(n int64) bool { return n < 1 }):
		return fmt.Errorf("%d times, each above nothing, of %d predictions, where times asked for is %v", len(c.Nanoseconds), c.Predicted, q.Time)
	case c.Load != probe.Loaded && c.Predicted+c.Failed+o.Most+len(c.Nanoseconds) > 0:
		return errors.New("predictions of a model that did not load")
	case !slices.Contains([]string{NotAsked, NotAvailable, Pending, Asked}, o.State):
		return fmt.Errorf("unknown state %q of the overlapping predictions", o.State)
	case o.State == Asked && o.Predicted+o.Failed != q.Overlap, o.State != Asked && o.Predicted+o.Failed > 0, q.Overlap == 0 && o.State != NotAsked:
		return fmt.Errorf("%s: %d overlapping predictions of %d", o.State, o.Predicted+o.Failed, q.Overlap)
	}
	return nil
}

// Alignment of the probe's memory (tools/encoder/coremlprobe/storage.h): a page from 16 KiB on, 16 bytes below.
const (
	PageAlignedFrom = 16 << 10
	SmallAlignment  = 16
)

// AlignmentFor is the alignment that memory of a size must have: for a large one any power of two that is a page of 16 KiB or more.
func AlignmentFor(bytes, found int) int {
	if bytes < PageAlignedFrom {
		return SmallAlignment
	}
	if found >= PageAlignedFrom && found&(found-1) == 0 {
		return found
	}
	return PageAlignedFrom
}
