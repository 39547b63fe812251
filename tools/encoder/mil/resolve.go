package mil

import "fmt"

// Tensor is a constant with its bytes at hand: little-endian elements in
// row-major order, one byte a bool, sub-byte integers packed with low bits
// first. Data may point into a memory-mapped file: do not write to it, and do
// not use it after the file's owner was closed.
type Tensor struct {
	DType DType
	Shape []int64
	Data  []byte
}

// Weights finds the bytes of constants that a program keeps outside itself.
// Package bundle implements it for artifacts on disk.
type Weights interface {
	// Blob returns the element type and the bytes of the blob that ref names.
	// The path must stay inside the artifact.
	Blob(ref BlobRef) (DType, []byte, error)
}

// Resolve returns the bytes of a constant tensor, immediate or in a weight
// file, after checking that type, shape and length agree. Strings have no
// bytes and are refused. w may be nil when the program has no weight file.
func Resolve(v *Value, w Weights) (Tensor, error) {
	if v == nil {
		return Tensor{}, fmt.Errorf("no value where a constant was expected")
	}
	if !v.Type.IsTensor() || v.Type.DType == String {
		return Tensor{}, fmt.Errorf("constant of type %s: expected a numeric tensor", v.Type)
	}
	n, err := v.Type.Elements()
	if err != nil {
		return Tensor{}, err
	}
	want, err := PackedSize(v.Type.DType, n)
	if err != nil {
		return Tensor{}, err
	}
	data := v.Data
	if v.Blob != nil {
		if data, err = resolveBlob(v, w); err != nil {
			return Tensor{}, err
		}
	}
	if int64(len(data)) != want {
		return Tensor{}, fmt.Errorf("constant of type %s: expected %d bytes, found %d", v.Type, want, len(data))
	}
	return Tensor{DType: v.Type.DType, Shape: v.Type.Shape, Data: data}, nil
}

func resolveBlob(v *Value, w Weights) ([]byte, error) {
	if w == nil {
		return nil, fmt.Errorf("constant of type %s refers to %q, but the program has no weight file", v.Type, v.Blob.Path)
	}
	d, data, err := w.Blob(*v.Blob)
	if err != nil {
		return nil, fmt.Errorf("constant of type %s: %w", v.Type, err)
	}
	// Bool has no blob type of its own; it is stored as bytes.
	if d != v.Type.DType && (v.Type.DType != Bool || d != Uint8) {
		return nil, fmt.Errorf("constant of type %s at offset %d of %q: the blob holds %s; the program and its weights do not belong together",
			v.Type, v.Blob.Offset, v.Blob.Path, d)
	}
	return data, nil
}
