package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// The names that the runtime's bridge uses (src/coreml/whisper-encoder-impl.m).
const (
	InputName  = "logmel_data"
	OutputName = "output"
)

// Interface is what an encoder takes in and puts out.
type Interface struct {
	Inputs  []Feature `json:"inputs"`
	Outputs []Feature `json:"outputs"`
	States  []Feature `json:"states,omitempty"`
}

// kindAndInterface holds what the artifact is against the contract, and
// collects its interface. The header is nil where no model was given.
func (e *encoder) kindAndInterface(h *ggml.Hyperparameters) Interface {
	a := e.art
	where := a.ModelFile
	if where == "" {
		where = e.path
	}
	switch {
	case a.Kind == 0 && len(a.Faults) > 0:
		return Interface{} // the model could not be read, and that is reported
	case a.Kind.IsPipeline():
		e.fault(reason.Pipeline, where, "an ML program", a.Kind.String())
	case a.Kind != spec.MLProgram:
		e.fault(reason.NotMLProgram, where, "an ML program", a.Kind.String())
	}
	if n := functionCount(a); n > 1 {
		e.stop(unfed, reason.MultiFunction, where, "one function", fmt.Sprintf("%d functions", n))
	}
	if a.Model != nil && a.Model.Updatable || a.Metadata != nil && a.Metadata.IsUpdatable == "1" {
		e.fault(reason.Updatable, where, "a model that stays as it is", "isUpdatable")
	}
	before := len(e.findings)
	in, out, states, stated := describedFeatures(a)
	if functionCount(a) > 1 {
		in, out, stated = nil, nil, false // each function has features of its own, and which is meant nobody knows
	}
	if main := mainFunction(a.Program); main != nil {
		pin, pout := programFeatures(main)
		// A state of the description is a parameter of the program.
		pin = slices.DeleteFunc(pin, func(p Feature) bool {
			return p.Kind == "State" && slices.ContainsFunc(states, func(s Feature) bool { return s.Name == p.Name })
		})
		in = e.agree("input", in, pin, stated)
		out = e.agree("output", out, pout, stated)
	}
	for _, f := range states {
		e.stop(unfed, reason.FeatureState, f.Name, "no state", f.String())
	}
	if len(in)+len(out) > 0 || stated {
		e.inputs(in, h)
		e.outputs(out, h)
	}
	// An interface that is refused for what it is needs no word about what repeats it.
	if d, m := a.Description, a.Metadata; d != nil && m != nil && functionCount(a) <= 1 && len(e.findings) == before {
		e.repeated("input", protoFeatures(d.Function.Inputs), jsonFeatures(m.Inputs))
		e.repeated("output", protoFeatures(d.Function.Outputs), jsonFeatures(m.Outputs))
	}
	return Interface{Inputs: in, Outputs: out, States: states}
}

// stateful says that the encoder has a state: what goes to the output through it is not followed, and the state is refused.
func (e *encoder) stateful() bool {
	return slices.ContainsFunc(e.findings, func(f finding) bool { return f.Code == reason.FeatureState })
}

func functionCount(a *bundle.Artifact) int {
	n := 0
	if a.Program != nil {
		n = len(a.Program.Functions)
	}
	if a.Description != nil {
		n = max(n, len(a.Description.Functions))
	}
	if a.Metadata != nil {
		n = max(n, len(a.Metadata.Functions))
	}
	return n
}

// agree joins what description and program say about the features of one
// side. Where both speak they must say the same; the description adds kind and
// optionality, the program adds shapes.
func (e *encoder) agree(side string, described, program []Feature, stated bool) []Feature {
	if !stated {
		return program
	}
	left := map[string]Feature{}
	for _, p := range program {
		left[p.Name] = p
	}
	joined := slices.Clone(described)
	for i, d := range joined {
		p, ok := left[d.Name]
		delete(left, d.Name)
		switch {
		case !ok:
			e.stop(unfed, reason.InterfaceContradiction, d.Name, "an "+side+" of that name in the program too", "none")
			continue
		case d.Kind == "MultiArray" && p.Kind != "MultiArray":
			e.stop(unfed, reason.InterfaceContradiction, d.Name, d.String(), "in the program: "+p.String())
		case d.Type != "" && p.Type != "" && d.Kind == "MultiArray" && d.Type != p.Type:
			e.stop(unfed, reason.InterfaceContradiction, d.Name, d.String(), "in the program: "+p.String())
		case d.Shape != nil && p.Shape != nil && !p.Flexible && d.Kind == "MultiArray" && !slices.Equal(d.Shape, p.Shape):
			e.stop(unfed, reason.InterfaceContradiction, d.Name, d.String(), "in the program: "+p.String())
		}
		if d.Type == "" {
			joined[i].Type = p.Type
		}
		if d.Shape == nil || p.Flexible {
			joined[i].Shape = p.Shape
		}
		joined[i].Flexible = d.Flexible || p.Flexible && !d.Enumerated
	}
	for _, p := range program {
		if _, unseen := left[p.Name]; unseen {
			e.stop(unfed, reason.InterfaceContradiction, p.Name, "no "+side+" of that name, as the description has none", "in the program: "+p.String())
			joined = append(joined, p)
		}
	}
	return joined
}

