package text

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/realtest"
)

func format(t testing.TB, p *mil.Program) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What Apple's compilers wrote comes back byte for byte, but for the line
// feed at the end, which only some versions write.
func TestRealProgramsRoundTrip(t *testing.T) {
	for name, src := range realtest.Programs(t) {
		t.Run(name, func(t *testing.T) {
			p, err := Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSuffix(src, "\n"), format(t, p)); diff != "" {
				t.Errorf("printed text differs (-read +printed):\n%s", diff)
			}
		})
	}
}

// one wraps operations into a program.
func one(version, ops, outs string) string {
	return "program(" + version + ")\n{ func main<ios15>(tensor<fp32, [2]> x) { " + ops + " } -> (" + outs + "); }"
}

func TestConstants(t *testing.T) {
	for _, c := range []struct {
		typ, lit string
		want     *mil.Value
	}{
		{"int32", "-7", mil.Int32Value(-7)},
		{"tensor<int32, []>", "0x10", mil.Int32Value(16)},
		{"tensor<int32, [3]>", "[1, -2, 2147483647]", mil.Int32sValue(1, -2, math.MaxInt32)},
		{"tensor<int32, [0]>", "[]", mil.Int32sValue()},
		{"tensor<int32, [0, 3]>", "[]", &mil.Value{Type: mil.TensorOf(mil.Int32, 0, 3)}},
		{"tensor<int32, [2, 0]>", "[[], []]", &mil.Value{Type: mil.TensorOf(mil.Int32, 2, 0)}},
		{"bool", "true", mil.BoolValue(true)},
		{"string", `"a\"b\\c\n\x7f"`, mil.StringValue("a\"b\\c\n\x7f")},
		{"tensor<string, [2]>", `["", "b"]`, &mil.Value{Type: mil.TensorOf(mil.String, 2), Strings: []string{"", "b"}}},
		{"fp16", "0x1.5p-17", &mil.Value{Type: mil.TensorOf(mil.Float16), Data: []byte{0xa8, 0}}},
		{"fp16", "-0x0p+0", &mil.Value{Type: mil.TensorOf(mil.Float16), Data: []byte{0, 0x80}}},
		{"fp16", "inf", &mil.Value{Type: mil.TensorOf(mil.Float16), Data: []byte{0, 0x7c}}},
		{"fp16", "-inf", &mil.Value{Type: mil.TensorOf(mil.Float16), Data: []byte{0, 0xfc}}},
		{"fp16", "nan", &mil.Value{Type: mil.TensorOf(mil.Float16), Data: []byte{0, 0x7e}}},
		{"fp32", "0.1", &mil.Value{Type: mil.TensorOf(mil.Float32), Data: []byte{0xcd, 0xcc, 0xcc, 0x3d}}},
		{"fp32", "1e-45", &mil.Value{Type: mil.TensorOf(mil.Float32), Data: []byte{1, 0, 0, 0}}},
		{"fp64", "1", &mil.Value{Type: mil.TensorOf(mil.Float64), Data: []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}}},
		{"int8", "-128", &mil.Value{Type: mil.TensorOf(mil.Int8), Data: []byte{0x80}}},
		{"uint16", "65535", &mil.Value{Type: mil.TensorOf(mil.Uint16), Data: []byte{0xff, 0xff}}},
		{"uint64", "18446744073709551615", &mil.Value{Type: mil.TensorOf(mil.Uint64), Data: bytes.Repeat([]byte{0xff}, 8)}},
		{"tensor<uint4, [3]>", "[1, 2, 15]", &mil.Value{Type: mil.TensorOf(mil.Uint4, 3), Data: []byte{0x21, 0x0f}}},
		{"tensor<int4, [2]>", "[-8, 7]", &mil.Value{Type: mil.TensorOf(mil.Int4, 2), Data: []byte{0x78}}},
		{"tensor<uint3, [3]>", "[7, 0, 5]", &mil.Value{Type: mil.TensorOf(mil.Uint3, 3), Data: []byte{0x47, 0x01}}},
		{"tensor<fp32, [1]>", `BLOBFILE(path = string("@model_path/w"), offset = uint64(64))`,
			mil.BlobValue(mil.TensorOf(mil.Float32, 1), "@model_path/w", 64)},
	} {
		t.Run(c.typ+" "+c.lit, func(t *testing.T) {
			p, err := Parse(one("1.3", c.typ+" c = const()[val = "+c.typ+"("+c.lit+")];", "c"))
			if err != nil {
				t.Fatal(err)
			}
			got := p.Functions[0].Body.Ops[0].Attr("val")
			if !got.Equal(c.want) {
				t.Fatalf("want %+v, got %+v", c.want, got)
			}
			for minor, version := range map[int]string{0: "1.0", 3: "1.3"} {
				p.Minor = minor
				again, err := Parse(format(t, p))
				if err != nil {
					t.Fatalf("program %s does not read back: %v", version, err)
				}
				if diff := cmp.Diff(p, again, ignoreLines); diff != "" {
					t.Errorf("program %s differs after reading back:\n%s", version, diff)
				}
			}
		})
	}
}

