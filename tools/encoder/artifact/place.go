package artifact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
)

// Place is an operation of the program that computes what one operation of the model's encoder does.
type Place struct {
	// Role is the model's name of the operation, without "encoder.": blocks.0.attn.query, conv1, …
	Role string `json:"role"`
	// Op, Value and Line are the program's.
	Op    string `json:"op"`
	Value string `json:"value"`
	Line  int    `json:"line"`
	// SNR says how well the two agree, in dB, computed in float32 with the encoder's own weights.
	SNR float64 `json:"snr_db"`
}

// Limits for the agreement of program and model, in dB. Evaluated in float32 with equal weights, real encoders of every
// form agree to more than 110.
const (
	agrees = 90
	// Where tensors are stored in no form that is known, the .bin's own stand in for them, and the rounding of the
	// encoder's is in the comparison.
	agreesRewritten = 65
)

// flow is what was found about the places of tensors.
type flow struct {
	trace *dataflow.Trace
	// wrong is the first step that the program does not compute, and before the last one that it does.
	wrong, before *dataflow.Step
	limit         float64
}

// place follows the data through the program. It adds to the pairing what the places tell; a nil flow means that the
// program could not be followed, which is then a finding.
func (e *encoder) place(ctx context.Context, p *pairing, main *mil.Function) (*flow, error) {
	t, err := dataflow.RunRows(ctx, main, e.art, p.model.Hyperparameters, p.tensors, p.rows())
	var u *eval.Unsupported
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &u):
		for i, o := range u.Obstacles {
			if i == maxObstacles {
				e.fault(reason.PlaceUnknown, e.art.ModelFile, "operations that can be followed", fmt.Sprintf("%d more obstacles", len(u.Obstacles)-i))
				break
			}
			e.fault(reason.PlaceUnknown, p.at(e.art.ModelFile, main, o.Line), "operations that can be followed (coregate mil ops)", o.String())
		}
		return nil, nil
	case err != nil:
		e.fault(reason.PlaceUnknown, e.art.ModelFile, "a program that can be followed", err.Error())
		return nil, nil
	}
	f := &flow{trace: t, limit: agrees}
	f.judge(p)
	for _, s := range t.Steps {
		role := strings.HasPrefix(s.Name, "conv") || s.Name == "embedded" || s.Inner && !strings.HasSuffix(s.Name, ".context") && !strings.HasSuffix(s.Name, ".gelu")
		if role && s.SNR >= f.limit {
			name := map[bool]string{true: "positional_embedding", false: s.Name}[s.Name == "embedded"]
			p.Places = append(p.Places, Place{Role: name, Op: s.Op, Value: s.Value, Line: s.Line, SNR: math.Round(s.SNR*10) / 10})
		}
	}
	return f, nil
}

// at names a line of the program and the layer that it is in: that of the last tensor that was read before.
func (p *pairing) at(file string, main *mil.Function, line int) string {
	if line <= 0 {
		return file
	}
	layers := map[string]string{}
	for tensor, ms := range p.found {
		rest, ok := strings.CutPrefix(tensor, "encoder.blocks.")
		layer, _, _ := strings.Cut(rest, ".")
		for _, m := range ms {
			layers[m.view.w.name] = "outside the layers"
			if ok {
				layers[m.view.w.name] = "layer " + layer
			}
		}
	}
	where := ""
	for _, op := range main.Body.Ops {
		if op.Line > line {
			break
		}
		for _, a := range op.Inputs {
			for _, b := range a.Bindings {
				if l := layers[b.Name]; l != "" {
					where = ", " + l
				}
			}
		}
	}
	return fmt.Sprintf("%s, line %d%s", file, line, where)
}

// maxObstacles bounds the operations that are named.
const maxObstacles = 10

// judge finds the first step of the residual stream that the program does not compute.
func (f *flow) judge(p *pairing) {
	if len(p.Absent) > 0 {
		f.limit = agreesRewritten
	}
	// A program may carry its residual stream in another form, such as scaled: then the output alone decides.
	out := f.trace.Step("output")
	for i := range f.trace.Steps {
		s := &f.trace.Steps[i]
		if s.Inner || strings.HasPrefix(s.Name, "conv") {
			continue
		}
		if s.SNR < f.limit && !(out.SNR >= f.limit && s.SNR < elsewhere) {
			f.wrong = s
			return
		}
		f.before = s
	}
}

// elsewhere is the SNR below which a step is nothing that the program computes, rather than a step that went wrong.
const elsewhere = 10

// tensors gives the encoder's own values of the model's tensors, so that how they are stored is not a difference, and the
// .bin's where the encoder holds none.
func (p *pairing) tensors(name string, shape []int) ([]float32, error) {
	t, ok := p.model.Tensor("encoder." + name)
	if !ok {
		return nil, fmt.Errorf("tensor encoder.%s is missing", name)
	}
	n := int64(1)
	for _, d := range shape {
		n *= int64(d)
	}
	if n > t.Elements() {
		return nil, fmt.Errorf("tensor encoder.%s: expected at least %d values, found %d", name, n, t.Elements())
	}
	values, err := p.model.Float32s(t)
	if err != nil {
		return nil, err
	}
	for _, m := range p.found[t.Name] {
		if err := p.take(values, t, m); err != nil {
			return nil, err
		}
	}
	return values[:n], nil
}

// take puts the values of one match into those of its tensor.
func (p *pairing) take(values []float32, t ggml.Tensor, m match) error {
	if p.untouched(t, m) {
		return nil
	}
	if m.form.shift == nil && m.count == 1 {
		v, err := p.restored(t, m, 0, m.view.n)
		copy(values, v)
		return err
	}
	x := p.window(m.view)
	shift := m.form.shift
	if shift != nil {
		// With the encoder's own values.
		var err error
		if shift, _, err = p.through(m.form.by, p.own, p.rows()); err != nil {
			return err
		}
	}
	for i := range m.view.n {
		v, _ := x.at(i)
		v /= m.form.scale
		if shift != nil {
			v -= shift[i]
		}
		if m.form.gain != nil {
			g := m.form.gain(i)
			if g == 0 {
				continue
			}
			v /= g
		}
		values[m.position(i)] = v
	}
	return x.err
}

// untouched says that a match has the tensor's values just as the .bin has them.
func (p *pairing) untouched(t ggml.Tensor, m match) bool {
	return m.count == 1 && m.view.whole && m.view.w.op == nil && m.form.plain() && m.form.scale == 1 && floatTypes[m.view.w.typ] == t.Type &&
		!slices.ContainsFunc(p.Differing, func(d Difference) bool { return d.Tensor == t.Name })
}

// position is where element i of a match's piece stands in the whole tensor.
func (m *match) position(i int64) int64 {
	if !m.columns {
		return m.at*m.view.n + i
	}
	cols := m.target.shape[1]
	return i/cols*cols*m.count + m.at*cols + i%cols
}

// own gives a tensor whole.
func (p *pairing) own(name string) ([]float32, error) {
	t, ok := p.model.Tensor("encoder." + name)
	if !ok {
		return nil, fmt.Errorf("tensor encoder.%s is missing", name)
	}
	return p.tensors(name, []int{int(t.Elements())})
}
