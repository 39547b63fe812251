package eval

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil/kernel"
)

// lanes walks the rows of a reduction: all elements that share the positions
// outside the reduced axes, in row-major order of the reduced ones.
type lanes struct {
	outer, inner *loops // operands: output, input
	n            int    // elements of a row
}

func newLanes(out, in *node, axes []int) *lanes {
	var os, is [3][]int // shape, output strides, input strides
	for d, e := range in.shape {
		to := &os
		if slices.Contains(axes, d) {
			to = &is
		}
		to[0] = append(to[0], e)
		to[1] = append(to[1], out.strides[d])
		to[2] = append(to[2], in.strides[d])
	}
	return &lanes{newLoops(os[0], os[1], os[2]), newLoops(is[0], is[1], is[2]), product(is[0])}
}

// each calls do with every row gathered as float32 and room for its result.
func (l *lanes) each(f *frame, out, in *node, do func(worker int, dst, src []float32)) {
	r, w := f.reader(in, 1), f.writer(out)
	rows := product(l.outer.shape)
	per := max(1, unitElements/l.n)
	plain := len(l.inner.shape) == 1 && l.inner.strides[0][0] == 1 && l.inner.strides[1][0] == 1
	f.pool.Run((rows+per-1)/per, func(worker, unit int) {
		s := f.pool.Scratch(worker, 2*l.n)
		for row := unit * per; row < min(rows, (unit+1)*per); row++ {
			o, i := l.outer.position(row, 0), l.outer.position(row, 1)
			if plain {
				dst := w.room(s, o, l.n)
				do(worker, dst, r.read(s[l.n:], i, l.n))
				w.done(dst, o)
				continue
			}
			dst, src := s[:l.n], s[l.n:2*l.n]
			for x := range l.n {
				src[x] = r.one(i + l.inner.position(x, 1))
			}
			do(worker, dst, src)
			for x, v := range dst {
				at := o + l.inner.position(x, 0)
				if w.f32 != nil {
					w.f32[at] = v
				} else {
					w.f16[at] = kernel.Float32ToHalf(v)
				}
			}
		}
	})
}

// position is where the i-th element of a walk lies for one operand.
func (l *loops) position(i, operand int) int {
	at := 0
	for d := len(l.shape) - 1; d >= 0; d-- {
		at += i % l.shape[d] * l.strides[operand][d]
		i /= l.shape[d]
	}
	return at
}

func makeSoftmax(c *call) {
	x := c.float("x")
	axis := c.int("axis", -1)
	if c.bad {
		return
	}
	a := c.axis("axis", axis, len(x.shape))
	out := c.result(0, x.dtype, x.shape)
	if out == nil {
		return
	}
	l := newLanes(out, x, []int{a})
	s := &softmax{x: x, out: out, last: a == len(x.shape)-1}
	c.step(out, func(f *frame) {
		l.each(f, out, x, func(_ int, dst, src []float32) { kernel.Softmax(dst, src) })
	}, x).fuse = s
}

// softmax is kept for the pass that joins attention.
type softmax struct {
	x, out *node
	last   bool
}

func makeLayerNorm(c *call) {
	x := c.float("x")
	gamma, beta := c.maybeFloat("gamma", x), c.maybeFloat("beta", x)
	eps := c.scalar("epsilon", 1e-5)
	axes := c.ints("axes", nil)
	if c.bad {
		return
	}
	var reduced []int
	for d := range x.shape {
		if axes == nil {
			reduced = append(reduced, d)
		}
	}
	for _, a := range axes {
		reduced = append(reduced, c.axis("axes", a, len(x.shape)))
	}
	slices.Sort(reduced)
	if len(slices.Compact(slices.Clone(reduced))) != len(reduced) || len(reduced) == 0 {
		c.fail("axes %v: expected different axes, at least one", axes)
	}
	if c.bad {
		return
	}
	var shape []int
	for _, d := range reduced {
		shape = append(shape, x.shape[d])
	}
	for name, p := range map[string]*node{"gamma": gamma, "beta": beta} {
		if p != nil && !slices.Equal(p.shape, shape) {
			c.fail("%s has shape %v: expected %v, the extents of the normalised axes", name, p.shape, shape)
		}
	}
	out := c.result(0, x.dtype, x.shape)
	if out == nil {
		return
	}
	gamma, beta = c.dense(c, gamma), c.dense(c, beta)
	l := newLanes(out, x, reduced)
	c.step(out, func(f *frame) {
		g, b := f.floats(gamma), f.floats(beta)
		if g == nil {
			g = slices.Repeat([]float32{1}, l.n)
		}
		if b == nil {
			b = make([]float32, l.n)
		}
		l.each(f, out, x, func(_ int, dst, src []float32) { kernel.LayerNorm(dst, src, g, b, eps) })
	}, x, gamma, beta)
}
