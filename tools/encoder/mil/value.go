package mil

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Value is a compile-time constant: an immediate, or a reference into a
// weight file. Exactly one of the payload fields is meaningful, chosen by the
// type's kind: Blob wins for tensors; else Strings for string tensors, Data
// for other tensors, Items for tuples and lists, Pairs for dictionaries.
type Value struct {
	// Type is concrete: the dimensions of a constant are never Unknown,
	// except in the type of an outermost tuple, list or dictionary.
	Type *Type
	// Data holds an immediate tensor: little-endian elements in row-major
	// order, one byte a bool, sub-byte integers packed with low bits first.
	Data []byte
	// Strings holds the elements of an immediate string tensor.
	Strings []string
	// Blob points into a weight file.
	Blob *BlobRef
	// Items are the elements of a tuple or list.
	Items []*Value
	// Pairs are the entries of a dictionary, in the order written.
	Pairs []Pair
	Doc   string
}

// Pair is one entry of a dictionary value.
type Pair struct{ Key, Val *Value }

// BlobRef names a tensor in a weight file ("blob v2" storage).
type BlobRef struct {
	// Path as written, normally "@model_path/weights/weight.bin".
	Path string
	// Offset of the blob's 64-byte metadata record in that file.
	Offset uint64
}

// AsString returns the string in a scalar string value. A nil value has none.
func (v *Value) AsString() (string, bool) {
	if v == nil || !v.Type.IsTensor() || v.Type.DType != String || len(v.Strings) != 1 {
		return "", false
	}
	return v.Strings[0], true
}

// AsInts returns the elements of an immediate integer or bool tensor (bools
// as 0 and 1). Unsigned 64-bit numbers above the signed range, and values
// that live in a weight file, are refused.
func (v *Value) AsInts() ([]int64, error) {
	if v == nil {
		return nil, fmt.Errorf("no value where integers were expected")
	}
	if !v.Type.IsTensor() || v.Blob != nil || (!v.Type.DType.IsInt() && v.Type.DType != Bool) {
		return nil, fmt.Errorf("value of type %s: expected immediate integers", v.Type)
	}
	return DecodeInts(v.Type, v.Data)
}

// DecodeInts unpacks the little-endian elements of an integer or bool tensor.
func DecodeInts(t *Type, data []byte) ([]int64, error) {
	n, err := t.Elements()
	if err != nil {
		return nil, err
	}
	want, err := PackedSize(t.DType, n)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != want {
		return nil, fmt.Errorf("value of type %s: expected %d bytes, found %d", t, want, len(data))
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = intAt(t.DType, data, i)
		if t.DType == Uint64 && out[i] < 0 {
			return nil, fmt.Errorf("value of type %s: element %d does not fit in a signed 64-bit integer", t, i)
		}
	}
	return out, nil
}

// intAt reads element i of packed integers; the caller checked the bounds.
func intAt(d DType, data []byte, i int) int64 {
	le := binary.LittleEndian
	switch d {
	case Bool, Uint8:
		return int64(data[i])
	case Int8:
		return int64(int8(data[i]))
	case Int16:
		return int64(int16(le.Uint16(data[2*i:])))
	case Uint16:
		return int64(le.Uint16(data[2*i:]))
	case Int32:
		return int64(int32(le.Uint32(data[4*i:])))
	case Uint32:
		return int64(le.Uint32(data[4*i:]))
	case Int64, Uint64:
		return int64(le.Uint64(data[8*i:]))
	}
	bits := d.Bits()
	var v uint64
	for b := range bits {
		at := i*bits + b
		v |= uint64(data[at/8]>>(at%8)&1) << b
	}
	if d == Int4 && v >= 8 {
		return int64(v) - 16
	}
	return int64(v)
}

// StringValue returns a scalar string constant.
func StringValue(s string) *Value {
	return &Value{Type: TensorOf(String), Strings: []string{s}}
}

// BoolValue returns a scalar bool constant.
func BoolValue(b bool) *Value {
	v := &Value{Type: TensorOf(Bool), Data: []byte{0}}
	if b {
		v.Data[0] = 1
	}
	return v
}

// Int32Value returns a scalar int32 constant.
func Int32Value(x int32) *Value {
	return &Value{Type: TensorOf(Int32), Data: binary.LittleEndian.AppendUint32(nil, uint32(x))}
}

// Int32sValue returns a constant int32 vector.
func Int32sValue(xs ...int32) *Value {
	v := &Value{Type: TensorOf(Int32, int64(len(xs)))}
	for _, x := range xs {
		v.Data = binary.LittleEndian.AppendUint32(v.Data, uint32(x))
	}
	return v
}

// BlobValue returns a constant tensor that lives in a weight file.
func BlobValue(t *Type, path string, offset uint64) *Value {
	return &Value{Type: t, Blob: &BlobRef{Path: path, Offset: offset}}
}

// Equal reports whether v and w are the same constant: same type, same
// payload; blobs are equal when they refer to the same place.
func (v *Value) Equal(w *Value) bool {
	if v == nil || w == nil {
		return v == w
	}
	if !v.Type.Equal(w.Type) || (v.Blob == nil) != (w.Blob == nil) {
		return false
	}
	if v.Blob != nil && *v.Blob != *w.Blob {
		return false
	}
	return bytes.Equal(v.Data, w.Data) && slices.Equal(v.Strings, w.Strings) &&
		slices.EqualFunc(v.Items, w.Items, (*Value).Equal) &&
		slices.EqualFunc(v.Pairs, w.Pairs, func(a, b Pair) bool {
			return a.Key.Equal(b.Key) && a.Val.Equal(b.Val)
		})
}

// AppendInt appends element i (from 0, in order) of an integer tensor to its
// packed bytes. raw holds the number's two's complement bits.
func AppendInt(data []byte, d DType, i int64, raw uint64) []byte {
	bits := d.Bits()
	if bits >= 8 {
		for ; bits > 0; bits -= 8 {
			data = append(data, byte(raw))
			raw >>= 8
		}
		return data
	}
	for b := range bits {
		at := i*int64(bits) + int64(b)
		if at/8 == int64(len(data)) {
			data = append(data, 0)
		}
		data[at/8] |= byte(raw>>b&1) << (at % 8)
	}
	return data
}
