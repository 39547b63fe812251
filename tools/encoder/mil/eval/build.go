package eval

import (
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// maxRank is the highest rank that Core ML accepts.
const maxRank = 5

// maxElements keeps products of extents far from overflow.
const maxElements = 1 << 31

// builder turns operations into steps, collecting obstacles as it goes.
type builder struct {
	weights   mil.Weights
	resolve   bool // read constants; off for Check
	options   Options
	names     map[string]*node
	steps     []*step
	inputs    []*node
	outputs   []Feature
	results   []*node
	obstacles []Obstacle
	warnings  []Obstacle
}

func newBuilder(w mil.Weights, o Options) *builder {
	return &builder{weights: w, options: o, names: map[string]*node{}}
}

func (b *builder) problem(format string, a ...any) {
	b.obstacles = append(b.obstacles, Obstacle{Problem: fmt.Sprintf(format, a...)})
}

func (b *builder) function(p *mil.Program, name string) {
	fn := p.Function(name)
	if fn == nil {
		var have []string
		for _, f := range p.Functions {
			have = append(have, f.Name)
		}
		b.problem("no function %q; the program has %q", name, have)
		return
	}
	if err := p.Validate(); err != nil {
		b.problem("the program is not well formed: %v", err)
		return
	}
	for _, q := range fn.Params {
		b.parameter(q)
	}
	if len(fn.Body.Inputs) > 0 {
		b.problem("the body of function %q has inputs of its own", name)
	}
	for _, op := range fn.Body.Ops {
		b.operation(op, fn.Opset)
	}
	for _, o := range fn.Body.Outputs {
		n := b.names[o]
		if n == nil {
			if len(b.obstacles) == 0 {
				b.problem("output %q is not computed", o)
			}
			continue
		}
		if n.dtype == mil.String {
			b.problem("output %q is a string", o)
			continue
		}
		b.results = append(b.results, n)
		b.outputs = append(b.outputs, feature(o, n))
	}
	if len(fn.Body.Outputs) == 0 {
		b.problem("function %q has no output", name)
	}
}

func feature(name string, n *node) Feature {
	f := Feature{Name: name, DType: n.dtype}
	for _, d := range n.shape {
		f.Shape = append(f.Shape, int64(d))
	}
	if len(f.Shape) == 0 {
		// Core ML's arrays have at least one dimension; coremltools describes a scalar as [1] too (backend/mil/load.py).
		f.Shape = []int64{1}
	}
	return f
}

func (b *builder) parameter(q mil.Param) {
	shape, err := staticShape(q.Type)
	if err == nil {
		err = computable(q.Type.DType)
	}
	if err != nil {
		b.problem("input %q: %v", q.Name, err)
		return
	}
	n := newRoot(q.Name, q.Type.DType, shape)
	n.input = true
	b.names[q.Name] = n
	b.inputs = append(b.inputs, n)
}

func newRoot(name string, d mil.DType, shape []int) *node {
	n := &node{name: name, dtype: d, shape: shape, strides: denseStrides(shape), at: -1, first: -1, last: -1}
	n.root = n
	n.bytes = product(shape) * d.Bits() / 8
	return n
}

// staticShape checks a tensor type as Core ML does.
func staticShape(t *mil.Type) ([]int, error) {
	if !t.IsTensor() {
		return nil, fmt.Errorf("expected a tensor, found %s", t)
	}
	if !t.Static() {
		return nil, fmt.Errorf("expected fixed extents, found %s", t)
	}
	if len(t.Shape) > maxRank {
		return nil, fmt.Errorf("rank %d of %s is above %d, which Core ML refuses", len(t.Shape), t, maxRank)
	}
	shape := make([]int, len(t.Shape))
	total := int64(1)
	for i, d := range t.Shape {
		if d <= 0 {
			return nil, fmt.Errorf("extent %d in %s; Core ML refuses empty tensors", d, t)
		}
		if d > maxElements/total {
			return nil, fmt.Errorf("%s has too many elements", t)
		}
		total *= d
		shape[i] = int(d)
	}
	return shape, nil
}

// looseShape is staticShape without the limit on rank, for stored constants.
func looseShape(t *mil.Type) ([]int, error) {
	if t.IsTensor() && len(t.Shape) > maxRank {
		flat := *t
		var shape []int
		if !t.Static() || len(t.Shape) > 2*maxRank {
			return nil, fmt.Errorf("%s is not a shape of a constant", t)
		}
		for at := 0; at < len(t.Shape); at += maxRank {
			flat.Shape = t.Shape[at:min(at+maxRank, len(t.Shape))]
			part, err := staticShape(&flat)
			if err != nil {
				return nil, err
			}
			shape = append(shape, part...)
		}
		if n, err := t.Elements(); err != nil || n > maxElements {
			return nil, fmt.Errorf("%s has too many elements", t)
		}
		return shape, nil
	}
	return staticShape(t)
}

// computable lists the element types that a value may have at run time.
func computable(d mil.DType) error {
	switch d {
	case mil.Float32, mil.Float16, mil.Int32, mil.Bool, mil.Int8, mil.Uint8, mil.Int16, mil.Uint16:
		return nil
	}
	return fmt.Errorf("values of type %s are not evaluated", d)
}

func (b *builder) operation(op *mil.Op, opset string) {
	c := &call{builder: b, op: op, opset: opset}
	def, ok := table[op.Type]
	switch {
	case len(op.Blocks) > 0:
		c.fail("nested blocks (control flow) are not evaluated")
	case !ok:
		c.fail("%s", unknown(op.Type))
	default:
		first := len(b.steps)
		c.run(def)
		c.ahead(first)
	}
	// Later operations can still be checked against the declared type.
	for _, o := range op.Outputs {
		if b.names[o.Name] != nil {
			continue
		}
		shape, err := staticShape(o.Type)
		if err == nil {
			err = computable(o.Type.DType)
		}
		if err == nil {
			b.names[o.Name] = newRoot(o.Name, o.Type.DType, shape)
		}
		if err != nil && !c.bad {
			c.fail("output %q: %v", o.Name, err)
		}
	}
}

// constantNode makes a node for a constant; numeric bytes are read if the
// builder resolves.
func (b *builder) constantNode(name string, v *mil.Value) (*node, error) {
	if v == nil || v.Type == nil {
		return nil, fmt.Errorf("constant without a value")
	}
	if v.Type.IsTensor() && v.Type.DType == mil.String {
		n := newRoot(name, mil.String, nil)
		n.value = v
		return n, nil
	}
	t := v.Type
	if t.IsTensor() && len(t.Shape) > 0 && slices.Contains(t.Shape, 0) {
		// An empty list of axes or pads is an argument, never a value to compute with.
		n := newRoot(name, t.DType, []int{0})
		n.value = v
		return n, nil
	}
	shape, err := looseShape(t)
	if err != nil {
		return nil, err
	}
	n := newRoot(name, t.DType, shape)
	n.value = v
	if !b.resolve {
		return n, nil
	}
	if late := b.options.Late; late != nil && v.Blob != nil && late.Is(*v.Blob) {
		n.late = v.Blob
		return n, nil
	}
	r, err := mil.Resolve(v, b.weights)
	if err != nil {
		return nil, err
	}
	n.constant = aligned(r.Data, t.DType)
	return n, nil
}

// dense inserts a row-major copy of a strided value.
func (b *builder) dense(c *call, n *node) *node {
	if n == nil || n.dense() {
		return n
	}
	out := newRoot(n.name, n.dtype, n.shape)
	b.steps = append(b.steps, &step{op: "copy", line: c.op.Line, ins: []*node{n}, outs: []*node{out}, run: func(f *frame) { f.move(out, n) }})
	return out
}
