package evaluation

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
)

// FactMelSource names what the mel was made of; [BuiltInMel] can be made anywhere.
const (
	FactMelSource = "mel"
	BuiltInMel    = "built-in probe"
)

// Record gives a result the form that gates and receipts read. Facts are flat there, the measured numbers among them.
func (r *Result) Record() *verdict.Judgement {
	facts := map[string]any{verdict.FactSatisfiesGate: r.SatisfiesGate()}
	for name, value := range r.Facts {
		switch value.(type) {
		case string, bool, int, float64:
			facts[name] = value
		}
	}
	if m := r.Measurement; m != nil {
		facts[parity.FactSNR], facts[parity.FactCosine] = m.SNR, m.Cosine
		facts[parity.FactMaxError], facts[parity.FactMeanError] = m.Max, m.Mean
	}
	return &verdict.Judgement{
		Name: parity.Name, Findings: r.Findings, Facts: facts,
		Policy: &verdict.PolicyRef{Name: r.Policy, SHA256: r.PolicySHA256},
	}
}
