package dataflow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
)

// ErrControlFlow says that the program holds nested blocks.
var ErrControlFlow = errors.New("control flow, which no encoder has")

// fewPositions is the number of positions up to which nothing is gained by fewer.
const fewPositions = 64

// divisor is what the positions of an encoder are divided by, 1 where the extents of
// its channels could be taken for positions. Every extent that it divides counts
// positions, or a part of them.
func divisor(h ggml.Hyperparameters) int64 {
	if h.AudioCtx <= fewPositions {
		return 1
	}
	for left := 8; left <= 40; left++ {
		if h.AudioCtx%left == 0 && !ambiguous(h, h.AudioCtx/left) {
			return int64(h.AudioCtx / left)
		}
	}
	return 1
}

func ambiguous(h ggml.Hyperparameters, by int) bool {
	for _, d := range []int{h.AudioState, 2 * h.AudioState, 3 * h.AudioState, 4 * h.AudioState, h.AudioState / h.AudioHead, h.AudioHead, h.Mels, 3 * h.Mels} {
		if d%by == 0 {
			return true
		}
	}
	return false
}

// reducer copies a function into one that computes the same in float32, for fewer
// positions: extents that by divides are divided, constants that have such an extent
// keep its beginning, and weights that are compressed are decompressed.
type reducer struct {
	by        int64
	weights   mil.Weights
	constants *constexpr.Constants
	// exact are constants of the definition that converters round to float16, by
	// what they are rounded to: the reference has them exactly, and how finely a
	// program computes is not asked here.
	exact map[uint16]float32
	// late are the large constants, which are read when the evaluation needs them.
	late []constant
	// made are the constants of the reduced function by name.
	made map[string]*mil.Value
	// bands names what products with a band of a constant give, joined the operations of which they were parts.
	bands  map[string]bool
	joined map[string]string
	// atATime is how many values of a matrix a product reads at a time.
	atATime int64
	// kept is the constant that was loaded last for its bands.
	kept       constant
	keptTensor mil.Tensor
}

func newReducer(f *mil.Function, w mil.Weights, h ggml.Hyperparameters, by int64) *reducer {
	r := &reducer{by: by, weights: w, constants: constexpr.NewConstants(f.Body, mil.Read(w)), exact: map[uint16]float32{},
		made: map[string]*mil.Value{}, bands: map[string]bool{}, joined: map[string]string{}, atATime: bandValues}
	width := float64(h.AudioState) / float64(max(h.AudioHead, 1))
	for _, x := range []float64{math.Pow(width, -0.25), math.Pow(width, -0.5), math.Pow(width, 0.5), math.Pow(width, 0.25), 1e-5,
		math.Sqrt(0.5), math.Sqrt2, math.Sqrt(2 / math.Pi), 0.044715} {
		r.exact[half.FromFloat64(x)] = float32(x)
	}
	return r
}

func (r *reducer) function(f *mil.Function) (*mil.Program, error) {
	out := &mil.Function{Name: f.Name, Opset: f.Opset, Body: &mil.Block{Outputs: f.Body.Outputs}}
	for _, p := range f.Params {
		out.Params = append(out.Params, r.param(p))
	}
	live := Live(f)
	for _, op := range f.Body.Ops {
		if !live[op] {
			continue
		}
		if len(op.Blocks) > 0 {
			return nil, fmt.Errorf("line %d: %s: %w", op.Line, op.Type, ErrControlFlow)
		}
		c, err := r.op(op)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", op.Line, op.Type, err)
		}
		c = exactGelu(c)
		if c.Type == "const" && len(c.Outputs) == 1 {
			r.made[c.Outputs[0].Name] = c.Attr("val")
		}
		out.Body.Ops = append(out.Body.Ops, r.banded(c)...)
	}
	return &mil.Program{Major: 1, Minor: 3, Functions: []*mil.Function{out}}, nil
}

// exactGelu gives an operation that computes GELU by tanh, or the constant that tells it to, the exact mode. Which tensors an
// operation reads is asked here; what it computes differs too little to tell, and too much for the limits of equal functions.
func exactGelu(op *mil.Op) *mil.Op {
	const tanh = "TANH_APPROXIMATION"
	c := *op
	if mode, _ := op.Attr("val").AsString(); op.Type == "const" && mode == tanh {
		c.Attrs = slices.Clone(op.Attrs)
		for i := range c.Attrs {
			if c.Attrs[i].Name == "val" {
				c.Attrs[i].Value = mil.StringValue("EXACT")
			}
		}
		return &c
	}
	if op.Type != "gelu" {
		return op
	}
	c.Inputs = slices.Clone(op.Inputs)
	for i, a := range c.Inputs {
		if len(a.Bindings) != 1 || a.Name != "mode" {
			continue
		}
		if mode, _ := a.Bindings[0].Value.AsString(); mode == tanh {
			c.Inputs[i].Bindings = []mil.Binding{{Value: mil.StringValue("EXACT")}}
		}
	}
	return &c
}

