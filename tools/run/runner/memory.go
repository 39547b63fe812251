package runner

import (
	"runtime"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/pressure"
)

// checkFit refuses a run that cannot fit into the memory that there is now. What Core ML holds is not known here, so that no run is
// said to fit: what cannot be told is started, and watched. A model whose header cannot be read is the runtime's to refuse.
func (st *staging) checkFit() (*evidence.Fit, error) {
	h, err := fit.ReadHeader(st.path(stagedModel))
	if err != nil {
		return nil, nil
	}
	a := fit.Assess(fit.LowerBound(h, fit.Run), fit.Now(), fit.DefaultReserve)
	return &evidence.Fit{Status: string(a.Status), NeedBytes: a.Need.FootprintBytes, AvailableBytes: a.Budget.AvailableBytes, Source: a.Budget.Source, Measured: a.Need.Measured}, a.Refusal()
}

// pressed is a snapshot as observations say it.
func pressed(s pressure.Snapshot) evidence.Pressure {
	return evidence.Pressure{At: s.At, Level: string(s.Level()), Thermal: s.Thermal, LowPower: s.LowPower,
		AvailableBytes: s.AvailableBytes, FootprintBytes: s.FootprintBytes, BudgetBytes: s.BudgetBytes}
}

// checkThreads refuses more threads than the machine may be asked for now. A Mac keeps a processor for who uses it; a worker's
// processors are claimed for the run.
func (s *Spec) checkThreads() error {
	return pressure.CheckThreads(s.Threads, processors(), strain(), pressure.Spare(s.Lane == evidence.LanePhysical))
}

// What the machine says; tests answer in its place.
var (
	processors = runtime.NumCPU
	strain     = pressure.Strained
)

// available is what the machine says; tests answer in its place.
var available = func() *int64 { return memory.Available().Bytes }
