package encoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/realtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// fake is a source whose tensor elements are a function of name and index.
type fake struct {
	dims   Dims
	shapes map[string][]int64
	value  func(name string, i int64) float32
}

func newFake(d Dims) *fake {
	f := &fake{dims: d, shapes: map[string][]int64{}}
	s := d.State
	f.shapes["encoder.conv1.weight"] = []int64{s, d.Mels, 3}
	f.shapes["encoder.conv1.bias"] = []int64{s, 1}
	f.shapes["encoder.conv2.weight"] = []int64{s, s, 3}
	f.shapes["encoder.conv2.bias"] = []int64{s, 1}
	f.shapes["encoder.positional_embedding"] = []int64{d.AudioCtx, s}
	pair := func(name string, weight ...int64) {
		f.shapes[name+".weight"], f.shapes[name+".bias"] = weight, weight[:1]
	}
	pair("encoder.ln_post", s)
	for i := range d.Layers {
		b := fmt.Sprintf("encoder.blocks.%d.", i)
		pair(b+"attn_ln", s)
		pair(b+"mlp_ln", s)
		for _, n := range []string{"query", "value", "out"} {
			pair(b+"attn."+n, s, s)
		}
		f.shapes[b+"attn.key.weight"] = []int64{s, s}
		pair(b+"mlp.0", 4*s, s)
		pair(b+"mlp.2", s, 4*s)
	}
	// Not exact in float16, so that rounding shows.
	f.value = func(name string, i int64) float32 { return float32(len(name)) + float32(i)/1e4 }
	return f
}

func (f *fake) Dims() Dims { return f.dims }

func (f *fake) Shape(name string) ([]int64, error) {
	s, ok := f.shapes[name]
	if !ok {
		return nil, fmt.Errorf("no tensor %s", name)
	}
	return s, nil
}

func (f *fake) Values(name string, visit func([]float32) error) error {
	const piece = 7
	n := elements(f.shapes[name])
	for at := int64(0); at < n; at += piece {
		var v []float32
		for i := at; i < min(at+piece, n); i++ {
			v = append(v, f.value(name, i))
		}
		if err := visit(v); err != nil {
			return err
		}
	}
	return nil
}

var (
	tiny     = Dims{Mels: 80, AudioCtx: 1500, State: 384, Heads: 6, Layers: 4}
	smallish = Dims{Mels: 4, AudioCtx: 3, State: 8, Heads: 2, Layers: 2}
)

// shapeOf is what an operation is, without the names of values.
type shapeOf struct {
	Kind, Args string
	Outputs    []string
	Const      string
}

func skeleton(p *mil.Program) []shapeOf {
	var out []shapeOf
	for _, op := range p.Functions[0].Body.Ops {
		s := shapeOf{Kind: op.Type}
		for _, a := range op.Inputs {
			s.Args += a.Name + " "
		}
		for _, o := range op.Outputs {
			s.Outputs = append(s.Outputs, o.Type.String())
		}
		if v := op.Attr("val"); v != nil {
			s.Const = fmt.Sprint(v.Data, v.Strings)
			if v.Blob != nil {
				s.Const = fmt.Sprint(*v.Blob)
			}
		}
		out = append(out, s)
	}
	return out
}

