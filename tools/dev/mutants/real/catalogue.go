package real

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// Mutant is one way in which real runs look right and are wrong.
type Mutant struct {
	// ID is stable: letters and digits with hyphens.
	ID string
	// Class groups mutants by what is faked.
	Class string
	// Fakes says what the mutant pretends; Made says how it is made.
	Fakes, Made string
	// Code is the reason code that has to be among the answers.
	Code string
	// Basis is the good gate that the mutant bends.
	Basis Basis
	// Sides are the runs that Bend changes.
	Sides []evidence.Kind
	Bend  func(*Scene) error
	// Give exchanges the evidence of runs after they were made.
	Give func(*judge.Runs)
}

// The runs that a mutant bends.
var (
	positive = []evidence.Kind{evidence.KindCoreML}
	negative = []evidence.Kind{evidence.KindCanary}
	contrast = []evidence.Kind{evidence.KindContrast}
	coreml   = []evidence.Kind{evidence.KindCoreML, evidence.KindCanary}
)

// Catalogue lists every mutant, class by class.
func Catalogue() []Mutant {
	var list []Mutant
	for _, class := range []struct {
		name    string
		mutants []Mutant
	}{
		{"Real: fault of the double", faults()}, {"Real: fault that is kept secret", secrets()}, {"Real: build", builds()}, {"Real: encoder", encoders()}, {"Real: model", models()},
		{"Real: recording", recordings()}, {"Real: invocation", invocations()}, {"Real: program that is wrapped", wrappers()}, {"Real: evidence of another run", exchanged()},
	} {
		for _, m := range class.mutants {
			m.Class = class.name
			list = append(list, m)
		}
	}
	return list
}

// faults are the double's own, which the evidence names.
func faults() []Mutant {
	var list []Mutant
	for _, f := range []struct{ name, made, code string }{
		{"prediction-fails", "every prediction fails", reason.PredictionFailed},
		{"first-prediction-fails", "the first prediction fails", reason.PredictionFailed},
		{"prediction-raises", "every prediction raises an exception", reason.CrashSignal},
		{"load-raises", "the load raises an exception", reason.CrashSignal},
		{"output-renamed", "the output has another name", reason.FaultInjected},
		{"output-too-large", "twice as many frames", reason.FaultInjected},
		{"output-too-small", "half of the frames", reason.FaultInjected},
		{"output-float16", "float16 elements", reason.FaultInjected},
		{"output-padded-strides", "padding after each frame", reason.FaultInjected},
		{"output-transposed", "channels before frames", reason.FaultInjected},
		{"zero-frame", "one frame of zeros", reason.FaultInjected},
		{"gain-1pct", "a gain of 1 per cent", reason.FaultInjected},
		{"nan-frame", "one frame of NaN", reason.FaultInjected},
		{"constant-output", "one value everywhere", reason.FaultInjected},
		{"zeros", "zeros everywhere", reason.FaultInjected},
		{"frames-reversed", "frames in reverse", reason.FaultInjected},
		{"frames-shifted", "frames a second late", reason.FaultInjected},
		{"stale-output", "the first output again and again", reason.FaultInjected},
		{"no-final-norm", "no last layer_norm", reason.FaultInjected},
		{"no-such-fault", "a fault that the double does not know", reason.CoreMLLoadFailed},
	} {
		list = append(list, Mutant{ID: "real-fault-" + f.name, Fakes: "an encoder that works", Made: "the double is told: " + f.made, Code: f.code, Sides: positive, Bend: fault(f.name)})
	}
	return append(list,
		Mutant{ID: "real-fault-canary", Fakes: "a canary", Made: "the canary's double is told a fault", Code: reason.FaultInjected, Sides: negative, Bend: fault("zeros")},
		Mutant{ID: "real-fault-contrast", Fakes: "a contrast run", Made: "the contrast run is told a fault", Code: reason.FaultInjected, Sides: contrast, Bend: fault("zeros")},
	)
}

