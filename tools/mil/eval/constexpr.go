package eval

import (
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/kernel"
)

// Compressed weights are decompressed once, when a program is compiled. Values
// are computed exactly in float64 from the stored integers and numbers, and
// rounded once to the operation's type: for the 8-bit and smaller integers of
// these operations scale*(data-offset) is exact before that rounding.

// folded declares output i as a constant. fill is only called where weights are
// read.
func (c *call) folded(i int, d mil.DType, shape []int, fill func() []byte) {
	if c.bad {
		return
	}
	o := c.op.Outputs[i]
	if got, err := looseShape(o.Type); err != nil || o.Type.DType != d || !slices.Equal(got, shape) {
		c.fail("output %q is declared as %s, but the operation gives %s %v", o.Name, o.Type, d, shape)
		return
	}
	n := newRoot(o.Name, d, shape)
	n.value = &mil.Value{Type: o.Type}
	if c.resolve {
		n.value.Data = aligned(fill(), d)
		n.constant = n.value.Data
		if c.bad {
			return
		}
	}
	c.names[o.Name] = n
}

// stored returns an argument that must be a constant tensor.
func (c *call) stored(arg string, types ...mil.DType) *node {
	n := c.maybe(arg)
	switch {
	case c.bad:
	case n == nil:
		c.fail("argument %q is missing", arg)
	case n.value == nil:
		c.fail("argument %q: expected a constant, found a computed value", arg)
	case !slices.Contains(types, n.dtype):
		c.fail("argument %q: expected one of %v, found %s", arg, types, n.dtype)
	}
	return n
}

// numbers decodes a constant's elements; exact for every type that occurs.
func (c *call) numbers(n *node) []float64 {
	out := make([]float64, n.len())
	switch n.dtype {
	case mil.Float32:
		for i, v := range cells[float32](n.constant) {
			out[i] = float64(v)
		}
	case mil.Float16:
		for i, v := range cells[uint16](n.constant) {
			out[i] = float64(kernel.HalfToFloat32(v))
		}
	default:
		v, err := mil.DecodeInts(mil.TensorOf(n.dtype, int64(n.len())), n.constant)
		if err != nil {
			c.fail("constant of type %s: %v", n.dtype, err)
		}
		for i, x := range v {
			out[i] = float64(x)
		}
	}
	return out
}

// packed rounds values to a type; integers must be exact.
func (c *call) packed(d mil.DType, values []float64) []byte {
	switch d {
	case mil.Float32:
		b := allocate(4 * len(values))
		for i, v := range values {
			cells[float32](b)[i] = float32(v)
		}
		return b
	case mil.Float16:
		b := allocate(2 * len(values))
		for i, v := range values {
			cells[uint16](b)[i] = kernel.Float64ToHalf(v)
		}
		return b
	}
	var b []byte
	for i, v := range values {
		b = mil.AppendInt(b, d, int64(i), uint64(int64(v)))
	}
	return b
}

var (
	smallInts   = []mil.DType{mil.Int4, mil.Uint4, mil.Int8, mil.Uint8}
	floatTypes  = []mil.DType{mil.Float16, mil.Float32}
	smallOrReal = slices.Concat(smallInts, floatTypes)
	indexTypes  = []mil.DType{mil.Uint1, mil.Uint2, mil.Uint3, mil.Uint4, mil.Uint6, mil.Uint8}
	paletteOf   = []mil.DType{mil.Int8, mil.Uint8, mil.Float16, mil.Float32}
)

func makeAffineDequantize(c *call) {
	q := c.stored("quantized_data", mil.Uint8, mil.Int8)
	zero := c.stored("zero_point", mil.Uint8, mil.Int8, mil.Float32)
	scale := c.stored("scale", floatTypes...)
	axis := c.int("axis", 0)
	if c.bad {
		return
	}
	a := c.axis("axis", axis, len(q.shape))
	if c.bad {
		return
	}
	for _, p := range []*node{zero, scale} {
		if len(p.shape) > 1 || len(p.shape) == 1 && p.shape[0] != q.shape[a] {
			c.fail("scale and zero_point: expected a scalar or %d values for axis %d of %v, found %v", q.shape[a], a, q.shape, p.shape)
			return
		}
	}
	c.folded(0, scale.dtype, q.shape, func() []byte {
		data, z, s := c.numbers(q), c.numbers(zero), c.numbers(scale)
		step := product(q.shape[a+1:])
		for i, v := range data {
			at := i / step % q.shape[a]
			data[i] = s[at%len(s)] * (v - z[at%len(z)])
		}
		return c.packed(scale.dtype, data)
	})
}

