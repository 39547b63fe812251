package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
)

// comparison collects how the values of a view and of a tensor differ.
type comparison struct {
	n, wrong, far, ignored int64
	diff, size, sum        float64 // sums of squares, and of the reference
	cross, square          float64 // of weight times reference, and of the reference: for the gain
	steps                  float64 // sum of the squares of the grid steps
	linear                 bool    // every value has a bound on either side
	finer, bounded         bool
	// offGrid says that a value lies off the grid to which the .bin was quantised.
	offGrid bool
	// roundings counts the values that equal the tensor's once rounded, and not before; finest is the largest
	// difference that rounding makes, relative to the value.
	roundings int64
	finest    float64
	// furthest is the largest difference of a value that has a bound, in bounds of its scheme.
	furthest float64
	// rms bounds what values without a bound of their own add to relative().
	rms, unbounded      float64
	prunedSize, keptAll float64
}

// relative is the root mean square difference relative to the reference.
func (v *comparison) relative() float64 {
	switch {
	case v.diff == 0:
		return 0
	case v.size == 0 || math.IsNaN(v.diff):
		return math.Inf(1)
	}
	return math.Sqrt(v.diff / v.size)
}

// distance is relative to how much the reference's own values differ from each
// other: gains of norms all lie near 1, and say nothing by that.
func (v *comparison) distance() float64 { return distance(v.diff, v.size, v.sum, v.n) }

func distance(diff, size, sum float64, n int64) float64 {
	spread := size - sum*sum/float64(n)
	switch {
	case diff == 0:
		return 0
	case math.IsNaN(diff):
		return math.Inf(1)
	case spread <= size*1e-12:
		spread = size // all values are one
	}
	if spread == 0 {
		return math.Inf(1)
	}
	return math.Sqrt(diff / spread)
}

// unrelated is a distance that no fine compression of the same values reaches; two
// independent tensors are 1.4 apart.
const unrelated = 0.95

// ok says whether the tensor matches.
func (v *comparison) ok() bool {
	if v.n == v.ignored || v.wrong > 0 && !v.bounded || v.far > 0 {
		return false // nothing was compared, or something differs
	}
	// Among values that were rounded to a grid a few may sit on an edge.
	if v.wrong > (v.n-v.ignored)/2000 {
		return false
	}
	// Rounding to a grid moves values by 0.29 steps, root mean square.
	if v.linear && v.diff > 0.2*v.steps {
		return false
	}
	// What is pruned is the smaller part.
	if v.ignored > 0 && v.prunedSize*float64(v.n-v.ignored) > 1.1*v.keptAll*float64(v.ignored) {
		return false
	}
	if v.rms > 0 && v.unbounded > v.size {
		return false
	}
	return !v.bounded || v.rms > 0 || v.gain()
}

// gain notices a factor that hides within the bounds of rounding: rounding to a
// grid moves values about, and hardly scales them. The tolerance is the bias
// that rounding a bell-shaped distribution has (step^2/12 of the variance, with
// a margin), and what chance allows with this many values.
func (v *comparison) gain() bool {
	if v.square == 0 {
		return true
	}
	noise := v.diff / v.square
	tolerance := 3e-4 + v.steps/(4*v.square) + noise + 6*math.Sqrt(noise/float64(v.n-v.ignored))
	return math.Abs(v.cross/v.square-1) <= tolerance
}

// gridFactor says how many steps of its grid a value of the .bin may lie from
// the one that was rounded: half a step, and more where the quantiser clips one
// side of a block or searches for a scale with the smallest error.
func gridFactor(t ggml.Type) float32 {
	switch t {
	case ggml.Q8_0:
		return 0.6
	case ggml.Q4_0, ggml.Q4_1, ggml.Q5_0, ggml.Q5_1:
		return 1.1
	}
	return 3
}

// opened is a view of a weight: its values and what is known of how far those that
// were compressed may lie below and above them, by index. below and above are nil
// where values are exact, kept where none was set to zero.
type opened struct {
	// viewed says that the index is the view's, and not the weight's. from is what such values are read from.
	viewed                    bool
	from                      *windows
	value, below, above, kept func(int64) float32
	rms                       float64
}

// compare compares a tensor with a view of a weight. turn reads the tensor that many values further on: what
// compares as well with that says nothing. A hasty comparison ends where it is clear that the two do not agree.
func (t *target) compare(x *opened, v *view, f *form, turn int64, hasty bool) *comparison {
	graded := t.quantised()
	c := &comparison{n: t.n(), bounded: graded || x.below != nil || x.rms > 0 || !f.plain(), rms: x.rms, linear: x.below != nil && x.rms == 0 && !graded}
	factor := gridFactor(t.typ) * f.scale
	if turn > 0 {
		turn %= t.n()
	}
	for i := range t.n() {
		if t.read.err != nil || x.err() != nil {
			break
		}
		if hasty && (c.far > 0 || c.wrong > 0 && !c.bounded) {
			break
		}
		j := i + turn
		if j >= t.n() {
			j -= t.n()
		}
		at := i
		if !x.viewed {
			at = v.index(i)
		}
		own, step := t.read.at(j)
		want := f.want(own, j)
		below := f.slack(j, want)
		if graded {
			below += step * factor
			c.steps += float64(step*f.scale) * float64(step*f.scale)
		}
		grid := below > 0 && f.plain()
		above := below
		if x.below != nil {
			b, a := x.below(at), x.above(at)
			c.addStep(b, a)
			below, above = min(below+b, math.MaxFloat32), min(above+a, math.MaxFloat32)
		}
		value := x.value(at)
		c.value(value, want, below, above, x.kept != nil && x.kept(at) == 0)
		if grid && x.below == nil {
			// A value that lies off the .bin's grid by more than the roundings of scaling and of float16 was not made from the .bin's own.
			c.offGrid = c.offGrid || math.Abs(float64(value)-float64(want)) > math.Abs(float64(want))/512
			c.finer = c.finer || c.offGrid
		}
	}
	return c
}

