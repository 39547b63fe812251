package eval

import (
	"errors"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
)

// makeFolded decompresses weights once, when a program is compiled; a check
// looks at types and shapes.
func makeFolded(c *call) {
	get := func(name string) (*mil.Value, error) {
		switch n := c.names[name]; {
		case n == nil:
			// Its producer is an obstacle that is already listed.
			c.bad = true
			return nil, errors.New("not known")
		case n.value == nil:
			return nil, errors.New("expected a constant, found a computed value")
		default:
			return n.value, nil
		}
	}
	var made []mil.Tensor
	var err error
	if c.resolve {
		made, err = constexpr.Apply(c.op, c.weights, get)
	} else {
		err = constexpr.Check(c.op, get)
	}
	if c.bad {
		return
	}
	if err != nil {
		c.fail("%v", err)
		return
	}
	for i, o := range c.op.Outputs {
		shape, err := looseShape(o.Type)
		if err != nil {
			c.fail("output %q: %v", o.Name, err)
			return
		}
		n := newRoot(o.Name, o.Type.DType, shape)
		n.value = &mil.Value{Type: o.Type}
		if c.resolve {
			n.constant = aligned(made[i].Data, o.Type.DType)
			n.value.Data = n.constant
		}
		c.names[o.Name] = n
	}
}
