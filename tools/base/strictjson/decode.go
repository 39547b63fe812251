// Package strictjson reads and writes the JSON files of this project, where two readers must never
// see two different documents in the same bytes.
//
// [Decode] takes a subset of RFC 8259: one value, valid UTF-8, no lone surrogates, no duplicate keys,
// no two keys of an object that differ only in case, numbers below 2^53 in magnitude, at most 32
// levels. Against the Go type it demands that every key is spelled exactly as the field's tag, that
// no key is unknown, and that no field is missing unless its tag has omitempty; null stands only
// where the type is a pointer. (encoding/json alone matches keys whatever their case, takes the
// last of two, and fills what is missing with zeros.)
//
// [Canonical] writes RFC 8785 (JSON Canonicalization Scheme); [DecodeCanonical] refuses every other
// spelling of the same document, so that a digest of the bytes is a digest of the content.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gowebpki/jcs"
)

// MaxBytes bounds a document that [Decode] takes.
const MaxBytes = 64 << 20

// Decode reads the one JSON document in data into out, a pointer to a struct.
func Decode(data []byte, out any) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("json document has %d bytes, more than the limit of %d", len(data), MaxBytes)
	}
	tree, err := parse(data)
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	if err := match(tree, reflect.TypeOf(out).Elem()); err != nil {
		return fmt.Errorf("json: %w", err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("json: %w", err)
	}
	return nil
}

// DecodeCanonical is [Decode] for a document that must be spelled as [Canonical] spells it.
func DecodeCanonical(data []byte, out any) error {
	if err := Decode(data, out); err != nil {
		return err
	}
	// Encoded again rather than transformed: an optional member that stands there empty is another
	// spelling too.
	canonical, err := Canonical(out)
	if err != nil {
		return err
	}
	if !bytes.Equal(canonical, data) {
		return fmt.Errorf("json: bytes are not in canonical form (RFC 8785): %s", difference(canonical, data))
	}
	return nil
}

// difference says where two texts part, with some of what stands there.
func difference(expected, found []byte) string {
	at := 0
	for at < min(len(expected), len(found)) && expected[at] == found[at] {
		at++
	}
	piece := func(b []byte) string {
		if at == len(b) {
			return "the end"
		}
		return strconv.Quote(string(b[at:min(at+24, len(b))]))
	}
	return fmt.Sprintf("at byte %d expected %s, found %s (%d and %d bytes in all)", at, piece(expected), piece(found), len(expected), len(found))
}

// Canonical encodes v as RFC 8785 does: sorted keys, no white space, shortest numbers.
func Canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode json: %w", err)
	}
	out, err := jcs.Transform(data)
	if err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	// What is written must be readable again, big numbers included.
	tree, err := parse(out)
	if err != nil {
		return nil, fmt.Errorf("canonical json would not read back: %w", err)
	}
	if err := match(tree, reflect.TypeOf(v)); err != nil {
		return nil, fmt.Errorf("canonical json would not read back: %w", err)
	}
	return out, nil
}

// field is one JSON member that a struct type has.
type field struct {
	typ      reflect.Type
	optional bool
}

// members are those of a struct type.
type members struct {
	byName map[string]field
	names  []string // sorted
}

// structs keeps the members of each struct type that was read, readers whether a type reads itself.
var structs, readers sync.Map

func membersOf(t reflect.Type) *members {
	if m, ok := structs.Load(t); ok {
		return m.(*members)
	}
	byName := fields(t)
	m, _ := structs.LoadOrStore(t, &members{byName, slices.Sorted(maps.Keys(byName))})
	return m.(*members)
}

func readsItself(t reflect.Type) bool {
	if is, ok := readers.Load(t); ok {
		return is.(bool)
	}
	is := reflect.PointerTo(t).Implements(unmarshaler)
	readers.Store(t, is)
	return is
}

// mismatch is what match finds. Its place grows from the inside out, so that a document that matches costs no text.
type mismatch struct{ where, what string }

func mismatchf(format string, args ...any) *mismatch {
	return &mismatch{what: fmt.Sprintf(format, args...)}
}

func (m *mismatch) inside(part string) *mismatch {
	m.where = part + m.where
	return m
}

func (m *mismatch) Error() string { return "$" + m.where + ": " + m.what }

// fields lists the members of struct type t by JSON name.
func fields(t reflect.Type) map[string]field {
	out := map[string]field{}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		if f.Anonymous && f.Tag.Get("json") == "" {
			for name, inner := range fields(f.Type) {
				out[name] = inner
			}
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out[name] = field{f.Type, strings.Contains(options, "omitempty")}
	}
	return out
}

var rawMessage = reflect.TypeOf(json.RawMessage(nil))

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// called is what JSON calls a value of type t.
func called(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number, written without a point or exponent"
}

// found is what JSON calls a value. A string may be private, and is not shown.
func found(v value) string {
	switch v := v.(type) {
	case *object:
		return "an object"
	case []value:
		return "an array"
	case string:
		return "a string"
	case number:
		return "the number " + string(v[:min(len(v), 80)])
	}
	return fmt.Sprint(v)
}

// scalar checks that a value has the JSON type of t, which is none of a struct, map or list.
func scalar(v value, t reflect.Type) *mismatch {
	ok := true
	switch v := v.(type) {
	case *object, []value:
		ok = false
	case string:
		ok = t.Kind() == reflect.String
	case bool:
		ok = t.Kind() == reflect.Bool
	case number:
		ok = t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64 || t.Kind() != reflect.String && t.Kind() != reflect.Bool && !strings.ContainsAny(string(v), ".eE")
	}
	if !ok {
		return mismatchf("expected %s, found %s", called(t), found(v))
	}
	return nil
}

// match checks that the members of v are exactly those that t has, and each of t's type; a type that reads itself is left to
// encoding/json.
func match(v value, t reflect.Type) *mismatch {
	if t.Kind() == reflect.Pointer {
		if v == nil {
			return nil
		}
		t = t.Elem()
	}
	if t == rawMessage || t.Kind() == reflect.Interface || v != nil && readsItself(t) {
		return nil
	}
	if v == nil {
		return mismatchf("expected %s, found null", called(t))
	}
	switch t.Kind() {
	case reflect.Struct:
		return matchStruct(v, t)
	case reflect.Map:
		o, ok := v.(*object)
		if !ok {
			return mismatchf("expected an object, found %s", found(v))
		}
		for _, key := range o.keys {
			if err := match(o.values[key], t.Elem()); err != nil {
				return err.inside("." + key)
			}
		}
	case reflect.Slice, reflect.Array:
		a, ok := v.([]value)
		if !ok {
			return mismatchf("expected an array, found %s", found(v))
		}
		for i, e := range a {
			if err := match(e, t.Elem()); err != nil {
				return err.inside(fmt.Sprintf("[%d]", i))
			}
		}
	default:
		return scalar(v, t)
	}
	return nil
}

func matchStruct(v value, t reflect.Type) *mismatch {
	o, ok := v.(*object)
	if !ok {
		return mismatchf("expected an object, found %s", found(v))
	}
	known := membersOf(t)
	for _, key := range o.keys {
		f, ok := known.byName[key]
		if !ok {
			return mismatchf("unknown field %q (known: %s)", key, strings.Join(known.names, ", "))
		}
		if err := match(o.values[key], f.typ); err != nil {
			return err.inside("." + key)
		}
	}
	for _, name := range known.names {
		if _, ok := o.values[name]; !ok && !known.byName[name].optional {
			return mismatchf("field %q is missing", name)
		}
	}
	return nil
}
