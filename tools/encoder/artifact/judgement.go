package artifact

import (
	"regexp"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// JudgementName is the name of the judgement over a model and its encoder.
const JudgementName = "contract"

// Facts of the judgement.
const (
	FactShippable = "shippable"
	FactDerived   = "derived"
	// FactHeldToMacOS is the oldest system that must read the encoder, where the gate names one.
	FactHeldToMacOS    = "held_to_macos"
	factKind           = "encoder_kind"
	factTensors        = "tensors"
	factTensorsMatched = "tensors_matched"
)

// Judgement gives a report the form that gates and receipts read. Facts are flat there; coregate inspect --json has
// them all.
func (r *Report) Judgement() *verdict.Judgement {
	facts := map[string]any{FactShippable: r.Shippable}
	if d := r.Derived; d != nil {
		facts[FactDerived] = d.Path
	}
	if m := r.Model; m != nil {
		facts[verdict.FactModel], facts["model_type"] = m.SHA256, m.FType
	}
	if e := r.Encoder; e != nil {
		facts[verdict.FactEncoder], facts[verdict.FactEncoderForm], facts[factKind] = e.Digest, e.Form, e.Kind
		facts["minimum_macos"], facts["specification_version"] = e.MinimumMacOS, e.SpecificationVersion
		// The artifact's own words: they may hold anything.
		facts["producer"] = reason.Visible(e.Producer.String())
		if p := e.Precision; p != nil {
			facts[verdict.FactPrecision], facts["weights"], facts["compute"] = p.Class, p.Weights, p.Compute
			facts["compression"] = schemes(p.Compression)
		}
	}
	if p := r.Pairing; p != nil {
		facts[factTensors], facts[factTensorsMatched] = p.Tensors, p.Matched
		facts["pairing_rule"], facts["weights_finer"] = p.Rule, p.Finer
	}
	return &verdict.Judgement{Name: JudgementName, Findings: r.Findings, Facts: facts}
}

func schemes(list []Scheme) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.String()
	}
	return strings.Join(names, "; ")
}

var derivedForm = regexp.MustCompile(`^[^/]+-encoder\.mlmodelc$`)

// CheckFacts computes a judgement that passes again, from its own facts, and returns what does not allow the pass.
func CheckFacts(j *verdict.Judgement) []reason.Reason {
	f := verdict.ReadFacts(j)
	f.Is(FactShippable, true)
	f.Text(verdict.FactEncoderForm, "mlmodelc")
	f.Text(factKind, "mlProgram")
	f.Match(FactDerived, derivedForm)
	tensors := f.Count(factTensors, 1, 1<<20)
	f.Count(factTensorsMatched, tensors, tensors)
	return f.Wrong
}
