package parity

import (
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// Name of the judgement.
const Name = "parity"

// Facts of the judgement that hold what was measured.
const (
	FactSNR       = "snr_db"
	FactCosine    = "cosine"
	FactMaxError  = "max_error"
	FactMeanError = "mean_error"
	FactMel       = "mel_sha256"
)

// maxSNR is more than two different tensors of float64 values can have: one unit in the last place of one value in
// a few million.
const maxSNR = 400

// CheckFacts computes a judgement that passes again, from its own facts and its policy, and returns what does not allow
// the pass.
func CheckFacts(j *verdict.Judgement, p *policy.Policy) []reason.Reason {
	f := verdict.ReadFacts(j)
	f.Text(verdict.FactPrecision, p.AppliesTo)
	f.Is(verdict.FactSatisfiesGate, p.Name == GatePolicy)
	f.Digest(FactMel)
	snr, cosine := f.Number(FactSNR, -maxSNR, maxSNR), f.Number(FactCosine, -1, 1)
	for _, r := range limits(p, snr, cosine) {
		key := map[string]string{reason.ParitySNR: FactSNR, reason.ParityCosine: FactCosine}[r.Code]
		f.Fail(key, r.Expected+" under "+p.Name, r.Found)
	}
	// The noise bounds the angle: a signal with noise s dB below it has a cosine of at least sqrt(1 - 10^(-s/10)).
	if least := math.Sqrt(math.Max(0, 1-math.Pow(10, -snr/10))); cosine < least-1e-9 {
		f.Fail(FactCosine, fmt.Sprintf("at least %.12g with an SNR of %g dB", least, snr), fmt.Sprint(cosine))
	}
	most := f.Number(FactMaxError, 0, math.MaxFloat32)
	f.Number(FactMeanError, 0, most)
	return f.Wrong
}
