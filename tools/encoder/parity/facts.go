package parity

import (
	"fmt"
	"math"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
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
	// FactReference says what the reference is.
	FactReference = "reference"
)

// CheckFacts computes a judgement that passes again, from its own facts and its policy, and returns what does not allow
// the pass. Package judgements lists the facts and the values of each.
func CheckFacts(j *verdict.Judgement, p *policy.Policy) []reason.Reason {
	f := verdict.ReadFacts(j)
	f.Text(verdict.FactPrecision, p.AppliesTo)
	f.Is(verdict.FactSatisfiesGate, p.Name == GatePolicy)
	snr, cosine := f.Number(FactSNR, -Identical, Identical), f.Number(FactCosine, -1, 1)
	for _, r := range limits(p, snr, cosine) {
		key := map[string]string{reason.ParitySNR: FactSNR, reason.ParityCosine: FactCosine}[r.Code]
		f.Fail(key, r.Expected+" under "+p.Name, r.Found)
	}
	// The noise bounds the angle: a signal with noise s dB below it has a cosine of at least sqrt(1 - 10^(-s/10)).
	if least := math.Sqrt(math.Max(0, 1-math.Pow(10, -snr/10))); cosine < least-1e-9 {
		f.Fail(FactCosine, fmt.Sprintf("at least %.12g with an SNR of %g dB", least, snr), fmt.Sprint(cosine))
	}
	most := f.Number(FactMaxError, 0, math.MaxFloat32)
	mean := f.Number(FactMeanError, 0, most)
	// Equal tensors have no error, and others have one.
	if (snr == Identical) != (most == 0) {
		f.Fail(FactMaxError, fmt.Sprintf("0 with an SNR of %d dB, and only with it", Identical), fmt.Sprintf("%g with %g dB", most, snr))
	}
	if (most == 0) != (mean == 0) {
		f.Fail(FactMeanError, "0 with a largest error of 0, and only with it", fmt.Sprintf("%g with %g", mean, most))
	}
	checkReference(f, j)
	checkNotes(f, j, p)
	return f.Wrong
}

// Computed is the reference that is computed from the model; any other is a tensor that was given.
const Computed = "float64 from the .bin's tensors"

// checkReference demands the digests of a reference that was given, and none of one that was computed.
func checkReference(f *verdict.FactReader, j *verdict.Judgement) {
	source := j.Facts[FactReference]
	for _, key := range []string{judgements.FactSourceTensor, judgements.FactSourceSidecar} {
		sum, given := j.Facts[key]
		switch {
		case source == Computed && given:
			f.Fail(key, "no digest of a reference that was computed", fmt.Sprint(sum))
		case source != Computed:
			f.Digest(key)
		}
	}
}

// EmulatedNote says of an encoder's numbers that the evaluator computed them, on a code path, and not Core ML.
func EmulatedNote(encoder, path string) reason.Reason {
	return reason.Reason{Code: reason.EmulatedUnits, Where: encoder, Expected: "Core ML at all compute units", Found: "evaluated from the program (" + path + ")"}
}

// gateNote says of a policy that it is not the release gate's.
func gateNote(p *policy.Policy) reason.Reason {
	return reason.Reason{Code: reason.PolicyNotGate, Where: "policy " + p.Name, Expected: GatePolicy, Found: p.Name}
}

// checkNotes demands the notes that say what the numbers are not, and no such note of others.
func checkNotes(f *verdict.FactReader, j *verdict.Judgement, p *policy.Policy) {
	evaluator, emulated := j.Facts[verdict.FactEvaluator].(string)
	for _, n := range []struct {
		fact string
		due  bool
		note reason.Reason
	}{
		{verdict.FactEvaluator, emulated, EmulatedNote("", evaluator)},
		{verdict.FactSatisfiesGate, j.Facts[verdict.FactSatisfiesGate] == false, gateNote(p)},
	} {
		found, good := 0, 0
		for _, note := range j.Notes {
			if note.Code == n.note.Code {
				found++
			}
			// What the first is about is the encoder's own name.
			where := n.note.Where == "" && strings.HasSuffix(note.Where, ".mlmodelc") || n.note.Where == note.Where
			if note.Code == n.note.Code && note.Expected == n.note.Expected && note.Found == n.note.Found && where {
				good++
			}
		}
		if want := map[bool]int{true: 1}[n.due]; found != want || good != want {
			f.Fail(n.fact, fmt.Sprintf("%d note %s: %s", want, n.note.Code, n.note.Found), fmt.Sprintf("%d, %d of these texts", found, good))
		}
	}
}
