package constexpr

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Constants finds the constants of a block, and of blocks within it, by the
// names of their values: const operations, and constexpr operations,
// decompressed when asked for.
// Nothing is kept, so memory is bounded by one tensor and what it is made of.
type Constants struct {
	// Limit bounds the elements of a result that is decompressed; 0 leaves it
	// to the bound that Apply has.
	Limit   int64
	weights mil.Weights
	made    map[string]made
}

type made struct {
	op  *mil.Op
	out int
}

// NewConstants indexes a block. w finds weights and may be nil.
func NewConstants(b *mil.Block, w mil.Weights) *Constants {
	c := &Constants{weights: w, made: map[string]made{}}
	b.EachOp(func(op *mil.Op) {
		if op.Type == "const" || Is(op) {
			for i, o := range op.Outputs {
				c.made[o.Name] = made{op, i}
			}
		}
	})
	return c
}

// Has reports whether name is a constant of the block.
func (c *Constants) Has(name string) bool {
	_, ok := c.made[name]
	return ok
}

// Op returns the operation that makes the constant, or nil.
func (c *Constants) Op(name string) *mil.Op { return c.made[name].op }

// maxChain bounds how deep results feed into one another. Real programs chain
// two or three operations; without a bound, a few lines that use a value twice
// each would take exponential time.
const maxChain = 6

// Tensor returns a constant's elements; those of a plain constant may lie in
// a mapped file. Strings have no elements and are refused.
func (c *Constants) Tensor(name string) (mil.Tensor, error) {
	v, err := c.value(name, 0)
	if err != nil {
		return mil.Tensor{}, err
	}
	t, err := mil.Resolve(v, c.weights)
	if err != nil {
		return t, fmt.Errorf("constant %s at line %d: %w", name, c.made[name].op.Line, err)
	}
	return t, nil
}

func (c *Constants) value(name string, depth int) (*mil.Value, error) {
	m, ok := c.made[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("%q is not a constant of the program", name)
	case m.op.Type == "const":
		if v := m.op.Attr("val"); v != nil {
			return v, nil
		}
		return nil, fmt.Errorf("constant %s at line %d has no value", name, m.op.Line)
	case depth == maxChain:
		return nil, fmt.Errorf("constant %s at line %d: more than %d operations feed into each other", name, m.op.Line, maxChain)
	}
	out, err := c.apply(m.op, depth)
	if err != nil {
		return nil, err
	}
	t := out[m.out]
	return &mil.Value{Type: mil.TensorOf(t.DType, t.Shape...), Data: t.Data}, nil
}

// Apply evaluates one operation over the constants: one of the block, or a
// variation of one.
func (c *Constants) Apply(op *mil.Op) ([]mil.Tensor, error) { return c.apply(op, 0) }

func (c *Constants) apply(op *mil.Op, depth int) (out []mil.Tensor, err error) {
	if n, wrong := declared(op); wrong == nil && c.Limit > 0 && n > c.Limit {
		err = fmt.Errorf("a result of %d elements, the limit is %d", n, c.Limit)
	} else {
		out, err = Apply(op, c.weights, func(name string) (*mil.Value, error) { return c.value(name, depth+1) })
	}
	if err != nil {
		return nil, fmt.Errorf("operation %s at line %d: %w", op.Type, op.Line, err)
	}
	return out, nil
}
