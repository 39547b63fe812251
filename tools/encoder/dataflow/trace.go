package dataflow

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

// Step is a step of the encoder's definition and the program's value that agrees with it best.
type Step struct {
	// Name is the reference's: "embedded", "layer.0.attn", "output", or, of an inner step, the name of the
	// operation whose tensors are used there: "blocks.0.attn.query".
	Name string
	// Inner is set for the steps between those of the residual stream.
	Inner bool
	// SNR is the ratio of signal to noise in dB; -Inf where the program has no value of that size. For steps of the
	// residual stream it is the lower of the value's own and of its difference from the step before: a few large
	// channels run through the stream, and what one layer adds to the others is small beside them.
	SNR float64
	// Op, Value and Line name the program's operation and the value that it makes.
	Op, Value string
	Line      int

	rows, columns int
	// every says that want has each such row; 1 for all.
	every     int
	want, got []float32
}

// Trace is what a program computes, step by step of the definition, in its order.
type Trace struct {
	Steps []Step
	// Positions is how many positions were evaluated.
	Positions int

	seen []float32 // the program's value that is compared
}

// Step finds a step by name, nil for none.
func (t *Trace) Step(name string) *Step {
	for i := range t.Steps {
		if t.Steps[i].Name == name {
			return &t.Steps[i]
		}
	}
	return nil
}

// Run evaluates a function and the definition, and matches their values. tensors gives the tensors of the definition,
// without the prefix "encoder."; its errors end the run. A program that cannot be evaluated gives an
// *eval.Unsupported, or ErrControlFlow.
func Run(ctx context.Context, f *mil.Function, w mil.Weights, h ggml.Hyperparameters, tensors reference.Tensors) (*Trace, error) {
	return RunRows(ctx, f, w, h, tensors, nil)
}

// RunRows is Run with the definition's matrices given by rows, unless rows is nil, so that none is in memory whole. Of
// the program's large constants one operation's are in memory at a time.
func RunRows(ctx context.Context, f *mil.Function, w mil.Weights, h ggml.Hyperparameters, tensors reference.Tensors, rows reference.Rows) (*Trace, error) {
	if err := choice(f); err != nil {
		return nil, err
	}
	by := divisor(h)
	t, err := run(ctx, f, w, h, tensors, rows, by)
	if err != nil && by > 1 && ctx.Err() == nil {
		// Not every extent that the divisor divides counted positions.
		if whole, err := run(ctx, f, w, h, tensors, rows, 1); err == nil {
			return whole, nil
		}
	}
	return t, err
}

func run(ctx context.Context, f *mil.Function, w mil.Weights, h ggml.Hyperparameters, tensors reference.Tensors, rows reference.Rows, by int64) (*Trace, error) {
	r := newReducer(f, w, h, by)
	p, err := r.function(f)
	if err != nil {
		return nil, err
	}
	plan, err := eval.Compile(p, f.Name, r, eval.Options{KeepAll: true, Late: r})
	if err != nil {
		return nil, err
	}
	if len(plan.Inputs) != 1 {
		return nil, fmt.Errorf("expected one input, found %d", len(plan.Inputs))
	}
	h.AudioCtx /= int(by)
	mel := noise(h.Mels * h.MelFrames())
	t := &Trace{Positions: h.AudioCtx}
	if err := t.reference(ctx, h, tensors, rows, mel); err != nil {
		return nil, err
	}
	in := plan.Inputs[0]
	data := make([]byte, 0, 4*len(mel))
	for _, v := range mel {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	given := map[string]mil.Tensor{in.Name: {DType: in.DType, Shape: in.Shape, Data: data}}
	see := func(s eval.Traced) {
		if of, ok := r.joined[s.Name]; ok {
			s.Op = of
		}
		if !r.bands[s.Name] {
			t.see(s)
		}
	}
	if _, err := plan.Trace(ctx, given, see); err != nil {
		return nil, err
	}
	t.increments()
	return t, nil
}

// noise is a mel of n values as a log-mel has them: from −1 to 1.5, neither smooth nor periodic.
func noise(n int) []float32 {
	out := make([]float32, n)
	state := uint64(0x9E3779B97F4A7C15)
	for i := range out {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		out[i] = float32(state>>40)/(1<<24)*2.5 - 1
	}
	return out
}

func (t *Trace) reference(ctx context.Context, h ggml.Hyperparameters, tensors reference.Tensors, rows reference.Rows, mel []float32) error {
	e, err := reference.Of(h, tensors)
	if err != nil {
		return err
	}
	note := func(inner bool) reference.Observe {
		return func(name string, rows, columns int, v []float64) {
			s := Step{Name: name, Inner: inner, SNR: math.Inf(-1), rows: rows, columns: columns, every: 1}
			if inner {
				s.every = sparse(h)
			}
			s.want = make([]float32, 0, (rows+s.every-1)/s.every*columns)
			for at := 0; at < len(v); at += s.every * columns {
				for _, x := range v[at : at+columns] {
					s.want = append(s.want, float32(x))
				}
			}
			t.Steps = append(t.Steps, s)
		}
	}
	e.Rows = rows
	e.Observe, e.Inner = note(false), note(true)
	_, err = e.Encode(ctx, mel)
	return err
}

// innerValues is how many values of inner steps are kept for comparisons.
const innerValues = 3 << 19

// sparse says of which positions inner steps are compared: of every one up to whisper's small, of each fifth in its largest.
// They tell where an operation is, and each has all its channels at a position; that the program computes the model is told
// by the residual stream, which is compared at every position.
func sparse(h ggml.Hyperparameters) int {
	const norms, projections, mlp = 2, 6, 8 // of a layer, in values of the width
	position := h.AudioLayer * h.AudioState * (norms + projections + mlp)
	return max(1, (h.AudioCtx*position+innerValues-1)/innerValues)
}

// see compares a value of the program with every step.
func (t *Trace) see(s eval.Traced) {
	if s.DType != mil.Float32 || !slices.ContainsFunc(t.Steps, func(x Step) bool { return 4*x.rows*x.columns == len(s.Data) }) {
		return
	}
	v := slices.Grow(t.seen[:0], len(s.Data)/4)[:len(s.Data)/4]
	t.seen = v
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(s.Data[4*i:]))
	}
	for i := range t.Steps {
		t.Steps[i].consider(s, v)
	}
}

