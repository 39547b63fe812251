package eval

import (
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// softmax is kept for the pass that joins attention.
type softmax struct {
	x, out                 *node
	axisStride, axisExtent int
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
	l := newLanes(x, out.strides, []int{a})
	s := &softmax{x: x, out: out, axisStride: out.strides[a], axisExtent: x.shape[a]}
	c.step(out, func(f *frame) { l.each(f, out, x, kernel.Softmax) }, x).fuse = s
}

func makeLayerNorm(c *call) {
	x := c.float("x")
	gamma, beta := c.maybeFloat("gamma", x), c.maybeFloat("beta", x)
	eps := c.scalar("epsilon", 1e-5)
	if c.bad {
		return
	}
	axes := c.reducedAxes(len(x.shape))
	if c.bad {
		return
	}
	var shape []int
	for _, d := range axes {
		shape = append(shape, x.shape[d])
	}
	for i, p := range []*node{gamma, beta} {
		if p != nil && !slices.Equal(p.shape, shape) {
			c.fail("%s has shape %v: expected %v, the extents of the normalised axes", []string{"gamma", "beta"}[i], p.shape, shape)
		}
	}
	out := c.result(0, x.dtype, x.shape)
	if out == nil {
		return
	}
	gamma, beta = c.dense(c, gamma), c.dense(c, beta)
	l := newLanes(x, out.strides, axes)
	c.step(out, func(f *frame) {
		g, b := f.floats(gamma), f.floats(beta)
		if g == nil {
			g = slices.Repeat([]float32{1}, l.n)
		}
		if b == nil {
			b = make([]float32, l.n)
		}
		l.each(f, out, x, func(dst, src []float32) { kernel.LayerNorm(dst, src, g, b, eps) })
	}, x, gamma, beta)
}

// reduction builds an operation that makes one number of each row.
func reduction(do func(src []float32) float32) func(c *call) {
	return func(c *call) {
		x := c.float("x")
		keep := c.bool("keep_dims", false)
		if c.bad {
			return
		}
		axes := c.reducedAxes(len(x.shape))
		if c.bad {
			return
		}
		kept := slices.Clone(x.shape)
		var shape []int
		for d := range kept {
			if slices.Contains(axes, d) {
				kept[d] = 1
			} else {
				shape = append(shape, x.shape[d])
			}
		}
		strides := denseStrides(kept)
		for _, d := range axes {
			strides[d] = 0
		}
		if keep {
			shape = kept
		}
		out := c.result(0, x.dtype, shape)
		if out == nil {
			return
		}
		l := newLanes(x, strides, axes)
		c.step(out, func(f *frame) { l.reduce(f, out, x, do) }, x)
	}
}

func sum(src []float32) float32 { return float32(sum64(src)) }

func mean(src []float32) float32 { return float32(sum64(src) / float64(len(src))) }

func sum64(src []float32) float64 {
	var s float64
	for _, v := range src {
		s += float64(v)
	}
	return s
}

func sumOfSquares(src []float32) float32 {
	var s float64
	for _, v := range src {
		s += float64(v) * float64(v)
	}
	return float32(s)
}

// largest and smallest give NaN where there is one.
func largest(src []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range src {
		m = max(m, v)
	}
	return m
}

func smallest(src []float32) float32 {
	m := float32(math.Inf(1))
	for _, v := range src {
		m = min(m, v)
	}
	return m
}
