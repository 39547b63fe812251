package artifact

import (
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
)

// verdict collects the comparison of one tensor, value by value.
type agreement struct {
	n, wrong, ignored int64
	diff, size, sum   float64 // sums of squares, and of the reference
	cross, square     float64 // of weight times reference, and of the reference: for the gain
	steps             float64 // sum of the squares of the reference's grid steps
	finer, bounded    bool
	// rms bounds what values without a bound of their own add to relative().
	rms, unbounded float64
}

// relative is the root mean square difference relative to the reference.
func (v *agreement) relative() float64 {
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
func (v *agreement) distance() float64 { return distance(v.diff, v.size, v.sum, v.n) }

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

// unrelated is a distance that no compression of the same values reaches; two
// independent tensors are 1.4 apart.
const unrelated = 0.95

// ok says whether the tensor matches.
func (v *agreement) ok() bool {
	if v.n == v.ignored || v.wrong > 0 && !v.bounded {
		return false // nothing was compared, or something differs
	}
	if v.distance() > unrelated {
		return false // whatever the bounds allow
	}
	// Among values that were rounded to a grid a few may sit on an edge.
	if v.wrong > (v.n-v.ignored)/2000 {
		return false
	}
	if v.rms > 0 && v.unbounded > v.rms*v.rms*v.size {
		return false
	}
	return !v.bounded || v.gain()
}

// gain notices a factor that hides within the bounds of rounding: rounding to a
// grid moves values about, and hardly scales them. The tolerance is the bias
// that rounding a bell-shaped distribution has (step^2/12 of the variance, with
// a margin), and what chance allows with this many values.
func (v *agreement) gain() bool {
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

// verify compares a tensor with the weight that was found for it.
func (p *pairing) verify(t ggml.Tensor, c *candidate, by variant) (*agreement, error) {
	v := &agreement{}
	if c.w.op == nil && !by.crossed && by.gain == nil {
		if same, err := p.identical(t, c.w); err != nil || same {
			v.n = t.Elements()
			return v, err
		}
		return v, p.verifyStream(v, t, c.w, by)
	}
	return v, p.verifyWhole(v, t, c.w, by)
}

// verifyStream compares weights that are stored plainly and in the same order,
// in pieces.
func (p *pairing) verifyStream(v *agreement, t ggml.Tensor, w *weight, by variant) error {
	ref := newTensorReader(p.model, t)
	return p.stream(w, func(first int64, values []float32) error {
		want, steps, err := ref.read(first, len(values))
		if err != nil {
			return err
		}
		v.compare(values, want, steps, by, t.Type)
		return nil
	})
}

// compare takes a piece of both sides.
func (v *agreement) compare(values, want, steps []float32, by variant, typ ggml.Type) {
	factor := gridFactor(typ) * by.scale
	for i, x := range values {
		r := want[i]
		if by.scale != 1 {
			r *= by.scale
		}
		if x == r {
			v.size += float64(r) * float64(r)
			v.sum += float64(r)
			continue
		}
		v.value(x, r, gridSlack(steps, i, factor), false)
		if steps != nil {
			v.offGrid(x, r)
		}
	}
	v.n += int64(len(values))
	if steps == nil {
		return
	}
	v.bounded = true
	for i, x := range values {
		r := float64(want[i] * by.scale)
		v.cross += float64(x) * r
		v.square += r * r
		s := float64(steps[i] * by.scale)
		v.steps += s * s
	}
}

func gridSlack(steps []float32, i int, factor float32) float32 {
	if steps == nil {
		return 0
	}
	return steps[i] * factor
}

// value compares one value with the reference.
func (v *agreement) value(x, r, slack float32, pruned bool) {
	if pruned {
		v.ignored++
		return
	}
	d := float64(x) - float64(r)
	v.size += float64(r) * float64(r)
	v.sum += float64(r)
	if same(x, r) {
		v.finer = v.finer || !isHalf(x) && isHalf(r)
		return
	}
	v.diff += d * d
	if slack == math.MaxFloat32 {
		v.unbounded += d * d
	}
	if !(math.Abs(d) <= float64(slack)) { // NaN is wrong
		v.wrong++
	}
}

// offGrid notes a value that was not made from the .bin's own, which was quantised: it lies off it by more than the
// roundings of scaling and of float16.
func (v *agreement) offGrid(x, r float32) {
	v.finer = v.finer || math.Abs(float64(x)-float64(r)) > math.Abs(float64(r))/512
}

func isHalf(x float32) bool { return ggml.Float16ToFloat32(ggml.Float32ToFloat16(x)) == x }

// verifyWhole compares in memory: compressed weights, transposed ones, and
// biases that were divided by a gain.
func (p *pairing) verifyWhole(v *agreement, t ggml.Tensor, w *weight, by variant) error {
	if n := w.elements(); n != t.Elements() {
		return fmt.Errorf("weight %s has %d values, tensor %s has %d", w.name, n, t.Name, t.Elements())
	}
	x, err := p.whole(w)
	if err != nil {
		return err
	}
	n := w.elements()
	cols := t.Dims[0]
	ref := newTensorReader(p.model, t)
	v.bounded, v.rms = x.slack != nil || x.rms > 0 || by.gain != nil, x.rms
	const piece = 4 << 10
	for first := int64(0); first < n; first += piece {
		want, steps, err := ref.read(first, int(min(piece, n-first)))
		if err != nil {
			return err
		}
		v.bounded = v.bounded || steps != nil
		for i, r := range want {
			at := first + int64(i)
			if by.crossed {
				at = at%cols*(n/cols) + at/cols
			}
			v.place(x, at, r, gridSlack(steps, i, gridFactor(t.Type)), by, first+int64(i))
		}
	}
	v.n = n
	return nil
}

// whole is a weight in memory: its values and what bounds says of them, by
// index. slack and kept are nil where bounds has none.
type whole struct {
	value, slack, kept func(int64) float32
	rms                float64
}

// place compares the weight's value at an index with the reference r, whose own
// index is ref.
func (v *agreement) place(x *whole, at int64, r, slack float32, by variant, ref int64) {
	r *= by.scale
	slack *= by.scale
	value := x.value(at)
	if by.gain != nil {
		// bias/gain was rounded once or twice on its way: 2^-10 covers float16.
		g := by.gain[ref]
		r /= g
		slack += float32(math.Abs(float64(r)))/1024 + 1e-7
	}
	pruned := x.kept != nil && x.kept(at) == 0
	var own float32
	if x.slack != nil {
		own = min(x.slack(at), math.MaxFloat32)
		slack = min(slack+own, math.MaxFloat32)
	}
	v.value(value, r, slack, pruned)
	if slack > 0 && by.gain == nil && x.slack == nil && x.rms == 0 {
		v.offGrid(value, r)
	}
	if !pruned {
		v.cross += float64(value) * float64(r)
		v.square += float64(r) * float64(r)
		if s := float64(own); s < math.MaxFloat32 {
			v.steps += s * s
		}
		if x.rms > 0 {
			v.steps += 4 * x.rms * x.rms * float64(r) * float64(r)
		}
	}
}

func (p *pairing) whole(w *weight) (*whole, error) {
	if w.op != nil {
		return p.decompressed(w.op)
	}
	if w.elements() > maxDense {
		return nil, fmt.Errorf("weight %s has %d values, the limit is %d", w.name, w.elements(), maxDense)
	}
	values := make([]float32, w.elements())
	return &whole{value: func(i int64) float32 { return values[i] }}, p.stream(w, func(first int64, v []float32) error {
		copy(values[first:], v)
		return nil
	})
}

func (p *pairing) decompressed(op *mil.Op) (*whole, error) {
	t, err := p.d.values(op)
	if err != nil {
		return nil, err
	}
	b, err := p.d.bounds(op, len(op.Outputs)-1)
	if err != nil {
		return nil, err
	}
	x := &whole{rms: b.rms}
	for _, f := range []struct {
		from *mil.Tensor
		to   *func(int64) float32
	}{{&t, &x.value}, {b.slack, &x.slack}, {b.kept, &x.kept}} {
		if f.from == nil {
			continue
		}
		if *f.to, err = constexpr.Floats(*f.from); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// tensorReader decodes runs of a tensor's values with their grid steps.
type tensorReader struct {
	model         *ggml.Model
	t             ggml.Tensor
	info          ggml.TypeInfo
	raw           []byte
	values, steps []float32
}

func newTensorReader(m *ggml.Model, t ggml.Tensor) *tensorReader {
	info, _ := t.Type.Info()
	return &tensorReader{model: m, t: t, info: info}
}

// read gives n values from the first on, and their steps, nil for plain types.
// Both are valid until the next call.
func (r *tensorReader) read(first int64, n int) (values, steps []float32, err error) {
	from := first / r.info.Block
	to := (first + int64(n) + r.info.Block - 1) / r.info.Block
	size := int((to - from) * r.info.Block)
	if cap(r.values) < size {
		r.raw, r.values = make([]byte, int64(size)/r.info.Block*r.info.BlockBytes), make([]float32, size)
		r.steps = make([]float32, size)
	}
	raw := r.raw[:int64(size)/r.info.Block*r.info.BlockBytes]
	if k, err := r.model.Data(r.t).ReadAt(raw, from*r.info.BlockBytes); k < len(raw) {
		return nil, nil, fmt.Errorf("read tensor %s: %w", r.t.Name, err)
	}
	if err := ggml.Decode(r.t.Type, r.values[:size], raw); err != nil {
		return nil, nil, err
	}
	skip := first - from*r.info.Block
	if r.info.Quantised {
		if err := ggml.Steps(r.t.Type, r.steps[:size], raw); err != nil {
			return nil, nil, err
		}
		steps = r.steps[skip:][:n]
	}
	return r.values[skip:][:n], steps, nil
}
