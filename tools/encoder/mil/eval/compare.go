package eval

import "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"

// broadcastAll is broadcast for any number of operands: their common shape, and the strides of each in it.
func broadcastAll(operands ...*node) (shape []int, strides [][]int, ok bool) {
	whole := &node{}
	for _, n := range operands {
		if whole.shape, _, _, ok = broadcast(&node{shape: whole.shape, strides: make([]int, len(whole.shape))}, n); !ok {
			return nil, nil, false
		}
	}
	whole.strides = make([]int, len(whole.shape))
	for _, n := range operands {
		_, own, _, _ := broadcast(n, whole)
		strides = append(strides, own)
	}
	return whole.shape, strides, true
}

// elements builds an operation on the elements of operands that are broadcast. do makes the function that computes the element
// at positions at[0] of out and at[1:] of the operands; it ends the evaluation by an error.
func (c *call) elements(d mil.DType, do func(f *frame, out *node) func(at []int) error, operands ...*node) {
	shape, strides, ok := broadcastAll(operands...)
	if !ok {
		var shapes [][]int
		for _, n := range operands {
			shapes = append(shapes, n.shape)
		}
		c.fail("shapes %v do not broadcast", shapes)
		return
	}
	out := c.result(0, d, shape)
	if out == nil {
		return
	}
	l := newLoops(shape, append([][]int{out.strides}, strides...)...)
	c.step(out, func(f *frame) {
		one := do(f, out)
		l.each(f.pool, func(_ int, at []int, n int) {
			own := make([]int, len(at))
			for i := range n {
				for o := range own {
					own[o] = at[o] + i*l.inner(o)
				}
				if err := one(own); err != nil {
					f.fail(err)
					return
				}
			}
		})
	}, operands...)
}

// same checks that operands have one of the given types, all the same.
func (c *call) same(types []mil.DType, operands ...*node) bool {
	for _, n := range operands {
		known := false
		for _, d := range types {
			known = known || n.dtype == d
		}
		if !known || n.dtype != operands[0].dtype {
			c.fail("expected operands of one type of %v, found %s and %s", types, operands[0].dtype, n.dtype)
			return false
		}
	}
	return true
}

var (
	numeric = []mil.DType{mil.Float32, mil.Float16, mil.Int32}
	logical = []mil.DType{mil.Bool}
)

// comparison builds an operation that makes a boolean of two numbers. Every number of the types is exact in float64, and a
// NaN is equal, less and greater than nothing.
func comparison(do func(a, b float64) bool) func(c *call) { return truth(numeric, do) }

// logic builds an operation on two booleans.
func logic(do func(a, b bool) bool) func(c *call) {
	return truth(logical, func(a, b float64) bool { return do(a != 0, b != 0) })
}

func truth(types []mil.DType, do func(a, b float64) bool) func(c *call) {
	return func(c *call) {
		x, y := c.need("x"), c.need("y")
		if c.bad || !c.same(types, x, y) {
			return
		}
		c.elements(mil.Bool, func(f *frame, out *node) func(at []int) error {
			a, b, to := f.number(x), f.number(y), f.u8(out)
			return func(at []int) error { to[at[0]] = bit(do(a(at[1]), b(at[2]))); return nil }
		}, x, y)
	}
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func makeNot(c *call) {
	x := c.need("x")
	if c.bad || !c.same(logical, x) {
		return
	}
	c.elements(mil.Bool, func(f *frame, out *node) func(at []int) error {
		from, to := f.u8(x), f.u8(out)
		return func(at []int) error { to[at[0]] = bit(from[at[1]] == 0); return nil }
	}, x)
}

// makeSelect takes a where cond is true and b elsewhere, bit for bit.
func makeSelect(c *call) {
	cond, a, b := c.need("cond"), c.need("a"), c.need("b")
	if c.bad || !c.same(logical, cond) || !c.same([]mil.DType{mil.Float32, mil.Float16, mil.Int32, mil.Bool}, a, b) {
		return
	}
	size := a.dtype.Bits() / 8
	c.elements(a.dtype, func(f *frame, out *node) func(at []int) error {
		which, to, yes, no := f.u8(cond), f.bytes(out), f.bytes(a), f.bytes(b)
		return func(at []int) error {
			from, p := no, at[3]*size
			if which[at[1]] != 0 {
				from, p = yes, at[2]*size
			}
			copy(to[at[0]*size:(at[0]+1)*size], from[p:p+size])
			return nil
		}
	}, cond, a, b)
}

// bytes gives a node's storage from its first element on.
func (f *frame) bytes(n *node) []byte { return f.buf[n.root.slot][n.offset*n.dtype.Bits()/8:] }
