package eval

import (
	"encoding/binary"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// Converters compute shapes, bounds and axes in the program itself: shape, then gather, then concat, then reshape. All of that is
// known as soon as the shapes are, so it is computed while the program is checked, and what it gives is a constant like any other.

// maxFolded bounds the elements of what is computed ahead.
const maxFolded = 1 << 16

// known declares output 0 as a constant of integers.
func (c *call) known(d mil.DType, shape []int, values []int64) {
	if !c.declare(0, d, shape) {
		return
	}
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, uint32(int32(v)))
	}
	c.constant(c.op.Outputs[0].Name, d, shape, data)
}

// constant makes a value of the program a constant with the given bytes.
func (b *builder) constant(name string, d mil.DType, shape []int, data []byte) {
	t := &mil.Type{Kind: mil.TensorKind, DType: d}
	for _, e := range shape {
		t.Shape = append(t.Shape, int64(e))
	}
	n := newRoot(name, d, shape)
	n.value = &mil.Value{Type: t, Data: data}
	n.constant = aligned(data, d)
	b.names[name] = n
}

// ahead computes the integers that an operation made from constants alone: its steps, from the given one on, are run at once and
// taken off the plan. Nothing changes where an operand is computed, has floating point or is large.
func (c *call) ahead(first int) {
	steps := c.steps[first:]
	if c.bad || len(steps) == 0 {
		return
	}
	f := &frame{}
	slots := map[*node]bool{}
	hold := func(n *node, data []byte) {
		if !slots[n] {
			slots[n] = true
			n.slot = len(f.buf)
			f.buf = append(f.buf, data)
		}
	}
	for _, s := range steps {
		for _, n := range s.ins {
			r := n.root
			switch {
			case slots[r]:
			case n.dtype.IsFloat() || r.value == nil || r.len() > maxFolded || r.late != nil:
				return
			case r.constant != nil:
				hold(r, r.constant)
			default:
				t, err := mil.Resolve(r.value, c.weights)
				if err != nil {
					return // Check has no weights, and says nothing of what it cannot read
				}
				hold(r, aligned(t.Data, t.DType))
			}
		}
		for _, n := range s.outs {
			if n.dtype.IsFloat() || n.len() > maxFolded {
				return
			}
			if n.root.value == nil {
				hold(n.root, allocate(n.root.bytes))
			}
		}
	}
	f.pool = kernel.NewPool(1)
	for _, s := range steps {
		s.run(f)
	}
	if f.err != nil {
		c.fail("%v", f.err)
		return
	}
	c.steps = c.steps[:first]
	for _, o := range c.op.Outputs {
		if n := c.names[o.Name]; n != nil {
			t := f.tensor(n)
			c.constant(o.Name, n.dtype, n.shape, append([]byte(nil), t.Data...))
		}
	}
}
