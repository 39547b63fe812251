// Package ctranslate2 reads Whisper models in CTranslate2's format and turns
// float16 ones back into the ggml files that upstream whisper.cpp publishes.
//
// The format, little-endian (CTranslate2's python/ctranslate2/specs/model_spec.py
// writes it):
//
//	u32 version (6); string "WhisperSpec"; u32 revision (3)
//	u32 variables; each: string name, u8 rank, rank * u32 extents (outermost
//	    first), u8 type (0 float32, 1 int8, 2 int16, 3 int32, 4 float16),
//	    u32 length of the data in bytes, the data
//	u32 aliases; each: string alias, string target
//
// A string is a u16 length, which counts a final NUL, and the bytes with it.
package ctranslate2

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds on what a file may ask for.
const (
	maxVariables = 1 << 14
	maxString    = 1 << 10
	maxRank      = 8
	maxExtent    = 1 << 24
)

// Type is the type of a variable's values.
type Type uint8

// CTranslate2's types.
const (
	Float32 Type = 0
	Int8    Type = 1
	Int16   Type = 2
	Int32   Type = 3
	Float16 Type = 4
)

func (t Type) size() int64 {
	switch t {
	case Float32, Int32:
		return 4
	case Int16, Float16:
		return 2
	case Int8:
		return 1
	}
	return 0
}

// Variable is one entry of the model.
type Variable struct {
	Name string
	Dims []int64 // outermost first; none for a scalar
	Type Type
	// Offset and Size of the data in the file, in bytes.
	Offset, Size int64
}

// Model is a CTranslate2 Whisper model: the directory in memory, data in the file.
type Model struct {
	Variables map[string]Variable
	r         io.ReaderAt
}

// Read reads the directory of a model of size bytes.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	s := &stream{r: r, size: size}
	version, spec, revision := s.u32(), s.str(), s.u32()
	if s.err != nil {
		return nil, fmt.Errorf("read CTranslate2 model: %w", s.err)
	}
	if version != 6 || spec != "WhisperSpec" || revision != 3 {
		return nil, fmt.Errorf("read CTranslate2 model: expected version 6, WhisperSpec, revision 3, found version %d, %q, revision %d",
			version, spec, revision)
	}
	m := &Model{Variables: map[string]Variable{}, r: r}
	n := s.u32()
	if n > maxVariables {
		return nil, fmt.Errorf("read CTranslate2 model: %d variables, expected at most %d", n, maxVariables)
	}
	for range n {
		v, err := s.variable()
		if err != nil {
			return nil, fmt.Errorf("read CTranslate2 model: %w", err)
		}
		if _, dup := m.Variables[v.Name]; dup {
			return nil, fmt.Errorf("read CTranslate2 model: variable %s stands in the file twice", v.Name)
		}
		m.Variables[v.Name] = v
	}
	// The only alias of a Whisper model ties the output projection to the
	// token embedding, as ggml does without saying so. It must be read all the
	// same: what follows must be the end.
	for range min(s.u32(), maxVariables) {
		_, _ = s.str(), s.str()
	}
	if s.err != nil {
		return nil, fmt.Errorf("read CTranslate2 model: %w", s.err)
	}
	if s.at != size {
		return nil, fmt.Errorf("read CTranslate2 model: %d bytes after the end", size-s.at)
	}
	return m, nil
}

// stream reads in order. Errors stick.
type stream struct {
	r        io.ReaderAt
	at, size int64
	buf      *bufio.Reader
	err      error
}

func (s *stream) take(n int) []byte {
	b := make([]byte, n)
	if s.err != nil {
		return b
	}
	if s.buf == nil {
		s.buf = bufio.NewReaderSize(io.NewSectionReader(s.r, s.at, s.size-s.at), 4096)
	}
	if _, err := io.ReadFull(s.buf, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the file ends at byte %d inside an entry: download it again", s.size)
		}
		s.err = err
	}
	s.at += int64(n)
	return b
}

func (s *stream) u32() uint32 { return binary.LittleEndian.Uint32(s.take(4)) }

func (s *stream) str() string {
	n := int(binary.LittleEndian.Uint16(s.take(2)))
	if s.err == nil && (n == 0 || n > maxString) {
		s.err = fmt.Errorf("string of %d bytes at byte %d, expected 1 to %d", n, s.at, maxString)
	}
	if s.err != nil {
		return ""
	}
	b := s.take(n)
	if s.err == nil && bytes.IndexByte(b, 0) != n-1 {
		s.err = fmt.Errorf("string at byte %d does not end with its only NUL", s.at)
	}
	return string(b[:n-1])
}

func (s *stream) variable() (Variable, error) {
	v := Variable{Name: s.str()}
	rank := int(s.take(1)[0])
	if s.err == nil && rank > maxRank {
		return v, fmt.Errorf("variable %s of rank %d", v.Name, rank)
	}
	elements := int64(1)
	for range rank {
		d := int64(s.u32())
		if s.err == nil && (d == 0 || d > maxExtent || elements > 1<<40/d) {
			return v, fmt.Errorf("variable %s has an extent of %d", v.Name, d)
		}
		if s.err != nil {
			return v, s.err
		}
		v.Dims = append(v.Dims, d)
		elements *= d
	}
	v.Type = Type(s.take(1)[0])
	v.Size = int64(s.u32())
	if s.err != nil {
		return v, s.err
	}
	if want := elements * v.Type.size(); want != v.Size {
		return v, fmt.Errorf("variable %s of type %d and extents %v holds %d bytes, expected %d", v.Name, v.Type, v.Dims, v.Size, want)
	}
	v.Offset = s.at
	if v.Size > s.size-s.at {
		return v, fmt.Errorf("variable %s needs %d bytes, the file ends %d bytes further on: download it again", v.Name, v.Size, s.size-s.at)
	}
	s.at += v.Size
	s.buf = nil // jump over the data
	return v, nil
}
