// Package tensorfile reads tensors that other tools wrote: NumPy's .npy and .npz,
// and .safetensors.
//
//	.npy          "\x93NUMPY", u8 major, u8 minor, header length (u16 in version 1, u32 in 2 and 3),
//	              a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}, the data
//	.npz          a zip archive of .npy members
//	.safetensors  u64 header length, a JSON object NAME: {"dtype", "shape", "data_offsets": [from, to]}
//	              and "__metadata__", the data
//
// Everything is little-endian; big-endian NumPy arrays are read too. Only
// floating-point tensors are numbers to compare; others are refused. Lengths in
// a file are held against the file before memory is taken.
package tensorfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// Limits on what a file may claim.
const (
	maxHeader   = 1 << 20
	maxElements = 1 << 26 // 512 MiB as float64; the largest encoder puts out two million
	maxRank     = 16
)

// Tensor is a tensor in row-major order. Float64 holds every value of the types
// that are read exactly.
type Tensor struct {
	Name   string // of a member, "" in .npy
	Type   string // float16, bfloat16, float32 or float64
	Shape  []int
	Values []float64
}

// ErrRequest says that a file was asked for what it cannot give: a member that it has not, or none where it has several.
// Every other error that is not of the file system is of the file's own bytes.
var ErrRequest = errors.New("no such tensor")

// request is an error that is [ErrRequest], in words of its own.
type request struct{ error }

func (request) Is(target error) bool { return target == ErrRequest }

// Read reads one tensor from a file whose name says its format. member names it
// in formats that hold several and may be "" where there is one.
func Read(path, member string) (*Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t, err := read(f, info.Size(), path, member)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func read(r io.ReaderAt, size int64, path, member string) (*Tensor, error) {
	switch {
	case strings.HasSuffix(path, ".npy"):
		if member != "" {
			return nil, request{fmt.Errorf("a .npy file holds one tensor and no member %q", member)}
		}
		return ReadNPY(io.NewSectionReader(r, 0, size), size)
	case strings.HasSuffix(path, ".npz"):
		return ReadNPZ(r, size, member)
	case strings.HasSuffix(path, ".safetensors"):
		return ReadSafetensors(r, size, member)
	}
	return nil, request{errors.New("not a tensor file: expected .npy, .npz or .safetensors")}
}

// elementType is how a stored element becomes a float64.
type elementType struct {
	name   string
	size   int
	decode func(b []byte, order binary.ByteOrder) float64
}

var (
	typeF16 = elementType{"float16", 2, func(b []byte, o binary.ByteOrder) float64 { return half(o.Uint16(b)) }}
	typeF32 = elementType{"float32", 4, func(b []byte, o binary.ByteOrder) float64 {
		return float64(math.Float32frombits(o.Uint32(b)))
	}}
	typeF64  = elementType{"float64", 8, func(b []byte, o binary.ByteOrder) float64 { return math.Float64frombits(o.Uint64(b)) }}
	typeBF16 = elementType{"bfloat16", 2, func(b []byte, o binary.ByteOrder) float64 {
		return float64(math.Float32frombits(uint32(o.Uint16(b)) << 16))
	}}
)

// half widens a float16 by its definition.
func half(h uint16) float64 {
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	exp, frac := int(h>>10&0x1f), float64(h&0x3ff)
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// elements is the product of a shape, refused where it is absurd.
func elements(shape []int64) (int, error) {
	if len(shape) > maxRank {
		return 0, fmt.Errorf("rank %d is above %d", len(shape), maxRank)
	}
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > maxElements || n*d > maxElements {
			return 0, fmt.Errorf("shape %v: expected at most %d elements", shape, maxElements)
		}
		n *= d
	}
	return int(n), nil
}

// decode reads the elements that follow in r, which has left bytes.
func decode(r io.Reader, left int64, shape []int64, t elementType, order binary.ByteOrder) (*Tensor, error) {
	n, err := elements(shape)
	if err != nil {
		return nil, err
	}
	if want := int64(n) * int64(t.size); left != want {
		return nil, fmt.Errorf("%s of shape %v takes %d bytes; found %d", t.name, shape, want, left)
	}
	out := &Tensor{Type: t.name, Values: make([]float64, 0, min(n, 1<<16))}
	for _, d := range shape {
		out.Shape = append(out.Shape, int(d))
	}
	buf := make([]byte, 1<<15)
	for done := 0; done < n; {
		piece := buf[:min(len(buf), (n-done)*t.size)]
		if _, err := io.ReadFull(r, piece); err != nil {
			return nil, fmt.Errorf("the data ends early: %w", err)
		}
		for ; len(piece) > 0; piece = piece[t.size:] {
			out.Values = append(out.Values, t.decode(piece, order))
			done++
		}
	}
	return out, nil
}
