package eval

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// reader gives runs of a floating-point operand as float32.
type reader struct {
	f32    []float32
	f16    []uint16
	stride int
}

func (f *frame) reader(n *node, stride int) reader {
	if n.dtype == mil.Float16 {
		return reader{f16: f.f16(n), stride: stride}
	}
	return reader{f32: f.f32(n), stride: stride}
}

// read returns n values from position at on, in place where they lie as float32
// side by side, else in tmp.
func (r reader) read(tmp []float32, at, n int) []float32 {
	tmp = tmp[:n]
	switch {
	case r.stride == 1 && r.f32 != nil:
		return r.f32[at : at+n]
	case r.stride == 0 && n > 0:
		tmp[0] = r.one(at)
		for done := 1; done < n; done *= 2 {
			copy(tmp[done:], tmp[:done])
		}
	case r.f32 == nil:
		kernel.WidenStrided(tmp, r.f16[at:], r.stride)
	default:
		for i := range tmp {
			tmp[i] = r.f32[at]
			at += r.stride
		}
	}
	return tmp
}

func (r reader) one(at int) float32 {
	if r.f32 != nil {
		return r.f32[at]
	}
	return kernel.HalfToFloat32(r.f16[at])
}

// writer takes runs of float32 into a dense output.
type writer struct {
	f32 []float32
	f16 []uint16
}

func (f *frame) writer(n *node) writer {
	if n.dtype == mil.Float16 {
		return writer{f16: f.f16(n)}
	}
	return writer{f32: f.f32(n)}
}

// room is where a run of n values at position at is to be computed.
func (w writer) room(tmp []float32, at, n int) []float32 {
	if w.f32 != nil {
		return w.f32[at : at+n]
	}
	return tmp[:n]
}

// done stores what room was filled with.
func (w writer) done(v []float32, at int) {
	if w.f32 == nil {
		kernel.Narrow(w.f16[at:at+len(v)], v)
	}
}

// unary builds an operation on each element of a floating-point tensor.
func (c *call) unary(x *node, do func(dst, src []float32)) {
	out := c.result(0, x.dtype, x.shape)
	if out == nil {
		return
	}
	l := newLoops(x.shape, out.strides, x.strides)
	c.step(out, func(f *frame) {
		r, w := f.reader(x, l.inner(1)), f.writer(out)
		l.each(f.pool, func(worker int, at []int, n int) {
			s := f.pool.Scratch(worker, 2*runElements)
			dst := w.room(s, at[0], n)
			do(dst, r.read(s[runElements:], at[1], n))
			w.done(dst, at[0])
		})
	}, x).fuse = &elementwise{x: x, out: out, one: do}
}

// pairwise builds an operation on pairs of elements, with broadcasting.
func pairwise(do func(dst, x, y []float32), ints func(a, b int64) int64) func(c *call) {
	return func(c *call) {
		x, y := c.need("x"), c.need("y")
		if c.bad {
			return
		}
		if x.dtype != y.dtype {
			c.fail("x is %s and y is %s; both must have one type", x.dtype, y.dtype)
			return
		}
		if x.dtype == mil.Int32 && ints != nil {
			c.integers(x, y, ints)
			return
		}
		if x.dtype != mil.Float32 && x.dtype != mil.Float16 {
			c.fail("expected fp32 or fp16 operands, found %s", x.dtype)
			return
		}
		shape, xs, ys, ok := broadcast(x, y)
		if !ok {
			c.fail("shapes %v and %v do not broadcast", x.shape, y.shape)
			return
		}
		out := c.result(0, x.dtype, shape)
		if out == nil {
			return
		}
		l := newLoops(shape, out.strides, xs, ys)
		c.step(out, func(f *frame) {
			a, b, w := f.reader(x, l.inner(1)), f.reader(y, l.inner(2)), f.writer(out)
			l.each(f.pool, func(worker int, at []int, n int) {
				s := f.pool.Scratch(worker, 3*runElements)
				dst := w.room(s, at[0], n)
				do(dst, a.read(s[runElements:], at[1], n), b.read(s[2*runElements:], at[2], n))
				w.done(dst, at[0])
			})
		}, x, y).fuse = &elementwise{x: x, y: y, out: out, two: do}
	}
}

// perPair makes a slice function of a float64 function that is rounded once.
func perPair(f func(a, b float64) float64) func(dst, x, y []float32) {
	return func(dst, x, y []float32) {
		for i := range dst {
			dst[i] = float32(f(float64(x[i]), float64(y[i])))
		}
	}
}
