package spec

import (
	"encoding/binary"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// section is a message somewhere in a file, walked without loading it.
type section struct {
	r        io.ReaderAt
	off, end int64
}

// lazyField is a field of which only the place of its content is known.
type lazyField struct {
	num  protowire.Number
	typ  protowire.Type
	val  uint64
	body section // length-delimited
}

// headBytes holds any tag and any length: two varints.
const headBytes = 2 * binary.MaxVarintLen64

func (s section) each(fn func(lazyField) error) error {
	for s.off < s.end {
		var buf [headBytes]byte
		n, err := s.r.ReadAt(buf[:min(headBytes, s.end-s.off)], s.off)
		if n == 0 && err != nil {
			return fmt.Errorf("read at offset %d: %w", s.off, err)
		}
		f, used, err := s.field(buf[:n])
		if err != nil {
			return fmt.Errorf("at offset %d: %w", s.off, err)
		}
		s.off += used
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

func (s section) field(b []byte) (lazyField, int64, error) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return lazyField{}, 0, fmt.Errorf("damaged tag: %w", protowire.ParseError(n))
	}
	f := lazyField{num: num, typ: typ}
	if typ != protowire.BytesType {
		g, m, err := nextField(b)
		f.val = g.val
		return f, int64(m), err
	}
	size, m := protowire.ConsumeVarint(b[n:])
	if m < 0 {
		return lazyField{}, 0, fmt.Errorf("damaged length of field %d: %w", num, protowire.ParseError(m))
	}
	start := s.off + int64(n+m)
	if size > uint64(s.end-start) {
		return lazyField{}, 0, fmt.Errorf("field %d is cut short: %d bytes announced, %d left", num, size, s.end-start)
	}
	f.body = section{r: s.r, off: start, end: start + int64(size)}
	return f, int64(n+m) + int64(size), nil
}

func (f lazyField) int() (int64, error) {
	if f.typ != protowire.VarintType {
		return 0, fmt.Errorf("field %d: expected a number, found wire type %d", f.num, f.typ)
	}
	return int64(f.val), nil
}

// load reads the content of a length-delimited field, at most limit bytes.
func (f lazyField) load(limit int64, what string) ([]byte, error) {
	if f.typ != protowire.BytesType {
		return nil, fmt.Errorf("%s: expected a message, found wire type %d", what, f.typ)
	}
	n := f.body.end - f.body.off
	if n > limit {
		return nil, fmt.Errorf("%s of %d bytes, the limit is %d", what, n, limit)
	}
	b := make([]byte, n)
	if _, err := f.body.r.ReadAt(b, f.body.off); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the %s: %w", what, err)
	}
	return b, nil
}
