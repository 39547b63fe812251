package eval

import (
	"fmt"
	"slices"
	"sort"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Which of several equal elements an index names is not documented, nor where a NaN goes: both end the evaluation where the answer
// would depend on it.

// line is a walk along one axis of x, for each position outside of it.
type line struct {
	outer  *loops // operands: x, then each output
	x      *node
	axis   int
	stride int
}

func newLine(x *node, axis int, outs ...*node) *line {
	drop := func(v []int) []int { return slices.Delete(slices.Clone(v), axis, axis+1) }
	operands := [][]int{drop(x.strides)}
	for _, o := range outs {
		if len(o.shape) == len(x.shape) {
			operands = append(operands, drop(o.strides))
		} else {
			operands = append(operands, o.strides)
		}
	}
	return &line{outer: newLoops(drop(x.shape), operands...), x: x, axis: axis, stride: x.strides[axis]}
}

// each calls do with the elements of each line and the position of its first in each operand.
func (l *line) each(f *frame, do func(values []float64, at []int) error) {
	read := f.number(l.x)
	l.outer.each(f.pool, func(_ int, at []int, n int) {
		values, own := make([]float64, l.x.shape[l.axis]), make([]int, len(at))
		for i := range n {
			for o := range own {
				own[o] = at[o] + i*l.outer.inner(o)
			}
			for k := range values {
				values[k] = read(own[0] + k*l.stride)
				if values[k] != values[k] {
					f.fail(fmt.Errorf("a NaN is compared, and its order is not documented"))
					return
				}
			}
			if err := do(values, own); err != nil {
				f.fail(err)
				return
			}
		}
	})
}

// extreme builds reduce_argmax and reduce_argmin.
func extreme(before func(a, b float64) bool) func(c *call) {
	return func(c *call) {
		x := c.need("x")
		axis, keep := c.int("axis", -1), c.bool("keep_dims", false)
		kind := c.string("output_dtype", "int32")
		if c.bad || !c.same(numeric, x) {
			return
		}
		a := c.axis("axis", axis, len(x.shape))
		if c.bad {
			return
		}
		to, ok := mil.ParseDType(kind)
		if !ok || to != mil.Int32 && to != mil.Uint16 || to == mil.Uint16 && x.shape[a] > 1<<16 {
			c.fail("output_dtype %q: expected int32, or uint16 for at most 65536 elements", kind)
		}
		if c.bad {
			return
		}
		shape := slices.Clone(x.shape)
		shape[a] = 1
		if !keep {
			shape = slices.Delete(shape, a, a+1)
		}
		out := c.result(0, to, shape)
		if out == nil {
			return
		}
		l := newLine(x, a, out)
		c.step(out, func(f *frame) {
			put := f.putInt(out)
			l.each(f, func(values []float64, at []int) error {
				best := 0
				for k, v := range values {
					if before(v, values[best]) {
						best = k
					}
				}
				for k, v := range values {
					if k != best && v == values[best] {
						return fmt.Errorf("%s: elements %d and %d are both %g, and which of them is named is not documented", out.name, best, k, v)
					}
				}
				put(at[1], int64(best))
				return nil
			})
		}, x)
	}
}

// makeTopK gives the largest (or smallest) elements along an axis, in order, and where they were.
func makeTopK(c *call) {
	x := c.need("x")
	k, axis := c.int("k", 1), c.int("axis", -1)
	ascending, sorted := c.bool("ascending", false), c.bool("sort", true)
	indexed, kind := c.bool("return_indices", true), c.string("output_indices_dtype", "int32")
	if c.bad || !c.same(numeric, x) {
		return
	}
	a := c.axis("axis", axis, len(x.shape))
	if c.bad {
		return
	}
	extent := x.shape[a]
	if k == -1 && c.since(17) {
		k = int64(extent)
	}
	to, ok := mil.ParseDType(kind)
	switch {
	case k < 1 || k > int64(extent):
		c.fail("k %d is outside the %d elements of axis %d", k, extent, a)
	case !sorted && k > 1:
		c.fail("sort is false, and the order of the elements is not documented then")
	case !ok || to != mil.Int32 && to != mil.Uint16 || to == mil.Uint16 && extent > 1<<16:
		c.fail("output_indices_dtype %q: expected int32, or uint16 for at most 65536 elements", kind)
	}
	if c.bad {
		return
	}
	shape := slices.Clone(x.shape)
	shape[a] = int(k)
	outs := []*node{c.result(0, x.dtype, shape)}
	if indexed && outs[0] != nil {
		outs = append(outs, c.result(1, to, shape))
	}
	if c.bad {
		return
	}
	l := newLine(x, a, outs...)
	s := c.step(outs[0], func(f *frame) {
		put := f.store(outs[0])
		var index func(at int, v int64)
		if indexed {
			index = f.putInt(outs[1])
		}
		l.each(f, func(values []float64, at []int) error {
			order := make([]int, extent)
			for i := range order {
				order[i] = i
			}
			sort.SliceStable(order, func(i, j int) bool {
				p, q := values[order[i]], values[order[j]]
				return p < q && ascending || p > q && !ascending
			})
			for i := range int(k) {
				v := values[order[i]]
				if indexed && i+1 < extent && v == values[order[i+1]] {
					return fmt.Errorf("%s: elements %d and %d are both %g, and which of them comes first is not documented", outs[0].name, order[i], order[i+1], v)
				}
				if err := put(at[1]+i*outs[0].strides[a], v); err != nil {
					return err
				}
				if indexed {
					index(at[2]+i*outs[1].strides[a], int64(order[i]))
				}
			}
			return nil
		})
	}, x)
	s.outs = outs
}