// The float16 encoder of tiny is the real one, operation for operation:
// kinds, arguments, types, constants, blob offsets, all in order.
func TestTinyFloat16IsTheRealOne(t *testing.T) {
	want, err := text.Parse(realtest.Text(t, "tiny_encoder.mlmodelc/model.mil"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModel(tiny, Float16)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(skeleton(want), skeleton(m.model.Program)); diff != "" {
		t.Errorf("differs from the real encoder (-real +ours):\n%s", diff)
	}
	if len(m.tensors) != 71 || m.layout.Size() != 16_424_448 {
		t.Errorf("want 71 blobs in 16424448 bytes, got %d in %d", len(m.tensors), m.layout.Size())
	}
}

func write(t *testing.T, src Source, p Precision) *bundle.Artifact {
	t.Helper()
	dest := filepath.Join(t.TempDir(), "e.mlpackage")
	if err := WritePackage(dest, src, p); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(dest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	return a
}

// Every weight arrives where it belongs, exactly in float32 and rounded once
// in float16; the biases of keys are zeros.
func TestWeights(t *testing.T) {
	src := newFake(smallish)
	for _, p := range []Precision{Float32, Float16} {
		a := write(t, src, p)
		seen := map[string]bool{}
		for _, op := range a.Program.Functions[0].Body.Ops {
			v := op.Attr("val")
			if v == nil || v.Blob == nil {
				continue
			}
			got, err := mil.Resolve(v, a)
			if err != nil {
				t.Fatal(err)
			}
			source := sourceName(op.Name())
			seen[source] = true
			for i := range elements(got.Shape) {
				want := float32(0)
				if _, ok := src.shapes[source]; ok {
					want = src.value(source, i)
				} else if !strings.HasSuffix(source, "attn.key.bias") {
					t.Fatalf("%s is not a tensor of the model", source)
				}
				x := element(got, i)
				if p == Float16 {
					want = half.ToFloat32(half.FromFloat32(want))
				}
				if x != want {
					t.Fatalf("%s %s[%d]: want %v, got %v", p, source, i, want, x)
				}
			}
		}
		for name := range src.shapes {
			if !seen[name] {
				t.Errorf("%s: %s was not written", p, name)
			}
		}
	}
}

func element(t mil.Tensor, i int64) float32 {
	if t.DType == mil.Float16 {
		return half.ToFloat32(binary.LittleEndian.Uint16(t.Data[2*i:]))
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
}

// sourceName undoes the naming of constants.
func sourceName(op string) string {
	s := strings.TrimSuffix(op, "_to_fp16")
	for _, part := range []string{"_weight", "_bias"} {
		if strings.HasSuffix(s, part) {
			s = strings.TrimSuffix(s, part) + "." + part[1:]
		}
	}
	for _, part := range []string{"blocks_", "attn_ln", "mlp_ln", "attn_", "mlp_"} {
		s = strings.ReplaceAll(s, "_"+part, "."+part)
	}
	s = strings.Replace(s, "blocks_", "blocks.", 1)
	s = strings.ReplaceAll(s, ".attn_ln", ".attn-ln")
	s = strings.ReplaceAll(s, ".attn_", ".attn.")
	s = strings.ReplaceAll(s, ".mlp_0", ".mlp.0")
	s = strings.ReplaceAll(s, ".mlp_2", ".mlp.2")
	return "encoder." + strings.ReplaceAll(s, "attn-ln", "attn_ln")
}

func TestInterface(t *testing.T) {
	for _, p := range []Precision{Float32, Float16} {
		a := write(t, newFake(smallish), p)
		in, out := a.Description.Inputs[0], a.Description.Outputs[0]
		if in.Name != "logmel_data" || out.Name != "output" || in.Array.DType.String() != "Float32" || out.Array.DType.String() != "Float32" {
			t.Errorf("%s: interface is %+v to %+v", p, in, out)
		}
		if diff := cmp.Diff([][]int64{{1, 4, 6}, {1, 3, 8}}, [][]int64{in.Array.Shape, out.Array.Shape}); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
		ops := a.Program.Functions[0].Body.Ops
		last := ops[len(ops)-1].Outputs[0]
		if last.Name != "output" || !last.Type.Equal(mil.TensorOf(mil.Float32, 1, 3, 8)) {
			t.Errorf("%s: the program ends in %s %s", p, last.Type, last.Name)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fake)
		p      Precision
		want   string
	}{
		"precision":      {func(*fake) {}, "int8", "expected float32 or float16"},
		"heads":          {func(f *fake) { f.dims.Heads = 3 }, Float32, "not a multiple of its 3 heads"},
		"no layers":      {func(f *fake) { f.dims.Layers = 0 }, Float32, "expected each from 1"},
		"missing tensor": {func(f *fake) { delete(f.shapes, "encoder.blocks.1.mlp.0.bias") }, Float32, "no tensor encoder.blocks.1.mlp.0.bias"},
		"shape": {func(f *fake) { f.shapes["encoder.ln_post.weight"] = []int64{9} }, Float32,
			"encoder.ln_post.weight: expected shape [8], found [9]"},
		"transposed": {func(f *fake) { f.shapes["encoder.blocks.0.mlp.0.weight"] = []int64{8, 32} }, Float32, "expected shape [32 8], found [8 32]"},
		"overflow":   {func(f *fake) { f.value = func(string, int64) float32 { return 7e4 } }, Float16, "70000 does not fit float16"},
	} {
		src := newFake(smallish)
		c.change(src)
		dest := filepath.Join(t.TempDir(), "e.mlpackage")
		err := WritePackage(dest, src, c.p)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", name, c.want, err)
		}
		if entries, _ := os.ReadDir(filepath.Dir(dest)); len(entries) > 0 {
			t.Errorf("%s: left %v", name, entries)
		}
	}
}
