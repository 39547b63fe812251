package eval

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/kernel"
)

// makeCast converts each element directly from its own type.
func makeCast(c *call) {
	x := c.need("x")
	name := c.string("dtype", "")
	if c.bad {
		return
	}
	to, ok := castTypes[name]
	if !ok {
		c.fail("dtype %q is not supported as a target", name)
		return
	}
	if x.dtype != mil.Float32 && x.dtype != mil.Float16 {
		c.fail("casting from %s is not supported", x.dtype)
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
	l := newLoops(x.shape, out.strides, x.strides)
	c.step(out, func(f *frame) {
		r, w := f.reader(x, l.inner(1)), f.writer(out)
		l.each(f.pool, func(worker int, at []int, n int) {
			s := f.pool.Scratch(worker, runElements)
			v := r.read(s, at[1], n)
			if w.f32 != nil {
				copy(w.f32[at[0]:at[0]+n], v)
				return
			}
			kernel.Narrow(w.f16[at[0]:at[0]+n], v)
		})
	}, x)
}
