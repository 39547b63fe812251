package artifact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

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
		if e.approximate != "" {
			found = "they are read, and GELU is approximated: " + e.approximate
		} else if a, b := p.exchanged(ctx, f, expected, main, e.art); a != "" {
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
	shapes := append(p.pieces(), p.wholes()...)
	for _, w := range p.weights {
		if len(holds[w.name]) == 0 && !w.zero && slices.ContainsFunc(shapes, func(s []int64) bool { return len(viewsOf(w, s)) > 0 }) {
			holds[w.name] = []string{"the constant " + w.name + ", which is none of the .bin's"}
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
