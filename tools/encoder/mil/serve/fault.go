package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// FaultVariable names the environment variable that chooses a fault.
const FaultVariable = "COREML_GATE_DOUBLE_FAULT"

// Fault is a way in which a Core ML runtime or an encoder may be wrong while
// the log stays clean. Faults exist so that tests can show which gate sees them.
type Fault struct{ Name, What string }

// fault is how a Fault is brought about; at most one of the members is set.
type fault struct {
	Fault
	// fails and raises are about every prediction, failsFirst about the first, loadRaises about none.
	fails, failsFirst, raises, loadRaises bool

	program func(p *mil.Program, function string) (*mil.Program, error)
	// reply bends a reply; first is the unbent reply to the first request.
	reply func(r, first Reply) (Reply, error)
}

var faults = []*fault{
	{Fault: Fault{"none", "replies are what the program computes"}},
	{Fault: Fault{"prediction-fails", "every prediction fails; the bridge copies nothing"}, fails: true},
	{Fault: Fault{"first-prediction-fails", "the first prediction fails, later ones do not"}, failsFirst: true},
	{Fault: Fault{"prediction-raises", "every prediction raises an exception, which passes through the bridge"}, raises: true},
	{Fault: Fault{"load-raises", "the load raises an exception, which passes through the bridge"}, loadRaises: true},
	{Fault: Fault{"output-renamed", "the output is called encoder_output_embeds; the bridge copies nothing"}, reply: renamed},
	{Fault: Fault{"output-too-large", "twice as many frames as the runtime has room for"}, reply: tooLarge},
	{Fault: Fault{"output-too-small", "half of the frames"}, reply: tooSmall},
	{Fault: Fault{"output-float16", "float16 elements in an array of the right shape"}, reply: asHalf},
	{Fault: Fault{"output-padded-strides", "each frame is followed by 16 elements of padding"}, reply: padded},
	{Fault: Fault{"output-transposed", "channels first, then frames"}, reply: transposed},
	{Fault: Fault{"zero-frame", "the middle frame is zeros"}, reply: onValues(zeroFrame)},
	{Fault: Fault{"gain-1pct", "every value is one per cent too large"}, reply: onValues(gain)},
	{Fault: Fault{"nan-frame", "the middle frame is NaN"}, reply: onValues(nanFrame)},
	{Fault: Fault{"constant-output", "every value is the first one"}, reply: onValues(constantOutput)},
	{Fault: Fault{"zeros", "every value is zero"}, reply: onValues(zeros)},
	{Fault: Fault{"frames-reversed", "frames in reverse order of time"}, reply: onValues(reversed)},
	{Fault: Fault{"frames-shifted", "frames come one second (50 frames) late, cyclically"}, reply: onValues(shifted)},
	{Fault: Fault{"stale-output", "every prediction returns the first one's result"}, reply: func(_, first Reply) (Reply, error) { return first, nil }},
	{Fault: Fault{"no-final-norm", "the last layer_norm of the program is left out"}, program: withoutFinalNorm},
}

// Faults lists the known faults.
func Faults() []Fault {
	out := make([]Fault, len(faults))
	for i, f := range faults {
		out[i] = f.Fault
	}
	return out
}

