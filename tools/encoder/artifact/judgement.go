package artifact

import (
	"fmt"
	"math"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
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
	FactHeldToMacOS   = "held_to_macos"
	factKind          = "encoder_kind"
	factModelType     = "model_type"
	factMinimumMacOS  = "minimum_macos"
	factSpecification = "specification_version"
	factProducer      = "producer"
	factWeights       = "weights"
	factCompute       = "compute"
	factCompression   = "compression"
	factRule          = "pairing_rule"
	// FactFiner says that the encoder's weights have bits that the model's lost.
	FactFiner          = "weights_finer"
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
		facts[verdict.FactModel], facts[factModelType] = m.SHA256, m.FType
	}
	if e := r.Encoder; e != nil {
		facts[verdict.FactEncoder], facts[verdict.FactEncoderForm], facts[factKind] = e.Digest, e.Form, e.Kind
		facts[factMinimumMacOS], facts[factSpecification] = e.MinimumMacOS, int(e.SpecificationVersion)
		// The artifact's own words: they may hold anything.
		facts[factProducer] = shortened(reason.Visible(e.Producer.String()))
		if p := e.Precision; p != nil {
			facts[verdict.FactPrecision], facts[factWeights], facts[factCompute] = p.Class, p.Weights, p.Compute
			facts[factCompression] = schemes(p.Compression)
		}
	}
	if p := r.Pairing; p != nil {
		facts[factTensors], facts[factTensorsMatched] = p.Tensors, p.Matched
		facts[factRule], facts[FactFiner] = p.Rule, p.Finer
	}
	return &verdict.Judgement{Name: JudgementName, Findings: r.Findings, Facts: facts}
}

// ownWords is how many characters of what an artifact says of itself a judgement repeats.
const ownWords = 300

func shortened(text string) string {
	if runes := []rune(text); len(runes) > ownWords {
		return string(runes[:ownWords-1]) + "…"
	}
	return text
}

func schemes(list []Scheme) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.String()
	}
	return strings.Join(names, "; ")
}

// perLayer and beside count a model's encoder tensors: those of each layer, and those that it has once.
const perLayer, beside = 15, 7

// CheckFacts computes a judgement that passes again, from its own facts, and returns what does not allow the pass. Package
// judgements lists the facts and the values of each; here are those that must agree with each other.
func CheckFacts(j *verdict.Judgement) []reason.Reason {
	f := verdict.ReadFacts(j)
	text := func(key string) string { s, _ := j.Facts[key].(string); return s }
	if tensors := f.Count(factTensors, perLayer+beside, math.MaxInt32); tensors >= 0 {
		if (tensors-beside)%perLayer != 0 {
			f.Fail(factTensors, fmt.Sprintf("%d, and %d for each layer", beside, perLayer), fmt.Sprint(tensors))
		}
		f.Count(factTensorsMatched, tensors, tensors)
	}
	number, _ := verdict.Number(j.Facts[factSpecification])
	minimum := systems[int32(number)]
	f.Text(factMinimumMacOS, minimum)
	if held, ok := j.Facts[FactHeldToMacOS].(string); ok && newer(minimum, held) {
		f.Fail(FactHeldToMacOS, minimum+" or newer, which the encoder needs", held)
	}
	weights, compressed := text(factWeights), text(factCompression) != ""
	f.Text(verdict.FactPrecision, class(weights, text(factCompute)))
	switch {
	case weights == classCompressed && !compressed:
		f.Fail(factCompression, "the schemes of the compressed weights", "none")
	case weights == classFloat32 && compressed:
		f.Fail(factCompression, "none, for weights of float32", judgements.Shown(text(factCompression)))
	}
	quantised := text(factModelType) != "f16" && text(factModelType) != "bf16"
	if text(factRule) == ruleBounded && weights != classCompressed && !quantised {
		f.Fail(factRule, ruleExact+", where neither side has compressed weights", ruleBounded)
	}
	return f.Wrong
}
