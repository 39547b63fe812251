package tensorfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

var safeTypes = map[string]elementType{"F16": typeF16, "BF16": typeBF16, "F32": typeF32, "F64": typeF64}

// ReadSafetensors reads a member; "" where the file has one.
func ReadSafetensors(r io.ReaderAt, size int64, member string) (*Tensor, error) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("not a .safetensors file: %w", err)
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("not a .safetensors file: it claims a header of %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 8); err != nil {
		return nil, fmt.Errorf("the header ends early: %w", err)
	}
	entries, err := safeEntries(text)
	if err != nil {
		return nil, err
	}
	if member == "" && len(entries) == 1 {
		for member = range entries {
		}
	}
	raw, ok := entries[member]
	if !ok {
		return nil, fmt.Errorf("no tensor %q; the file has %.20q: name one", member, slices.Sorted(maps.Keys(entries)))
	}
	var e struct {
		DType   string    `json:"dtype"`
		Shape   []int64   `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", member, err)
	}
	t, ok := safeTypes[e.DType]
	if !ok {
		return nil, fmt.Errorf("tensor %q: elements are %q; expected floating-point numbers (F16, BF16, F32 or F64)", member, e.DType)
	}
	data := uint64(size) - 8 - n
	if e.Offsets[0] > e.Offsets[1] || e.Offsets[1] > data {
		return nil, fmt.Errorf("tensor %q lies at %v of %d bytes of data", member, e.Offsets, data)
	}
	left := int64(e.Offsets[1] - e.Offsets[0])
	out, err := decode(io.NewSectionReader(r, 8+int64(n)+int64(e.Offsets[0]), left), left, e.Shape, t, binary.LittleEndian)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", member, err)
	}
	out.Name = member
	return out, nil
}

// safeEntries lists the tensors of a header; a name that stands twice is refused.
func safeEntries(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	entries := map[string]json.RawMessage{}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the header is no JSON object")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("the header is malformed: %w", err)
		}
		name, _ := t.(string)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("the header is malformed: %w", err)
		}
		if _, twice := entries[name]; twice {
			return nil, fmt.Errorf("tensor %q stands twice", name)
		}
		entries[name] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("the header is malformed: %w", err)
	}
	delete(entries, "__metadata__")
	return entries, nil
}
