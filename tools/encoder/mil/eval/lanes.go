package eval

import (
	"slices"
	"sync"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// lanes walks the rows of an operation along some axes: all elements that share
// the positions outside those axes, in row-major order of the axes.
type lanes struct {
	outer *loops // operands: output, input
	n     int    // elements of a row
	// Where the elements of a row lie, from its first on; nil when side by side.
	// Found when first needed, so that checking a program costs no memory.
	inner    *loops
	once     sync.Once
	to, from []int
}

// newLanes takes the output's strides in the input's dimensions.
func newLanes(in *node, outStrides []int, axes []int) *lanes {
	var os, is [3][]int // shape, output strides, input strides
	for d, e := range in.shape {
		to := &os
		if slices.Contains(axes, d) {
			to = &is
		}
		to[0] = append(to[0], e)
		to[1] = append(to[1], outStrides[d])
		to[2] = append(to[2], in.strides[d])
	}
	return &lanes{outer: newLoops(os[0], os[1], os[2]), inner: newLoops(is[0], is[1], is[2]), n: product(is[0])}
}

// places lists the positions of an operand's elements, or nil for 0, 1, 2, …
func (l *loops) places(operand int) []int {
	n := product(l.shape)
	if len(l.shape) == 1 && (l.strides[operand][0] == 1 || n == 1) {
		return nil
	}
	out := make([]int, n)
	for i := range out {
		out[i] = l.position(i, operand)
	}
	return out
}

// position is where the i-th element of a walk lies for one operand.
func (l *loops) position(i, operand int) int {
	at := 0
	for d := len(l.shape) - 1; d >= 0; d-- {
		at += i % l.shape[d] * l.strides[operand][d]
		i /= l.shape[d]
	}
	return at
}

// each calls do with every row as float32 and room for a row of results, which
// may be the row itself.
func (l *lanes) each(f *frame, out, in *node, do func(dst, src []float32)) {
	w := f.writer(out)
	if l.sideBySide() {
		l.bands(f, in, func(rows, run []float32, o int) {
			n := len(run)
			for r := range n {
				do(rows[r*l.n:(r+1)*l.n], rows[r*l.n:(r+1)*l.n])
			}
			for x := range l.n {
				at := o + l.place(l.to, x)
				to := w.room(run, at, n)
				for r := range to {
					to[r] = rows[r*l.n+x]
				}
				w.done(to, at)
			}
		})
		return
	}
	l.read(f, in, l.n, func(s, src []float32, o int) {
		if l.to == nil {
			dst := w.room(s, o, l.n)
			do(dst, src)
			w.done(dst, o)
			return
		}
		do(s[:l.n], src)
		for x, v := range s[:l.n] {
			w.one(o+l.to[x], v)
		}
	})
}

// reduce calls do with every row and stores the one number that it returns.
func (l *lanes) reduce(f *frame, out, in *node, do func(src []float32) float32) {
	w := f.writer(out)
	if l.sideBySide() {
		l.bands(f, in, func(rows, run []float32, o int) {
			for r := range run {
				w.one(o+r, do(rows[r*l.n:(r+1)*l.n]))
			}
		})
		return
	}
	l.read(f, in, 0, func(_, src []float32, o int) { w.one(o, do(src)) })
}

// bandRows is how many rows that lie side by side are taken together: what one
// look at memory brings.
const bandRows = 16

// sideBySide reports whether elements of a row are far apart while neighbouring
// rows are close, as for a norm over channels in front.
func (l *lanes) sideBySide() bool {
	last := len(l.outer.shape) - 1
	return l.n > 1 && l.n <= 1<<14 && l.inner.inner(1) != 1 && l.outer.shape[last] > 1 && l.outer.inner(0) == 1 && l.outer.inner(1) == 1
}

func (l *lanes) place(table []int, x int) int {
	if table == nil {
		return x
	}
	return table[x]
}

// prepare finds the places of a row's elements.
func (l *lanes) prepare() {
	l.once.Do(func() { l.to, l.from = l.inner.places(0), l.inner.places(1) })
}

// bands calls do with rows, one after the other, room for one value of each of
// them, and the output's position of the first.
func (l *lanes) bands(f *frame, in *node, do func(rows, run []float32, o int)) {
	l.prepare()
	r := f.reader(in, 1)
	last := len(l.outer.shape) - 1
	width := l.outer.shape[last]
	per := (width + bandRows - 1) / bandRows
	f.pool.Run(product(l.outer.shape[:last])*per, func(worker, unit int) {
		s := f.pool.Scratch(worker, bandRows*(l.n+1))
		first := unit / per * width
		skip := unit % per * bandRows
		n := min(bandRows, width-skip)
		o, i := l.outer.position(first, 0)+skip, l.outer.position(first, 1)+skip
		rows, run := s[:n*l.n], s[bandRows*l.n:][:n]
		for x := range l.n {
			for k, v := range r.read(run, i+l.place(l.from, x), n) {
				rows[k*l.n+x] = v
			}
		}
		do(rows, run, o)
	})
}

// read calls do with room for some values, a row, and the output's position.
func (l *lanes) read(f *frame, in *node, room int, do func(s, src []float32, o int)) {
	l.prepare()
	r := f.reader(in, 1)
	rows := product(l.outer.shape)
	per := max(1, unitElements/l.n)
	f.pool.Run((rows+per-1)/per, func(worker, unit int) {
		s := f.pool.Scratch(worker, room+l.n)
		for row := unit * per; row < min(rows, (unit+1)*per); row++ {
			o, i := l.outer.position(row, 0), l.outer.position(row, 1)
			if l.from == nil {
				do(s, r.read(s[room:], i, l.n), o)
				continue
			}
			src := s[room : room+l.n]
			for x, at := range l.from {
				src[x] = r.one(i + at)
			}
			do(s, src, o)
		}
	})
}

// one stores a single value.
func (w writer) one(at int, v float32) {
	if w.f32 != nil {
		w.f32[at] = v
	} else {
		w.f16[at] = kernel.Float32ToHalf(v)
	}
}

// reducedAxes resolves an optional list of axes; absent means all.
func (c *call) reducedAxes(rank int) []int {
	axes := c.ints("axes", nil)
	if c.bad {
		return nil
	}
	var out []int
	if axes == nil {
		for d := range rank {
			out = append(out, d)
		}
		return out
	}
	for _, a := range axes {
		out = append(out, c.axis("axes", a, rank))
	}
	slices.Sort(out)
	if !c.bad && (len(out) == 0 || len(slices.Compact(slices.Clone(out))) != len(out)) {
		c.fail("axes %v: expected different axes, at least one", axes)
	}
	return out
}
