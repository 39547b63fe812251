package mil

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// DType is an element type. The numbers are those of MILSpec.DataType in
// coremltools' mlmodel/format/MIL.proto.
type DType int32

// Element types.
const (
	InvalidDType DType = 0
	Bool         DType = 1
	String       DType = 2
	Float16      DType = 10
	Float32      DType = 11
	Float64      DType = 12
	BFloat16     DType = 13
	Int8         DType = 21
	Int16        DType = 22
	Int32        DType = 23
	Int64        DType = 24
	Int4         DType = 25
	Uint8        DType = 31
	Uint16       DType = 32
	Uint32       DType = 33
	Uint64       DType = 34
	Uint4        DType = 35
	Uint2        DType = 36
	Uint1        DType = 37
	Uint6        DType = 38
	Uint3        DType = 39
	Float8E4M3FN DType = 40
	Float8E5M2   DType = 41
)

type dtypeInfo struct {
	name string
	bits int // storage bits of one element; 0 for strings
}

var dtypes = map[DType]dtypeInfo{
	Bool: {"bool", 8}, String: {"string", 0},
	Float16: {"fp16", 16}, Float32: {"fp32", 32}, Float64: {"fp64", 64}, BFloat16: {"bf16", 16},
	Int8: {"int8", 8}, Int16: {"int16", 16}, Int32: {"int32", 32}, Int64: {"int64", 64}, Int4: {"int4", 4},
	Uint8: {"uint8", 8}, Uint16: {"uint16", 16}, Uint32: {"uint32", 32}, Uint64: {"uint64", 64},
	Uint4: {"uint4", 4}, Uint2: {"uint2", 2}, Uint1: {"uint1", 1}, Uint6: {"uint6", 6}, Uint3: {"uint3", 3},
	Float8E4M3FN: {"fp8e4m3fn", 8}, Float8E5M2: {"fp8e5m2", 8},
}

var dtypeByName = func() map[string]DType {
	m := make(map[string]DType, len(dtypes))
	for d, i := range dtypes {
		m[i.name] = d
	}
	return m
}()

// ParseDType returns the type that the text form spells name ("fp32",
// "int8", …), and whether there is one.
func ParseDType(name string) (DType, bool) {
	d, ok := dtypeByName[name]
	return d, ok
}

// String returns the spelling of the text form.
func (d DType) String() string {
	if i, ok := dtypes[d]; ok {
		return i.name
	}
	return "dtype(" + strconv.Itoa(int(d)) + ")"
}

// Valid reports whether d is a type this package knows.
func (d DType) Valid() bool { _, ok := dtypes[d]; return ok }

// Bits is the storage width of one element in bits: 8 for bool, 1 to 6 for
// sub-byte integers, 0 for strings and unknown types.
func (d DType) Bits() int { return dtypes[d].bits }

// IsFloat reports whether d is a floating-point type.
func (d DType) IsFloat() bool {
	switch d {
	case Float16, Float32, Float64, BFloat16, Float8E4M3FN, Float8E5M2:
		return true
	}
	return false
}

// IsInt reports whether d is an integer type (bool is not one).
func (d DType) IsInt() bool { return d.Valid() && !d.IsFloat() && d != Bool && d != String }

// IsSigned reports whether d can hold negative numbers.
func (d DType) IsSigned() bool {
	switch d {
	case Int4, Int8, Int16, Int32, Int64:
		return true
	}
	return d.IsFloat()
}

// Unknown is a dimension or a list length that is not fixed (`?`).
const Unknown int64 = -1

// Kind says which kind of type a Type is.
type Kind uint8

// Kinds of types. A scalar is a tensor of rank 0.
const (
	TensorKind Kind = iota
	ListKind
	TupleKind
	DictKind
	StateKind
)

// Type is the type of a value.
type Type struct {
	Kind Kind

	// DType and Shape describe a tensor. A dimension may be Unknown. A shape
	// of length 0 is a scalar.
	DType DType
	Shape []int64
	// VariableRank is set for a tensor whose rank is not fixed; Shape is empty.
	VariableRank bool

	// Elem is the element type of a list, or the type that a state wraps.
	Elem *Type
	// Length is the length of a list, or Unknown.
	Length int64

	// Items are the types of a tuple's elements.
	Items []*Type

	// Key and Val are the types of a dictionary.
	Key, Val *Type
}

