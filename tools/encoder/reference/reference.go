// Package reference computes a Whisper audio encoder in float64, straight from
// the definition in "Robust Speech Recognition via Large-Scale Weak Supervision"
// (Radford et al., 2022) and the transformer that it builds on, from the tensors
// of a ggml model file. It is the reference side of numeric parity, and shares no
// code with the MIL evaluator.
//
// The definition, with X rows of positions and columns of channels, D the width,
// H the heads, and every linear layer y = x·Wᵀ + b (key projections have no b):
//
//	X0 = gelu(conv1(mel))            kernel 3, stride 1, one zero on either side
//	X  = gelu(conv2(X0))ᵀ + P        kernel 3, stride 2, one zero on either side; P the positional embedding
//	per layer:
//	    Y = norm(X; attn_ln)
//	    Q, K, V = query(Y), key(Y), value(Y), cut into H heads of D/H channels
//	    A = softmax(Q·Kᵀ / sqrt(D/H)) · V, heads joined
//	    X = X + out(A)
//	    X = X + mlp.2(gelu(mlp.0(norm(X; mlp_ln))))
//	output = norm(X; ln_post)
//
//	gelu(x) = x/2 · (1 + erf(x/√2))
//	norm(x) = (x − mean) / sqrt(variance + 1e-5) · weight + bias, per position, population variance
//
// A product is added by a fused multiply-add, rounded once, sums run in index order, and exp
// and erf are computed here (functions.go: exp within two units of the last place, gelu within 2^-52 of
// |x|), so that all hosts give the same bytes, with the wide registers of x86-64 and without.
package reference

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

const normEpsilon = 1e-5

// Observe is told of values on the way: their name, extents and elements. The
// slice must not be kept or changed. Names are "conv1", "conv2", "embedded",
// "layer.N.attn", "layer.N.mlp" (the residual stream after each half) and
// "output"; conv1 and conv2 are channels by positions, after GELU, the others
// positions by channels.
type Observe func(name string, rows, columns int, values []float64)

// Encoder evaluates the encoder of one model.
type Encoder struct {
	// Threads is the number of workers, zero for all processors. It does not
	// change results.
	Threads int
	// Observe, when set, sees values in between.
	Observe Observe
	// Inner, when set, sees what each tensor's own operation puts out: under the name of the operation within the
	// model ("blocks.0.attn.query", "blocks.0.mlp_ln"), and "blocks.N.attn.context" and "blocks.N.mlp.gelu" for what
	// attn.out and mlp.2 take in. All are positions by channels.
	Inner Observe

	// Rows, when set, gives the matrices of products and the kernels of convolutions a block of rows at a time, so that
	// none is in memory whole. It does not change results.
	Rows Rows

	tensors Tensors
	dims    ggml.Hyperparameters
}

// Tensors gives the elements of the encoder's tensor of a name, without the prefix "encoder.", in row-major order.
type Tensors func(name string, shape []int) ([]float32, error)

// Rows gives count rows of a tensor from one on, a row being what belongs to one index of the first extent.
type Rows func(name string, shape []int, first, count int) ([]float32, error)

// New prepares the encoder of an open model, after checking that the model has
// every tensor that its header calls for.
func New(m *ggml.Model) (*Encoder, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("the model is not a reference: %w", err)
	}
	h := m.Hyperparameters
	if h.AudioHead < 1 || h.AudioState%h.AudioHead != 0 {
		return nil, fmt.Errorf("the model is not a reference: width %d does not divide into %d heads", h.AudioState, h.AudioHead)
	}
	return &Encoder{tensors: modelTensors(m), dims: h}, nil
}

// Of prepares the encoder of a header with tensors from elsewhere. AudioCtx may be smaller than the model's: then the
// positional embedding that is asked for has as many rows.
func Of(h ggml.Hyperparameters, tensors Tensors) (*Encoder, error) {
	if h.AudioHead < 1 || h.AudioState%h.AudioHead != 0 {
		return nil, fmt.Errorf("the model is not a reference: width %d does not divide into %d heads", h.AudioState, h.AudioHead)
	}
	return &Encoder{tensors: tensors, dims: h}, nil
}

func modelTensors(m *ggml.Model) Tensors {
	return func(name string, shape []int) ([]float32, error) {
		t, ok := m.Tensor("encoder." + name)
		if !ok || t.Elements() != elements(shape) {
			return nil, fmt.Errorf("expected %v, found %v", shape, t.Shape())
		}
		return m.Float32s(t)
	}
}

