package mil

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTypeNames(t *testing.T) {
	str := TensorOf(String)
	for _, c := range []struct {
		t             *Type
		plain, ranked string
	}{
		{TensorOf(Int32), "int32", "tensor<int32, []>"},
		{TensorOf(Float16, 1, Unknown), "tensor<fp16, [1, ?]>", "tensor<fp16, [1, ?]>"},
		{&Type{Kind: ListKind, Elem: str, Length: Unknown}, "list<string, ?>", "list<tensor<string, []>, ?>"},
		{&Type{Kind: DictKind, Key: str, Val: TensorOf(Bool)}, "dict<string, bool>", "dict<tensor<string, []>, tensor<bool, []>>"},
		{&Type{Kind: TupleKind, Items: []*Type{str, TensorOf(Uint1, 2)}}, "tuple<string, tensor<uint1, [2]>>", "tuple<tensor<string, []>, tensor<uint1, [2]>>"},
		{&Type{Kind: StateKind, Elem: TensorOf(Float16, 4)}, "state<tensor<fp16, [4]>>", "state<tensor<fp16, [4]>>"},
	} {
		if got := c.t.String(); got != c.plain {
			t.Errorf("want %s, got %s", c.plain, got)
		}
		var b strings.Builder
		if c.t.Format(&b, false); b.String() != c.ranked {
			t.Errorf("want %s, got %s", c.ranked, b.String())
		}
	}
}

func TestEveryElementTypeHasOneName(t *testing.T) {
	for d, info := range dtypes {
		got, ok := ParseDType(info.name)
		if !ok || got != d || d.String() != info.name {
			t.Errorf("%s parses as %s (%v)", info.name, got, ok)
		}
		if (d.Bits() == 0) != (d == String) {
			t.Errorf("%s has %d bits", d, d.Bits())
		}
	}
	if _, ok := ParseDType("fp99"); ok || DType(99).Valid() {
		t.Error("an unknown type is known")
	}
}

func TestElements(t *testing.T) {
	for _, c := range []struct {
		t    *Type
		want int64 // -1: refused
	}{
		{TensorOf(Int8), 1}, {TensorOf(Int8, 2, 3), 6}, {TensorOf(Int8, 0, 1<<62), 0}, {TensorOf(Int8, 1<<62, 4), -1},
		{TensorOf(Int8, Unknown), -1}, {TensorOf(Int8, -2), -1}, {&Type{DType: Int8, VariableRank: true}, -1},
		{&Type{Kind: ListKind, Elem: TensorOf(Int8)}, -1},
	} {
		n, err := c.t.Elements()
		if (err != nil) != (c.want < 0) || err == nil && n != c.want {
			t.Errorf("%s: want %d, got %d, %v", c.t, c.want, n, err)
		}
	}
	for _, c := range []struct {
		d       DType
		n, want int64
	}{{Uint3, 3, 2}, {Uint1, 8, 1}, {Uint1, 9, 2}, {Float32, 3, 12}, {Int8, 0, 0}, {String, 1, -1}, {Float64, 1 << 60, -1}, {Int8, -1, -1}} {
		n, err := PackedSize(c.d, c.n)
		if (err != nil) != (c.want < 0) || err == nil && n != c.want {
			t.Errorf("%d of %s: want %d, got %d, %v", c.n, c.d, c.want, n, err)
		}
	}
}

func TestIntegersOfEveryWidth(t *testing.T) {
	for _, c := range []struct {
		d    DType
		want []int64
	}{
		{Int4, []int64{-8, -1, 0, 7, 3}}, {Uint1, []int64{1, 0, 1, 1, 0, 0, 0, 0, 1}}, {Uint2, []int64{3, 0, 2}},
		{Uint3, []int64{7, 0, 5, 1}}, {Uint4, []int64{15, 1, 8}}, {Uint6, []int64{63, 0, 33, 1, 2}},
		{Int8, []int64{-128, 127}}, {Uint8, []int64{255, 0}}, {Int16, []int64{-32768, 1}}, {Uint16, []int64{65535}},
		{Int32, []int64{-1 << 31, 5}}, {Uint32, []int64{1<<32 - 1}}, {Int64, []int64{-1 << 63, 1<<63 - 1}}, {Uint64, []int64{1<<63 - 1}},
	} {
		v := &Value{Type: TensorOf(c.d, int64(len(c.want)))}
		for i, x := range c.want {
			v.Data = AppendInt(v.Data, c.d, int64(i), uint64(x))
		}
		got, err := v.AsInts()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.d, diff)
		}
	}
	tooLarge := &Value{Type: TensorOf(Uint64), Data: bytes.Repeat([]byte{0xff}, 8)}
	for name, v := range map[string]*Value{
		"above the signed range": tooLarge, "a float": {Type: TensorOf(Float32), Data: make([]byte, 4)},
		"in a weight file": BlobValue(TensorOf(Int32), "p", 64), "cut short": {Type: TensorOf(Int32), Data: make([]byte, 3)}, "nothing": nil,
	} {
		if _, err := v.AsInts(); err == nil {
			t.Errorf("%s was taken for integers", name)
		}
	}
}

