package eval

import (
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// makeReverse turns x around along some axes.
func makeReverse(c *call) {
	x := c.need("x")
	axes := c.ints("axes", nil)
	if c.bad {
		return
	}
	from := &node{dtype: x.dtype, shape: x.shape, strides: slices.Clone(x.strides), offset: x.offset, root: x.root}
	turned := make([]bool, len(x.shape))
	for _, a := range axes {
		d := c.axis("axes", a, len(x.shape))
		if !c.bad && turned[d] {
			c.fail("axes %v names axis %d twice", axes, d)
		}
		if c.bad {
			return
		}
		turned[d] = true
	}
	for d := range x.shape {
		if turned[d] || axes == nil {
			from.offset += (x.shape[d] - 1) * x.strides[d]
			from.strides[d] = -x.strides[d]
		}
	}
	out := c.result(0, x.dtype, x.shape)
	if out == nil {
		return
	}
	c.step(out, func(f *frame) { f.moveBack(out, from) }, x)
}

// makeTile repeats x along each dimension.
func makeTile(c *call) {
	x, reps := c.need("x"), c.ints("reps", nil)
	if c.bad {
		return
	}
	if len(reps) != len(x.shape) || len(reps) == 0 {
		c.fail("reps %v does not fit x %v: expected one number for each dimension", reps, x.shape)
		return
	}
	shape := make([]int, len(reps))
	total := 1
	for d, r := range reps {
		if r < 1 || r > int64(maxElements/x.shape[d]) || int(r)*x.shape[d] > maxElements/total {
			c.fail("reps %v of x %v: expected positive numbers and at most %d elements", reps, x.shape, maxElements)
			return
		}
		shape[d] = int(r) * x.shape[d]
		total *= shape[d]
	}
	out := c.result(0, x.dtype, shape)
	if out == nil {
		return
	}
	c.step(out, func(f *frame) {
		at := make([]int, len(reps))
		for range out.len() / x.len() {
			window := &node{dtype: x.dtype, shape: x.shape, strides: out.strides, root: out}
			for d, i := range at {
				window.offset += i * x.shape[d] * out.strides[d]
			}
			f.move(window, x)
			for d := len(at) - 1; d >= 0; d-- {
				if at[d]++; at[d] < int(reps[d]) {
					break
				}
				at[d] = 0
			}
		}
	}, x)
}

// makeShape gives the extents of x, which are all known.
func makeShape(c *call) {
	x := c.need("x")
	if c.bad {
		return
	}
	if len(x.shape) == 0 {
		c.fail("x is a scalar, and an empty shape is no tensor")
		return
	}
	var extents []int64
	for _, d := range x.shape {
		extents = append(extents, int64(d))
	}
	c.known(mil.Int32, []int{len(extents)}, extents)
}

// makeRange gives start, start + step, … below end, for constants.
func makeRange(c *call) {
	if n := c.maybe("start"); n != nil && n.dtype.IsFloat() {
		c.fail("a range of %s is not evaluated: its length depends on rounding", n.dtype)
	}
	start, end, step := c.int("start", 0), c.int("end", 0), c.int("step", 0)
	for _, arg := range []string{"start", "end", "step"} {
		if !c.bad && c.maybe(arg) == nil {
			c.fail("argument %q is missing", arg)
		}
	}
	if c.bad {
		return
	}
	if step == 0 || step > math.MaxInt32 || step < -math.MaxInt32 {
		c.fail("step %d is out of range", step)
		return
	}
	n := (end - start + step - sign(step)) / step
	if n < 1 || n > maxFolded {
		c.fail("start %d, end %d, step %d give %d numbers: expected 1 to %d", start, end, step, n, maxFolded)
		return
	}
	var values []int64
	for v := start; len(values) < int(n); v += step {
		values = append(values, v)
	}
	c.known(mil.Int32, []int{int(n)}, values)
}

// makeFill gives a tensor of one value.
func makeFill(c *call) {
	want, value := c.ints("shape", nil), c.maybe("value")
	if c.bad {
		return
	}
	if value == nil {
		value = newRoot("value", mil.Float32, nil)
		value.value = &mil.Value{}
		value.constant = make([]byte, 4)
	}
	if value.len() != 1 || computable(value.dtype) != nil || len(want) == 0 {
		c.fail("expected a shape and one value, found %v and %s %v", want, value.dtype, value.shape)
		return
	}
	shape, total := make([]int, len(want)), 1
	for d, n := range want {
		if n < 1 || n > int64(maxElements/total) {
			c.fail("shape %v: expected positive extents and at most %d elements", want, maxElements)
			return
		}
		shape[d] = int(n)
		total *= shape[d]
	}
	out := c.result(0, value.dtype, shape)
	if out == nil {
		return
	}
	one := *value
	one.shape, one.strides = shape, make([]int, len(shape))
	one.root = value.root
	c.step(out, func(f *frame) { f.move(out, &one) }, value)
}

// makeUpsample repeats each element of the last two dimensions by whole factors. What a fractional factor takes is not documented.
func makeUpsample(c *call) {
	x := c.float("x")
	if c.bad {
		return
	}
	rank := len(x.shape)
	if rank < 3 {
		c.fail("expected x of at least rank 3, found %v", x.shape)
		return
	}
	shape := slices.Clone(x.shape)
	var factors [2]int
	for i, arg := range []string{"scale_factor_height", "scale_factor_width"} {
		f := 1.0
		if n := c.maybe(arg); n != nil && n.dtype.IsFloat() {
			f = c.scalar(arg, 1)
		} else {
			f = float64(c.int(arg, 1))
		}
		if c.bad {
			return
		}
		if f != math.Trunc(f) || f < 1 || f > 1<<16 {
			c.fail("%s %g: expected a whole number of 1 or more; what another takes is not documented", arg, f)
			return
		}
		factors[i] = int(f)
		shape[rank-2+i] *= factors[i]
	}
	if product(shape) > maxElements {
		c.fail("%v has too many elements", shape)
		return
	}
	out := c.result(0, x.dtype, shape)
	if out == nil {
		return
	}
	// Each of the copies goes to every n-th place.
	c.step(out, func(f *frame) {
		strides := slices.Clone(out.strides)
		strides[rank-2] *= factors[0]
		strides[rank-1] *= factors[1]
		for i := range factors[0] {
			for j := range factors[1] {
				f.move(&node{dtype: x.dtype, shape: x.shape, strides: strides, root: out, offset: i*out.strides[rank-2] + j*out.strides[rank-1]}, x)
			}
		}
	}, x)
}

// makePad sets values around x. reflect and replicate are limited to the last two dimensions, as in Core ML.
func makePad(c *call) {
	x, pad := c.float("x"), c.ints("pad", nil)
	mode, value := c.string("mode", "constant"), c.maybeFloat("constant_val", x)
	if c.bad {
		return
	}
	rank := len(x.shape)
	if len(pad) == 0 || len(pad)%2 != 0 || len(pad)/2 > rank {
		c.fail("pad %v does not fit x %v: expected two numbers for each of the last dimensions", pad, x.shape)
		return
	}
	if value != nil && (value.len() != 1 || value.value == nil) {
		c.fail("constant_val: expected one constant, found %v", value.shape)
		return
	}
	before, shape, padded := make([]int, rank), slices.Clone(x.shape), 0
	for i := range len(pad) / 2 {
		d := rank - len(pad)/2 + i
		limit := int64(1 << 24)
		switch mode {
		case "reflect":
			limit = int64(x.shape[d] - 1)
		case "replicate":
			limit = int64(x.shape[d])
		}
		if min(pad[2*i], pad[2*i+1]) < 0 || max(pad[2*i], pad[2*i+1]) > limit {
			c.fail("pad %v of x %v in mode %q: expected 0 to %d for dimension %d", pad, x.shape, mode, limit, d)
			return
		}
		before[d] = int(pad[2*i])
		if extra := int(pad[2*i] + pad[2*i+1]); extra > 0 {
			shape[d] += extra
			if padded++; mode != "constant" && d < rank-2 {
				padded = 3
			}
		}
	}
	switch {
	case mode != "constant" && mode != "reflect" && mode != "replicate":
		c.fail("mode %q is not known; expected constant, reflect or replicate", mode)
		return
	case mode != "constant" && padded > 2:
		c.fail("mode %q pads the last two dimensions only in Core ML, found pad %v for x %v", mode, pad, x.shape)
		return
	}
	if total := 1; !fits(shape, &total) {
		c.fail("%v has too many elements", shape)
		return
	}
	out := c.result(0, x.dtype, shape)
	if out == nil {
		return
	}
	c.step(out, func(f *frame) {
		if err := f.pad(out, x, value, before, mode); err != nil {
			f.fail(err)
		}
	}, x, value)
}

// fits multiplies extents as long as the product stays within what a tensor may have.
func fits(shape []int, total *int) bool {
	for _, d := range shape {
		if d > maxElements / *total {
			return false
		}
		*total *= d
	}
	return true
}

// pad copies each element of out from where its position leads in x, or from the value.
func (f *frame) pad(out, x, value *node, before []int, mode string) error {
	size := x.dtype.Bits() / 8
	src, dst, fill := f.bytes(x), f.bytes(out), make([]byte, size)
	if value != nil {
		copy(fill, f.bytes(value))
	}
	at := make([]int, len(out.shape))
	for i := range out.len() {
		p, inside := 0, true
		for d, rest := len(at)-1, i; d >= 0; d-- {
			j := rest%out.shape[d] - before[d]
			rest /= out.shape[d]
			switch n := x.shape[d]; {
			case j >= 0 && j < n:
			case mode == "constant":
				inside = false
			case mode == "replicate":
				j = min(max(j, 0), n-1)
			case j < 0:
				j = -j
			default:
				j = 2*(n-1) - j
			}
			p += j * x.strides[d]
		}
		from := fill
		if inside {
			if p < 0 {
				return fmt.Errorf("%s: position %d is outside", out.name, p)
			}
			from = src[p*size : (p+1)*size]
		}
		copy(dst[i*size:(i+1)*size], from)
	}
	return nil
}
