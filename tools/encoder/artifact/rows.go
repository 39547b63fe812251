package artifact

import (
	"fmt"
	"io"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

// rows gives what tensors does by rows. What is stored row by row is read so. Other forms need the tensor whole, of
// which one is kept.
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
	case len(ms) > 1 || ms[0].count != 1 || ms[0].view.w.op != nil || ms[0].view.col != 1 || !ms[0].form.plain():
		return nil, nil
	}
	v := ms[0].view
	typ, data, err := p.stored(v.w)
	if err != nil {
		return nil, err
	}
	info, _ := typ.Info()
	raw := make([]byte, n*info.BlockBytes)
	for i := first; i < first+n; {
		run := min(first+n-i, v.cols-i%v.cols)
		b := raw[(i-first)*info.BlockBytes:][:run*info.BlockBytes]
		if got, err := data.ReadAt(b, v.index(i)*info.BlockBytes); got < len(b) {
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("read weight %s: %w", v.w.name, err)
		}
		i += run
	}
	values := make([]float32, n)
	if err := ggml.Decode(typ, values, raw); err != nil {
		return nil, err
	}
	for i := range values {
		values[i] /= ms[0].form.scale
	}
	return values, nil
}
