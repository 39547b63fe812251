package spec

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/realtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

var loose = cmp.Options{
	cmpopts.EquateEmpty(), cmp.AllowUnexported(Feature{}),
	cmpopts.IgnoreFields(mil.Op{}, "Line"), cmpopts.IgnoreFields(mil.Function{}, "Line"),
	cmpopts.IgnoreFields(mil.Program{}, "Minor"), // the protobuf has none
	cmpopts.SortSlices(func(a, b mil.Arg) bool { return a.Name < b.Name }),
	cmpopts.SortSlices(func(a, b mil.Attr) bool { return a.Name < b.Name }),
	cmpopts.SortSlices(func(a, b *mil.Function) bool { return a.Name < b.Name }),
}

// The text of real programs survives a trip through the protobuf form.
func TestProgramsRoundTrip(t *testing.T) {
	for name, src := range realtest.Programs(t) {
		t.Run(name, func(t *testing.T) {
			want, err := text.Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			b, err := EncodeProgram(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeProgram(b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, loose); diff != "" {
				t.Errorf("differs (-text +protobuf):\n%s", diff)
			}
			again, err := EncodeProgram(got)
			if err != nil || !bytes.Equal(b, again) {
				t.Errorf("encoding again gives other bytes (%v)", err)
			}
		})
	}
}

// everything holds each kind of type and constant.
func everything() *mil.Program {
	str := mil.TensorOf(mil.String)
	vals := []*mil.Value{
		mil.Int32Value(-3), mil.Int32sValue(), mil.BoolValue(true), mil.StringValue("\xff not UTF-8"),
		{Type: mil.TensorOf(mil.Float16, 2), Data: []byte{1, 2, 3, 4}},
		{Type: mil.TensorOf(mil.Float32, 1), Data: []byte{1, 2, 3, 4}},
		{Type: mil.TensorOf(mil.Float64), Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{Type: mil.TensorOf(mil.Int8), Data: []byte{0x80}},
		{Type: mil.TensorOf(mil.Int16), Data: []byte{0xff, 0xff}},
		{Type: mil.TensorOf(mil.Uint16), Data: []byte{0xff, 0xff}},
		{Type: mil.TensorOf(mil.Uint32), Data: []byte{0xff, 0xff, 0xff, 0xff}},
		{Type: mil.TensorOf(mil.Int64), Data: bytes.Repeat([]byte{0xff}, 8)},
		{Type: mil.TensorOf(mil.Uint64), Data: bytes.Repeat([]byte{0xff}, 8)},
		{Type: mil.TensorOf(mil.Uint4, 3), Data: []byte{0x21, 0x0f}},
		mil.BlobValue(mil.TensorOf(mil.Float16, 4, 4), "@model_path/weights/weight.bin", 64),
		{Type: &mil.Type{Kind: mil.ListKind, Elem: str, Length: 1}, Items: []*mil.Value{mil.StringValue("a")}},
		{Type: &mil.Type{Kind: mil.TupleKind, Items: []*mil.Type{str, mil.TensorOf(mil.Int32)}},
			Items: []*mil.Value{mil.StringValue("a"), mil.Int32Value(1)}},
		{Type: &mil.Type{Kind: mil.DictKind, Key: str, Val: str},
			Pairs: []mil.Pair{{Key: mil.StringValue("k"), Val: mil.StringValue("v")}}, Doc: "doc"},
	}
	blk := &mil.Block{Outputs: []string{"x"}, Attrs: []mil.Attr{{Name: "b", Value: mil.Int32Value(1)}}}
	for i, v := range vals {
		name := "v" + string(rune('a'+i))
		blk.Ops = append(blk.Ops, &mil.Op{Type: "const", Outputs: []mil.Param{{Name: name, Type: v.Type}},
			Attrs: []mil.Attr{{Name: "val", Value: v}}})
	}
	blk.Ops = append(blk.Ops, &mil.Op{Type: "cond",
		Inputs: []mil.Arg{
			{Name: "many", Variadic: true, Bindings: []mil.Binding{{Name: "x"}, {Value: mil.Int32Value(2)}}},
			{Name: "pred", Bindings: []mil.Binding{{Name: "vc"}}},
		},
		Blocks: []*mil.Block{{Inputs: []mil.Param{{Name: "inner", Type: str}}, Outputs: []string{"inner"}}},
	})
	return &mil.Program{Major: 1, Doc: "about", Functions: []*mil.Function{{
		Name: "main", Opset: "CoreML8", Body: blk, Others: []mil.Specialization{{Opset: "CoreML7", Body: &mil.Block{}}},
		Params: []mil.Param{
			{Name: "x", Type: mil.TensorOf(mil.Float32, 1, mil.Unknown)},
			{Name: "any", Type: &mil.Type{DType: mil.Float16, VariableRank: true}},
			{Name: "cache", Type: &mil.Type{Kind: mil.StateKind, Elem: mil.TensorOf(mil.Float16, 4)}},
			{Name: "list", Type: &mil.Type{Kind: mil.ListKind, Elem: str, Length: mil.Unknown}},
		},
	}}}
}

func model() *Model {
	d := &Description{DefaultFunction: "main", Metadata: Metadata{
		Doc: "d", Version: "1", Author: "a", License: "l", User: map[string]string{"k": "v", "j": ""}}}
	array := func(name string, a Array) Feature { return Feature{Name: name, Kind: MultiArrayFeature, Array: &a} }
	d.Inputs = []Feature{
		array("fixed", Array{Shape: []int64{1, 80, 3000}, DType: ArrayFloat32}),
		array("enumerated", Array{Shape: []int64{1}, DType: ArrayInt32, Enumerated: [][]int64{{1}, {2}}}),
		array("ranged", Array{DType: ArrayFloat16, Ranges: []Range{{1, 4}, {0, -1}}}),
		{Name: "image", Kind: ImageFeature, raw: []byte{8, 1, 16, 1}},
		{Name: "maybe", Kind: StringFeature, Optional: true},
	}
	d.Outputs = []Feature{array("out", Array{DType: ArrayDouble})}
	d.States = []Feature{{Name: "s", Kind: StateFeature, Array: &Array{Shape: []int64{2}, DType: ArrayFloat16}}}
	d.Functions = []Function{{Name: "main", Inputs: d.Inputs[:1], Outputs: d.Outputs, States: d.States, PredictedFeature: "p"}}
	return &Model{SpecificationVersion: 9, Description: d, Kind: MLProgram, Program: everything()}
}

func TestModelRoundTrip(t *testing.T) {
	want := model()
	b, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, loose); diff != "" {
		t.Errorf("differs (-written +read):\n%s", diff)
	}
}

// msg builds a message of one length-delimited field.
func msg(num protowire.Number, parts ...[]byte) []byte {
	return appendMessage(nil, num, bytes.Join(parts, nil))
}

func version(v int64) []byte { return appendInt(nil, 1, v) }

func TestOtherKinds(t *testing.T) {
	desc := msg(2)
	layer := msg(1, appendString(nil, 1, "layer"))
	for _, c := range []struct {
		name   string
		b      []byte
		kind   Kind
		layers int
		models int
	}{
		{"neural network", bytes.Join([][]byte{version(4), desc, msg(500, layer, layer)}, nil), NeuralNetwork, 2, 0},
		{"classifier network", bytes.Join([][]byte{version(4), desc, msg(403, layer)}, nil), NeuralNetworkClassifier, 1, 0},
		{"pipeline", bytes.Join([][]byte{version(6), desc,
			msg(202, msg(1, version(4), desc, msg(500, layer)), msg(1, version(4), desc, msg(900)))}, nil), Pipeline, 0, 2},
		{"pipeline classifier", bytes.Join([][]byte{version(6), desc,
			msg(200, msg(1, msg(1, version(4), desc, msg(900))))}, nil), PipelineClassifier, 0, 1},
		{"text classifier", bytes.Join([][]byte{version(3), desc, msg(2000)}, nil), 2000, 0, 0},
	} {
		m, err := Read(bytes.NewReader(c.b), int64(len(c.b)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Kind != c.kind || m.Layers != c.layers || len(m.Models) != c.models {
			t.Errorf("%s: got %s with %d layers and %d models", c.name, m.Kind, m.Layers, len(m.Models))
		}
	}
}

func TestUnknownFieldsAreNamed(t *testing.T) {
	b := bytes.Join([][]byte{version(6), msg(2, msg(77)), msg(900), appendInt(nil, 9, 1)}, nil)
	m, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ModelDescription.77", "Model.9"}, m.Unknown); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	good := func(parts ...[]byte) []byte { return bytes.Join(append([][]byte{version(6), msg(2)}, parts...), nil) }
	fn := func(body []byte) []byte {
		return good(msg(502, appendInt(nil, 1, 1), appendEntry(nil, 2, "main",
			bytes.Join([][]byte{appendString(nil, 2, "CoreML5"), appendEntry(nil, 3, "CoreML5", body)}, nil))))
	}
	constant := func(value ...[]byte) []byte {
		return fn(msg(3, appendString(nil, 1, "const"), appendEntry(nil, 5, "val", bytes.Join(value, nil))))
	}
	typ := func(parts ...[]byte) []byte { return msg(2, msg(1, parts...)) }
	deep := []byte{}
	for range 200 {
		deep = msg(5, msg(1, deep))
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "not a Core ML model"},
		{"no type", good(), "not a Core ML model"},
		{"two types", good(msg(900), msg(500)), "two model types, identity and neuralNetwork"},
		{"two descriptions", bytes.Join([][]byte{version(6), msg(2), msg(2)}, nil), "two descriptions"},
		{"cut short", good(msg(502, make([]byte, 100)))[:40], "cut short: 100 bytes announced"},
		{"group", good([]byte{0x0b}), "wire type 3 is not used"},
		{"damaged tag", good([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), "damaged tag"},
		{"negative version", bytes.Join([][]byte{version(-1), msg(2), msg(900)}, nil), "specification version -1"},
		{"function without body", good(msg(502, appendEntry(nil, 2, "main", nil))), "no body for its opset"},
		{"dimension count", constant(typ(appendInt(nil, 1, 11), appendInt(nil, 2, 2)), msg(3, msg(1, msg(1)))), "rank 2 with 0 dimensions"},
		{"element type", constant(typ(appendInt(nil, 1, 99))), "unknown element type 99"},
		{"no element type", constant(typ()), "without element type"},
		{"no constant type", constant(msg(3, msg(1))), "without a type"},
		{"no value", constant(typ(appendInt(nil, 1, 11))), "0 values: expected an immediate or a blob"},
		{"wrong member", constant(typ(appendInt(nil, 1, 11)), msg(3, msg(1, msg(2, msg(1, []byte{1}))))), "with elements in field 2"},
		{"wrong count", constant(typ(appendInt(nil, 1, 11)), msg(3, msg(1, msg(1, msg(1, make([]byte, 8)))))), "expected 4 bytes, found 8"},
		{"too large for int16", constant(typ(appendInt(nil, 1, 22)), msg(3, msg(1, msg(2, appendInt(nil, 1, 40000))))), "40000 does not fit"},
		{"blob of strings", constant(typ(appendInt(nil, 1, 2)), msg(5, appendString(nil, 1, "p"))), "strings cannot live in a weight file"},
		{"deep", fn(msg(1, appendString(nil, 1, "x"), msg(2, deep))), "nest deeper than 64"},
		{"not UTF-8", fn(msg(2, []byte{0xff})), "not UTF-8"},
		{"undefined output", fn(msg(2, []byte("x"))), `output "x" is not defined`},
		{"huge dimension", fn(msg(1, appendString(nil, 1, "x"), typ(appendInt(nil, 1, 11), appendInt(nil, 2, 1),
			msg(3, msg(1, appendInt(nil, 1, -1)))))), "above the signed 64-bit range"},
	} {
		_, err := Read(bytes.NewReader(c.b), int64(len(c.b)))
		if err == nil {
			t.Errorf("%s: was read", c.name)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\nwant %s\ngot  %s", c.name, c.want, err)
		}
	}
}

func TestLFSPointer(t *testing.T) {
	b := "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
	if _, err := Read(strings.NewReader(b), int64(len(b))); !errors.Is(err, mil.ErrLFSPointer) {
		t.Errorf("want ErrLFSPointer, got %v", err)
	}
}

// A network's weights are stepped over: a terabyte of them costs nothing.
func TestHugeNetworkIsNotLoaded(t *testing.T) {
	const huge = 1 << 40
	layers := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.BytesType), huge)
	head := append(version(4), msg(2)...)
	head = protowire.AppendTag(head, 500, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(layers))+huge)
	head = append(head, layers...)
	m, err := Read(zerosAfter(head), int64(len(head))+huge)
	if err != nil {
		t.Fatal(err)
	}
	if m.Layers != 1 {
		t.Errorf("want 1 layer, got %d", m.Layers)
	}
}

type zerosAfter []byte

func (z zerosAfter) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(z)) {
		copy(p, z[off:])
	}
	return len(p), nil
}

func FuzzRead(f *testing.F) {
	b, err := model().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(realtest.Text(f, "sample.mlpackage/Data/com.apple.CoreML/sample.mlmodel")))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil || m.Kind != MLProgram {
			return
		}
		first, err := m.Encode()
		if err != nil {
			return // features without type, default values
		}
		again, err := Read(bytes.NewReader(first), int64(len(first)))
		if err != nil {
			t.Fatalf("what was written does not read back: %v", err)
		}
		second, err := again.Encode()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("encoding is not stable (%v)", err)
		}
	})
}
