package runner

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	state "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// TestMemoryEmergency holds that a run is stopped as the memory ends, with its reason, and that one is left alone that has some.
func TestMemoryEmergency(t *testing.T) {
	real := available
	defer func() { available = real }()
	var reads atomic.Int64
	available = func() *int64 {
		left := int64(1) << 50
		if reads.Add(1) > 2 {
			left = 1
		}
		return &left
	}
	r := mustRun(t, newSpec(t, evidence.KindCanary, "sleep"))
	if got := r.Evidence.Exit; got != (evidence.Exit{Kind: evidence.ExitMemory}) {
		t.Errorf("exit %+v, want a stop for want of memory", got)
	}
	available = real
	if got := mustRun(t, newSpec(t, evidence.KindCoreML, "words")).Evidence.Exit; got != (evidence.Exit{Kind: evidence.ExitCode}) {
		t.Errorf("exit %+v of a run with memory to spare", got)
	}
}

// TestThreads holds that a run asks for no more threads than the machine has now, and that a Mac keeps one processor.
func TestThreads(t *testing.T) {
	realProcessors, realStrain := processors, strain
	defer func() { processors, strain = realProcessors, realStrain }()
	for name, c := range map[string]struct {
		lane              evidence.Lane
		threads, cores    int
		thermal, lowPower string
		refused           bool
	}{
		"a worker's own":              {evidence.LaneEmulated, 4, 4, "unknown", "unknown", false},
		"more than a worker has":      {evidence.LaneEmulated, 5, 4, "unknown", "unknown", false},
		"a worker that saves power":   {evidence.LaneEmulated, 3, 4, "nominal", "on", true},
		"half of it":                  {evidence.LaneEmulated, 2, 4, "nominal", "on", false},
		"a hot worker":                {evidence.LaneEmulated, 3, 4, "serious", "off", true},
		"a Mac, all of it":            {evidence.LanePhysical, 8, 8, "nominal", "off", true},
		"a Mac but for one":           {evidence.LanePhysical, 7, 8, "nominal", "off", false},
		"a Mac that is critical":      {evidence.LanePhysical, 3, 8, "critical", "off", true},
		"a third of it":               {evidence.LanePhysical, 2, 8, "critical", "off", false},
		"one thread is never refused": {evidence.LanePhysical, 1, 1, "critical", "on", false},
	} {
		processors = func() int { return c.cores }
		strain = func() state.Strain { return state.Strain{Thermal: c.thermal, LowPower: c.lowPower} }
		s := newSpec(t, evidence.KindCanary, "words")
		s.Lane, s.Threads = c.lane, c.threads
		err := s.checkThreads()
		var refused *reason.Error
		if errors.As(err, &refused) != c.refused || c.refused && refused.Code != reason.ThreadsExceed {
			t.Errorf("%s: %v, refused should be %v", name, err, c.refused)
		}
	}
	// Nothing is started.
	processors, strain = func() int { return 2 }, func() state.Strain { return state.Strain{Thermal: "nominal", LowPower: "on"} }
	if _, err := Run(t.Context(), newSpec(t, evidence.KindCanary, "words")); err == nil || !strings.Contains(err.Error(), reason.ThreadsExceed) {
		t.Errorf("two threads on two processors that save power: %v", err)
	}
}

// TestPressure holds that observations say how hard the machine was pressed on both sides of the run.
func TestPressure(t *testing.T) {
	r := mustRun(t, newSpec(t, evidence.KindCanary, "words"))
	got := r.Observations.Pressure
	if len(got) != 2 || got[0].AvailableBytes == nil || got[0].BudgetBytes == nil || got[1].FootprintBytes == nil || got[0].Level == "" || got[0].At > got[1].At {
		t.Errorf("%+v", got)
	}
	data, err := evidence.EncodeObservations(r.Observations)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.DecodeObservations(data); err != nil {
		t.Error(err)
	}
}

// TestFitRefusal holds that a model which cannot fit is refused before anything starts, by name, and that what was known of a run
// that started is in its observations.
func TestFitRefusal(t *testing.T) {
	header := func(state, layers uint32) string {
		var b []byte
		for _, v := range []uint32{0x67676d6c, 51864, 1500, state, state / 64, layers, 448, state, state / 64, layers, 80, 1} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return string(b)
	}
	s := newSpec(t, evidence.KindCanary, header(1<<18, 1<<12))
	_, err := Run(t.Context(), s)
	var refused *reason.Error
	if !errors.As(err, &refused) || refused.Code != reason.FitExceeded {
		t.Errorf("%v, want %s", err, reason.FitExceeded)
	}
	r := mustRun(t, newSpec(t, evidence.KindCanary, header(384, 4)))
	if f := r.Observations.Fit; f == nil || f.Status != "cannot tell" || f.NeedBytes < 1<<20 || f.AvailableBytes == nil || f.Measured {
		t.Errorf("observations say %+v of the memory", f)
	}
	data, err := evidence.EncodeObservations(r.Observations)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.DecodeObservations(data); err != nil {
		t.Error(err)
	}
	if f := mustRun(t, newSpec(t, evidence.KindCoreML, "words")).Observations.Fit; f != nil {
		t.Errorf("a model without a header has %+v", f)
	}
}