// Live is the set of operations that an output of the function depends on.
func Live(f *mil.Function) map[*mil.Op]bool {
	made := map[string]*mil.Op{}
	for _, op := range f.Body.Ops {
		for _, o := range op.Outputs {
			made[o.Name] = op
		}
	}
	live := map[*mil.Op]bool{}
	var need func(name string)
	needAll := func(op *mil.Op) {
		for _, a := range op.Inputs {
			for _, b := range a.Bindings {
				need(b.Name)
			}
		}
	}
	need = func(name string) {
		op := made[name]
		if op == nil || live[op] {
			return
		}
		live[op] = true
		needAll(op)
		for _, b := range op.Blocks {
			b.EachOp(needAll)
			for _, o := range b.Outputs {
				need(o)
			}
		}
	}
	for _, o := range f.Body.Outputs {
		need(o)
	}
	return live
}

func (r *reducer) param(p mil.Param) mil.Param { return mil.Param{Name: p.Name, Type: r.typ(p.Type)} }

func (r *reducer) typ(t *mil.Type) *mil.Type {
	if !t.IsTensor() {
		return t
	}
	c := *t
	if c.DType == mil.Float16 || c.DType == mil.BFloat16 || c.DType == mil.Float64 {
		c.DType = mil.Float32
	}
	c.Shape = make([]int64, len(t.Shape))
	for i, d := range t.Shape {
		c.Shape[i] = r.number(d)
	}
	return &c
}

// number divides what counts positions.
func (r *reducer) number(n int64) int64 {
	if r.by > 1 && n > 0 && n%r.by == 0 {
		return n / r.by
	}
	return n
}

func (r *reducer) op(op *mil.Op) (*mil.Op, error) {
	c := &mil.Op{Type: op.Type, Line: op.Line}
	for _, o := range op.Outputs {
		c.Outputs = append(c.Outputs, r.param(o))
	}
	if constexpr.Is(op) {
		v, err := r.decompressed(op)
		if err != nil {
			return nil, err
		}
		c.Type, c.Outputs = "const", c.Outputs[len(c.Outputs)-1:]
		c.Attrs = []mil.Attr{{Name: "val", Value: v}}
		return c, nil
	}
	for _, a := range op.Inputs {
		b, err := r.arg(op, a)
		if err != nil {
			return nil, err
		}
		c.Inputs = append(c.Inputs, b)
	}
	for _, a := range op.Attrs {
		v, err := r.value(a.Value)
		if err != nil {
			return nil, err
		}
		c.Attrs = append(c.Attrs, mil.Attr{Name: a.Name, Value: v})
	}
	return c, nil
}

func (r *reducer) arg(op *mil.Op, a mil.Arg) (mil.Arg, error) {
	c := mil.Arg{Name: a.Name, Variadic: a.Variadic}
	if op.Type == "cast" && a.Name == "dtype" && len(op.Outputs) == 1 && op.Outputs[0].Type.IsTensor() && op.Outputs[0].Type.DType.IsFloat() {
		c.Bindings = []mil.Binding{{Value: mil.StringValue("fp32")}}
		return c, nil
	}
	for _, b := range a.Bindings {
		if b.Value != nil {
			v, err := r.value(b.Value)
			if err != nil {
				return c, err
			}
			b = mil.Binding{Value: v}
		}
		c.Bindings = append(c.Bindings, b)
	}
	return c, nil
}

func (r *reducer) value(v *mil.Value) (*mil.Value, error) {
	if v == nil || !v.Type.IsTensor() || v.Type.DType == mil.String || v.Type.DType == mil.Bool {
		return v, nil
	}
	if r.large(v.Type) {
		return r.postpone(constant{typ: v.Type, value: v})
	}
	t, err := r.resolve(v)
	if err != nil {
		return nil, err
	}
	return r.tensor(t)
}

// tensor is a constant of the reduced function.
func (r *reducer) tensor(t mil.Tensor) (*mil.Value, error) {
	from := mil.TensorOf(t.DType, t.Shape...)
	to := r.typ(from)
	if t.DType == mil.Int32 {
		data := make([]byte, 0, len(t.Data))
		for at := 0; at < len(t.Data); at += 4 {
			n := int64(int32(binary.LittleEndian.Uint32(t.Data[at:])))
			data = binary.LittleEndian.AppendUint32(data, uint32(int32(r.number(n))))
		}
		return &mil.Value{Type: from, Data: data}, nil
	}
	if to.DType != mil.Float32 {
		return &mil.Value{Type: from, Data: t.Data}, nil
	}
	if t.DType == mil.Float16 && len(t.Data) == 2 {
		if x, ok := r.exact[binary.LittleEndian.Uint16(t.Data)]; ok {
			return &mil.Value{Type: to, Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))}, nil
		}
	}
	at, err := constexpr.Floats(t)
	if err != nil {
		return nil, err
	}
	n, err := to.Elements()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, 4*n)
	beginnings(t.Shape, to.Shape, func(i int64) { data = binary.LittleEndian.AppendUint32(data, math.Float32bits(at(i))) })
	return &mil.Value{Type: to, Data: data}, nil
}

// beginnings visits the elements of the corner of extents to within a tensor of
// extents from, in row-major order, by their index in the tensor.
func beginnings(from, to []int64, visit func(int64)) {
	var walk func(axis int, at int64)
	walk = func(axis int, at int64) {
		if axis == len(from) {
			visit(at)
			return
		}
		for i := range to[axis] {
			walk(axis+1, at*from[axis]+i)
		}
	}
	walk(0, 0)
}