func elements(shape []int) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= int64(d)
	}
	return n
}

// Encode computes the output, AudioCtx rows of AudioState values, for a log-mel
// spectrogram of Mels rows of 2·AudioCtx values. When ctx is done, it ends with its error soon.
func (e *Encoder) Encode(ctx context.Context, mel []float32) ([]float64, error) {
	h := e.dims
	if want := h.Mels * h.MelFrames(); len(mel) != want {
		return nil, fmt.Errorf("the mel has %d values; expected %d rows of %d, %d in all", len(mel), h.Mels, h.MelFrames(), want)
	}
	r := &run{Encoder: e, ctx: ctx, threads: e.Threads}
	if r.threads <= 0 {
		r.threads = runtime.GOMAXPROCS(0)
	}
	return r.encode(mel)
}

// run is one evaluation; the first failure to read a tensor ends it.
type run struct {
	*Encoder
	ctx     context.Context
	threads int
	err     error
	packed  []float64 // the right side of the product at hand
}

// weights reads a tensor of the encoder.
func (r *run) weights(name string, shape ...int) []float32 {
	if r.err != nil {
		return nil
	}
	v, err := r.tensors(name, shape)
	if err == nil && int64(len(v)) != elements(shape) {
		err = fmt.Errorf("expected %v, found %d values", shape, len(v))
	}
	if err != nil {
		r.err = fmt.Errorf("tensor encoder.%s: %w", name, err)
		return nil
	}
	return v
}

func (r *run) tensor(name string, shape ...int) []float64 { return widen(r.weights(name, shape...)) }

// blockValues is about how many values of a matrix are read at a time: whole panels.
const blockValues = 1 << 18

// blocks visits a tensor's rows, in blocks if they can be had so.
func (r *run) blocks(name string, shape []int, visit func(first, count int, w []float32)) {
	rows := shape[0]
	if r.Rows == nil {
		if w := r.weights(name, shape...); r.err == nil {
			visit(0, rows, w)
		}
		return
	}
	columns := int(elements(shape[1:]))
	step := max(1, blockValues/(columns*tileColumns)) * tileColumns
	for first := 0; first < rows && r.err == nil; first += step {
		count := min(step, rows-first)
		w, err := r.Rows(name, shape, first, count)
		if err == nil && len(w) != count*columns {
			err = fmt.Errorf("expected %d rows of %d, found %d values", count, columns, len(w))
		}
		if err != nil {
			r.err = fmt.Errorf("tensor encoder.%s: %w", name, err)
			return
		}
		visit(first, count, w)
	}
}

func (r *run) see(name string, rows, columns int, v []float64) {
	if r.err == nil && r.Observe != nil {
		r.Observe(name, rows, columns, v)
	}
}

// inner shows what the operation of that name put out, rows of as many columns as there are to a position.
func (r *run) inner(name string, v []float64) {
	if r.err == nil && r.Inner != nil {
		r.Inner(name, r.dims.AudioCtx, len(v)/r.dims.AudioCtx, v)
	}
}

func (r *run) encode(mel []float32) ([]float64, error) {
	h := r.dims
	frames, ctx, d := h.MelFrames(), h.AudioCtx, h.AudioState
	x := r.conv("conv1", widen(mel), h.Mels, frames, d, 1)
	r.see("conv1", d, frames, x)
	x = r.conv("conv2", x, d, frames, d, 2)
	r.see("conv2", d, ctx, x)
	if r.err != nil {
		return nil, r.err
	}
	x = turn(x, d, ctx)
	plus(x, r.tensor("positional_embedding", ctx, d))
	r.see("embedded", ctx, d, x)
	for l := range h.AudioLayer {
		block := fmt.Sprintf("blocks.%d.", l)
		r.attention(x, block)
		r.see(fmt.Sprintf("layer.%d.attn", l), ctx, d, x)
		r.mlp(x, block)
		r.see(fmt.Sprintf("layer.%d.mlp", l), ctx, d, x)
		if r.err != nil {
			return nil, r.err
		}
	}
	out := r.norm(x, "ln_post")
	r.see("output", ctx, d, out)
	return out, r.err
}