// TensorOf returns a tensor type.
func TensorOf(d DType, shape ...int64) *Type {
	return &Type{Kind: TensorKind, DType: d, Shape: shape}
}

// IsTensor reports whether t is a tensor (or scalar) type.
func (t *Type) IsTensor() bool { return t != nil && t.Kind == TensorKind }

// Static reports whether t is a tensor with every dimension fixed.
func (t *Type) Static() bool {
	return t.IsTensor() && !t.VariableRank && !slices.Contains(t.Shape, Unknown)
}

// Elements returns the number of elements of a static tensor type. It fails
// for other types, for negative dimensions, and when the product overflows.
func (t *Type) Elements() (int64, error) {
	if !t.Static() {
		return 0, fmt.Errorf("type %s: expected a tensor of fixed shape", t)
	}
	n := int64(1)
	for _, d := range t.Shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("type %s: negative dimension %d", t, d)
		case d == 0:
			return 0, nil
		case n > math.MaxInt64/d:
			return 0, fmt.Errorf("type %s: the number of elements overflows 64 bits", t)
		}
		n *= d
	}
	return n, nil
}

// PackedSize returns the bytes that n elements of d take, sub-byte elements
// packed without gaps.
func PackedSize(d DType, n int64) (int64, error) {
	bits := int64(d.Bits())
	if bits == 0 {
		return 0, fmt.Errorf("type %s has no fixed element size", d)
	}
	if n < 0 || n > (math.MaxInt64-7)/bits {
		return 0, fmt.Errorf("%d elements of %s overflow 64 bits", n, d)
	}
	return (n*bits + 7) / 8, nil
}

// Equal reports whether t and u are the same type.
func (t *Type) Equal(u *Type) bool {
	if t == nil || u == nil {
		return t == u
	}
	if t.Kind != u.Kind || t.DType != u.DType || t.VariableRank != u.VariableRank ||
		!slices.Equal(t.Shape, u.Shape) || len(t.Items) != len(u.Items) {
		return false
	}
	if t.Kind == ListKind && t.Length != u.Length {
		return false
	}
	for i := range t.Items {
		if !t.Items[i].Equal(u.Items[i]) {
			return false
		}
	}
	return t.Elem.Equal(u.Elem) && t.Key.Equal(u.Key) && t.Val.Equal(u.Val)
}

// String returns the type as program 1.3 spells it.
func (t *Type) String() string {
	var b strings.Builder
	t.Format(&b, true)
	return b.String()
}

// Format writes the type's text form to b. Plain scalars (`int32`) belong to
// program 1.3; program 1.0 writes them as tensors of rank 0.
func (t *Type) Format(b *strings.Builder, plainScalars bool) {
	if t == nil {
		b.WriteString("<no type>")
		return
	}
	switch t.Kind {
	case TensorKind:
		t.formatTensor(b, plainScalars)
	case ListKind:
		b.WriteString("list<")
		t.Elem.Format(b, plainScalars)
		b.WriteString(", ")
		b.WriteString(formatDim(t.Length))
		b.WriteByte('>')
	case TupleKind:
		b.WriteString("tuple<")
		for i, it := range t.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			it.Format(b, plainScalars)
		}
		b.WriteByte('>')
	case DictKind:
		b.WriteString("dict<")
		t.Key.Format(b, plainScalars)
		b.WriteString(", ")
		t.Val.Format(b, plainScalars)
		b.WriteByte('>')
	case StateKind:
		b.WriteString("state<")
		t.Elem.Format(b, plainScalars)
		b.WriteByte('>')
	default:
		fmt.Fprintf(b, "<kind %d>", t.Kind)
	}
}

func (t *Type) formatTensor(b *strings.Builder, plainScalars bool) {
	if plainScalars && len(t.Shape) == 0 && !t.VariableRank {
		b.WriteString(t.DType.String())
		return
	}
	b.WriteString("tensor<")
	b.WriteString(t.DType.String())
	b.WriteString(", [")
	if t.VariableRank {
		b.WriteString("...")
	}
	for i, d := range t.Shape {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(formatDim(d))
	}
	b.WriteString("]>")
}

func formatDim(d int64) string {
	if d == Unknown {
		return "?"
	}
	return strconv.FormatInt(d, 10)
}