// pick finds the feature that the contract speaks of, and reports the others.
func (e *encoder) pick(fs []Feature, name, nameCode, extraCode string) (Feature, bool) {
	if len(fs) == 0 {
		e.stop(unfed, nameCode, e.art.ModelFile, name, "none")
		return Feature{}, false
	}
	at := slices.IndexFunc(fs, func(f Feature) bool { return f.Name == name })
	if at < 0 {
		names := make([]string, len(fs))
		for i, f := range fs {
			names[i] = f.Name
		}
		e.stop(unfed, nameCode, e.art.ModelFile, name, strings.Join(names, ", "))
		at = 0
	}
	for i, f := range fs {
		if i != at {
			e.stop(unfed, extraCode, f.Name, "only "+name, f.String())
		}
	}
	return fs[at], true
}

// kind reports features that are no required multi-arrays, and whether the
// rest of the contract can be held against this one.
func (e *encoder) kind(f Feature) bool {
	const want = "a required MultiArray"
	if f.Optional {
		e.stop(unfed, reason.FeatureOptional, f.Name, want, f.String()+", optional")
	}
	switch f.Kind {
	case "MultiArray":
		return true
	case "Image":
		e.stop(unfed, reason.FeatureImage, f.Name, want, f.String())
	case "Sequence":
		e.stop(unfed, reason.FeatureSequence, f.Name, want, f.String())
	case "Dictionary":
		e.stop(unfed, reason.FeatureDictionary, f.Name, want, f.String())
	case "State":
		e.stop(unfed, reason.FeatureState, f.Name, want, f.String())
	default:
		e.stop(unfed, reason.FeatureScalar, f.Name, want, f.String())
	}
	return false
}

func (e *encoder) inputs(fs []Feature, h *ggml.Hyperparameters) {
	f, ok := e.pick(fs, InputName, reason.InputName, reason.InputExtra)
	for _, x := range fs {
		if x.Name != f.Name {
			e.kind(x)
		}
	}
	if !ok || !e.kind(f) {
		return
	}
	if f.Type != "Float32" {
		e.stop(unfed, reason.InputType, f.Name, "Float32", f.Type)
	}
	switch {
	case f.Enumerated:
		e.stop(unfed, reason.InputEnumerated, f.Name, "a fixed shape", "a list of shapes")
		return
	case f.Flexible:
		e.stop(unfed, reason.InputFlexible, f.Name, "a fixed shape", f.flexibility())
		return
	}
	e.inputShape(f, h)
}

func (e *encoder) inputShape(f Feature, h *ggml.Hyperparameters) {
	if h == nil {
		if len(f.Shape) != 3 || f.Shape[0] != 1 {
			e.stop(unfed, reason.InputShape, f.Name, "[1, n_mels, 2*n_audio_ctx]", shapeString(f.Shape))
		}
		return
	}
	want := []int64{1, int64(h.Mels), int64(h.MelFrames())}
	switch {
	case slices.Equal(f.Shape, want):
	case len(f.Shape) == 3 && f.Shape[0] == 1 && f.Shape[1] != want[1] && f.Shape[2] == want[2]:
		e.stop(unfed, reason.NMelsMismatch, f.Name, shapeString(want), shapeString(f.Shape))
	default:
		e.stop(unfed, reason.InputShape, f.Name, shapeString(want), shapeString(f.Shape))
	}
}

func (e *encoder) outputs(fs []Feature, h *ggml.Hyperparameters) {
	f, ok := e.pick(fs, OutputName, reason.OutputName, reason.OutputExtra)
	for _, x := range fs {
		if x.Name != f.Name {
			e.kind(x)
		}
	}
	if !ok || !e.kind(f) {
		return
	}
	if f.Type != "Float32" {
		e.stop(unfed, reason.OutputType, f.Name, "Float32", f.Type)
	}
	if f.Flexible || f.Enumerated || slices.Contains(f.Shape, -1) {
		e.stop(unfed, reason.OutputFlexible, f.Name, "a fixed shape", f.flexibility())
		return
	}
	e.outputShape(f, h)
}

func (e *encoder) outputShape(f Feature, h *ggml.Hyperparameters) {
	if h == nil {
		if f.Shape != nil && (len(f.Shape) != 3 || f.Shape[0] != 1) {
			e.stop(unfed, reason.OutputShape, f.Name, "[1, n_audio_ctx, n_audio_state]", shapeString(f.Shape))
		}
		return
	}
	want := []int64{1, int64(h.AudioCtx), int64(h.AudioState)}
	if slices.Equal(f.Shape, want) {
		return
	}
	squeezed := squeeze(f.Shape)
	if slices.Equal(squeezed, []int64{want[2], want[1]}) && want[1] != want[2] {
		e.stop(unfed, reason.OutputChannelFirst, f.Name, shapeString(want), shapeString(f.Shape))
		return
	}
	e.stop(unfed, reason.OutputShape, f.Name, shapeString(want), shapeString(f.Shape))
}

// squeeze drops extents of 1.
func squeeze(s []int64) []int64 {
	out := []int64{}
	for _, d := range s {
		if d != 1 {
			out = append(out, d)
		}
	}
	return out
}
