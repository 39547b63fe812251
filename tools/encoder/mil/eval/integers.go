package eval

import (
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// division builds floor_div, mod and the real_div of integers. reals computes a pair of fp16 or fp32 in float64, whole a pair of
// integers with a divisor that is not zero. What the definition leaves open ends the evaluation.
func division(reals func(a, b float64) float64, whole func(a, b int64) (int64, error)) func(c *call) {
	return func(c *call) {
		x, y := c.need("x"), c.need("y")
		if c.bad || !c.same(numeric, x, y) {
			return
		}
		c.elements(x.dtype, func(f *frame, out *node) func(at []int) error {
			a, b, put := f.number(x), f.number(y), f.store(out)
			if x.dtype != mil.Int32 {
				return func(at []int) error { return put(at[0], reals(a(at[1]), b(at[2]))) }
			}
			return func(at []int) error {
				p, q := int64(a(at[1])), int64(b(at[2]))
				if q == 0 {
					return fmt.Errorf("%s: %d is divided by the integer 0, which has no answer", out.name, p)
				}
				v, err := whole(p, q)
				if err == nil {
					err = exactly(out, p, q, v)
				}
				if err != nil {
					return err
				}
				return put(at[0], float64(v))
			}
		}, x, y)
	}
}

// exactly refuses integers that float32, in which Core ML computes them, does not hold.
func exactly(out *node, p, q, v int64) error {
	if max(p, -p, q, -q, v, -v) > exactInt {
		return fmt.Errorf("%s: %d and %d to %d: Core ML computes integers in float32, which is not exact above 2^24", out.name, p, q, v)
	}
	return nil
}

// floorDiv is the quotient rounded towards minus infinity, from the exact one: the rounded quotient may be the next integer.
func floorDiv(a, b float64) float64 {
	q := math.Floor(a / b)
	if rest := math.FMA(-q, b, a); !math.IsInf(q, 0) && (rest < 0 && b > 0 || rest > 0 && b < 0) {
		q--
	}
	return q
}

// floorMod has the sign of the divisor, as Python's has.
func floorMod(a, b float64) float64 {
	m := math.Mod(a, b)
	switch {
	case m == 0:
		return math.Copysign(0, b)
	case m < 0 != (b < 0):
		return m + b
	}
	return m
}

func floorDivInt(a, b int64) (int64, error) {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
}

func floorModInt(a, b int64) (int64, error) {
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m, nil
}

// divInt is real_div of integers, where it is one: how Core ML rounds another is not documented.
func divInt(a, b int64) (int64, error) {
	if a%b != 0 {
		return 0, fmt.Errorf("real_div of the integers %d and %d is no integer, and how Core ML rounds it is not documented", a, b)
	}
	return a / b, nil
}

// makeRealDiv divides floating point by the fast kernel, and integers where they divide.
func makeRealDiv(reals func(c *call)) func(c *call) {
	whole := division(nil, divInt)
	return func(c *call) {
		if x := c.maybe("x"); x != nil && x.dtype == mil.Int32 {
			whole(c)
			return
		}
		reals(c)
	}
}

// hugeInt is where the sum of magnitudes stays, so that it never wraps. A sum of products of int32 that wraps 64 bits has a
// magnitude beyond it.
const hugeInt = int64(1) << 61

// matmulInt multiplies matrices of int32. A sum that int32 does not hold ends the evaluation: accumulating in int32 gives the
// right answer in any order, as long as the sum itself fits. Before iOS 26 Core ML computes integers in float32, so there
// products whose magnitudes add up to more than 2^24 end it too.
func (c *call) matmulInt(m *matmul) {
	whole, limit := c.since(26), "int32 does not hold"
	if !whole {
		limit = "float32, in which Core ML computes integers before iOS 26, does not hold in any order of sums"
	}
	c.step(m.out, func(f *frame) {
		a, b, to := f.i32(m.x), f.i32(m.y), f.i32(m.out)
		l := newLoops(append(append([]int{}, m.batch...), m.xm.rows, m.ym.cols),
			append(append([]int{}, m.os...), m.row, 1), append(append([]int{}, m.xs...), m.xm.row, 0), append(append([]int{}, m.ys...), 0, m.ym.col))
		l.each(f.pool, func(_ int, at []int, n int) {
			for i := range n {
				p, q := at[1]+i*l.inner(1), at[2]+i*l.inner(2)
				var sum, magnitude int64
				for k := range m.xm.cols {
					v := int64(a[p+k*m.xm.col]) * int64(b[q+k*m.ym.row])
					sum, magnitude = sum+v, min(magnitude+max(v, -v), hugeInt)
				}
				if magnitude == hugeInt || sum > math.MaxInt32 || sum < math.MinInt32 || !whole && magnitude > exactInt {
					f.fail(fmt.Errorf("%s: products of magnitude %d sum up to %d, which %s", m.out.name, magnitude, sum, limit))
					return
				}
				to[at[0]+i*l.inner(0)] = int32(sum)
			}
		})
	}, m.x, m.y)
}
