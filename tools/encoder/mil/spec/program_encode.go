package spec

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// EncodeProgram encodes p as MILSpec.Program. Map entries are sorted by key,
// so equal programs have equal bytes.
func EncodeProgram(p *mil.Program) ([]byte, error) {
	b := appendInt(nil, 1, int64(p.Major))
	fns := slices.SortedFunc(slices.Values(p.Functions), func(a, b *mil.Function) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range fns {
		fb, err := encodeFunction(f)
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", f.Name, err)
		}
		b = appendEntry(b, 2, f.Name, fb)
	}
	b = appendString(b, 3, p.Doc)
	return appendAttrs(b, 4, p.Attrs)
}

func appendAttrs(b []byte, num protowire.Number, attrs []mil.Attr) ([]byte, error) {
	attrs = slices.Clone(attrs)
	sortAttrs(attrs)
	for _, a := range attrs {
		v, err := encodeValue(a.Value)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", a.Name, err)
		}
		b = appendEntry(b, num, a.Name, v)
	}
	return b, nil
}

func encodeFunction(f *mil.Function) ([]byte, error) {
	var b []byte
	for _, p := range f.Params {
		b = appendMessage(b, 1, encodeParam(p))
	}
	b = appendString(b, 2, f.Opset)
	bodies := append([]mil.Specialization{{Opset: f.Opset, Body: f.Body}}, f.Others...)
	slices.SortFunc(bodies, func(a, b mil.Specialization) int { return cmp.Compare(a.Opset, b.Opset) })
	for _, s := range bodies {
		bb, err := encodeBlock(s.Body)
		if err != nil {
			return nil, err
		}
		b = appendEntry(b, 3, s.Opset, bb)
	}
	return appendAttrs(b, 4, f.Attrs)
}

func encodeParam(p mil.Param) []byte {
	return appendMessage(appendString(nil, 1, p.Name), 2, encodeType(p.Type))
}

func encodeBlock(blk *mil.Block) ([]byte, error) {
	if blk == nil {
		return nil, fmt.Errorf("a block is missing")
	}
	var b []byte
	for _, p := range blk.Inputs {
		b = appendMessage(b, 1, encodeParam(p))
	}
	for _, o := range blk.Outputs {
		b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), o)
	}
	for _, op := range blk.Ops {
		ob, err := encodeOp(op)
		if err != nil {
			return nil, fmt.Errorf("operation %s (%d): %w", op.Type, op.Line, err)
		}
		b = appendMessage(b, 3, ob)
	}
	return appendAttrs(b, 4, blk.Attrs)
}

func encodeOp(op *mil.Op) ([]byte, error) {
	b := appendString(nil, 1, op.Type)
	args := slices.SortedFunc(slices.Values(op.Inputs), func(a, b mil.Arg) int { return cmp.Compare(a.Name, b.Name) })
	for _, a := range args {
		var ab []byte
		for _, bind := range a.Bindings {
			if bind.Value == nil {
				name := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), bind.Name)
				ab = appendMessage(ab, 1, name)
				continue
			}
			v, err := encodeValue(bind.Value)
			if err != nil {
				return nil, fmt.Errorf("argument %s: %w", a.Name, err)
			}
			ab = appendMessage(ab, 1, appendMessage(nil, 2, v))
		}
		b = appendEntry(b, 2, a.Name, ab)
	}
	for _, o := range op.Outputs {
		b = appendMessage(b, 3, encodeParam(o))
	}
	for _, blk := range op.Blocks {
		bb, err := encodeBlock(blk)
		if err != nil {
			return nil, err
		}
		b = appendMessage(b, 4, bb)
	}
	return appendAttrs(b, 5, op.Attrs)
}

func encodeType(t *mil.Type) []byte {
	switch t.Kind {
	case mil.ListKind:
		b := appendMessage(nil, 1, encodeType(t.Elem))
		return appendMessage(nil, 2, appendMessage(b, 2, encodeDim(t.Length)))
	case mil.TupleKind:
		var b []byte
		for _, it := range t.Items {
			b = appendMessage(b, 1, encodeType(it))
		}
		return appendMessage(nil, 3, b)
	case mil.DictKind:
		b := appendMessage(nil, 1, encodeType(t.Key))
		return appendMessage(nil, 4, appendMessage(b, 2, encodeType(t.Val)))
	case mil.StateKind:
		return appendMessage(nil, 5, appendMessage(nil, 1, encodeType(t.Elem)))
	}
	b := appendInt(nil, 1, int64(t.DType))
	if t.VariableRank {
		return appendMessage(nil, 1, appendInt(b, 2, -1))
	}
	b = appendInt(b, 2, int64(len(t.Shape)))
	for _, d := range t.Shape {
		b = appendMessage(b, 3, encodeDim(d))
	}
	return appendMessage(nil, 1, b)
}

