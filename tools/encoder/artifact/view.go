package artifact

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// view is a weight, or a part of one, read as one of the model's tensors may be stored: as it is, transposed, or as
// rows or columns of a fused matrix.
type view struct {
	w *weight
	// cols is the length of a row; element i of the view is element offset + i/cols·row + i%cols·col of the weight.
	cols, offset, row, col int64
	n                      int64
	// whole says that the view is the weight itself, in its order.
	whole   bool
	samples []float32
	// low and high are the outermost values of a compressed weight's view.
	low, high float32
}

func (v *view) index(i int64) int64 { return v.offset + i/v.cols*v.row + i%v.cols*v.col }

// viewsOf lists how a weight may hold a tensor of extents shape, without those of 1.
func viewsOf(w *weight, shape []int64) []*view {
	own := squeeze(w.shape)
	n := product(shape)
	var list []*view
	add := func(cols, offset, row, col int64) {
		list = append(list, &view{w: w, cols: cols, offset: offset, row: row, col: col, n: n, whole: offset == 0 && row == cols && col == 1 && n == w.elements()})
	}
	if slices.Equal(own, shape) {
		add(n, 0, n, 1)
	}
	switch {
	case len(own) == 1 && len(shape) == 1 && own[0] > n && own[0]%n == 0:
		for at := int64(0); at < own[0]; at += n {
			add(n, at, n, 1)
		}
	case len(own) == 2 && len(shape) == 2:
		r, c := shape[0], shape[1]
		matrixViews(own[0], own[1], r, c, func(offset int64) { add(c, offset, own[1], 1) }, slices.Equal(own, shape))
		matrixViews(own[0], own[1], c, r, func(offset int64) { add(c, offset, 1, own[1]) }, false)
	}
	return list
}

// matrixViews visits the offsets of blocks of r by c that make up a matrix of rows by columns along one of its sides,
// and of the matrix itself unless it was seen.
func matrixViews(rows, columns, r, c int64, visit func(int64), seen bool) {
	switch {
	case rows == r && columns == c:
		if !seen {
			visit(0)
		}
	case columns == c && rows > r && rows%r == 0:
		for at := int64(0); at < rows; at += r {
			visit(at * columns)
		}
	case rows == r && columns > c && columns%c == 0:
		for at := int64(0); at < columns; at += c {
			visit(at)
		}
	}
}

// target is a tensor of the model, or a part of one, in memory.
type target struct {
	name   string
	typ    ggml.Type
	shape  []int64 // without extents of 1
	values []float32
	// steps are those of the grid that the values were rounded to; nil for plain types.
	steps []float32
}

func (t *target) n() int64 { return int64(len(t.values)) }

// part is the block of rows and columns of a matrix, or of a vector's elements, from place at of count equal ones on.
func (t *target) part(count, at int64, columns bool) *target {
	p := &target{name: t.name, typ: t.typ, shape: slices.Clone(t.shape)}
	axis := 0
	if columns {
		axis = 1
	}
	p.shape[axis] /= count
	cols := int64(1)
	if len(t.shape) == 2 {
		cols = t.shape[1]
	}
	take := func(v []float32) []float32 {
		if v == nil {
			return nil
		}
		if !columns {
			size := p.shape[0] * cols
			return v[at*size:][:size]
		}
		var out []float32
		for r := range t.shape[0] {
			out = append(out, v[r*cols+at*p.shape[1]:][:p.shape[1]]...)
		}
		return out
	}
	p.values, p.steps = take(t.values), take(t.steps)
	return p
}