// conv convolves channels of n values with kernels of 3, then applies GELU.
// The result is outs channels of n/stride values.
func (r *run) conv(name string, x []float64, channels, n, outs, stride int) []float64 {
	b := r.tensor(name+".bias", outs)
	if r.err != nil {
		return nil
	}
	positions := n / stride
	// Row p holds what output p looks at: three values of each channel.
	windows := make([]float64, positions*channels*3)
	for p := range positions {
		for c := range channels {
			for k := range 3 {
				if t := p*stride + k - 1; t >= 0 && t < n {
					windows[(p*channels+c)*3+k] = x[c*n+t]
				}
			}
		}
	}
	taps := channels * 3
	y := make([]float64, outs*positions)
	right := pack(r, view(windows, positions, taps).transposed())
	r.blocks(name+".weight", []int{outs, channels, 3}, func(first, count int, w []float32) {
		r.multiply(y[first*positions:], positions, view(widen(w), count, taps), right)
	})
	if r.err != nil {
		return nil
	}
	series := erfSeries()
	r.parallel(outs, func(o int) {
		row := y[o*positions : (o+1)*positions]
		for p, v := range row {
			row[p] = gelu(v+b[o], series)
		}
	})
	return y
}

// linear is x·Wᵀ + b for ctx rows; without a name for the bias there is none.
func (r *run) linear(x []float64, name string, ins, outs int, bias bool) []float64 {
	var b []float64
	if bias {
		b = r.tensor(name+".bias", outs)
	}
	if r.err != nil || x == nil {
		return nil
	}
	y := make([]float64, r.dims.AudioCtx*outs)
	r.blocks(name+".weight", []int{outs, ins}, func(first, count int, w []float32) {
		r.multiply(y[first:], outs, view(x, r.dims.AudioCtx, ins), pack(r, view(w, count, ins).transposed()))
	})
	if r.err != nil {
		return nil
	}
	if bias {
		r.parallel(r.dims.AudioCtx, func(i int) { plus(y[i*outs:(i+1)*outs], b) })
	}
	r.inner(name, y)
	return y
}

func (r *run) attention(x []float64, block string) {
	ctx, d := r.dims.AudioCtx, r.dims.AudioState
	heads := r.dims.AudioHead
	size := d / heads
	y := r.norm(x, block+"attn_ln")
	q := r.linear(y, block+"attn.query", d, d, true)
	k := r.linear(y, block+"attn.key", d, d, false)
	v := r.linear(y, block+"attn.value", d, d, true)
	if r.err != nil {
		return
	}
	joined := make([]float64, ctx*d)
	scores := make([]float64, ctx*ctx)
	for head := range heads {
		at := head * size
		r.multiply(scores, ctx, view(q, ctx, d).part(at, size), pack(r, view(k, ctx, d).part(at, size).transposed()))
		r.parallel(ctx, func(i int) { softmax(scores[i*ctx:(i+1)*ctx], 1/math.Sqrt(float64(size))) })
		r.multiply(joined[at:], d, view(scores, ctx, ctx), pack(r, view(v, ctx, d).part(at, size)))
		if r.err != nil {
			return
		}
	}
	r.inner(block+"attn.context", joined)
	plus(x, r.linear(joined, block+"attn.out", d, d, true))
}

func (r *run) mlp(x []float64, block string) {
	ctx, d := r.dims.AudioCtx, r.dims.AudioState
	y := r.linear(r.norm(x, block+"mlp_ln"), block+"mlp.0", d, 4*d, true)
	if r.err != nil {
		return
	}
	series := erfSeries()
	r.parallel(ctx, func(i int) {
		row := y[i*4*d : (i+1)*4*d]
		for j, v := range row {
			row[j] = gelu(v, series)
		}
	})
	r.inner(block+"mlp.gelu", y)
	plus(x, r.linear(y, block+"mlp.2", 4*d, d, true))
}

func (r *run) norm(x []float64, name string) []float64 {
	d := r.dims.AudioState
	w, b := r.tensor(name+".weight", d), r.tensor(name+".bias", d)
	if r.err != nil {
		return nil
	}
	out := make([]float64, len(x))
	r.parallel(len(x)/d, func(i int) {
		at := i * d
		row := x[at : at+d]
		var mean, variance float64
		for _, v := range row {
			mean += v
		}
		mean /= float64(d)
		for _, v := range row {
			variance += float64((v - mean) * (v - mean))
		}
		deviation := math.Sqrt(variance/float64(d) + normEpsilon)
		for i, v := range row {
			out[at+i] = float64((v-mean)/deviation*w[i]) + b[i]
		}
	})
	r.inner(name, out)
	return out
}
