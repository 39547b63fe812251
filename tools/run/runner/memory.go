package runner

import (
	"context"
	"sync"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/governor"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
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

// guard stops a run before the system would kill it.
type guard struct {
	// stop closes when the run has to end.
	stop chan struct{}
	end  func()
}

// watchRoom watches the memory that is left until the guard's end is called.
func watchRoom(available func() *int64) *guard {
	g := &guard{stop: make(chan struct{}), end: func() {}}
	budget := fit.Now().Bytes
	if budget == nil {
		return g
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	g.end = func() { cancel(); <-done }
	var once sync.Once
	go func() {
		defer close(done)
		governor.New(*budget, available, func(e governor.Event) {
			if e.Step == governor.Emergency {
				once.Do(func() { close(g.stop) })
			}
		}).Run(ctx)
	}()
	return g
}

// stopped says whether the run had to end.
func (g *guard) stopped() bool {
	select {
	case <-g.stop:
		return true
	default:
		return false
	}
}

// available is what the machine says; tests answer in its place.
var available = func() *int64 { return memory.Available().Bytes }