// secrets are faults behind the evidence's back.
func secrets() []Mutant {
	hidden := func(id, made, code string, bend func(*Scene) error) Mutant {
		return Mutant{ID: "real-secret-" + id, Fakes: "an evaluator without a fault", Made: "in the Core ML and the canary run: " + made, Code: code, Sides: coreml, Bend: bend}
	}
	heard := func(name, made, code string) Mutant {
		m := hidden(name, made, code, secret(name))
		m.Basis = Greedy
		return m
	}
	return []Mutant{
		heard("zeros", "zeros everywhere", reason.TranscriptDiffers),
		heard("constant-output", "one value everywhere", reason.TranscriptEmpty),
		heard("nan-frame", "one frame of NaN", reason.TranscriptEmpty),
		heard("output-float16", "float16 elements", reason.TranscriptEmpty),
		heard("output-padded-strides", "padding after each frame", reason.TranscriptDiffers),
		heard("output-transposed", "channels before frames", reason.TranscriptEmpty),
		// Upstream's bridge says nothing of an output that it does not find, so only what was heard tells.
		heard("output-renamed", "the output has another name", reason.TranscriptDiffers),
		heard("no-final-norm", "no last layer_norm", reason.TranscriptReference),
		hidden("prediction-fails", "every prediction fails", reason.PredictionFailed, secret("prediction-fails")),
		hidden("prediction-raises", "every prediction raises an exception", reason.CrashSignal, secret("prediction-raises")),
		hidden("load-raises", "the load raises an exception", reason.CrashSignal, secret("load-raises")),
		hidden("evaluator-ends", "the evaluator ends at once with exit 0", reason.CoreMLLoadFailed, evaluator("exit 0")),
		hidden("evaluator-babbles", "the evaluator greets with other bytes", reason.CoreMLLoadFailed, evaluator("echo hello, this is not the greeting that you expect")),
		hidden("evaluator-no-memory", "the evaluator may have 1 MB of address space", reason.CoreMLLoadFailed, evaluator("ulimit -v 1000\nexec \"$EVALUATOR\" \"$@\"")),
		hidden("evaluator-text", "the evaluator is no program", reason.CoreMLLoadFailed, func(s *Scene) (err error) {
			s.Evaluator, err = s.file("evaluator", "\x00\x01 no program")
			return err
		}),
		hidden("evaluator-other-model", "the evaluator loads another folder", reason.CoreMLLoadFailed, evaluator("exec \"$EVALUATOR\" serve /nonexistent")),
	}
}

// exchanged are good runs in each other's places.
func exchanged() []Mutant {
	give := func(id, fakes, made, code string, give func(*judge.Runs)) Mutant {
		return Mutant{ID: "real-exchange-" + id, Fakes: fakes, Made: made, Code: code, Give: give}
	}
	return []Mutant{
		give("canary-is-coreml", "a canary", "the Core ML run in its place", reason.EvidenceKind, func(r *judge.Runs) { r.Canary = r.CoreML }),
		give("coreml-is-contrast", "a Core ML run", "the contrast run in its place", reason.EvidenceKind, func(r *judge.Runs) { r.CoreML = r.Contrast }),
		give("contrast-is-coreml", "a contrast run", "the Core ML run in its place", reason.EvidenceKind, func(r *judge.Runs) { r.Contrast = r.CoreML }),
		give("contrast-is-canary", "a contrast run", "the canary in its place", reason.EvidenceKind, func(r *judge.Runs) { r.Contrast = r.Canary }),
		give("no-canary", "a gate", "no canary", reason.EvidenceMissing, func(r *judge.Runs) { r.Canary = nil }),
		give("no-coreml", "a gate", "no Core ML run", reason.EvidenceMissing, func(r *judge.Runs) { r.CoreML = nil }),
		give("no-contrast", "a gate", "no contrast run", reason.EvidenceMissing, func(r *judge.Runs) { r.Contrast = nil }),
	}
}
