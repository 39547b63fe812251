package eval

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// made describes a step that is a product, to which operations on its elements can be joined.
type made struct {
	out *node
	run productRun
}

// productRun computes products into out, each row followed by then.
type productRun func(f *frame, out *node, then []kernel.Follow)

// product adds a step that computes out by products.
func (c *call) product(out *node, run productRun, ins ...*node) {
	c.step(out, func(f *frame) { run(f, out, nil) }, ins...).fuse = &made{out: out, run: run}
}

// elementwise describes a step that computes each element of out from one of x, and of y where there is one.
type elementwise struct {
	x, y, out *node
	one       func(dst, src []float32)
	two       func(dst, x, y []float32)
}

// follow joins to a product the operations on each of its elements that alone read it: they are carried out on
// rows that the processor's cache still holds. The joined step computes the same bytes.
func follow(steps []*step, outputs []*node) []*step {
	uses := map[*node]int{} // by storage; looks at it are no use
	for _, s := range steps {
		for _, n := range s.ins {
			if !s.view() {
				uses[n.root]++
			}
		}
	}
	for _, n := range outputs {
		uses[n.root] += 2 // an output must be stored
	}
	maker := map[*node]int{}
	gone := map[*node]bool{}
	for i, s := range steps {
		if s.view() {
			continue
		}
		if e, ok := s.fuse.(*elementwise); ok {
			for _, n := range []*node{e.x, e.y} {
				if n == nil || uses[n.root] != 1 {
					continue
				}
				at, ok := maker[n.root]
				if !ok {
					continue
				}
				if m, ok := steps[at].fuse.(*made); ok && e.covers(n, m.out) {
					steps[i], steps[at] = e.join(steps[at], s, m, n), nil
					gone[n.root] = true
					break
				}
			}
		}
		for _, n := range s.outs {
			maker[n] = i
		}
	}
	return slices.DeleteFunc(steps, func(s *step) bool { return s == nil || s.view() && gone[s.ins[0].root] })
}

// view reports whether a step only looks at storage otherwise.
func (s *step) view() bool {
	return len(s.ins) == 1 && len(s.outs) == 1 && s.outs[0].root == s.ins[0].root
}

// covers reports whether operand n is the whole product in its own order, and the other operand one that can be
// read beside it.
func (e *elementwise) covers(n, whole *node) bool {
	other := e.other(n)
	return n.root == whole && n.offset == 0 && n.dense() && n.len() == whole.len() &&
		e.out.dtype == whole.dtype && e.out.len() == n.len() &&
		(other == nil || other.len() == 1 || other.dense() && slices.Equal(other.shape, e.out.shape))
}

func (e *elementwise) other(n *node) *node {
	if n == e.x {
		return e.y
	}
	return e.x
}

// join makes one step of a product and the operation on its elements, of which n is the product.
func (e *elementwise) join(product, each *step, m *made, n *node) *step {
	other := e.other(n)
	run := func(f *frame, out *node, then []kernel.Follow) {
		var r reader
		if other != nil {
			r = f.reader(other, min(1, other.len()-1))
		}
		m.run(f, out, append([]kernel.Follow{func(row, tmp []float32, at int) {
			switch {
			case other == nil:
				e.one(row, row)
				return
			case r.stride == 0:
				at = 0
			}
			x, y := row, r.read(tmp, at, len(row))
			if n == e.y {
				x, y = y, x
			}
			e.two(row, x, y)
		}}, then...))
	}
	s := &step{op: product.op + ", " + each.op, line: product.line, ins: slices.Clone(product.ins), outs: each.outs,
		run: func(f *frame) { run(f, e.out, nil) }, fuse: &made{out: e.out, run: run}}
	if other != nil {
		s.ins = append(s.ins, other)
	}
	return s
}