// consider compares a value with the step, as it lies and transposed.
func (s *Step) consider(from eval.Traced, v []float32) {
	if len(v) != s.rows*s.columns {
		return
	}
	free := strings.HasSuffix(s.Name, "attn.query") || strings.HasSuffix(s.Name, "attn.key")
	step := max(1, len(s.want)/256)
	for _, crossed := range []bool{false, true} {
		snr := s.compare(v, crossed, free, step)
		if snr < 3 || snr < s.SNR-20 {
			continue
		}
		if step > 1 {
			snr = s.compare(v, crossed, free, 1)
		}
		if snr > s.SNR {
			s.SNR, s.Op, s.Value, s.Line = snr, from.Op, from.Name, from.Line
			if s.Inner {
				continue // nothing is asked of its increments
			}
			if crossed {
				s.got = turned(v, s.rows, s.columns)
			} else {
				s.got = append(s.got[:0], v...)
			}
		}
	}
}

// turned gives rows by columns from columns by rows.
func turned(v []float32, rows, columns int) []float32 {
	out := make([]float32, len(v))
	for i := range out {
		out[i] = v[i%columns*rows+i/columns]
	}
	return out
}

// exact is the SNR of equal values.
const exact = 400

// compare is the SNR over every step-th value. A free value may differ by a factor: the scale of attention's products
// stands anywhere between queries, keys and scores.
func (s *Step) compare(v []float32, crossed, free bool, step int) float64 {
	var rr, rc, cc float64
	want := s.want
	if crossed || s.every > 1 {
		// Row by row, as want lies.
		for i, row, column := 0, 0, 0; i < len(want); i += step {
			at := row*s.every*s.columns + column
			if crossed {
				at = column*s.rows + row*s.every
			}
			r, c := float64(want[i]), float64(v[at])
			rr += r * r
			rc += r * c
			cc += c * c
			for column += step; column >= s.columns; column -= s.columns {
				row++
			}
		}
	} else {
		// Two sums of each, since an addition waits for the one before.
		var rr2, rc2, cc2 float64
		i := 0
		for ; i+step < len(want); i += 2 * step {
			r, c := float64(want[i]), float64(v[i])
			rr += r * r
			rc += r * c
			cc += c * c
			r, c = float64(want[i+step]), float64(v[i+step])
			rr2 += r * r
			rc2 += r * c
			cc2 += c * c
		}
		if i < len(want) {
			r, c := float64(want[i]), float64(v[i])
			rr += r * r
			rc += r * c
			cc += c * c
		}
		rr, rc, cc = rr+rr2, rc+rc2, cc+cc2
	}
	noise := cc - 2*rc + rr
	if free && rc != 0 {
		noise = rr - rc*rc/cc
	}
	return decibels(rr, noise)
}

func decibels(signal, noise float64) float64 {
	switch {
	case noise != noise || signal != signal:
		return math.Inf(-1)
	case noise <= signal*1e-14:
		return exact
	case signal == 0:
		return math.Inf(-1)
	}
	return 10 * math.Log10(signal/noise)
}

// increments lowers the SNR of each step of the residual stream to that of what it adds.
func (t *Trace) increments() {
	var before *Step
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Inner || !strings.HasPrefix(s.Name, "layer.") && s.Name != "embedded" {
			continue
		}
		if before != nil && before.got != nil && s.got != nil {
			var signal, noise float64
			for k := range s.want {
				r := float64(s.want[k]) - float64(before.want[k])
				c := float64(s.got[k]) - float64(before.got[k])
				signal += r * r
				noise += (c - r) * (c - r)
			}
			s.SNR = min(s.SNR, decibels(signal, noise))
		}
		before = s
	}
}