type oneBlob struct {
	d    DType
	data []byte
}

func (b oneBlob) Blob(BlobRef) (DType, []byte, error) { return b.d, b.data, nil }

func TestResolve(t *testing.T) {
	w := oneBlob{Float16, []byte{1, 2, 3, 4}}
	for _, c := range []struct {
		name string
		v    *Value
		w    Weights
		want string // "" for success
	}{
		{"immediate", &Value{Type: TensorOf(Float16, 2), Data: []byte{1, 2, 3, 4}}, nil, ""},
		{"blob", BlobValue(TensorOf(Float16, 2, 1), "p", 64), w, ""},
		{"bools are stored as bytes", BlobValue(TensorOf(Bool, 4), "p", 64), oneBlob{Uint8, []byte{1, 2, 3, 4}}, ""},
		{"other type", BlobValue(TensorOf(Int16, 2), "p", 64), w, "the blob holds fp16"},
		{"other size", BlobValue(TensorOf(Float16, 3), "p", 64), w, "expected 6 bytes, found 4"},
		{"no weights", BlobValue(TensorOf(Float16, 2), "p", 64), nil, "has no weight file"},
		{"string", StringValue("s"), nil, "expected a numeric tensor"},
		{"open shape", &Value{Type: TensorOf(Float16, Unknown)}, nil, "expected a tensor of fixed shape"},
		{"nothing", nil, nil, "no value"},
	} {
		got, err := Resolve(c.v, c.w)
		switch {
		case c.want == "" && (err != nil || !bytes.Equal(got.Data, []byte{1, 2, 3, 4})):
			t.Errorf("%s: got %v, %v", c.name, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
	}
}

func TestValidateSeesScopes(t *testing.T) {
	typ := TensorOf(Float32)
	use := func(name string) *Op {
		return &Op{Type: "relu", Inputs: []Arg{{Name: "x", Bindings: []Binding{{Name: name}}}}, Outputs: []Param{{Name: "r_" + name, Type: typ}}}
	}
	prog := func(blocks ...*Block) *Program {
		op := &Op{Type: "cond", Outputs: []Param{{Name: "y", Type: typ}}, Blocks: blocks}
		return &Program{Functions: []*Function{{Name: "main", Params: []Param{{Name: "x", Type: typ}}, Body: &Block{Ops: []*Op{op}, Outputs: []string{"y"}}}}}
	}
	inner := func(op *Op, outs ...string) *Block { return &Block{Ops: []*Op{op}, Outputs: outs} }
	for _, c := range []struct {
		name string
		p    *Program
		want string
	}{
		{"outer names are seen", prog(inner(use("x"), "r_x"), inner(use("x"), "r_x")), ""},
		{"not those of a sibling", prog(inner(use("x"), "r_x"), inner(use("r_x"), "r_r_x")), `refers to "r_x"`},
		{"not those that come later", prog(inner(use("y"))), `refers to "y"`},
		{"names", &Program{Functions: []*Function{{Name: "1st"}}}, "is not an identifier"},
		{"empty name", &Program{Functions: []*Function{{}}}, "a function name is empty"},
		{"function twice", &Program{Functions: []*Function{{Name: "f", Body: &Block{}}, {Name: "f"}}}, `function "f" is defined twice`},
		{"attribute twice", &Program{Attrs: []Attr{{"a", BoolValue(true)}, {"a", BoolValue(true)}}}, `attribute "a" is given twice`},
		{"attribute without value", &Program{Attrs: []Attr{{Name: "a"}}}, `attribute "a" has no value`},
	} {
		err := c.p.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
	}
}

func TestWalks(t *testing.T) {
	v := &Value{Type: &Type{Kind: TupleKind, Items: []*Type{TensorOf(Bool)}}, Items: []*Value{BoolValue(true)}}
	inner := &Block{Ops: []*Op{{Type: "inner", Attrs: []Attr{{"a", v}}}}}
	p := &Program{Functions: []*Function{{Name: "f", Body: &Block{Ops: []*Op{{Type: "outer", Blocks: []*Block{inner},
		Inputs: []Arg{{Name: "i", Bindings: []Binding{{Value: BoolValue(false)}, {Name: "n"}}}}}}}}}}
	values, ops := 0, 0
	p.EachValue(func(*Value) { values++ })
	p.Functions[0].Body.EachOp(func(*Op) { ops++ })
	if values != 3 || ops != 2 {
		t.Errorf("saw %d values and %d operations, want 3 and 2", values, ops)
	}
}