var ignoreLines = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Line" }, cmp.Ignore())

func TestForms(t *testing.T) {
	for name, ops := range map[string]string{
		"several outputs":  "tensor<fp32, [1]> a, tensor<fp32, [1]> b = split(x = x);",
		"no output":        "write_state(data = x);",
		"variadic":         "tensor<fp32, [4]> a = concat(values = (x, x));",
		"inline constants": "tensor<fp32, [2]> a = gelu(mode = string(\"EXACT\"), x = x);",
		"mixed variadic":   "tensor<fp32, [4]> a = f(v = (x, int32(3)));",
		"state":            "tensor<fp32, [2]> a = read_state(input = x);",
		"comment":          "// nothing\n tensor<fp32, [2]> a = relu(x = x);",
		"list":             "list<tensor<int32, [2]>, ?> a = f()[v = list<tensor<int32, [2]>, ?>([[1, 2], [3, 4]])];",
		"dotted operation": "tensor<fp32, [2]> a = ios16.relu(x = x);",
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse(one("1.3", ops, "x"))
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(format(t, p))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p, again, ignoreLines); diff != "" {
				t.Errorf("differs after reading back:\n%s", diff)
			}
		})
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", `line 1 column 1: expected "program", found end of file`},
		{"program(2.0)", `line 1 column 9: program version: expected 1.0 or 1.3, found "2.0"`},
		{"program(1.0)\n{ func", "line 2 column 7: expected a function name"},
		{one("1.3", "tensor<fp99, [1]> a = relu(x = x);", "a"), `line 2 column 50: unknown element type "fp99"`},
		{one("1.3", "tensor<fp32, [-1]> a = relu(x = x);", "a"), "dimension: expected a whole number from 0"},
		{one("1.3", "int8 a = const()[val = int8(128)];", "a"), "expected a whole number that fits int8"},
		{one("1.3", "uint8 a = const()[val = uint8(-1)];", "a"), "expected a whole number that fits uint8"},
		{one("1.3", "bool a = const()[val = bool(1)];", "a"), "expected true or false"},
		{one("1.3", "fp32 a = const()[val = fp32(\"1\")];", "a"), "expected a number of type fp32"},
		{one("1.3", "fp32 a = const()[val = fp32(1e999)];", "a"), "expected a number of type fp32"},
		{one("1.3", "tensor<fp32, [2]> a = const()[val = tensor<fp32, [2]>([1])];", "a"), "dimension 0 has 1 elements"},
		{one("1.3", "tensor<fp32, [2, 2]> a = const()[val = tensor<fp32, [2, 2]>([[1], [1, 2]])];", "a"), "rows of 1 and of 2 elements"},
		{one("1.3", "tensor<fp32, [?]> a = const()[val = tensor<fp32, [?]>([1])];", "a"), "needs a fixed shape"},
		{one("1.3", "bf16 a = const()[val = bf16(1)];", "a"), "a literal of type bf16 is not known"},
		{one("1.3", `string a = const()[val = string("a`+"\n"+`")];`, "a"), "string is not closed on its line"},
		{one("1.3", `string a = const()[val = string("\q")];`, "a"), `unknown escape \q`},
		{one("1.3", "tensor<fp32, [2]> a = relu(x = y);", "a"), `refers to "y", which is not defined before it`},
		{one("1.3", "tensor<fp32, [2]> x = relu(x = x);", "x"), `output "x" is defined twice`},
		{one("1.3", "tensor<fp32, [2]> a = relu(x = x, x = x);", "a"), `argument "x" is given twice`},
		{one("1.3", "", "nothing"), `output "nothing" is not defined`},
		{one("1.3", "tensor<fp32, [2]> a = cond(pred = x) { } -> ();", "a"), "nested blocks (control flow)"},
		{one("1.3", "fp32 a = const()[val = fp32(BLOBFILE(path = string(\"p\")))];", "a"), "BLOBFILE: expected path"},
		{one("1.3", "fp32 a = const()[val = fp32(BLOBFILE(path = string(\"p\"), offset = int64(-1)))];", "a"), "BLOBFILE: expected path"},
		{one("1.3", "", "x") + " x", "expected the end of the file"},
		{one("1.3", "tensor<fp32, [1]> é = relu(x = x);", "x"), "unexpected character"},
		{"program(1.0)[a = " + strings.Repeat("list<", 100), "nest deeper than 64"},
	} {
		_, err := Parse(c.src)
		if err == nil {
			t.Errorf("%q was read", c.src)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\nwant %s\ngot  %s", c.src, c.want, err)
		}
	}
	var e *Error
	if _, err := Parse("program(1.0)\n  oops"); !errors.As(err, &e) || e.Line != 2 || e.Col != 3 {
		t.Errorf("want an *Error at 2:3, got %v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, change := range map[string]func(*mil.Program){
		"version":        func(p *mil.Program) { p.Minor = 1 },
		"nested blocks":  func(p *mil.Program) { p.Functions[0].Body.Ops[0].Blocks = []*mil.Block{{}} },
		"other opsets":   func(p *mil.Program) { p.Functions[0].Others = []mil.Specialization{{Opset: "ios16"}} },
		"no body":        func(p *mil.Program) { p.Functions[0].Body = nil },
		"short constant": func(p *mil.Program) { p.Functions[0].Body.Ops[0].Attr("val").Data = nil },
		"too many strings": func(p *mil.Program) {
			v := p.Functions[0].Body.Ops[0].Attr("val")
			v.Type, v.Strings = mil.TensorOf(mil.String), []string{"a", "b"}
		},
	} {
		p, err := Parse(one("1.0", "int32 a = const()[val = int32(1)];", "a"))
		if err != nil {
			t.Fatal(err)
		}
		change(p)
		if err := Write(&bytes.Buffer{}, p); err == nil {
			t.Errorf("%s: was written", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range realtest.Programs(f) {
		if len(src) < 4000 { // the large one only slows mutation down
			f.Add(src)
		}
	}
	f.Add(one("1.3", "tensor<uint3, [3]> a = const()[val = tensor<uint3, [3]>([7, 0, 5])]; f(v = (a, int32(3)));", "a"))
	f.Add(one("1.0", `tensor<string, [2]> a = const()[val = tensor<string, [2]>(["\x00", "b"])];`, "a"))
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Parse(src)
		if err != nil {
			return
		}
		first := format(t, p)
		again, err := Parse(first)
		if err != nil {
			t.Fatalf("printed text does not read back: %v\n%s", err, first)
		}
		if second := format(t, again); second != first {
			t.Fatalf("printing is not stable:\n%s\n%s", first, second)
		}
	})
}
