package dataflow

import (
	"fmt"
	"io"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// bandValues is how many values of a matrix a product reads at a time.
const bandValues = 1 << 18

// band is a part of a constant: count rows or columns from one on.
type band struct {
	of           constant
	first, count int64
	columns      bool
}

// multiplied says where an operation has its matrix, and along which axis of its result the matrix's rows or columns lie.
type multiplied struct {
	weight, bias string
	columns      bool
	axis         int64
}

// product tells the operations that multiply with a constant matrix, whose every row or column gives values of its own.
func (r *reducer) product(op *mil.Op) (multiplied, bool) {
	switch op.Type {
	case "linear":
		return multiplied{weight: "weight", bias: "bias", axis: -1}, true
	case "conv":
		groups := r.known(op, "groups")
		if groups == nil {
			return multiplied{weight: "weight", bias: "bias", axis: 1}, true
		}
		n, err := groups.AsInts()
		return multiplied{weight: "weight", bias: "bias", axis: 1}, err == nil && len(n) == 1 && n[0] == 1
	case "matmul":
		if a := op.Input("transpose_y"); a != nil && len(a.Bindings) > 0 && r.known(op, "transpose_y") == nil {
			return multiplied{}, false
		}
		rows := r.known(op, "transpose_y").Equal(mil.BoolValue(true))
		return multiplied{weight: "y", columns: !rows, axis: -1}, true
	}
	return multiplied{}, false
}

// known is an argument's constant in the reduced function, nil where there is none.
func (r *reducer) known(op *mil.Op, name string) *mil.Value {
	a := op.Input(name)
	if a == nil || len(a.Bindings) != 1 {
		return nil
	}
	if v := a.Bindings[0].Value; v != nil {
		return v
	}
	return r.made[a.Bindings[0].Name]
}

// banded gives an operation that multiplies with a large constant as several, each with a band of the constant, and one that
// joins what they give under the name that the operation's result had. Each value of the result is computed as before.
func (r *reducer) banded(op *mil.Op) []*mil.Op {
	m, ok := r.product(op)
	w := r.known(op, m.weight)
	if !ok || w == nil || w.Blob == nil || !r.Is(*w.Blob) || len(op.Outputs) != 1 || op.Type == "matmul" && len(w.Type.Shape) != 2 {
		return []*mil.Op{op}
	}
	outs := w.Type.Shape[0]
	if m.columns {
		outs = w.Type.Shape[1]
	}
	n, err := w.Type.Elements()
	if err != nil || outs == 0 {
		return []*mil.Op{op}
	}
	step := max(16, r.atATime/(n/outs)&^15)
	bias := op.Input(m.bias)
	b := r.known(op, m.bias)
	out := op.Outputs[0]
	axis := (m.axis + int64(len(out.Type.Shape))) % int64(max(1, len(out.Type.Shape)))
	if step >= outs || bias != nil && (b == nil || b.Data == nil || int64(len(b.Data)) != 4*outs) || !out.Type.Static() || int64(len(out.Type.Shape)) <= axis || out.Type.Shape[axis] != outs {
		return []*mil.Op{op}
	}
	join := &mil.Op{Type: "concat", Line: op.Line, Outputs: op.Outputs, Inputs: []mil.Arg{{Name: "values", Variadic: true},
		{Name: "axis", Bindings: []mil.Binding{{Value: mil.Int32Value(int32(axis))}}}, {Name: "interleave", Bindings: []mil.Binding{{Value: mil.BoolValue(false)}}}}}
	var ops []*mil.Op
	for first := int64(0); first < outs; first += step {
		count := min(step, outs-first)
		name := fmt.Sprintf("%s@%d", out.Name, first)
		part := &mil.Op{Type: op.Type, Line: op.Line, Attrs: op.Attrs, Outputs: []mil.Param{{Name: name, Type: along(out.Type, int(axis), count)}}}
		for _, a := range op.Inputs {
			switch a.Name {
			case m.weight:
				a.Bindings = []mil.Binding{{Value: r.bandOf(w, band{of: r.late[w.Blob.Offset], first: first, count: count, columns: m.columns})}}
			case m.bias:
				a.Bindings = []mil.Binding{{Value: &mil.Value{Type: mil.TensorOf(mil.Float32, count), Data: b.Data[4*first:][:4*count]}}}
			}
			part.Inputs = append(part.Inputs, a)
		}
		ops = append(ops, part)
		join.Inputs[0].Bindings = append(join.Inputs[0].Bindings, mil.Binding{Name: name})
		r.bands[name] = true
	}
	r.joined[out.Name] = op.Type
	return append(ops, join)
}

// along is a type with another extent of one axis.
func along(t *mil.Type, axis int, extent int64) *mil.Type {
	c := *t
	c.Shape = append([]int64{}, t.Shape...)
	c.Shape[axis] = extent
	return &c
}

func (r *reducer) bandOf(w *mil.Value, b band) *mil.Value {
	axis := 0
	if b.columns {
		axis = 1
	}
	r.late = append(r.late, constant{typ: along(b.of.typ, axis, b.count), band: &b})
	return mil.BlobValue(along(w.Type, axis, b.count), latePath, uint64(len(r.late)-1))
}

// readBand reads a band of a constant in float32.
func (r *reducer) readBand(b *band, into []byte) error {
	shape := b.of.typ.Shape
	columns := int64(1) // values of a row
	for _, d := range shape[1:] {
		columns *= d
	}
	read, err := r.stretches(b.of)
	if err != nil {
		return err
	}
	if !b.columns {
		return read(into, b.first*columns)
	}
	for row := range shape[0] {
		if err := read(into[4*row*b.count:][:4*b.count], row*columns+b.first); err != nil {
			return err
		}
	}
	return nil
}

// stretches gives a reader of a constant's values from one on, in float32. What is not read from a file as it lies there is
// loaded whole, and kept until another one is.
func (r *reducer) stretches(c constant) (func(into []byte, first int64) error, error) {
	if from, ok := r.weights.(mil.Sections); ok && c.op == nil && c.value.Blob != nil && (c.typ.DType == mil.Float32 || c.typ.DType == mil.Float16) {
		s, err := section(from, c.value)
		if err != nil {
			return nil, err
		}
		size := int64(c.typ.DType.Bits() / 8)
		return func(into []byte, first int64) error {
			n := int64(len(into)) / 4 * size
			stretch := io.NewSectionReader(s, first*size, n)
			if c.typ.DType == mil.Float16 {
				return widen(into, stretch)
			}
			_, err := io.ReadFull(stretch, into)
			return err
		}, nil
	}
	if r.kept.op != c.op || r.kept.value != c.value {
		r.kept, r.keptTensor = constant{}, mil.Tensor{} // not two at once
		t, err := r.load(c)
		if err != nil {
			return nil, err
		}
		r.kept, r.keptTensor = c, t
	}
	return func(into []byte, first int64) error { return floats(into, r.keptTensor, first) }, nil
}
