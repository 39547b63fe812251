package artifact

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

// rows gives what tensors does by rows. A tensor in one piece is read so. Others, those in pieces of one head and the biases
// that others went into, are read whole, of which one is kept.
func (p *pairing) rows() reference.Rows {
	var kept string
	var whole []float32
	return func(name string, shape []int, first, count int) ([]float32, error) {
		columns := int64(1)
		for _, d := range shape[1:] {
			columns *= int64(d)
		}
		t, ok := p.model.Tensor("encoder." + name)
		if ok && t.Elements() == columns*int64(shape[0]) {
			if v, err := p.stretch(t, int64(first)*columns, int64(count)*columns); v != nil || err != nil {
				return v, err
			}
		}
		if kept != name {
			kept, whole = "", nil // not two at once
			v, err := p.tensors(name, shape)
			if err != nil {
				return nil, err
			}
			kept, whole = name, v
		}
		return whole[int64(first)*columns:][:int64(count)*columns], nil
	}
}

// stretch gives n of a tensor's values from one on, nil where they do not lie so that they can be read alone.
func (p *pairing) stretch(t ggml.Tensor, first, n int64) ([]float32, error) {
	ms := p.found[t.Name]
	switch {
	case len(ms) == 0 || len(ms) == 1 && p.untouched(t, ms[0]):
		return p.model.Part(t, first, n)
	case len(ms) > 1 || ms[0].count != 1 || ms[0].form.shift != nil:
		return nil, nil
	}
	return p.restored(t, ms[0], first, n)
}

// restored gives n of a match's values from one on as the tensor has them: without the factors that they were stored with. Where
// a gain is zero, nothing tells the value, and the .bin's is taken.
func (p *pairing) restored(t ggml.Tensor, m match, first, n int64) ([]float32, error) {
	values, err := p.elements(m.view, first, n, &room{})
	if err != nil {
		return nil, err
	}
	var own []float32
	for i := range values {
		values[i] /= m.form.scale
		if m.form.gain == nil {
			continue
		}
		if g := m.form.gain(first + int64(i)); g != 0 {
			values[i] /= g
			continue
		}
		if own == nil {
			if own, err = p.model.Part(t, first, n); err != nil {
				return nil, err
			}
		}
		values[i] = own[i]
	}
	return values, nil
}
