package eval

import (
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// affine reads the scale and the zero point that quantize and dequantize share, for input x: a scalar, or one number for each
// position along an axis. It returns them with strides in x's dimensions.
func (c *call) affine(x *node, real, whole mil.DType) (scale, zero *node) {
	scale, zero = c.maybe("scale"), c.maybe("zero_point")
	if c.bad {
		return nil, nil
	}
	if scale == nil || scale.dtype != real {
		c.fail("scale: expected %s, as the real numbers", real)
		return nil, nil
	}
	if zero != nil && (zero.dtype != whole || len(zero.shape) != len(scale.shape) || zero.len() != scale.len()) {
		c.fail("zero_point: expected %s %v, as the scale, found %s %v", whole, scale.shape, zero.dtype, zero.shape)
		return nil, nil
	}
	if len(scale.shape) > 1 || len(scale.shape) == 0 != (c.maybe("axis") == nil) {
		c.fail("scale %v: expected one number without an axis, or a vector along an axis", scale.shape)
		return nil, nil
	}
	if len(scale.shape) == 0 {
		return scale, zero
	}
	a := c.axis("axis", c.int("axis", 0), len(x.shape))
	if !c.bad && scale.shape[0] != x.shape[a] {
		c.fail("scale %v does not fit axis %d of %v", scale.shape, a, x.shape)
	}
	if c.bad {
		return nil, nil
	}
	along := func(n *node) *node {
		if n == nil {
			return nil
		}
		view := *n
		view.shape, view.strides = make([]int, len(x.shape)), make([]int, len(x.shape))
		for d := range view.shape {
			view.shape[d] = 1
		}
		view.shape[a], view.strides[a] = n.shape[0], n.strides[0]
		return &view
	}
	return along(scale), along(zero)
}

// makeQuantize gives clip(round(input / scale) + zero_point). The quotient is computed in float32, as all of floating point is, and
// rounded to the nearest integer, ties to even.
func makeQuantize(c *call) {
	x := c.float("input")
	kind := c.string("output_dtype", "")
	if c.bad {
		return
	}
	to, _ := mil.ParseDType(kind)
	if to != mil.Int8 && to != mil.Uint8 {
		c.fail("output_dtype %q: expected int8 or uint8", kind)
		return
	}
	low, high := -128.0, 127.0
	if to == mil.Uint8 {
		low, high = 0, 255
	}
	c.scaled(x, x.dtype, to, to, func(v, scale, zero float64) float64 {
		q := float64(float32(v / scale))
		return min(max(math.RoundToEven(q)+zero, low), high)
	})
}

// makeDequantize gives (input - zero_point) * scale, rounded once.
func makeDequantize(c *call) {
	x, scale := c.need("input"), c.maybe("scale")
	if c.bad {
		return
	}
	if x.dtype != mil.Int8 && x.dtype != mil.Uint8 || scale == nil || !scale.dtype.IsFloat() {
		c.fail("expected an input of int8 or uint8 and a scale of fp16 or fp32, found %s", x.dtype)
		return
	}
	c.scaled(x, scale.dtype, x.dtype, scale.dtype, func(v, scale, zero float64) float64 { return (v - zero) * scale })
}

func (c *call) scaled(x *node, real, whole, to mil.DType, do func(v, scale, zero float64) float64) {
	scale, zero := c.affine(x, real, whole)
	if c.bad {
		return
	}
	operands := []*node{x, scale}
	if zero != nil {
		operands = append(operands, zero)
	}
	c.elements(to, func(f *frame, out *node) func(at []int) error {
		v, s, put := f.number(x), f.number(scale), f.store(out)
		z := func(int) float64 { return 0 }
		if zero != nil {
			z = f.number(zero)
		}
		return func(at []int) error {
			shift := 0.0
			if zero != nil {
				shift = z(at[3])
			}
			return put(at[0], do(v(at[1]), s(at[2]), shift))
		}
	}, operands...)
}

// makeBatchNorm gives gamma (x - mean) / sqrt(variance + epsilon) + beta for each channel, the second dimension, computed in float64
// and rounded once.
func makeBatchNorm(c *call) {
	x := c.float("x")
	if c.bad {
		return
	}
	if len(x.shape) < 3 || len(x.shape) > 5 {
		c.fail("expected x [batch, channels, …] of rank 3 to 5, found %v", x.shape)
		return
	}
	eps := c.scalar("epsilon", 1e-5)
	parts, present := []*node{}, []int{}
	for i, arg := range []string{"mean", "variance", "gamma", "beta"} {
		n := c.maybeFloat(arg, x)
		switch {
		case c.bad:
			return
		case n == nil && i < 2:
			c.fail("argument %q is missing", arg)
			return
		case n == nil:
			continue
		case len(n.shape) != 1 || n.shape[0] != x.shape[1]:
			c.fail("%s has shape %v: expected [%d], a number for each channel", arg, n.shape, x.shape[1])
			return
		}
		view := *n
		view.shape, view.strides = make([]int, len(x.shape)-1), make([]int, len(x.shape)-1)
		for d := range view.shape {
			view.shape[d] = 1
		}
		view.shape[0], view.strides[0] = n.shape[0], n.strides[0]
		parts, present = append(parts, &view), append(present, i)
	}
	c.elements(x.dtype, func(f *frame, out *node) func(at []int) error {
		v, put := f.number(x), f.store(out)
		var reads []func(at int) float64
		for _, p := range parts {
			reads = append(reads, f.number(p))
		}
		return func(at []int) error {
			terms := [4]float64{0, 1, 1, 0}
			for k, i := range present {
				terms[i] = reads[k](at[2+k])
			}
			return put(at[0], (v(at[1])-terms[0])/math.Sqrt(terms[1]+eps)*terms[2]+terms[3])
		}
	}, append([]*node{x}, parts...)...)
}

// makeLeakyRelu gives x where it is not below zero, and alpha x elsewhere.
func makeLeakyRelu(c *call) {
	x := c.float("x")
	n := c.maybeFloat("alpha", x)
	if !c.bad && n == nil {
		c.fail("argument \"alpha\" is missing")
	}
	alpha := c.scalar("alpha", 0)
	if c.bad {
		return
	}
	c.unary(x, perElement(func(v float64) float64 {
		if v < 0 {
			return alpha * v
		}
		return v
	}))
}
