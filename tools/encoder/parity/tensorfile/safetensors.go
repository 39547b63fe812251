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
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
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
	if err := gapless(entries, uint64(size)-8-n); err != nil {
		return nil, err
	}
	e, ok := entries[member]
	if !ok {
		return nil, request{fmt.Errorf("no tensor %q; the file has %.20q: name one", member, slices.Sorted(maps.Keys(entries)))}
	}
	t, ok := safeTypes[e.DType]
	if !ok {
		return nil, fmt.Errorf("tensor %q: elements are %q; expected floating-point numbers (F16, BF16, F32 or F64)", member, e.DType)
	}
	left := int64(e.Offsets[1] - e.Offsets[0])
	out, err := decode(io.NewSectionReader(r, 8+int64(n)+int64(e.Offsets[0]), left), left, e.Shape, t, binary.LittleEndian)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", member, err)
	}
	out.Name = member
	return out, nil
}

// safeEntry is what a header says of one tensor.
type safeEntry struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets []uint64 `json:"data_offsets"`
}

// safeEntries lists the tensors of a header, which is one JSON object from its first byte on, spaces behind it. What
// stands twice, is not known or is missing is refused.
func safeEntries(text []byte) (map[string]safeEntry, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	entries, seen := map[string]safeEntry{}, map[string]bool{}
	if t, err := d.Token(); err != nil || t != json.Delim('{') || text[0] != '{' {
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
		if seen[name] {
			return nil, fmt.Errorf("tensor %q stands twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			continue
		}
		var e safeEntry
		if err := strictjson.Decode(raw, &e); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if len(e.Offsets) != 2 || e.Offsets[0] > e.Offsets[1] {
			return nil, fmt.Errorf("tensor %q: data_offsets %d: expected where its data begins and where it ends", name, e.Offsets)
		}
		entries[name] = e
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("the header is malformed: %w", err)
	}
	if behind := text[d.InputOffset():]; strings.Trim(string(behind), " ") != "" {
		return nil, fmt.Errorf("the header goes on behind its object: %.20q", behind)
	}
	return entries, nil
}

// gapless holds the tensors' places against the data: together they are all of it, and none lies in another.
func gapless(entries map[string]safeEntry, data uint64) error {
	at := uint64(0)
	for _, name := range slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		return slices.Compare(entries[a].Offsets, entries[b].Offsets)
	}) {
		if o := entries[name].Offsets; o[0] != at {
			return fmt.Errorf("tensor %q lies at %d of the data: expected %d, where the one before it ends", name, o, at)
		}
		at = entries[name].Offsets[1]
	}
	if at != data {
		return fmt.Errorf("the tensors are %d bytes of data; found %d", at, data)
	}
	return nil
}
