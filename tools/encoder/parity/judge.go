package parity

import (
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// Kind is the kind of policies that this package judges by.
const Kind = "parity"

// GatePolicy names the one policy that satisfies the release gate.
const GatePolicy = "fp32_v2"

// Judgement is a verdict with what it rests on.
type Judgement struct {
	verdict.Findings
	// Measurement is nil where the tensors could not be compared.
	Measurement *Measurement `json:"measurement"`
	// Policy and its digest.
	Policy       string `json:"policy"`
	PolicySHA256 string `json:"policy_sha256"`
}

// SatisfiesGate says whether this is a pass under [GatePolicy].
func (j *Judgement) SatisfiesGate() bool { return j.Verdict == reason.Pass && j.Policy == GatePolicy }

// NewJudgement begins a judgement under a policy, for an encoder of a known
// precision class ("" where it is not known, which no policy accepts).
func NewJudgement(p *policy.Policy, precision string) *Judgement {
	j := &Judgement{Findings: verdict.New(), Policy: p.Name, PolicySHA256: p.SHA256}
	where := "policy " + p.Name
	if p.Kind != Kind || !p.IsFrozen() {
		j.Add(reason.PolicyKind, where, "a frozen policy of kind "+Kind, fmt.Sprintf("kind %q, frozen: %v", p.Kind, p.IsFrozen()))
	}
	if p.AppliesTo == "" || p.AppliesTo != precision {
		found := "precision " + precision
		if precision == "" {
			found = "an encoder of unknown precision"
		}
		j.Add(reason.PolicyPrecision, where, "precision "+p.AppliesTo, found)
	}
	if p.Name != GatePolicy {
		j.AddReason(gateNote(p))
	}
	return j
}

// Compare holds the candidate against the reference under the policy and draws
// the verdict.
func (j *Judgement) Compare(p *policy.Policy, reference, candidate Tensor) {
	switch {
	case reference.MelSHA256 == "" || candidate.MelSHA256 == "":
		j.Add(reason.MelUnknown, "mel", "the digest of the mel on both sides", fmt.Sprintf("reference %q, candidate %q", reference.MelSHA256, candidate.MelSHA256))
	case reference.MelSHA256 != candidate.MelSHA256:
		j.Add(reason.MelDiffers, "mel", "one mel for both sides", fmt.Sprintf("%s for the reference, %s for the candidate", reference.MelSHA256, candidate.MelSHA256))
	}
	frames, channels, err := reference.plane()
	if err != nil {
		j.Add(reason.ReferenceUnfit, reference.Name, "[1, frames, channels]", err.Error())
		return
	}
	if nan, inf, constant := defects(reference); nan+inf > 0 || constant {
		j.Add(reason.ReferenceUnfit, reference.Name, "finite values that vary", fmt.Sprintf("%d not numbers, %d infinite, constant: %v", nan, inf, constant))
		return
	}
	f, c, err := candidate.plane()
	shape := fmt.Sprintf("[1, %d, %d]", frames, channels)
	if err != nil {
		j.Add(reason.ParityShape, candidate.Name, shape, err.Error())
		return
	}
	turned := f == channels && c == frames && f != c
	if !turned && (f != frames || c != channels) {
		j.Add(reason.ParityShape, candidate.Name, shape, fmt.Sprint(candidate.Shape))
		return
	}
	nan, inf, constant := defects(candidate)
	total := len(candidate.Values)
	if nan > 0 {
		j.Add(reason.ParityNaN, candidate.Name, "numbers", fmt.Sprintf("%d of %d values are NaN, %s", nan, total, whereBad(reference, candidate, math.IsNaN)))
	}
	if inf > 0 {
		j.Add(reason.ParityInfinite, candidate.Name, "finite values", fmt.Sprintf("%d of %d values are infinite, %s", inf, total, whereBad(reference, candidate, func(x float64) bool { return math.IsInf(x, 0) })))
	}
	if nan+inf > 0 {
		return
	}
	if constant {
		j.Add(reason.ParityConstant, candidate.Name, "values that vary", fmt.Sprintf("%d times %g", total, candidate.Values[0]))
	}
	if turned {
		j.Add(reason.ParityTransposed, candidate.Name, shape, fmt.Sprint(candidate.Shape))
		return
	}
	m, err := Measure(reference, candidate)
	if err != nil {
		j.Add(reason.ParityShape, candidate.Name, shape, err.Error())
		return
	}
	j.Measurement = m
	j.thresholds(p, m)
	if len(j.Reasons) > 0 && !constant {
		if code, found := explain(reference, candidate, m); code != "" {
			j.Add(code, candidate.Name, "the reference's values", found)
		}
	}
}

func (j *Judgement) thresholds(p *policy.Policy, m *Measurement) {
	j.AddAll(limits(p, m.SNR, m.Cosine))
}

// limits compares what was measured with the thresholds of a policy.
func limits(p *policy.Policy, snr, cosine float64) []reason.Reason {
	var out []reason.Reason
	for _, t := range []struct {
		name, code, unit string
		value            float64
	}{{"snr_db_min", reason.ParitySNR, " dB", snr}, {"cosine_min", reason.ParityCosine, "", cosine}} {
		limit, err := p.Threshold(t.name)
		if err != nil {
			out = append(out, reason.Reason{Code: reason.PolicyKind, Where: "policy " + p.Name, Expected: "a threshold " + t.name, Found: err.Error()})
			continue
		}
		if !(t.value >= limit) {
			out = append(out, reason.Reason{Code: t.code, Where: "output", Expected: fmt.Sprintf("at least %g%s", limit, t.unit), Found: fmt.Sprintf("%.6g%s", t.value, t.unit)})
		}
	}
	return out
}

// whereBad says in which frames of the candidate values are bad, and how well the frames agree whose values are all finite:
// those that an overflow left alone.
func whereBad(reference, candidate Tensor, bad func(float64) bool) string {
	frames, channels, _ := candidate.plane()
	_, wide, _ := reference.plane()
	n, first := 0, -1
	var r, c []float64 // of the frames that are finite
	for f := range frames {
		row := candidate.Values[f*channels : (f+1)*channels]
		if at := slices.IndexFunc(row, bad); at >= 0 {
			n++
			if first < 0 {
				first = f*channels + at
			}
		}
		if wide == channels && !slices.ContainsFunc(row, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			r, c = append(r, reference.Values[f*channels:(f+1)*channels]...), append(c, row...)
		}
	}
	s := fmt.Sprintf("in %d of %d frames, the first at frame %d, channel %d", n, frames, first/channels, first%channels)
	shape := []int{len(c) / channels, channels}
	if m, err := Measure(Tensor{Shape: shape, Values: r}, Tensor{Shape: shape, Values: c}); len(c) > 0 && err == nil {
		s += fmt.Sprintf("; the frames of finite values agree to %.1f dB", m.SNR)
	}
	return s
}
