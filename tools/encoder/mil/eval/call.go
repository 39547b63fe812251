package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

var noOp = &mil.Op{}

// call is one operation being checked and turned into steps.
type call struct {
	*builder
	op    *mil.Op
	opset string
	bad   bool
}

// definition is how an operation is checked and built.
type definition struct {
	// args names every argument that is understood; others are obstacles.
	args []string
	// scope says in a few words what is evaluated.
	scope string
	make  func(c *call)
}

func (c *call) note(format string, a ...any) Obstacle {
	o := Obstacle{Op: c.op.Type, Line: c.op.Line, Problem: fmt.Sprintf(format, a...)}
	if len(c.op.Outputs) > 0 {
		o.Output = c.op.Outputs[0].Name
	}
	return o
}

func (c *call) fail(format string, a ...any) {
	c.bad = true
	c.obstacles = append(c.obstacles, c.note(format, a...))
}

func (c *call) warn(format string, a ...any) {
	c.warnings = append(c.warnings, c.note(format, a...))
}

func (c *call) run(def *definition) {
	for _, a := range c.op.Inputs {
		if !slices.Contains(def.args, a.Name) {
			c.fail("argument %q is not known; known are %s", a.Name, strings.Join(def.args, ", "))
		}
	}
	for _, a := range c.op.Attrs {
		if a.Name != "name" && !slices.Contains(def.args, a.Name) {
			c.fail("attribute %q is not known", a.Name)
		}
	}
	if len(c.op.Outputs) == 0 {
		c.fail("the operation has no output")
	}
	if !c.bad {
		def.make(c)
	}
}

// bindings returns the values of an argument, from inputs or, as older
// constexpr operations have them, from attributes.
func (c *call) bindings(arg string) []*node {
	if a := c.op.Input(arg); a != nil {
		var out []*node
		for _, b := range a.Bindings {
			n := c.names[b.Name]
			if b.Value != nil {
				var err error
				if n, err = c.constantNode(arg, b.Value); err != nil {
					c.fail("argument %q: %v", arg, err)
					return nil
				}
			}
			if n == nil {
				// Its producer is an obstacle that is already listed.
				c.bad = true
				return nil
			}
			out = append(out, n)
		}
		return out
	}
	if v := c.op.Attr(arg); v != nil {
		n, err := c.constantNode(arg, v)
		if err != nil {
			c.fail("attribute %q: %v", arg, err)
			return nil
		}
		return []*node{n}
	}
	return nil
}

// maybe returns an argument's value, or nil when it is not given.
func (c *call) maybe(arg string) *node {
	if c.op.Input(arg) == nil && c.op.Attr(arg) == nil {
		return nil
	}
	got := c.bindings(arg)
	if c.bad {
		return nil
	}
	if len(got) != 1 {
		c.fail("argument %q: expected one value, found %d", arg, len(got))
		return nil
	}
	return got[0]
}

// need is maybe for an argument that must be there.
func (c *call) need(arg string) *node {
	n := c.maybe(arg)
	switch {
	case c.bad:
	case n == nil:
		c.fail("argument %q is missing", arg)
	case product(n.shape) == 0:
		c.fail("argument %q is empty", arg)
	case len(n.shape) > maxRank:
		c.fail("argument %q has rank %d, above %d, which Core ML refuses", arg, len(n.shape), maxRank)
	default:
		if err := computable(n.dtype); err != nil {
			c.fail("argument %q: %v", arg, err)
		}
	}
	return n
}

// float is need for a tensor of float16 or float32.
func (c *call) float(arg string) *node {
	n := c.need(arg)
	if !c.bad && n.dtype != mil.Float32 && n.dtype != mil.Float16 {
		c.fail("argument %q: expected fp32 or fp16, found %s", arg, n.dtype)
	}
	return n
}

// maybeFloat is maybe for a tensor that has the type of like.
func (c *call) maybeFloat(arg string, like *node) *node {
	n := c.maybe(arg)
	if n != nil && like != nil && n.dtype != like.dtype {
		c.fail("argument %q: expected %s as the other operands, found %s", arg, like.dtype, n.dtype)
	}
	return n
}

// fixed returns an argument that must be known before evaluation.
func (c *call) fixed(arg string) *mil.Value {
	n := c.maybe(arg)
	if n == nil {
		return nil
	}
	if n.value == nil {
		c.fail("argument %q: expected a constant, found a computed value", arg)
	}
	return n.value
}

func (c *call) ints(arg string, otherwise []int64) []int64 {
	v := c.fixed(arg)
	if v == nil {
		return otherwise
	}
	var out []int64
	t, err := mil.Resolve(v, c.weights)
	if err == nil {
		if !v.Type.DType.IsInt() && v.Type.DType != mil.Bool {
			err = fmt.Errorf("expected integers, found %s", v.Type)
		} else {
			out, err = mil.DecodeInts(v.Type, t.Data)
		}
	}
	if err != nil {
		c.fail("argument %q: %v", arg, err)
	}
	return out
}

