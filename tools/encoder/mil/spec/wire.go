package spec

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of what is decoded into memory. Real programs are a few megabytes.
const (
	// MaxProgram bounds an encoded program, MaxDescription a description.
	MaxProgram     = 64 << 20
	MaxDescription = 16 << 20

	maxDepth   = 64
	maxNodes   = 4 << 20
	maxUnknown = 32
)

// field is one field of a message as it came over the wire.
type field struct {
	num  protowire.Number
	typ  protowire.Type
	val  uint64 // varint, fixed32, fixed64
	data []byte // length-delimited; shares memory with the input
}

func (f field) want(t protowire.Type) error {
	if f.typ != t {
		return fmt.Errorf("field %d: expected wire type %d, found %d", f.num, t, f.typ)
	}
	return nil
}

func (f field) bytes() ([]byte, error) { return f.data, f.want(protowire.BytesType) }

func (f field) int() (int64, error) { return int64(f.val), f.want(protowire.VarintType) }

func (f field) bool() (bool, error) { return f.val != 0, f.want(protowire.VarintType) }

// str copies the string out of the input.
func (f field) str() (string, error) {
	if err := f.want(protowire.BytesType); err != nil {
		return "", err
	}
	if !utf8.Valid(f.data) {
		return "", fmt.Errorf("field %d: a string that is not UTF-8", f.num)
	}
	return string(f.data), nil
}

// decoder carries the bounds of one decoding.
type decoder struct {
	depth, nodes int
	unknown      []string
}

func (d *decoder) skip(message string, f field) {
	if len(d.unknown) < maxUnknown {
		d.unknown = append(d.unknown, fmt.Sprintf("%s.%d", message, f.num))
	}
}

// message calls fn for each field of the message in b.
func (d *decoder) message(b []byte, fn func(field) error) error {
	if d.depth++; d.depth > maxDepth {
		return fmt.Errorf("messages nest deeper than %d, the limit", maxDepth)
	}
	defer func() { d.depth-- }()
	if d.nodes++; d.nodes > maxNodes {
		return fmt.Errorf("more than %d messages, the limit", maxNodes)
	}
	for len(b) > 0 {
		f, n, err := nextField(b)
		if err != nil {
			return err
		}
		b = b[n:]
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

func nextField(b []byte) (field, int, error) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return field{}, 0, fmt.Errorf("damaged tag: %w", protowire.ParseError(n))
	}
	f := field{num: num, typ: typ}
	var m int
	switch typ {
	case protowire.VarintType:
		f.val, m = protowire.ConsumeVarint(b[n:])
	case protowire.Fixed32Type:
		var v uint32
		v, m = protowire.ConsumeFixed32(b[n:])
		f.val = uint64(v)
	case protowire.Fixed64Type:
		f.val, m = protowire.ConsumeFixed64(b[n:])
	case protowire.BytesType:
		f.data, m = protowire.ConsumeBytes(b[n:])
	default:
		return field{}, 0, fmt.Errorf("field %d: wire type %d is not used by Core ML", num, typ)
	}
	if m < 0 {
		return field{}, 0, fmt.Errorf("field %d is cut short: %w", num, protowire.ParseError(m))
	}
	return f, n + m, nil
}

// mapEntry splits a map entry whose key is a string.
func (d *decoder) mapEntry(f field) (key string, value []byte, err error) {
	b, err := f.bytes()
	if err != nil {
		return "", nil, err
	}
	err = d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			key, err = f.str()
		case 2:
			value, err = f.bytes()
		}
		return err
	})
	return key, value, err
}

// numbers decodes a repeated numeric field, packed or not.
func numbers(f field, elem protowire.Type, add func(uint64) error) error {
	if f.typ == elem {
		return add(f.val)
	}
	b, err := f.bytes()
	if err != nil {
		return err
	}
	for len(b) > 0 {
		var v uint64
		var n int
		switch elem {
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(b)
			v = uint64(w)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		default:
			v, n = protowire.ConsumeVarint(b)
		}
		if n < 0 {
			return fmt.Errorf("field %d: packed numbers are cut short: %w", f.num, protowire.ParseError(n))
		}
		b = b[n:]
		if err := add(v); err != nil {
			return err
		}
	}
	return nil
}

// Encoding: every helper appends to b; zero values are left out, as proto3
// does, unless the name says otherwise.

func appendMessage(b []byte, num protowire.Number, msg []byte) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendBytes(b, msg)
}

func appendString(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendString(b, s)
}

func appendInt(b []byte, num protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(v))
}

func appendBool(b []byte, num protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return appendInt(b, num, 1)
}

// appendEntry appends a map entry with a string key and a message value.
func appendEntry(b []byte, num protowire.Number, key string, value []byte) []byte {
	e := appendString(nil, 1, key)
	return appendMessage(b, num, appendMessage(e, 2, value))
}