func makeConstexprCast(c *call) {
	src := c.stored("source_val", mil.Float16)
	to := c.string("output_dtype", "")
	if c.bad {
		return
	}
	if to != "fp32" {
		c.fail("output_dtype %q: expected \"fp32\"", to)
		return
	}
	c.folded(0, mil.Float32, src.shape, func() []byte {
		b := allocate(4 * src.len())
		for i, v := range cells[uint16](src.constant) {
			cells[float32](b)[i] = kernel.HalfToFloat32(v)
		}
		return b
	})
}

func makeSparseToDense(c *call) {
	values := c.stored("nonzero_data", smallOrReal...)
	mask := c.stored("mask", mil.Uint1, mil.Uint8)
	if c.bad {
		return
	}
	shape := mask.shape
	if mask.dtype == mil.Uint8 {
		if shape = c.shapeArgument(); c.bad {
			return
		}
		if len(mask.shape) != 1 || mask.shape[0] != (product(shape)+7)/8 {
			c.fail("mask %v does not fit shape %v", mask.shape, shape)
			return
		}
	}
	c.folded(0, values.dtype, shape, func() []byte {
		set := bitsOf(mask.constant, product(shape))
		v := c.numbers(values)
		if n := count(set); n != len(v) {
			c.fail("the mask has %d ones, but there are %d values", n, len(v))
			return nil
		}
		out := make([]float64, len(set))
		next := 0
		for i, on := range set {
			if on {
				out[i] = v[next]
				next++
			}
		}
		return c.packed(values.dtype, out)
	})
}

func bitsOf(b []byte, n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = b[i/8]>>(i%8)&1 == 1
	}
	return out
}

func count(set []bool) int {
	n := 0
	for _, on := range set {
		if on {
			n++
		}
	}
	return n
}

// shiftScale is scale*(data-offset), block by block.
func (c *call) shiftScale(shape []int, scale, offset *node) (at func(i int) int) {
	blocks := make([]int, len(shape))
	if len(scale.shape) != len(shape) || offset != nil && !slices.Equal(offset.shape, scale.shape) {
		c.fail("scale %v and offset do not fit data %v", scale.shape, shape)
		return nil
	}
	for d := range shape {
		if shape[d]%scale.shape[d] != 0 {
			c.fail("scale %v does not divide data %v", scale.shape, shape)
			return nil
		}
		blocks[d] = shape[d] / scale.shape[d]
	}
	strides := denseStrides(shape)
	return func(i int) int {
		p := 0
		for d, s := range strides {
			p = p*scale.shape[d] + i/s%shape[d]/blocks[d]
		}
		return p
	}
}

// offsetArgument reads the optional offset of the blockwise forms.
func (c *call) offsetArgument() *node {
	if c.op.Input("offset") == nil {
		return nil
	}
	return c.stored("offset", smallOrReal...)
}

func makeBlockwiseShiftScale(c *call) {
	data, scale := c.stored("data", smallOrReal...), c.stored("scale", floatTypes...)
	offset := c.offsetArgument()
	if c.bad {
		return
	}
	place := c.shiftScale(data.shape, scale, offset)
	c.folded(0, scale.dtype, slices.Clone(data.shape), func() []byte {
		v, s := c.numbers(data), c.numbers(scale)
		o := []float64{0}
		if offset != nil {
			o = c.numbers(offset)
		}
		for i := range v {
			p := place(i)
			v[i] = s[p] * (v[i] - o[p%len(o)])
		}
		return c.packed(scale.dtype, v)
	})
}

func makeSparseBlockwiseShiftScale(c *call) {
	mask, values := c.stored("data_mask", mil.Uint1), c.stored("nonzero_data", smallOrReal...)
	scale, offset := c.stored("scale", floatTypes...), c.offsetArgument()
	if c.bad {
		return
	}
	place := c.shiftScale(mask.shape, scale, offset)
	c.folded(0, mil.Uint1, mask.shape, func() []byte { return mask.constant })
	c.folded(1, scale.dtype, values.shape, func() []byte {
		v, s := c.numbers(values), c.numbers(scale)
		o := []float64{0}
		if offset != nil {
			o = c.numbers(offset)
		}
		next := 0
		for i, on := range bitsOf(mask.constant, mask.len()) {
			if on && next < len(v) {
				p := place(i)
				v[next] = s[p] * (v[next] - o[p%len(o)])
			}
			if on {
				next++
			}
		}
		if next != len(v) {
			c.fail("the mask has %d ones, but there are %d values", next, len(v))
		}
		return c.packed(scale.dtype, v)
	})
}

// looseShape is staticShape without the limit on rank, for stored constants.
func looseShape(t *mil.Type) ([]int, error) {
	if t.IsTensor() && len(t.Shape) > maxRank {
		flat := *t
		var shape []int
		if !t.Static() || len(t.Shape) > 2*maxRank {
			return nil, fmt.Errorf("%s is no shape of a constant", t)
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

func attentionScale(inner int) float32 { return float32(1 / math.Sqrt(float64(inner))) }
