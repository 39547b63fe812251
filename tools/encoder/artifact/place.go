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
	t, err := dataflow.Run(ctx, main, e.art, p.model.Hyperparameters, p.tensors)
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

// tensors gives the encoder's own values of the model's tensors, so that how they are stored is no difference, and the
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
	if m.count == 1 && m.view.whole && m.view.w.op == nil && m.form.plain() && m.form.scale == 1 && floatTypes[m.view.w.typ] == t.Type &&
		!slices.ContainsFunc(p.Differing, func(d Difference) bool { return d.Tensor == t.Name }) {
		return nil // they are the same
	}
	x, err := p.whole(m.view.w)
	if err != nil {
		return err
	}
	shift := m.form.shift
	if shift != nil {
		// With the encoder's own values.
		if shift, _, err = through(m.form.by, p.own); err != nil {
			return err
		}
	}
	for i := range m.view.n {
		v := x.value(m.view.index(i)) / m.form.scale
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
	return nil
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

// misplaced says which tensors the program reads where it departs from the model, and with which code.
func (e *encoder) misplaced(ctx context.Context, p *pairing, f *flow, main *mil.Function) {
	expected := p.of(f.wrong.Name)
	read, line := p.readAfter(main, f.before, len(expected))
	at := e.art.ModelFile
	if line > 0 {
		at = fmt.Sprintf("%s, line %d", at, line)
	}
	missing := without(expected, read)
	foreign := without(read, expected)
	what := f.describe()
	switch {
	case len(missing) > 0 && len(foreign) > 0:
		code := reason.PairingPlace
		if sameParts(missing, foreign) {
			code = reason.PairingOrder
		}
		e.fault(code, at, few(missing)+" in "+what, few(foreign))
	case len(foreign) > 0:
		e.fault(reason.PairingPlace, at, "only "+few(expected)+" in "+what, "also "+few(foreign))
	case len(missing) > 0:
		e.fault(reason.PairingPlace, at, few(missing)+" in "+what, "an operation that does not read it")
	default:
		found := "they are read, and connected otherwise"
		if a, b := p.exchanged(ctx, f, expected, main, e.art); a != "" {
			found = fmt.Sprintf("%s and %s exchanged", a, b)
		}
		e.fault(reason.PairingPlace, at, few(expected)+", each in its own place in "+what, fmt.Sprintf("%s (%.1f dB)", found, max(f.wrong.SNR, -400)))
	}
}

// describe names the part of the encoder that ends at the wrong step.
func (f *flow) describe() string {
	name := f.wrong.Name
	switch parts := strings.Split(name, "."); {
	case name == "embedded":
		return "the convolutions and positions"
	case name == "output":
		return "the last norm"
	case len(parts) == 3 && parts[2] == "attn":
		return "layer " + parts[1] + "'s attention"
	case len(parts) == 3:
		return "layer " + parts[1] + "'s MLP"
	}
	return name
}

// of lists the tensors that a step of the residual stream is computed with.
func (p *pairing) of(step string) []string {
	prefixes := []string{"encoder.conv", "encoder.positional"}
	parts := strings.Split(step, ".")
	switch {
	case step == "output":
		prefixes = []string{"encoder.ln_post"}
	case len(parts) == 3:
		prefixes = []string{fmt.Sprintf("encoder.blocks.%s.%s", parts[1], parts[2])}
	}
	var list []string
	for _, t := range p.model.Tensors {
		if slices.ContainsFunc(prefixes, func(x string) bool { return strings.HasPrefix(t.Name, x) }) {
			list = append(list, t.Name)
		}
	}
	return list
}

// readAfter lists the tensors that the program reads after a step, as many as are expected next, and the line of the
// first operation that reads one.
func (p *pairing) readAfter(main *mil.Function, before *dataflow.Step, count int) (names []string, line int) {
	holds := map[string][]string{} // by the weight's name, the tensors that were found in it
	for tensor, ms := range p.found {
		for _, m := range ms {
			if list := holds[m.view.w.name]; !slices.Contains(list, tensor) {
				holds[m.view.w.name] = append(list, tensor)
			}
		}
	}
	for _, views := range p.views {
		for _, v := range views {
			if len(holds[v.w.name]) == 0 && !v.w.zero {
				holds[v.w.name] = []string{"the constant " + v.w.name + ", which is none of the .bin's"}
			}
		}
	}
	after := 0
	if before != nil {
		after = before.Line
	}
	live := dataflow.Live(main)
	for _, op := range main.Body.Ops {
		if !live[op] || op.Line <= after || isConstant(op) {
			continue
		}
		for _, a := range op.Inputs {
			for _, b := range a.Bindings {
				list := slices.Sorted(slices.Values(holds[b.Name]))
				if len(list) == 0 {
					continue
				}
				if len(names) >= count {
					return names, line
				}
				if line == 0 {
					line = op.Line
				}
				names = append(names, list...)
			}
		}
	}
	return names, line
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// sameParts reports whether two lists name the same parts of two whole layers.
func sameParts(a, b []string) bool {
	part := func(list []string) (layers, parts []string) {
		for _, s := range list {
			rest, ok := strings.CutPrefix(s, "encoder.blocks.")
			layer, name, _ := strings.Cut(rest, ".")
			if !ok {
				return nil, []string{s}
			}
			layers, parts = append(layers, layer), append(parts, name)
		}
		slices.Sort(layers)
		slices.Sort(parts)
		return slices.Compact(layers), parts
	}
	la, pa := part(a)
	lb, pb := part(b)
	return len(la) == 1 && len(lb) == 1 && len(pa) > 4 && slices.Equal(pa, pb)
}

// few names the first of a list.
func few(names []string) string {
	s := strings.Join(names[:min(len(names), 3)], ", ")
	if n := len(names) - 3; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// exchanged looks for two tensors of a part that the program computes exchanged: with them so, the definition gives
// what the program does.
func (p *pairing) exchanged(ctx context.Context, f *flow, names []string, main *mil.Function, w mil.Weights) (string, string) {
	if p.model.Hyperparameters.AudioState > maxGuessed {
		return "", ""
	}
	for i, a := range names {
		for _, b := range names[i+1:] {
			x, _ := p.model.Tensor(a)
			y, _ := p.model.Tensor(b)
			if !slices.Equal(squeeze(x.Shape()), squeeze(y.Shape())) {
				continue
			}
			for _, with := range []bool{false, true} {
				t, err := dataflow.Run(ctx, main, w, p.model.Hyperparameters, p.swapped(a, b, with))
				if err != nil {
					return "", ""
				}
				if s := t.Step(f.wrong.Name); s != nil && s.SNR >= f.limit {
					return a, b
				}
			}
		}
	}
	return "", ""
}

// maxGuessed is the width up to which guesses take no noticeable time.
const maxGuessed = 512

// swapped gives the encoder's tensors with two exchanged, and on demand the biases of projections with them.
func (p *pairing) swapped(a, b string, biases bool) func(string, []int) ([]float32, error) {
	other := map[string]string{a: b, b: a}
	stem := func(s string) string { return strings.TrimSuffix(s, ".weight") + ".bias" }
	if biases && strings.Contains(a, ".attn.") && strings.HasSuffix(a, ".weight") && !strings.Contains(a+b, ".out.") {
		other[stem(a)], other[stem(b)] = stem(b), stem(a)
	}
	return func(name string, shape []int) ([]float32, error) {
		from, ok := other["encoder."+name]
		if !ok {
			return p.tensors(name, shape)
		}
		if _, has := p.model.Tensor(from); !has { // a key has no bias
			n := 1
			for _, d := range shape {
				n *= d
			}
			return make([]float32, n), nil
		}
		return p.tensors(strings.TrimPrefix(from, "encoder."), shape)
	}
}
