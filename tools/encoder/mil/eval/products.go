package eval

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// matrix views the last two dimensions of n at position at.
func (f *frame) matrix(n *node, at int, row, col int) kernel.Matrix {
	if n.dtype == mil.Float16 {
		return kernel.Matrix{F16: f.f16(n)[at:], Row: row, Col: col}
	}
	return kernel.Matrix{F32: f.f32(n)[at:], Row: row, Col: col}
}

// into points a product's output at a dense node, from element at on.
func (f *frame) into(g *kernel.Product, n *node, at int) {
	if n.dtype == mil.Float16 {
		g.OutHalf = f.f16(n)[at:]
	} else {
		g.Out = f.f32(n)[at:]
	}
}

// floats returns a dense vector in float32; nil for nil.
func (f *frame) floats(n *node) []float32 {
	if n == nil {
		return nil
	}
	if n.dtype == mil.Float32 {
		return f.f32(n)[:n.len()]
	}
	out := make([]float32, n.len())
	kernel.Widen(out, f.f16(n)[:n.len()])
	return out
}

// makeLinear builds x · weightᵀ + bias.
func makeLinear(c *call) {
	x, w := c.float("x"), c.float("weight")
	b := c.maybeFloat("bias", x)
	if c.bad {
		return
	}
	switch {
	case x.dtype != w.dtype:
		c.fail("x is %s and weight is %s; both must have one type", x.dtype, w.dtype)
	case len(x.shape) < 1 || len(w.shape) != 2 || w.shape[1] != x.shape[len(x.shape)-1]:
		c.fail("weight %v does not fit x %v: expected [outputs, %d]", w.shape, x.shape, last(x.shape))
	case b != nil && !slices.Equal(b.shape, w.shape[:1]):
		c.fail("bias %v does not fit weight %v", b.shape, w.shape)
	}
	if c.bad {
		return
	}
	outs, k := w.shape[0], w.shape[1]
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), outs)
	out := c.result(0, x.dtype, shape)
	if out == nil {
		return
	}
	x, w, b = c.dense(c, x), c.dense(c, w), c.dense(c, b)
	rows := x.len() / k
	c.product(out, func(f *frame, out *node, then []kernel.Follow) {
		g := &kernel.Product{M: rows, N: outs, K: k, A: f.matrix(x, 0, k, 1), B: f.matrix(w, 0, k, 1).T(), Stride: outs, ColBias: f.floats(b), Then: then}
		f.into(g, out, 0)
		f.pool.Multiply(g)
	}, x, w, b)
}

func last(s []int) int {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1]
}

// makeMatmul builds batched products with broadcast batch dimensions.
func makeMatmul(c *call) {
	x, y := c.need("x"), c.need("y")
	tx, ty := c.bool("transpose_x", false), c.bool("transpose_y", false)
	if c.bad {
		return
	}
	if !c.same(numeric, x, y) {
		return
	}
	if len(x.shape) < 2 || len(y.shape) < 2 {
		c.fail("expected two tensors of at least rank 2, found %s %v and %s %v", x.dtype, x.shape, y.dtype, y.shape)
		return
	}
	xm, ym := lastTwo(x, tx), lastTwo(y, ty)
	if xm.cols != ym.rows {
		c.fail("x %v (transposed: %v) has %d columns, but y %v (transposed: %v) has %d rows", x.shape, tx, xm.cols, y.shape, ty, ym.rows)
		return
	}
	batch, xs, ys, ok := broadcast(leading(x), leading(y))
	if !ok {
		c.fail("batch extents of %v and %v do not broadcast", x.shape, y.shape)
		return
	}
	out := c.result(0, x.dtype, append(slices.Clone(batch), xm.rows, ym.cols))
	if out == nil {
		return
	}
	m := &matmul{x: x, y: y, out: out, xm: xm, ym: ym, batch: batch, xs: xs, ys: ys,
		os: out.strides[:len(batch)], row: ym.cols}
	if x.dtype == mil.Int32 {
		c.matmulInt(m)
		return
	}
	c.step(out, m.run, x, y).fuse = m
}

// matmul is a batched product, kept for the pass that joins attention.
type matmul struct {
	x, y, out     *node
	xm, ym        plane
	batch, xs, ys []int
	os            []int // the output's batch strides
	row           int   // and the stride of its rows
}

func (m *matmul) run(f *frame) {
	l := &loops{shape: m.batch, strides: [][]int{m.xs, m.ys, m.os}}
	for i := range product(m.batch) {
		g := &kernel.Product{M: m.xm.rows, N: m.ym.cols, K: m.xm.cols, Stride: m.row,
			A: f.matrix(m.x, l.position(i, 0), m.xm.row, m.xm.col), B: f.matrix(m.y, l.position(i, 1), m.ym.row, m.ym.col)}
		f.into(g, m.out, l.position(i, 2))
		f.pool.Multiply(g)
	}
}

// plane is the matrix in a value's last two dimensions.
type plane struct{ rows, cols, row, col int }

func lastTwo(n *node, transposed bool) plane {
	r := len(n.shape)
	p := plane{n.shape[r-2], n.shape[r-1], n.strides[r-2], n.strides[r-1]}
	if transposed {
		p = plane{p.cols, p.rows, p.col, p.row}
	}
	return p
}

// leading is n without its last two dimensions.
func leading(n *node) *node {
	r := len(n.shape) - 2
	return &node{shape: n.shape[:r], strides: n.strides[:r]}
}
