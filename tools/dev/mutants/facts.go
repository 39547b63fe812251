package mutants

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

// passing is the judgement of that name of the real gate over tiny.en, or of the sample's runs, and its policy.
func passing(name string) (*verdict.Judgement, *policy.Policy, error) {
	j := verdict.NewJudgement(name)
	digest := strings.Repeat("a", 64)
	switch name {
	case judgements.Contract:
		j.Facts = map[string]any{
			"compression": "", "compute": "float32", "derived": "ggml-tiny.en-encoder.mlmodelc", "encoder_digest": digest, "encoder_form": "mlmodelc", "encoder_kind": "mlProgram",
			"minimum_macos": "12.0", "model_sha256": digest, "model_type": "f16", "pairing_rule": "exact", "precision": "float32", "producer": "coreml-gate.encoder-writer 1",
			"shippable": true, "specification_version": 6, "tensors": 67, "tensors_matched": 67, "weights": "float32", "weights_finer": false,
		}
		return j, nil, nil
	case judgements.Parity:
		j.Add(reason.EmulatedUnits, "ggml-tiny.en-encoder.mlmodelc", "Core ML at all compute units", "evaluated from the program (portable)")
		j.Facts = map[string]any{
			"cosine": 0.9999999999994389, "encoder_digest": digest, "encoder_form": "mlmodelc", "kernel_path": "portable", "max_error": 0.00015540384558399012, "mean_error": 8.63429037091427e-07,
			"mel": "built-in probe", "mel_sha256": digest, "model_sha256": digest, "precision": "float32", "reference": parity.Computed, "satisfies_gate": true, "snr_db": 119.5496392527612,
		}
		p, err := policy.Frozen(parity.GatePolicy)
		return j, p, err
	}
	g := Good()
	p, err := policy.Frozen(g.Policy)
	if err != nil {
		return nil, nil, err
	}
	all, err := agreement.JudgeRuns(judge.Runs{CoreML: g.CoreML, Canary: g.Canary, Contrast: g.Contrast}, g.Reference, p)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range all {
		if x.Name == name {
			return x, p, nil
		}
	}
	return nil, nil, fmt.Errorf("no judgement %q", name)
}

// said computes a judgement that passes again, with its facts bent, as whoever reads a receipt without any file does.
func said(name string, bend func(facts map[string]any)) func() (*verdict.Findings, error) {
	return func() (*verdict.Findings, error) {
		j, p, err := passing(name)
		if err != nil {
			return nil, err
		}
		bend(j.Facts)
		kind, _ := judgements.Lookup(name)
		f := verdict.From(kind.CheckFacts(j, string(evidence.LaneEmulated))...)
		switch name {
		case judgements.Contract:
			f.AddAll(artifact.CheckFacts(j))
		case judgements.Parity:
			f.AddAll(parity.CheckFacts(j, p))
		case judgements.Transcript:
			f.AddAll(agreement.CheckFacts(j, p))
		default:
			f.AddAll(judge.CheckFacts(j, p))
		}
		return &f, nil
	}
}

// facts are receipts that were edited and signed anew: what one judgement says, and how it was bent.
func facts() []Mutant {
	var list []Mutant
	for _, c := range []struct {
		id, judgement, made string
		set                 map[string]any // nil takes a fact out
	}{
		{"contract-tensors", judgements.Contract, "68 tensors, which no encoder has", map[string]any{"tensors": 68, "tensors_matched": 68}},
		{"contract-half", judgements.Contract, "52 of 67 tensors matched", map[string]any{"tensors_matched": 52}},
		{"contract-rule", judgements.Contract, "equality judged by eye", map[string]any{"pairing_rule": "by eye"}},
		{"contract-bounded", judgements.Contract, "equality within bounds of weights that are not compressed", map[string]any{"pairing_rule": "bounded"}},
		{"contract-type", judgements.Contract, "a model of float32, which the runtime refuses", map[string]any{"model_type": "f32"}},
		{"contract-version", judgements.Contract, "a specification that another macOS reads", map[string]any{"specification_version": 9}},
		{"contract-class", judgements.Contract, "float32 over operations of float16", map[string]any{"compute": "float16"}},
		{"contract-missing", judgements.Contract, "no word about finer weights", map[string]any{"weights_finer": nil}},
		{"contract-text", judgements.Contract, "a number as a text", map[string]any{"tensors": "67"}},
		{"parity-itself", judgements.Parity, "a comparison with itself", map[string]any{"reference": "itself"}},
		{"parity-nowhere", judgements.Parity, "an evaluator without a name", map[string]any{"kernel_path": ""}},
		{"parity-other-path", judgements.Parity, "another code path than its note names", map[string]any{"kernel_path": "arm64-neon"}},
		{"parity-given", judgements.Parity, "a reference that was given, without its digest", map[string]any{"reference": "tensor source.npy"}},
		{"parity-equal", judgements.Parity, "equal tensors with an error", map[string]any{"snr_db": 400, "cosine": 1}},
		{"parity-mean", judgements.Parity, "no mean error beside a largest one", map[string]any{"mean_error": 0}},
		{"parity-device", judgements.Parity, "compute units on the emulated lane", map[string]any{"compute_units_loaded": "all"}},
		{"markers-units", judgements.Markers, "a device among the markers", map[string]any{"placement": "Neural Engine"}},
		{"markers-uncounted", judgements.Markers, "no count of the double", map[string]any{"double_predictions": nil}},
		{"canary-ran", judgements.Canary, "a refusal whose encoder ran", map[string]any{"encoder_runs": 1}},
		{"contrast-half", judgements.Contrast, "half a run of the encoder", map[string]any{"encoder_runs": 0.5}},
		{"transcript-waiver", judgements.Transcript, "a waiver among the words", map[string]any{"waived": true}},
	} {
		list = append(list, Mutant{ID: "facts-" + c.id, Fakes: "a " + c.judgement + " judgement that passes", Made: "an edited receipt: " + c.made, Code: reason.JudgementDiffers,
			Answer: said(c.judgement, func(f map[string]any) {
				for key, value := range c.set {
					if f[key] = value; value == nil {
						delete(f, key)
					}
				}
			})})
	}
	return list
}