func (c *call) int(arg string, otherwise int64) int64 {
	v := c.ints(arg, []int64{otherwise})
	if c.bad {
		return otherwise
	}
	if len(v) != 1 {
		c.fail("argument %q: expected one integer, found %d", arg, len(v))
		return otherwise
	}
	return v[0]
}

func (c *call) bool(arg string, otherwise bool) bool {
	d := int64(0)
	if otherwise {
		d = 1
	}
	return c.int(arg, d) != 0
}

func (c *call) string(arg, otherwise string) string {
	v := c.fixed(arg)
	if v == nil {
		return otherwise
	}
	s, ok := v.AsString()
	if !ok {
		c.fail("argument %q: expected a string, found %s", arg, v.Type)
	}
	return s
}

// scalar returns a constant floating-point number.
func (c *call) scalar(arg string, otherwise float64) float64 {
	v := c.fixed(arg)
	if v == nil || c.bad {
		return otherwise
	}
	t, err := mil.Resolve(v, c.weights)
	if err != nil {
		c.fail("argument %q: %v", arg, err)
		return otherwise
	}
	b := aligned(t.Data, t.DType)
	switch {
	case t.DType == mil.Float32 && len(b) == 4:
		return float64(cells[float32](b)[0])
	case t.DType == mil.Float16 && len(b) == 2:
		return float64(kernel.HalfToFloat32(cells[uint16](b)[0]))
	}
	c.fail("argument %q: expected one fp32 or fp16 number, found %s", arg, v.Type)
	return math.NaN()
}

// axis resolves a possibly negative axis of a value of the given rank.
func (c *call) axis(arg string, v int64, rank int) int {
	if v < -int64(rank) || v >= int64(rank) {
		c.fail("argument %q: axis %d is outside rank %d", arg, v, rank)
		return 0
	}
	if v < 0 {
		v += int64(rank)
	}
	return int(v)
}

// declare checks output i against its declared type.
func (c *call) declare(i int, d mil.DType, shape []int) bool {
	if c.bad {
		return false
	}
	if i >= len(c.op.Outputs) {
		c.fail("expected at least %d outputs, found %d", i+1, len(c.op.Outputs))
		return false
	}
	o := c.op.Outputs[i]
	got, err := staticShape(o.Type)
	if err != nil {
		c.fail("output %q: %v", o.Name, err)
		return false
	}
	if o.Type.DType != d || !slices.Equal(got, shape) {
		c.fail("output %q is declared as %s, but the operation gives %s %v", o.Name, o.Type, d, shape)
		return false
	}
	return true
}

// result declares output i with storage of its own; nil when something is wrong.
func (c *call) result(i int, d mil.DType, shape []int) *node {
	if !c.declare(i, d, shape) {
		return nil
	}
	n := newRoot(c.op.Outputs[i].Name, d, slices.Clone(shape))
	c.names[n.name] = n
	return n
}

// view declares output i as another look at the storage of x.
func (c *call) view(i int, x *node, shape, strides []int, offset int) {
	if !c.declare(i, x.dtype, shape) {
		return
	}
	n := &node{name: c.op.Outputs[i].Name, dtype: x.dtype, shape: slices.Clone(shape), strides: strides, offset: x.offset + offset, root: x.root}
	if x.value != nil && x.value.Type.DType == mil.String {
		n.value = x.value
	}
	c.names[n.name] = n
	c.exact(x)
	c.steps = append(c.steps, &step{op: c.op.Type, line: c.op.Line, ins: []*node{x}, outs: []*node{n}, run: func(*frame) {}})
}

// step adds a computation of out from ins; nil operands are left out.
func (c *call) step(out *node, run func(f *frame), ins ...*node) *step {
	s := &step{op: c.op.Type, line: c.op.Line, outs: []*node{out}, run: run}
	for _, n := range ins {
		if n != nil {
			c.exact(n)
			s.ins = append(s.ins, n)
		}
	}
	c.steps = append(c.steps, s)
	return s
}

// exactInt is the largest magnitude below which float32, in which Core ML
// computes integers, holds every one.
const exactInt = 1 << 24

// exact flags a constant operand whose integers Core ML does not hold. What only parametrises an operation, such as the
// end of a slice, is never an operand.
func (c *call) exact(n *node) {
	if n.constant == nil || !n.dtype.IsInt() || n.dtype.Bits() < 32 {
		return
	}
	v, err := mil.DecodeInts(mil.TensorOf(n.dtype, int64(n.len())), n.constant)
	if err != nil {
		c.fail("constant %q: %v", n.name, err)
		return
	}
	for _, x := range v {
		if x > exactInt || x < -exactInt {
			c.warn("the integer %d is above 2^24, which Core ML does not hold exactly", x)
			return
		}
	}
}
