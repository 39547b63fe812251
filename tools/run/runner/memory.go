package runner

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
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

// available is what the machine says; tests answer in its place.
var available = func() *int64 { return memory.Available().Bytes }
