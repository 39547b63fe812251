package eval

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// loops walks several operands over one shape, adjacent dimensions merged
// wherever all operands allow it.
type loops struct {
	shape   []int
	strides [][]int // operand, then dimension
}

func newLoops(shape []int, operands ...[]int) *loops {
	l := &loops{strides: make([][]int, len(operands))}
	for d, extent := range shape {
		if extent == 1 {
			continue
		}
		last := len(l.shape) - 1
		merge := last >= 0
		for o := range operands {
			merge = merge && l.strides[o][last] == operands[o][d]*extent
		}
		if merge {
			l.shape[last] *= extent
			for o := range operands {
				l.strides[o][last] = operands[o][d]
			}
			continue
		}
		l.shape = append(l.shape, extent)
		for o := range operands {
			l.strides[o] = append(l.strides[o], operands[o][d])
		}
	}
	if len(l.shape) == 0 {
		l.shape = []int{1}
		for o := range operands {
			l.strides[o] = []int{0}
		}
	}
	return l
}

// Runs of one unit of work, and the longest single run.
const (
	unitElements = 1 << 15
	runElements  = 1 << 11
)

// inner is an operand's stride along a run.
func (l *loops) inner(operand int) int { return l.strides[operand][len(l.shape)-1] }

// each calls do for runs along the innermost dimension, at most runElements
// long, with each operand's position.
func (l *loops) each(p *kernel.Pool, do func(worker int, at []int, n int)) {
	last := len(l.shape) - 1
	inner := l.shape[last]
	outer := product(l.shape[:last])
	parts := (inner + runElements - 1) / runElements
	runs := outer * parts
	per := max(1, unitElements/min(inner, runElements))
	p.Run((runs+per-1)/per, func(worker, unit int) {
		at := make([]int, len(l.strides))
		for r := unit * per; r < min(runs, (unit+1)*per); r++ {
			from := r % parts * runElements
			for o := range at {
				at[o] = from * l.strides[o][last]
			}
			for d, i := last-1, r/parts; d >= 0; d-- {
				x := i % l.shape[d]
				i /= l.shape[d]
				for o := range at {
					at[o] += x * l.strides[o][d]
				}
			}
			do(worker, at, min(runElements, inner-from))
		}
	})
}

// broadcast returns the common shape and the strides of both operands in it.
func broadcast(x, y *node) (shape, xs, ys []int, ok bool) {
	rank := max(len(x.shape), len(y.shape))
	shape, xs, ys = make([]int, rank), make([]int, rank), make([]int, rank)
	for i := range rank {
		a, b := 1, 1
		xi, yi := i-(rank-len(x.shape)), i-(rank-len(y.shape))
		if xi >= 0 {
			a = x.shape[xi]
		}
		if yi >= 0 {
			b = y.shape[yi]
		}
		if a != b && a != 1 && b != 1 {
			return nil, nil, nil, false
		}
		shape[i] = max(a, b)
		if a > 1 {
			xs[i] = x.strides[xi]
		}
		if b > 1 {
			ys[i] = y.strides[yi]
		}
	}
	return shape, xs, ys, true
}

// move copies the elements of src to dst, which has the same shape. Bits are
// moved, not converted.
func (f *frame) move(dst, src *node) {
	l := newLoops(src.shape, dst.strides, src.strides)
	d, s := f.buf[dst.root.slot], f.buf[src.root.slot]
	switch src.dtype.Bits() {
	case 32:
		copyCells(f.pool, cells[uint32](d)[dst.offset:], cells[uint32](s)[src.offset:], l)
	case 16:
		copyCells(f.pool, cells[uint16](d)[dst.offset:], cells[uint16](s)[src.offset:], l)
	case 8:
		copyCells(f.pool, d[dst.offset:], s[src.offset:], l)
	}
}

// moveBack is move for a src whose strides may be negative.
func (f *frame) moveBack(dst, src *node) {
	size := src.dtype.Bits() / 8
	l := newLoops(src.shape, dst.strides, src.strides)
	d, s := f.buf[dst.root.slot], f.buf[src.root.slot]
	l.each(f.pool, func(_ int, at []int, n int) {
		for i := range n {
			to, from := (dst.offset+at[0]+i*l.inner(0))*size, (src.offset+at[1]+i*l.inner(1))*size
			copy(d[to:to+size], s[from:from+size])
		}
	})
}

// tile is the side of the squares in which a transposed copy goes, so that both
// sides stay in cache.
const tile = 32

func copyCells[T any](p *kernel.Pool, dst, src []T, l *loops) {
	if l.inner(0) == 1 && l.inner(1) == 1 {
		l.each(p, func(_ int, at []int, n int) { copy(dst[at[0]:at[0]+n], src[at[1]:at[1]+n]) })
		return
	}
	// Look for a dimension that runs contiguously in the source, and turn
	// squares of it against the innermost.
	turn := slices.Index(l.strides[1], 1)
	if l.inner(0) != 1 || turn < 0 || turn == len(l.shape)-1 {
		l.each(p, func(_ int, at []int, n int) {
			for i := range n {
				dst[at[0]+i*l.inner(0)] = src[at[1]+i*l.inner(1)]
			}
		})
		return
	}
	copyTurned(p, dst, src, l, turn)
}

func copyTurned[T any](p *kernel.Pool, dst, src []T, l *loops, turn int) {
	last := len(l.shape) - 1
	rows, cols := l.shape[turn], l.shape[last]
	dr, ss := l.strides[0][turn], l.strides[1][last]
	// The remaining dimensions and the bands of rows are the units of work.
	rest := slices.Clone(l.shape)
	rest[turn], rest[last] = (rows+tile-1)/tile, 1
	p.Run(product(rest), func(_, unit int) {
		d0, s0, r0 := 0, 0, 0
		for d, i := last, unit; d >= 0; d-- {
			x := i % rest[d]
			i /= rest[d]
			if d == turn {
				r0 = x * tile
				continue
			}
			d0 += x * l.strides[0][d]
			s0 += x * l.strides[1][d]
		}
		r1 := min(rows, r0+tile)
		for c0 := 0; c0 < cols; c0 += tile {
			c1 := min(cols, c0+tile)
			for r := r0; r < r1; r++ {
				to := dst[d0+r*dr+c0 : d0+r*dr+c1]
				at := s0 + r + c0*ss
				for c := range to {
					to[c] = src[at+c*ss]
				}
			}
		}
	})
}