// findFault refuses names that it does not know: a fault that is silently not
// applied would make a test pass for no reason. The empty name is "none".
func findFault(name string) (*fault, error) {
	if name == "" {
		name = "none"
	}
	var known []string
	for _, f := range faults {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return nil, fmt.Errorf("%s is %q, which is not a fault; known are %s", FaultVariable, name, strings.Join(known, ", "))
}

func renamed(r, _ Reply) (Reply, error) {
	r.Name = "encoder_output_embeds"
	return r, nil
}

// onValues bends frames*channels float32 values in place.
func onValues(f func(v []float32, frames, channels int)) func(r, first Reply) (Reply, error) {
	return func(r, _ Reply) (Reply, error) {
		v, err := r.values()
		if err != nil {
			return Reply{}, err
		}
		f(v, int(r.Shape[1]), int(r.Shape[2]))
		r.Data = encode(v)
		return r, nil
	}
}

func zeroFrame(v []float32, frames, channels int) {
	at := frames / 2 * channels
	clear(v[at : at+channels])
}

func nanFrame(v []float32, frames, channels int) {
	at := frames / 2 * channels
	for i := range channels {
		v[at+i] = float32(math.NaN())
	}
}

func gain(v []float32, _, _ int) {
	for i := range v {
		v[i] *= 1.01
	}
}

func constantOutput(v []float32, _, _ int) {
	for i := range v {
		v[i] = v[0]
	}
}

func zeros(v []float32, _, _ int) { clear(v) }

func reversed(v []float32, frames, channels int) {
	for a, b := 0, frames-1; a < b; a, b = a+1, b-1 {
		for c := range channels {
			v[a*channels+c], v[b*channels+c] = v[b*channels+c], v[a*channels+c]
		}
	}
}

func shifted(v []float32, frames, channels int) {
	by := min(50, frames/2) * channels
	copy(v, slices.Concat(v[len(v)-by:], v[:len(v)-by]))
}

func tooLarge(r, _ Reply) (Reply, error) {
	if len(r.Shape) != 3 {
		return Reply{}, fmt.Errorf("expected an output of rank 3, found %v", r.Shape)
	}
	r.Data = slices.Concat(r.Data, r.Data)
	r.Shape = []int64{r.Shape[0], 2 * r.Shape[1], r.Shape[2]}
	r.Strides = contiguous(r.Shape)
	return r, nil
}

func tooSmall(r, _ Reply) (Reply, error) {
	if len(r.Shape) != 3 || r.Shape[0] != 1 || r.Shape[1] < 2 {
		return Reply{}, fmt.Errorf("expected an output [1, at least 2, channels], found %v", r.Shape)
	}
	keep := r.Shape[1] / 2
	r.Data = r.Data[:int64(len(r.Data))/r.Shape[1]*keep]
	r.Shape = []int64{1, keep, r.Shape[2]}
	r.Strides = contiguous(r.Shape)
	return r, nil
}

func asHalf(r, _ Reply) (Reply, error) {
	v, err := r.values()
	if err != nil {
		return Reply{}, err
	}
	r.DType, r.Data = mil.Float16, nil
	for _, x := range v {
		r.Data = binary.LittleEndian.AppendUint16(r.Data, kernel.Float32ToHalf(x))
	}
	return r, nil
}

// padded puts a recognisable value, 777, into the padding.
func padded(r, _ Reply) (Reply, error) {
	v, err := r.values()
	if err != nil {
		return Reply{}, err
	}
	const gap = 16
	channels := int(r.Shape[2])
	var out []float32
	for at := 0; at < len(v); at += channels {
		out = append(out, v[at:at+channels]...)
		out = append(out, slices.Repeat([]float32{777}, gap)...)
	}
	row := r.Shape[2] + gap
	r.Strides = []int64{r.Shape[1] * row, row, 1}
	r.Data = encode(out)
	return r, nil
}

func transposed(r, _ Reply) (Reply, error) {
	v, err := r.values()
	if err != nil {
		return Reply{}, err
	}
	frames, channels := int(r.Shape[1]), int(r.Shape[2])
	out := make([]float32, len(v))
	for t := range frames {
		for c := range channels {
			out[c*frames+t] = v[t*channels+c]
		}
	}
	r.Shape = []int64{r.Shape[0], r.Shape[2], r.Shape[1]}
	r.Strides = contiguous(r.Shape)
	r.Data = encode(out)
	return r, nil
}

// withoutFinalNorm lets every reader of the last layer_norm read its operand.
func withoutFinalNorm(p *mil.Program, function string) (*mil.Program, error) {
	f := *p.Function(function)
	body := *f.Body
	at := -1
	for i, op := range body.Ops {
		if op.Type == "layer_norm" {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("the program has no layer_norm")
	}
	norm := *body.Ops[at]
	x := norm.Input("x")
	if x == nil {
		return nil, fmt.Errorf("the last layer_norm has no x")
	}
	norm.Type, norm.Inputs = "identity", []mil.Arg{*x}
	body.Ops = slices.Clone(body.Ops)
	body.Ops[at] = &norm
	f.Body = &body
	return &mil.Program{Major: p.Major, Minor: p.Minor, Attrs: p.Attrs, Functions: []*mil.Function{&f}}, nil
}
