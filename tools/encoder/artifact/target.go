package artifact

import (
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// target is a tensor of the model, or a part of one, of which a stretch is in memory.
type target struct {
	name  string
	typ   ggml.Type
	shape []int64 // without extents of 1
	// samples are the values at the places of samples. low and high are the outermost values, which are known only where
	// compressed weights are compared.
	samples   []float32
	low, high float32
	read      *windows
}

func (t *target) n() int64 { return product(t.shape) }

func (t *target) quantised() bool {
	info, ok := t.typ.Info()
	return ok && info.Quantised
}

// windowValues is how many values of a matrix are in memory at a time.
const windowValues = 1 << 17

// room is memory that windows are read into one after the other, so that no garbage is left.
type room struct {
	values, steps []float32
	raw           []byte
}

// take gives n elements of a piece of memory, which grows where it is too small.
func take[T any](from *[]T, n int64) []T {
	if int64(cap(*from)) < n {
		*from = make([]T, n)
	}
	return (*from)[:n]
}

// windows gives the elements of something by index, of which a window is in memory: quick where they are asked for in order.
type windows struct {
	n, size int64
	// load gives n values from one on, and of quantised ones the steps of the grid that they were rounded to. What it gives may
	// be in the room, which is there for the next window again.
	load          func(first, n int64, r *room) (values, steps []float32, err error)
	room          room
	first         int64
	values, steps []float32
	// err is the first failure to read; all values are zero from then on.
	err error
}

func (w *windows) at(i int64) (value, step float32) {
	k := i - w.first
	if k < 0 || k >= int64(len(w.values)) {
		if k = w.move(i, w.size); w.err != nil {
			return 0, 0
		}
	}
	if w.steps != nil {
		step = w.steps[k]
	}
	return w.values[k], step
}

// fewValues is how many values cost less to read at once than some of them one by one.
const fewValues = 1 << 13

// one gives a value without the window's cost.
func (w *windows) one(i int64) float32 {
	k := i - w.first
	if k < 0 || k >= int64(len(w.values)) {
		first, size := i, int64(1)
		if w.n <= fewValues {
			first, size = 0, w.n
		}
		if w.move(first, size); w.err != nil {
			return 0
		}
		k = i - first
	}
	return w.values[k]
}

// move makes the window begin at i, or before it where the end would be passed, and gives the place of i in it.
func (w *windows) move(i, size int64) int64 {
	if w.err == nil {
		n := min(size, w.n-i)
		w.values, w.steps = nil, nil
		w.first = i
		if w.values, w.steps, w.err = w.load(i, n, &w.room); w.err == nil && int64(len(w.values)) != n {
			w.err = fmt.Errorf("expected %d values from %d on, found %d", n, i, len(w.values))
		}
	}
	if w.err != nil {
		w.values, w.steps = nil, nil
	}
	return 0
}

// target prepares a tensor of the model for comparisons.
func (p *pairing) target(t ggml.Tensor) (*target, error) {
	x := &target{name: t.Name, typ: t.Type, shape: squeeze(t.Shape())}
	x.read = &windows{n: t.Elements(), size: windowValues, load: func(first, n int64, r *room) ([]float32, []float32, error) { return p.graded(t, first, n, r) }}
	return x, p.sample(x)
}

// part is the block of rows and columns of a matrix, or of a vector's elements, from place at of count equal ones on.
func (p *pairing) part(t *target, count, at int64, columns bool) (*target, error) {
	from, ok := p.model.Tensor(t.name)
	if !ok {
		return nil, fmt.Errorf("tensor %s is missing", t.name)
	}
	x := &target{name: t.name, typ: t.typ, shape: slices.Clone(t.shape)}
	x.read = &windows{size: windowValues}
	if columns {
		x.shape[1] /= count
		mine, all := x.shape[1], t.shape[1]
		x.read.size /= count // what lies between is read too
		x.read.load = func(first, n int64, r *room) (values, steps []float32, err error) {
			place := func(i int64) int64 { return i/mine*all + at*mine + i%mine }
			begin := place(first)
			v, s, err := p.graded(from, begin, place(first+n-1)+1-begin, r)
			if err != nil {
				return nil, nil, err
			}
			for i := first; i < first+n; i++ {
				values = append(values, v[place(i)-begin])
				if s != nil {
					steps = append(steps, s[place(i)-begin])
				}
			}
			return values, steps, nil
		}
	} else {
		x.shape[0] /= count
		x.read.load = func(first, n int64, r *room) ([]float32, []float32, error) {
			return p.graded(from, at*x.n()+first, n, r)
		}
	}
	x.read.n = x.n()
	return x, p.sample(x)
}

// sample takes a target's samples, and what is asked of all its values.
func (p *pairing) sample(t *target) error {
	t.samples = make([]float32, p.sampleCount(t.shape))
	for k := range t.samples {
		t.samples[k] = t.read.one(place(k, len(t.samples), t.n()))
	}
	if p.compressed {
		t.low, _ = t.read.at(0)
		t.high = t.low
		for i := range t.n() {
			v, _ := t.read.at(i)
			t.low, t.high = min(t.low, v), max(t.high, v)
		}
	}
	return t.read.err
}

// graded decodes n of a tensor's values from one on, and the steps of the grid that they were rounded to, nil for plain types.
func (p *pairing) graded(t ggml.Tensor, first, n int64, r *room) (values, steps []float32, err error) {
	info, ok := t.Type.Info()
	if !ok || first < 0 || n < 0 || n > t.Elements()-first {
		return nil, nil, fmt.Errorf("tensor %s of type %s with %d values: no %d values from %d on", t.Name, t.Type, t.Elements(), n, first)
	}
	from, to := first/info.Block, (first+n+info.Block-1)/info.Block
	raw := take(&r.raw, (to-from)*info.BlockBytes)
	if got, err := p.model.Data(t).ReadAt(raw, from*info.BlockBytes); got < len(raw) {
		return nil, nil, fmt.Errorf("read tensor %s: %w", t.Name, err)
	}
	values = take(&r.values, (to-from)*info.Block)
	if err := ggml.Decode(t.Type, values, raw); err != nil {
		return nil, nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	within := first - from*info.Block
	if !info.Quantised {
		return values[within:][:n], nil, nil
	}
	steps = take(&r.steps, (to-from)*info.Block)
	if err := ggml.Steps(t.Type, steps, raw); err != nil {
		return nil, nil, err
	}
	return values[within:][:n], steps[within:][:n], nil
}
