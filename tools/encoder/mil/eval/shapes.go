package eval

import "slices"

func makeConst(c *call) {
	v := c.op.Attr("val")
	if v == nil {
		c.fail("attribute \"val\" is missing")
		return
	}
	o := c.op.Outputs[0]
	if !o.Type.Equal(v.Type) {
		c.fail("output %q is declared as %s, but its value is %s", o.Name, o.Type, v.Type)
		return
	}
	n, err := c.constantNode(o.Name, v)
	if err != nil {
		c.fail("%v", err)
		return
	}
	c.names[o.Name] = n
}

func makeTranspose(c *call) {
	x, perm := c.need("x"), c.ints("perm", nil)
	if c.bad {
		return
	}
	rank := len(x.shape)
	shape, strides, seen := make([]int, rank), make([]int, rank), make([]bool, rank)
	if len(perm) != rank {
		c.fail("perm %v does not fit rank %d", perm, rank)
		return
	}
	for i, p := range perm {
		a := c.axis("perm", p, rank)
		if !c.bad && seen[a] {
			c.fail("perm %v names axis %d twice", perm, a)
		}
		if c.bad {
			return
		}
		seen[a] = true
		shape[i], strides[i] = x.shape[a], x.strides[a]
	}
	c.view(0, x, shape, strides, 0)
}

func makeReshape(c *call) {
	x, want := c.need("x"), c.ints("shape", nil)
	if c.bad {
		return
	}
	shape := make([]int, len(want))
	known, open := 1, -1
	for i, d := range want {
		if d == 0 {
			var ok bool
			if d, ok = inherited(x.shape, len(want), i, c.opset); !ok {
				c.fail("shape %v: a 0 at position %d inherits nothing from %v", want, i, x.shape)
				return
			}
		}
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 1 || d > maxElements || known > maxElements/int(d):
			c.fail("shape %v: expected positive extents and at most one -1", want)
			return
		default:
			shape[i] = int(d)
			known *= int(d)
		}
	}
	if open >= 0 {
		if x.len()%known != 0 {
			c.fail("shape %v does not divide the %d elements of %v", want, x.len(), x.shape)
			return
		}
		shape[open] = x.len() / known
		known *= shape[open]
	}
	if known != x.len() {
		c.fail("shape %v has %d elements, x %v has %d", want, known, x.shape, x.len())
		return
	}
	x = c.dense(c, x)
	c.view(0, x, shape, denseStrides(shape), 0)
}

// inherited is what a 0 in reshape's shape stands for: up to iOS 16 the same
// dimension of an x of the same rank; from iOS 17 the dimension at the same
// distance from the end, or 1 beyond it.
func inherited(x []int, rank, i int, opset string) (int64, bool) {
	if !since(opset, 17) {
		if rank != len(x) {
			return 0, false
		}
		return int64(x[i]), true
	}
	if j := i - rank + len(x); j >= 0 {
		return int64(x[j]), true
	}
	return 1, true
}

func makeExpandDims(c *call) {
	x, axes := c.need("x"), c.ints("axes", nil)
	if c.bad {
		return
	}
	rank := len(x.shape) + len(axes)
	added := make([]bool, rank)
	for _, a := range axes {
		d := c.axis("axes", a, rank)
		if !c.bad && added[d] {
			c.fail("axes %v names axis %d twice", axes, d)
		}
		if c.bad {
			return
		}
		added[d] = true
	}
	var shape, strides []int
	from := 0
	for d := range rank {
		if added[d] {
			shape, strides = append(shape, 1), append(strides, 0)
			continue
		}
		shape, strides = append(shape, x.shape[from]), append(strides, x.strides[from])
		from++
	}
	c.view(0, x, shape, strides, 0)
}

func makeSqueeze(c *call) {
	x, axes := c.need("x"), c.ints("axes", nil)
	if c.bad {
		return
	}
	var gone []int
	for _, a := range axes {
		d := c.axis("axes", a, len(x.shape))
		if !c.bad && (x.shape[d] != 1 || slices.Contains(gone, d)) {
			c.fail("axes %v of %v: expected different axes of extent 1", axes, x.shape)
		}
		if c.bad {
			return
		}
		gone = append(gone, d)
	}
	var shape, strides []int
	for d, e := range x.shape {
		if slices.Contains(gone, d) || axes == nil && e == 1 {
			continue
		}
		shape, strides = append(shape, e), append(strides, x.strides[d])
	}
	c.view(0, x, shape, strides, 0)
}

func makeIdentity(c *call) {
	if x := c.need("x"); !c.bad {
		c.view(0, x, x.shape, x.strides, 0)
	}
}
