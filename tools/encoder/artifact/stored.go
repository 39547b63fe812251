package artifact

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// stored gives the type and the bytes of a weight, those of a compressed one decompressed. The last of these is kept.
func (p *pairing) stored(w *weight) (ggml.Type, io.ReaderAt, error) {
	typ, ok := floatTypes[w.typ]
	if !ok {
		return 0, nil, fmt.Errorf("type %s: %w", w.typ, errUnsupported)
	}
	if w.op != nil {
		if p.last != w {
			p.last, p.lastData = nil, nil // not two at once
			t, err := p.d.values(w.op)
			if err != nil {
				return 0, nil, err
			}
			p.last, p.lastData = w, t.Data
		}
		return typ, bytes.NewReader(p.lastData), nil
	}
	if s, ok := p.d.weights.(mil.Sections); ok && w.value != nil && w.value.Blob != nil {
		d, data, err := s.Section(*w.value.Blob)
		if err != nil {
			return 0, nil, err
		}
		if size, err := blobSize(w.value); err != nil || d != w.typ || size != data.Size() {
			return 0, nil, fmt.Errorf("%d bytes of %s for %s", data.Size(), d, w.value.Type)
		}
		return typ, data, nil
	}
	t, err := mil.Resolve(w.value, p.d.weights)
	if err != nil {
		return 0, nil, err
	}
	return typ, bytes.NewReader(t.Data), nil
}

// elements reads n of a view's values from one on: piece by piece of its rows, or, where it is transposed, of its columns.
func (p *pairing) elements(v *view, first, n int64, r *room) ([]float32, error) {
	typ, data, err := p.stored(v.w)
	if err != nil {
		return nil, err
	}
	info, _ := typ.Info()
	values := take(&r.values, n)
	if v.col == 1 {
		for i := first; i < first+n; {
			run := min(first+n-i, v.cols-i%v.cols)
			if err := readRun(values[i-first:][:run], typ, data, v, i, info.BlockBytes, r); err != nil {
				return nil, err
			}
			i += run
		}
		return values, nil
	}
	// Element i is in row i/cols; the values of one column lie one after the other.
	column := make([]float32, n/v.cols+2)
	for c := range v.cols {
		from, to := (first-c+v.cols-1)/v.cols, (first+n-1-c)/v.cols // rows
		if first <= c {
			from = 0
		}
		if first+n-1 < c || from > to {
			continue
		}
		got := column[:to-from+1]
		if err := readRun(got, typ, data, v, from*v.cols+c, info.BlockBytes, r); err != nil {
			return nil, err
		}
		for r := from; r <= to; r++ {
			values[r*v.cols+c-first] = got[r-from]
		}
	}
	return values, nil
}

// readRun reads values that lie one after the other, from the view's element i on.
func readRun(values []float32, typ ggml.Type, data io.ReaderAt, v *view, i, size int64, r *room) error {
	raw := take(&r.raw, int64(len(values))*size)
	if got, err := data.ReadAt(raw, v.index(i)*size); got < len(raw) {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("read weight %s: %w", v.w.name, err)
	}
	return ggml.Decode(typ, values, raw)
}

// pick is a value of a weight that goes somewhere.
type pick struct {
	at   int64
	into *float32
}

// look reads a weight piece by piece: the samples that were picked, whether it is zero, and the outermost values of the views
// of a compressed one. What cannot be decoded is noted, once.
func (p *pairing) look(w *weight, picks []pick, views []*view) error {
	typ, data, err := p.stored(w)
	if isUnsupported(err) {
		if note := w.name + ": " + err.Error(); !slices.Contains(p.unreadable, note) {
			p.unreadable = append(p.unreadable, note)
		}
		for key, list := range p.views {
			p.views[key] = slices.DeleteFunc(list, func(v *view) bool { return v.w == w })
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("weight %s: %w", w.name, err)
	}
	info, _ := typ.Info()
	slices.SortFunc(picks, func(a, b pick) int { return int(min(max(a.at-b.at, -1), 1)) })
	raw := make([]byte, min(lookBytes, w.elements()*info.BlockBytes))
	step := int64(len(raw)) / info.BlockBytes
	w.zero = true
	for first := int64(0); first < w.elements() && (w.zero || len(picks) > 0); first += step {
		n := min(step, w.elements()-first)
		if !w.zero && picks[0].at >= first+n {
			continue
		}
		b := raw[:n*info.BlockBytes]
		if got, err := data.ReadAt(b, first*info.BlockBytes); got < len(b) {
			return fmt.Errorf("read weight %s: %w", w.name, err)
		}
		w.zero = w.zero && !slices.ContainsFunc(b, func(x byte) bool { return x != 0 })
		for ; len(picks) > 0 && picks[0].at < first+n; picks = picks[1:] {
			var one [1]float32
			if err := ggml.Decode(typ, one[:], b[(picks[0].at-first)*info.BlockBytes:][:info.BlockBytes]); err != nil {
				return err
			}
			*picks[0].into = one[0]
		}
	}
	if w.op == nil {
		return nil
	}
	for _, v := range views {
		x := p.window(v)
		v.low, _ = x.at(0)
		v.high = v.low
		for i := range v.n {
			value, _ := x.at(i)
			v.low, v.high = min(v.low, value), max(v.high, value)
		}
		if x.err != nil {
			return x.err
		}
	}
	return nil
}

// lookBytes is how much of a weight is read at a time for its samples.
const lookBytes = 1 << 16

// window gives the values of a view of a weight, in the view's order.
func (p *pairing) window(v *view) *windows {
	return &windows{n: v.n, size: windowValues, load: func(first, n int64, r *room) ([]float32, []float32, error) {
		values, err := p.elements(v, first, n, r)
		return values, nil, err
	}}
}
