package eval

import (
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// makeCast converts each element directly from its own type. From floating
// point to an integer it cuts off the fraction; a value that the integer type
// does not hold ends the evaluation, since back ends disagree on it.
func makeCast(c *call) {
	x := c.need("x")
	name := c.string("dtype", "")
	if c.bad {
		return
	}
	to, ok := mil.ParseDType(name)
	if !ok || computable(to) != nil {
		c.fail("dtype %q is not supported as a target", name)
		return
	}
	if x.dtype == to {
		c.view(0, x, x.shape, x.strides, 0)
		return
	}
	out := c.result(0, to, x.shape)
	if out == nil {
		return
	}
	if x.dtype.IsInt() && x.dtype.Bits() > 16 && x.constant == nil {
		c.warn("integers above 2^24 lose digits in Core ML, which computes in float32")
	}
	l := newLoops(x.shape, out.strides, x.strides)
	c.step(out, func(f *frame) {
		if x.dtype.IsFloat() && to.IsFloat() {
			f.convert(out, x, l)
			return
		}
		read, write := f.number(x), f.store(out)
		l.each(f.pool, func(_ int, at []int, n int) {
			for i := range n {
				if err := write(at[0]+i*l.inner(0), read(at[1]+i*l.inner(1))); err != nil {
					f.fail(fmt.Errorf("%s: %w", out.name, err))
					return
				}
			}
		})
	}, x)
}

// convert goes between the two floating-point types.
func (f *frame) convert(out, x *node, l *loops) {
	r, w := f.reader(x, l.inner(1)), f.writer(out)
	l.each(f.pool, func(worker int, at []int, n int) {
		v := r.read(f.pool.Scratch(worker, runElements), at[1], n)
		if w.f32 != nil {
			copy(w.f32[at[0]:at[0]+n], v)
			return
		}
		kernel.Narrow(w.f16[at[0]:at[0]+n], v)
	})
}

// number reads one element of any type; all of them are exact in float64.
func (f *frame) number(n *node) func(at int) float64 {
	switch n.dtype {
	case mil.Float32:
		v := f.f32(n)
		return func(at int) float64 { return float64(v[at]) }
	case mil.Float16:
		v := f.f16(n)
		return func(at int) float64 { return float64(kernel.HalfToFloat32(v[at])) }
	case mil.Int32:
		v := f.i32(n)
		return func(at int) float64 { return float64(v[at]) }
	case mil.Int16:
		v := f.f16(n)
		return func(at int) float64 { return float64(int16(v[at])) }
	case mil.Uint16:
		v := f.f16(n)
		return func(at int) float64 { return float64(v[at]) }
	case mil.Int8:
		v := f.u8(n)
		return func(at int) float64 { return float64(int8(v[at])) }
	}
	v := f.u8(n)
	return func(at int) float64 { return float64(v[at]) }
}

// store writes one element, rounding to the type or refusing.
func (f *frame) store(n *node) func(at int, v float64) error {
	var low, high float64
	switch n.dtype {
	case mil.Float32:
		to := f.f32(n)
		return func(at int, v float64) error { to[at] = float32(v); return nil }
	case mil.Float16:
		to := f.f16(n)
		return func(at int, v float64) error { to[at] = kernel.Float64ToHalf(v); return nil }
	case mil.Bool:
		to := f.u8(n)
		return func(at int, v float64) error {
			to[at] = 0
			if v != 0 {
				to[at] = 1
			}
			return nil
		}
	case mil.Int32:
		low, high = math.MinInt32, math.MaxInt32
	case mil.Int16:
		low, high = math.MinInt16, math.MaxInt16
	case mil.Uint16:
		low, high = 0, math.MaxUint16
	case mil.Int8:
		low, high = math.MinInt8, math.MaxInt8
	default:
		low, high = 0, math.MaxUint8
	}
	put := f.putInt(n)
	return func(at int, v float64) error {
		t := math.Trunc(v)
		if !(t >= low && t <= high) {
			return fmt.Errorf("the value %g does not fit into %s", v, n.dtype)
		}
		put(at, int64(t))
		return nil
	}
}

func (f *frame) putInt(n *node) func(at int, v int64) {
	switch n.dtype.Bits() {
	case 32:
		to := f.i32(n)
		return func(at int, v int64) { to[at] = int32(v) }
	case 16:
		to := f.f16(n)
		return func(at int, v int64) { to[at] = uint16(v) }
	}
	to := f.u8(n)
	return func(at int, v int64) { to[at] = byte(v) }
}

// integers builds a pairwise operation on int32 values. Core ML computes it in
// float32; where that would not be exact the evaluation ends.
func (c *call) integers(x, y *node, do func(a, b int64) int64) {
	shape, xs, ys, ok := broadcast(x, y)
	if !ok {
		c.fail("shapes %v and %v do not broadcast", x.shape, y.shape)
		return
	}
	out := c.result(0, mil.Int32, shape)
	if out == nil {
		return
	}
	l := newLoops(shape, out.strides, xs, ys)
	c.step(out, func(f *frame) {
		a, b, to := f.i32(x), f.i32(y), f.i32(out)
		l.each(f.pool, func(_ int, at []int, n int) {
			for i := range n {
				p, q := int64(a[at[1]+i*l.inner(1)]), int64(b[at[2]+i*l.inner(2)])
				v := do(p, q)
				if max(p, -p, q, -q, v, -v) > exactInt {
					f.fail(fmt.Errorf("%s: %d and %d to %d: Core ML computes integers in float32, which is not exact above 2^24", out.name, p, q, v))
					return
				}
				to[at[0]+i*l.inner(0)] = int32(v)
			}
		})
	}, x, y)
}