// target reads a tensor. Its values are there until the next one is read.
func (p *pairing) target(t ggml.Tensor) (*target, error) {
	x := &target{name: t.Name, typ: t.Type, shape: squeeze(t.Shape())}
	p.room = slices.Grow(p.room[:0], int(t.Elements()))
	x.values = p.room[:t.Elements()]
	err := p.model.Values(t, func(first int64, v []float32) error {
		copy(x.values[first:], v)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read tensor %s: %w", t.Name, err)
	}
	info, _ := t.Type.Info()
	if !info.Quantised {
		return x, nil
	}
	raw := make([]byte, t.Size)
	if n, err := p.model.Data(t).ReadAt(raw, 0); n < len(raw) {
		return nil, fmt.Errorf("read tensor %s: %w", t.Name, err)
	}
	p.steps = slices.Grow(p.steps[:0], len(x.values))
	x.steps = p.steps[:len(x.values)]
	return x, ggml.Steps(t.Type, x.steps, raw)
}

// samples is the number of values at which views are compared first.
const samples = 512

// place is the index of sample k of n values.
func place(k int, n int64) int64 {
	if n <= samples {
		return int64(k)
	}
	// Spread over the tensor, with odd steps so that rows and columns are both
	// visited.
	return (int64(k)*n/samples + int64(k)*7) % n
}

func sampleCount(n int64) int { return int(min(n, samples)) }

// index makes the views of every weight and samples them.
func (p *pairing) index(list []*weight, shapes [][]int64) error {
	for _, w := range list {
		at, err := p.reader(w)
		if err != nil {
			return err
		}
		if at == nil {
			continue
		}
		for _, shape := range shapes {
			key := fmt.Sprint(shape)
			for _, v := range viewsOf(w, shape) {
				v.samples = make([]float32, sampleCount(v.n))
				for k := range v.samples {
					v.samples[k] = at(v.index(place(k, v.n)))
				}
				if w.op != nil {
					v.low, v.high = at(v.index(0)), at(v.index(0))
					for i := range v.n {
						x := at(v.index(i))
						v.low, v.high = min(v.low, x), max(v.high, x)
					}
				}
				p.views[key] = append(p.views[key], v)
			}
		}
	}
	return nil
}

// reader reads a weight whole and gives its values by index, until the next one is read; nil where they cannot be decoded, which is noted.
func (p *pairing) reader(w *weight) (func(int64) float32, error) {
	typ, data, err := p.stored(w)
	if isUnsupported(err) {
		p.unreadable = append(p.unreadable, w.name+": "+err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("weight %s: %w", w.name, err)
	}
	info, _ := typ.Info()
	size := int(w.elements() * info.BlockBytes)
	p.raw = slices.Grow(p.raw[:0], size)
	raw := p.raw[:size]
	if n, err := data.ReadAt(raw, 0); n < len(raw) && err != io.EOF {
		return nil, fmt.Errorf("read weight %s: %w", w.name, err)
	}
	zero := true
	for _, b := range raw {
		zero = zero && b == 0
	}
	w.zero = zero
	return func(i int64) float32 {
		var one [1]float32
		_ = ggml.Decode(typ, one[:], raw[i*info.BlockBytes:][:info.BlockBytes])
		return one[0]
	}, nil
}

// form says how a converter may have changed a tensor: value i is (v·gain(i) + shift(i))·scale.
type form struct {
	what  string
	scale float32
	gain  func(i int64) float32
	shift []float32
	// by names the matrix and the bias that the shift comes from.
	by [2]string
	// size bounds what was added up in a shift, for its rounding.
	size []float32
}

func (f *form) plain() bool { return f.gain == nil && f.shift == nil }

func (f *form) want(t *target, i int64) float32 {
	v := t.values[i]
	if f.gain != nil {
		v *= f.gain(i)
	}
	if f.shift != nil {
		v += f.shift[i]
	}
	return v * f.scale
}

// slack is what rounding on the way may change, once or twice to float16.
func (f *form) slack(t *target, i int64, want float32) float32 {
	if f.plain() {
		return 0
	}
	s := float32(math.Abs(float64(want)))/1024 + 1e-7
	if f.size != nil {
		s += f.size[i] / 1024
	}
	return s
}

// lastBits is the relative difference of float32 values that were multiplied out and back: norms for the Neural Engine
// hold the bias divided by the gain, and the converter multiplies it again.
const lastBits = 1.0 / (1 << 22)

// same is equality after rounding to the coarser of two types: a float16 that
// came from a float32, either way round; or in all but float32's last bits.
func same(a, b float32) bool {
	return a == b || math.Abs(float64(a)-float64(b)) <= lastBits*min(math.Abs(float64(a)), math.Abs(float64(b))) ||
		ggml.Float16ToFloat32(ggml.Float32ToFloat16(a)) == b ||
		a == ggml.Float16ToFloat32(ggml.Float32ToFloat16(b))
}

// forms lists how a tensor may have been stored, the usual ones first, and those that fold a norm into what follows it.
func (p *pairing) forms(t *target) (usual, folded []*form, err error) {
	name := strings.TrimPrefix(t.name, "encoder.")
	h := p.model.Hyperparameters
	width := float64(h.AudioState / h.AudioHead)
	scales := []float32{1}
	if strings.Contains(name, ".attn.query.") || strings.Contains(name, ".attn.key.") {
		// Converters fold the scale of the products into the projections.
		scales = append(scales, float32(math.Pow(width, -0.5)), float32(math.Pow(width, -0.25)))
	}
	for _, s := range scales {
		usual = append(usual, &form{scale: s})
	}
	block, part, ok := strings.Cut(name, ".attn.")
	norm := block + ".attn_ln"
	if !ok {
		block, part, ok = strings.Cut(name, ".mlp.0.")
		norm, part = block+".mlp_ln", "0."+part
	}
	switch {
	case strings.HasSuffix(name, "ln.bias"), name == "ln_post.bias":
		gamma, err := p.values(strings.TrimSuffix(name, "bias") + "weight")
		if err != nil {
			return nil, nil, err
		}
		// The norms for the Neural Engine add the bias before they scale.
		usual = append(usual, &form{what: "divided by the gain of its norm", scale: 1, gain: func(i int64) float32 { return 1 / gamma[i] }})
	case ok && strings.HasPrefix(part, "out.bias"):
		// Weights of attention sum to 1, so that the value's bias goes through to the output.
		folded = []*form{{what: "with the value's bias", scale: 1, by: [2]string{block + ".attn.out.weight", block + ".attn.value.bias"}}}
	case !ok || strings.HasPrefix(part, "out."):
	case strings.HasSuffix(name, ".weight"):
		gamma, err := p.values(norm + ".weight")
		if err != nil {
			return nil, nil, err
		}
		cols := t.shape[1]
		for _, s := range scales {
			folded = append(folded, &form{what: "times the gain of the norm before it", scale: s, gain: func(i int64) float32 { return gamma[i%cols] }})
		}
	default:
		for _, s := range scales {
			folded = append(folded, &form{what: "with the bias of the norm before it", scale: s, by: [2]string{strings.TrimSuffix(name, "bias") + "weight", norm + ".bias"}})
		}
	}
	for _, f := range folded {
		if f.by[0] == "" {
			continue
		}
		if f.shift, f.size, err = through(f.by, p.values); err != nil {
			return nil, nil, err
		}
	}
	return usual, folded, nil
}

// values reads a tensor of the encoder.
func (p *pairing) values(name string) ([]float32, error) {
	t, ok := p.model.Tensor("encoder." + name)
	if !ok {
		return nil, fmt.Errorf("tensor encoder.%s is missing", name)
	}
	return p.model.Float32s(t)
}

// through is a bias that went through a matrix, and the sum of the sizes that were added up.
func through(names [2]string, values func(string) ([]float32, error)) (shift, size []float32, err error) {
	w, err := values(names[0])
	if err != nil {
		return nil, nil, err
	}
	b, err := values(names[1])
	if err != nil {
		return nil, nil, err
	}
	rows := len(w) / len(b)
	shift, size = make([]float32, rows), make([]float32, rows)
	for r := range rows {
		var sum, abs float64
		for c, x := range b {
			v := float64(w[r*len(b)+c]) * float64(x)
			sum += v
			abs += math.Abs(v)
		}
		shift[r], size[r] = float32(sum), float32(abs)
	}
	return shift, size, nil
}
