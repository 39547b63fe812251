package dataflow

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// constant is a large constant of the program: a value, or an operation that decompresses one.
type constant struct {
	typ   *mil.Type
	value *mil.Value
	op    *mil.Op
	// band is set for a part of another constant, which then has a value or an operation.
	band *band
}

// latePath stands for a weight file in the reduced program; the offset is the index of the constant.
const latePath = "@late"

// largeValues is the number of values from which a constant is read late.
const largeValues = 1 << 14

// pieceBytes is how much of a weight file is read at a time.
const pieceBytes = 1 << 16

// large says which constants are read late: those of many values, all of which the reduced program has.
func (r *reducer) large(t *mil.Type) bool {
	n, err := t.Elements()
	return err == nil && n >= largeValues && t.DType.IsFloat() && r.typ(t).DType == mil.Float32 && slices.Equal(r.typ(t).Shape, t.Shape)
}

// postpone gives a value that is read late.
func (r *reducer) postpone(c constant) (*mil.Value, error) {
	if c.value != nil && c.value.Blob != nil {
		if s, ok := r.weights.(mil.Sections); ok {
			if _, err := section(s, c.value); err != nil {
				return nil, err
			}
		}
	}
	r.late = append(r.late, c)
	return mil.BlobValue(r.typ(c.typ), latePath, uint64(len(r.late)-1)), nil
}

func (r *reducer) decompressed(op *mil.Op) (*mil.Value, error) {
	c := constant{typ: op.Outputs[len(op.Outputs)-1].Type, op: op}
	if r.large(c.typ) {
		return r.postpone(c)
	}
	t, err := r.load(c)
	if err != nil {
		return nil, err
	}
	return r.tensor(t)
}

// load gives a constant whole.
func (r *reducer) load(c constant) (mil.Tensor, error) {
	if c.op == nil {
		return r.resolve(c.value)
	}
	t, err := r.constants.Apply(c.op)
	if err != nil {
		return mil.Tensor{}, err
	}
	return t[len(t)-1], nil
}

// section is where a value lies in its weight file.
func section(from mil.Sections, v *mil.Value) (*io.SectionReader, error) {
	n, err := v.Type.Elements()
	if err != nil {
		return nil, err
	}
	want, err := mil.PackedSize(v.Type.DType, n)
	if err != nil {
		return nil, err
	}
	d, s, err := from.Section(*v.Blob)
	switch {
	case err != nil:
		return nil, fmt.Errorf("constant of type %s: %w", v.Type, err)
	case d != v.Type.DType && (v.Type.DType != mil.Bool || d != mil.Uint8), s.Size() != want:
		return nil, fmt.Errorf("constant of type %s: expected %d bytes, the blob at offset %d of %q holds %d of %s", v.Type, want, v.Blob.Offset, v.Blob.Path, s.Size(), d)
	}
	return s, nil
}

// resolve gives the bytes of a value, read rather than mapped where that can be.
func (r *reducer) resolve(v *mil.Value) (mil.Tensor, error) {
	from, ok := r.weights.(mil.Sections)
	if v == nil || v.Blob == nil || !ok {
		return mil.Resolve(v, r.weights)
	}
	s, err := section(from, v)
	if err != nil {
		return mil.Tensor{}, err
	}
	data := make([]byte, s.Size())
	if _, err := io.ReadFull(s, data); err != nil {
		return mil.Tensor{}, fmt.Errorf("read a constant of type %s: %w", v.Type, err)
	}
	return mil.Tensor{DType: v.Type.DType, Shape: v.Type.Shape, Data: data}, nil
}

// Is implements eval.Late.
func (r *reducer) Is(ref mil.BlobRef) bool {
	return ref.Path == latePath && ref.Offset < uint64(len(r.late))
}

// Read implements eval.Late: the constant in float32.
func (r *reducer) Read(ref mil.BlobRef, into []byte) error {
	if !r.Is(ref) {
		return fmt.Errorf("expected a constant that is read late, found %q", ref.Path)
	}
	c := r.late[ref.Offset]
	if c.band != nil {
		return r.readBand(c.band, into)
	}
	if from, ok := r.weights.(mil.Sections); ok && c.op == nil && c.value.Blob != nil {
		s, err := section(from, c.value)
		if err != nil {
			return err
		}
		switch c.typ.DType {
		case mil.Float32:
			_, err = io.ReadFull(s, into)
			return err
		case mil.Float16:
			return widen(into, s)
		}
	}
	t, err := r.load(c)
	if err != nil {
		return err
	}
	return floats(into, t, 0)
}

// widen reads float16 piece by piece.
func widen(into []byte, from io.Reader) error {
	piece := make([]byte, pieceBytes)
	for len(into) > 0 {
		p := piece[:min(len(piece), len(into)/2)]
		if _, err := io.ReadFull(from, p); err != nil {
			return err
		}
		kernel.WidenBytes(into, p)
		into = into[2*len(p):]
	}
	return nil
}

// floats gives a tensor's values from one on in float32.
func floats(into []byte, t mil.Tensor, first int64) error {
	at, err := constexpr.Floats(t)
	if err != nil {
		return err
	}
	for i := range len(into) / 4 {
		binary.LittleEndian.PutUint32(into[4*i:], math.Float32bits(at(first+int64(i))))
	}
	return nil
}

// Blob implements mil.Weights for what is asked of a large constant before the evaluation.
func (r *reducer) Blob(ref mil.BlobRef) (mil.DType, []byte, error) {
	if !r.Is(ref) {
		return 0, nil, fmt.Errorf("expected a constant that is read late, found %q", ref.Path)
	}
	n, err := r.late[ref.Offset].typ.Elements()
	if err != nil {
		return 0, nil, err
	}
	data := make([]byte, 4*n)
	return mil.Float32, data, r.Read(ref, data)
}