func (c *comparison) addStep(below, above float32) {
	if s := float64(min(below, above)); s < math.MaxFloat32 {
		c.steps += s * s
	}
}

// value compares one value with the reference r, which lies at most below under it and above over it.
func (c *comparison) value(x, r, below, above float32, pruned bool) {
	if pruned {
		c.ignored++
		c.prunedSize += float64(r) * float64(r)
		return
	}
	d := float64(x) - float64(r)
	c.size += float64(r) * float64(r)
	c.keptAll += float64(r) * float64(r)
	c.sum += float64(r)
	c.cross += float64(x) * float64(r)
	c.square += float64(r) * float64(r)
	if same(x, r) {
		// What a converter multiplied out and back differs in float32's last bits, and is no finer for that.
		if x != r && !isHalf(x) && isHalf(r) && math.Abs(d) > math.Abs(float64(r))/(1<<20) {
			c.finer = true
			c.roundings++
			c.finest = max(c.finest, math.Abs(d/float64(r)))
		}
		return
	}
	c.diff += d * d
	limit := float64(below)
	if d < 0 {
		limit = float64(above)
	}
	if limit == math.MaxFloat32 {
		c.unbounded += d * d
	}
	if limit > 0 && limit < math.MaxFloat32 {
		c.furthest = max(c.furthest, math.Abs(d)/limit)
	}
	if !(math.Abs(d) <= limit) { // NaN is wrong
		c.wrong++
		if !(math.Abs(d) <= 1.25*limit) {
			c.far++
		}
	}
}

func isHalf(x float32) bool { return ggml.Float16ToFloat32(ggml.Float32ToFloat16(x)) == x }

// verify compares a tensor with a view, value by value.
func (p *pairing) verify(t *target, v *view, f *form, hasty bool) (*comparison, error) {
	if v.w.op == nil && v.whole && f.plain() && f.scale == 1 {
		if same, err := p.identical(t, v.w); err != nil || same {
			return &comparison{n: t.n()}, err
		}
	}
	x, err := p.opened(v)
	if err != nil {
		return nil, err
	}
	c := t.compare(x, v, f, 0, hasty)
	if c.ok() && (x.rms > 0 || c.distance() > unrelated) {
		// Coarse palettes allow much. Where they allow the tensor's values in any other order, they say nothing.
		if other := t.compare(x, v, f, t.n()/2+1, true); other.wrong == 0 && x.err() == nil {
			return c, fmt.Errorf("weight %s: %w: too coarse to tell whose it is", v.w.name, errUnsupported)
		}
	}
	return c, errors.Join(t.read.err, x.err())
}

// piece is how many bytes are compared or decoded at a time: whole values of every type.
const piece = 1 << 18

// identical reports whether tensor and weight are the same bytes of one type, which is the usual case, and the quick one.
func (p *pairing) identical(t *target, w *weight) (bool, error) {
	typ, data, err := p.stored(w)
	if err != nil || typ != t.typ {
		return false, err
	}
	m, ok := p.model.Tensor(t.name)
	if !ok || m.Elements() != w.elements() {
		return false, nil // a part of a tensor
	}
	size := min(piece, m.Size)
	ours, theirs, from := make([]byte, size), make([]byte, size), p.model.Data(m)
	for at := int64(0); at < m.Size; at += piece {
		n := int(min(piece, m.Size-at))
		if got, err := data.ReadAt(ours[:n], at); got < n {
			return false, fmt.Errorf("read weight %s: %w", w.name, err)
		}
		if got, err := from.ReadAt(theirs[:n], at); got < n {
			return false, fmt.Errorf("read tensor %s: %w", t.name, err)
		}
		if !bytes.Equal(ours[:n], theirs[:n]) {
			return false, nil
		}
	}
	return true, nil
}

// err is the first failure to read.
func (x *opened) err() error {
	if x.from == nil {
		return nil
	}
	return x.from.err
}

// opened prepares a view for comparisons: a compressed weight whole, others piece by piece.
func (p *pairing) opened(v *view) (*opened, error) {
	if v.w.op != nil {
		return p.decompressed(v.w.op)
	}
	if _, _, err := p.stored(v.w); err != nil {
		return nil, err
	}
	w := p.window(v)
	return &opened{viewed: true, from: w, value: func(i int64) float32 {
		x, _ := w.at(i)
		return x
	}}, nil
}

func (p *pairing) decompressed(op *mil.Op) (*opened, error) {
	t, err := p.d.values(op)
	if err != nil {
		return nil, err
	}
	b, err := p.d.bounds(op, len(op.Outputs)-1)
	if err != nil {
		return nil, err
	}
	x := &opened{rms: b.rms}
	for _, f := range []struct {
		from *mil.Tensor
		to   *func(int64) float32
	}{{&t, &x.value}, {b.below, &x.below}, {b.above, &x.above}, {b.kept, &x.kept}} {
		if f.from == nil {
			continue
		}
		at, err := constexpr.Floats(*f.from)
		if err != nil {
			return nil, err
		}
		*f.to = at
	}
	if x.below != nil {
		below, above := x.below, x.above
		x.below = func(i int64) float32 { return min(below(i), math.MaxFloat32) }
		x.above = func(i int64) float32 { return min(above(i), math.MaxFloat32) }
	}
	return x, nil
}