func encodeDim(d int64) []byte {
	if d == mil.Unknown {
		return appendMessage(nil, 2, nil)
	}
	return appendMessage(nil, 1, appendInt(nil, 1, d))
}

func encodeValue(v *mil.Value) ([]byte, error) {
	if v == nil {
		return nil, fmt.Errorf("no value")
	}
	b := appendString(nil, 1, v.Doc)
	b = appendMessage(b, 2, encodeType(v.Type))
	if v.Blob != nil {
		ref := appendInt(appendString(nil, 1, v.Blob.Path), 2, int64(v.Blob.Offset))
		return appendMessage(b, 5, ref), nil
	}
	imm, err := encodeImmediate(v)
	if err != nil {
		return nil, err
	}
	return appendMessage(b, 3, imm), nil
}

func encodeImmediate(v *mil.Value) ([]byte, error) {
	var b []byte
	switch v.Type.Kind {
	case mil.TensorKind:
		t, err := encodeTensor(v)
		return appendMessage(nil, 1, t), err
	case mil.TupleKind, mil.ListKind:
		for _, it := range v.Items {
			e, err := encodeValue(it)
			if err != nil {
				return nil, err
			}
			b = appendMessage(b, 1, e)
		}
		if v.Type.Kind == mil.TupleKind {
			return appendMessage(nil, 2, b), nil
		}
		return appendMessage(nil, 3, b), nil
	case mil.DictKind:
		for _, kv := range v.Pairs {
			key, err := encodeValue(kv.Key)
			if err != nil {
				return nil, err
			}
			val, err := encodeValue(kv.Val)
			if err != nil {
				return nil, err
			}
			b = appendMessage(b, 1, appendMessage(appendMessage(nil, 1, key), 2, val))
		}
		return appendMessage(nil, 4, b), nil
	}
	return nil, fmt.Errorf("a constant of type %s has no encoding", v.Type)
}

// encodeTensor chooses the member of TensorValue that coremltools chooses for
// the element type: ints for int16, uint16 and int32, longInts for 64 bits,
// bytes for float16, uint32, and 8 bits and less.
func encodeTensor(v *mil.Value) ([]byte, error) {
	var packed []byte
	var num protowire.Number
	switch d := v.Type.DType; d {
	case mil.String:
		var b []byte
		for _, s := range v.Strings {
			b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), s)
		}
		return appendMessage(nil, 4, b), nil
	case mil.Float32:
		num, packed = 1, v.Data
	case mil.Float64:
		num, packed = 6, v.Data
	case mil.Bool:
		num, packed = 3, v.Data
	case mil.Int16, mil.Uint16, mil.Int32, mil.Int64, mil.Uint64:
		num = 2
		if d.Bits() == 64 {
			num = 5
		}
		step := d.Bits() / 8
		if len(v.Data)%step != 0 {
			return nil, fmt.Errorf("a constant of type %s holds %d bytes", v.Type, len(v.Data))
		}
		for at := 0; at < len(v.Data); at += step {
			packed = protowire.AppendVarint(packed, signExtended(d, v.Data[at:]))
		}
	default:
		num, packed = 7, v.Data
	}
	var b []byte
	if len(packed) > 0 {
		b = appendMessage(nil, 1, packed)
	}
	return appendMessage(nil, num, b), nil
}

// signExtended reads one integer as a protobuf int32 or int64 would hold it.
func signExtended(d mil.DType, b []byte) uint64 {
	le := binary.LittleEndian
	switch d {
	case mil.Int16:
		return uint64(int64(int16(le.Uint16(b))))
	case mil.Uint16:
		return uint64(le.Uint16(b))
	case mil.Int32:
		return uint64(int64(int32(le.Uint32(b))))
	}
	return le.Uint64(b)
}
