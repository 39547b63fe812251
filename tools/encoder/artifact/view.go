package artifact

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
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

// Numbers of values at which views are compared first: of whole tensors, and of the pieces of one head, of which a matrix
// has many.
const (
	samples      = 512
	pieceSamples = 128
)

// place is the index of sample k of count among n values.
func place(k, count int, n int64) int64 {
	if n <= int64(count) {
		return int64(k)
	}
	// Spread over the tensor, with odd steps so that rows and columns are both
	// visited.
	return (int64(k)*n/int64(count) + int64(k)*7) % n
}

// sampleCount is the number of samples of views that have the extents of what is looked for.
func (p *pairing) sampleCount(shape []int64) int {
	count := int64(pieceSamples)
	if slices.ContainsFunc(p.wholes(), func(s []int64) bool { return slices.Equal(s, shape) }) {
		count = samples
	}
	return int(min(product(shape), count))
}

// index makes the views of every weight that have one of the extents, and samples them.
func (p *pairing) index(shapes [][]int64) error {
	for _, shape := range shapes {
		p.indexed[fmt.Sprint(shape)] = true
	}
	for _, w := range p.weights {
		var picks []pick
		var views []*view
		for _, shape := range shapes {
			key := fmt.Sprint(shape)
			for _, v := range viewsOf(w, shape) {
				v.samples = make([]float32, p.sampleCount(shape))
				for k := range v.samples {
					picks = append(picks, pick{v.index(place(k, len(v.samples), v.n)), &v.samples[k]})
				}
				views = append(views, v)
				p.views[key] = append(p.views[key], v)
			}
		}
		if err := p.look(w, picks, views); err != nil {
			return err
		}
	}
	return nil
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

// want is what the tensor's value i, which is v, became.
func (f *form) want(v float32, i int64) float32 {
	if f.gain != nil {
		v *= f.gain(i)
	}
	if f.shift != nil {
		v += f.shift[i]
	}
	return v * f.scale
}

// slack is what rounding on the way may change, once or twice to float16.
func (f *form) slack(i int64, want float32) float32 {
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
	// Rounding to float16 moves a value by 1/2048 of it at most, and one near zero by 2^-25: most values are further apart.
	if d := math.Abs(float64(a) - float64(b)); d > smallestHalf && d > max(math.Abs(float64(a)), math.Abs(float64(b)))/1024 {
		return false
	}
	return equalRounded(a, b)
}

// smallestHalf is the smallest float16.
const smallestHalf = 1.0 / (1 << 24)

func equalRounded(a, b float32) bool {
	return a == b || math.Abs(float64(a)-float64(b)) <= lastBits*min(math.Abs(float64(a)), math.Abs(float64(b))) ||
		ggml.Float16ToFloat32(ggml.Float32ToFloat16(a)) == b ||
		a == ggml.Float16ToFloat32(ggml.Float32ToFloat16(b))
}

// scales are the factors that a converter may have multiplied a tensor by.
func (p *pairing) scales(name string) []float32 {
	h := p.model.Hyperparameters
	width := float64(h.AudioState / h.AudioHead)
	scales := []float32{1}
	if strings.Contains(name, ".attn.query.") || strings.Contains(name, ".attn.key.") {
		// Converters fold the scale of the products into the projections.
		scales = append(scales, float32(math.Pow(width, -0.5)), float32(math.Pow(width, -0.25)))
	}
	return scales
}

// usual lists how a tensor may have been stored, but for what folds a norm into what follows it.
func (p *pairing) usual(t *target) ([]*form, error) {
	name := strings.TrimPrefix(t.name, "encoder.")
	var list []*form
	for _, s := range p.scales(name) {
		list = append(list, &form{scale: s})
	}
	if strings.HasSuffix(name, "ln.bias") || name == "ln_post.bias" {
		gamma, err := p.values(strings.TrimSuffix(name, "bias") + "weight")
		if err != nil {
			return nil, err
		}
		// The norms for the Neural Engine add the bias before they scale.
		list = append(list, &form{what: "divided by the gain of its norm", scale: 1, gain: func(i int64) float32 { return 1 / gamma[i] }})
	}
	return list, nil
}

// folded lists how a tensor may have been stored together with a norm before it.
func (p *pairing) folded(t *target) (folded []*form, err error) {
	name := strings.TrimPrefix(t.name, "encoder.")
	scales := p.scales(name)
	block, part, ok := strings.Cut(name, ".attn.")
	norm := block + ".attn_ln"
	if !ok {
		block, part, ok = strings.Cut(name, ".mlp.0.")
		norm, part = block+".mlp_ln", "0."+part
	}
	switch {
	case ok && strings.HasPrefix(part, "out.bias"):
		// Weights of attention sum to 1, so that the value's bias goes through to the output.
		folded = []*form{{what: "with the value's bias", scale: 1, by: [2]string{block + ".attn.out.weight", block + ".attn.value.bias"}}}
	case !ok || strings.HasPrefix(part, "out."):
	case strings.HasSuffix(name, ".weight"):
		gamma, err := p.values(norm + ".weight")
		if err != nil {
			return nil, err
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
		if f.shift, f.size, err = p.through(f.by, p.values, p.matrix); err != nil {
			return nil, err
		}
	}
	return folded, nil
}

// values reads a tensor of the encoder.
func (p *pairing) values(name string) ([]float32, error) {
	t, ok := p.model.Tensor("encoder." + name)
	if !ok {
		return nil, fmt.Errorf("tensor encoder.%s is missing", name)
	}
	return p.model.Float32s(t)
}

// matrix reads rows of a matrix of the .bin.
func (p *pairing) matrix(name string, shape []int, first, count int) ([]float32, error) {
	t, ok := p.model.Tensor("encoder." + name)
	if !ok {
		return nil, fmt.Errorf("tensor encoder.%s is missing", name)
	}
	return p.model.Part(t, int64(first)*int64(shape[1]), int64(count)*int64(shape[1]))
}

// through is a bias that went through a matrix, and the sum of the sizes that were added up.
func (p *pairing) through(names [2]string, values func(string) ([]float32, error), matrix reference.Rows) (shift, size []float32, err error) {
	b, err := values(names[1])
	if err != nil {
		return nil, nil, err
	}
	t, ok := p.model.Tensor("encoder." + names[0])
	if !ok || len(b) == 0 || t.Elements()%int64(len(b)) != 0 {
		return nil, nil, fmt.Errorf("tensor encoder.%s: expected rows of %d values", names[0], len(b))
	}
	shape := []int{int(t.Elements()) / len(b), len(b)}
	shift, size = make([]float32, shape[0]), make([]float32, shape[0])
	step := max(1, windowValues/len(b))
	for first := 0; first < shape[0]; first += step {
		w, err := matrix(names[0], shape, first, min(step, shape[0]-first))
		if err != nil {
			return nil, nil, err
		}
		for r := range len(w) / len(b) {
			var sum, abs float64
			for c, x := range b {
				v := float64(w[r*len(b)+c]) * float64(x)
				sum += v
				abs += math.Abs(v)
			}
			shift[first+r], size[first+r] = float32(sum), float32(abs)
		}
	}
	return shift, size, nil
}
