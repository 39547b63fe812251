package dataflow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// file is a weight file with one blob: mapped, or read by sections too.
type file struct {
	typ  mil.DType
	data []byte
	// ends, unless 0, is where reading by sections ends.
	ends int
}

func (f file) Blob(ref mil.BlobRef) (mil.DType, []byte, error) {
	if ref.Offset != 64 {
		return 0, nil, fmt.Errorf("no blob at %d", ref.Offset)
	}
	return f.typ, f.data, nil
}

type sectioned struct{ file }

func (f sectioned) Section(ref mil.BlobRef) (mil.DType, *io.SectionReader, error) {
	if ref.Offset != 64 {
		return 0, nil, fmt.Errorf("no blob at %d", ref.Offset)
	}
	data := f.data
	if f.ends > 0 {
		data = data[:f.ends]
	}
	return f.typ, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(f.data))), nil
}

// encoded gives values in a float type.
func encoded(typ mil.DType, v []float32) []byte {
	var b []byte
	for _, x := range v {
		if typ == mil.Float16 {
			b = binary.LittleEndian.AppendUint16(b, ggml.Float32ToFloat16(x))
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// halfValues are n values that float16 holds.
func halfValues(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i%2048-1024) / 64
	}
	return v
}

func lateReader(w mil.Weights) *reducer {
	return newReducer(&mil.Function{Body: &mil.Block{}}, w, ggml.Hyperparameters{AudioCtx: 16, AudioState: 16, AudioHead: 2, Mels: 80}, 1)
}

// A constant that is read late has the values that it has when it is read at once, from every kind of weight file and however
// its bytes lie in the pieces that are read.
func TestLate(t *testing.T) {
	for _, n := range []int{largeValues, largeValues + 1, pieceBytes/2 + 7, 3*pieceBytes/2 + 1} {
		values := halfValues(n)
		for _, typ := range []mil.DType{mil.Float16, mil.Float32} {
			data := encoded(typ, values)
			blob := mil.BlobValue(mil.TensorOf(typ, int64(n)), "weight.bin", 64)
			for name, c := range map[string]struct {
				weights mil.Weights
				value   *mil.Value
			}{
				"sections":    {sectioned{file{typ: typ, data: data}}, blob},
				"mapped":      {file{typ: typ, data: data}, blob},
				"in the text": {nil, &mil.Value{Type: mil.TensorOf(typ, int64(n)), Data: data}},
			} {
				r := lateReader(c.weights)
				if !r.large(c.value.Type) {
					t.Fatalf("%d values are not read late", n)
				}
				v, err := r.postpone(constant{typ: c.value.Type, value: c.value})
				if err != nil {
					t.Fatalf("%s, %d of %s: %v", name, n, typ, err)
				}
				if !r.Is(*v.Blob) || v.Type.DType != mil.Float32 {
					t.Errorf("%s, %d of %s: %+v is none that is read late in float32", name, n, typ, v)
				}
				into := bytes.Repeat([]byte{0xAA}, 4*n)
				if err := r.Read(*v.Blob, into); err != nil || !bytes.Equal(into, encoded(mil.Float32, values)) {
					t.Errorf("%s, %d of %s: %v, or other values", name, n, typ, err)
				}
				if d, b, err := r.Blob(*v.Blob); err != nil || d != mil.Float32 || !bytes.Equal(b, into) {
					t.Errorf("%s, %d of %s: asked for before the evaluation, %s, %v, or other values", name, n, typ, d, err)
				}
			}
		}
	}
}

// A small constant is not read late, and a compressed one is, decompressed.
func TestLateCompressed(t *testing.T) {
	const n = largeValues
	codes := make([]byte, n)
	want := make([]float32, n)
	for i := range codes {
		codes[i] = byte(i)
		want[i] = 0.5 * float32(int8(i))
	}
	op := &mil.Op{Type: "constexpr_affine_dequantize", Outputs: []mil.Param{{Name: "w", Type: mil.TensorOf(mil.Float16, n)}}, Attrs: []mil.Attr{
		{Name: "quantized_data", Value: &mil.Value{Type: mil.TensorOf(mil.Int8, n), Data: codes}},
		{Name: "scale", Value: &mil.Value{Type: mil.TensorOf(mil.Float16), Data: encoded(mil.Float16, []float32{0.5})}},
		{Name: "zero_point", Value: &mil.Value{Type: mil.TensorOf(mil.Int8), Data: []byte{0}}}, {Name: "axis", Value: mil.Int32Value(0)}}}
	r := lateReader(nil)
	v, err := r.decompressed(op)
	if err != nil {
		t.Fatal(err)
	}
	into := make([]byte, 4*n)
	if err := r.Read(*v.Blob, into); err != nil || !bytes.Equal(into, encoded(mil.Float32, want)) {
		t.Errorf("%v, or other values", err)
	}
	if r.large(mil.TensorOf(mil.Float32, largeValues-1)) || r.large(mil.TensorOf(mil.Int32, largeValues)) {
		t.Error("a small constant, or one of integers, is read late")
	}
}

// A blob that is another than its constant says is refused before the evaluation, one whose file ends early when it is read.
func TestLateRefuses(t *testing.T) {
	const n = largeValues
	data := encoded(mil.Float16, halfValues(n))
	typ := mil.TensorOf(mil.Float16, n)
	for name, c := range map[string]struct {
		weights mil.Weights
		offset  uint64
		want    string
	}{
		"another length": {sectioned{file{typ: mil.Float16, data: data[:len(data)-2]}}, 64, "expected 32768 bytes"},
		"another type":   {sectioned{file{typ: mil.Float32, data: data}}, 64, "of fp32"},
		"another place":  {sectioned{file{typ: mil.Float16, data: data}}, 128, "no blob at 128"},
	} {
		if _, err := lateReader(c.weights).postpone(constant{typ: typ, value: mil.BlobValue(typ, "weight.bin", c.offset)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
	for _, typ := range []mil.DType{mil.Float16, mil.Float32} {
		data := encoded(typ, halfValues(n))
		r := lateReader(sectioned{file{typ: typ, data: data, ends: len(data) - 1}})
		v, err := r.postpone(constant{typ: mil.TensorOf(typ, n), value: mil.BlobValue(mil.TensorOf(typ, n), "weight.bin", 64)})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Read(*v.Blob, make([]byte, 4*n)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want the end of the file", typ, err)
		}
		// What was never postponed is not read.
		other := mil.BlobRef{Path: latePath, Offset: 1}
		if r.Is(other) || r.Read(other, make([]byte, 4*n)) == nil {
			t.Errorf("%s: a constant that was not postponed was read", typ)
		}
	}
}

// written is a model whose matrices are large enough to be read late, and its encoder.
func written(t *testing.T, precision milencoder.Precision) (*ggml.Model, *bundle.Artifact) {
	t.Helper()
	var b bytes.Buffer
	if err := synthetic.Write(&b, synthetic.Options{Layers: 1, TextLayers: 1, State: 64, Heads: 2, AudioCtx: 16, TextCtx: 4, Vocab: 16}); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "e.mlpackage")
	if err := milencoder.WritePackage(dir, ggmlsource.Of(m), precision); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return m, a
}

// counted counts how often a weight file's sections are taken.
type counted struct {
	*bundle.Artifact
	taken map[uint64]int
}

func (c counted) Section(ref mil.BlobRef) (mil.DType, *io.SectionReader, error) {
	c.taken[ref.Offset]++
	return c.Artifact.Section(ref)
}

// A run that is given rows finds what one finds that is given tensors, and asks for no more than the matrices have.
func TestRunRows(t *testing.T) {
	// Biases and positions are float32 in the .bin, so that float16 rounds them.
	t.Run("float16", func(t *testing.T) { runRows(t, milencoder.Float16, 60) })
	t.Run("float32", func(t *testing.T) { runRows(t, milencoder.Float32, 110) })
}

func runRows(t *testing.T, precision milencoder.Precision, limit float64) {
	model, art := written(t, precision)
	p := art.Program.Functions[0]
	w := counted{art, map[uint64]int{}}
	whole, err := Run(t.Context(), p, w, model.Hyperparameters, of(model))
	if err != nil {
		t.Fatal(err)
	}
	if out := whole.Step("output"); out.SNR < limit || len(w.taken) == 0 {
		t.Errorf("the output agrees to %.1f dB, and %d weights were read by sections", out.SNR, len(w.taken))
	}
	asked := map[string]int{}
	rows := func(name string, shape []int, first, count int) ([]float32, error) {
		v, err := of(model)(name, shape)
		if err != nil {
			return nil, err
		}
		if first != asked[name] || first+count > shape[0] {
			return nil, fmt.Errorf("%s: %d rows from %d on, after %d of %d", name, count, first, asked[name], shape[0])
		}
		asked[name] = (first + count) % shape[0]
		columns := len(v) / shape[0]
		return v[first*columns : (first+count)*columns], nil
	}
	byRows, err := RunRows(t.Context(), p, art, model.Hyperparameters, of(model), rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) == 0 || len(byRows.Steps) != len(whole.Steps) {
		t.Fatalf("%d tensors were asked for by rows, %d steps were found, want %d", len(asked), len(byRows.Steps), len(whole.Steps))
	}
	for i, s := range byRows.Steps {
		if s.SNR != whole.Steps[i].SNR || !slices.Equal(s.want, whole.Steps[i].want) {
			t.Errorf("step %s differs by rows: %v dB, %v dB", s.Name, s.SNR, whole.Steps[i].SNR)
		}
	}
	fault := errors.New("disk")
	broken := func(name string, shape []int, first, count int) ([]float32, error) {
		if strings.Contains(name, "mlp.2") {
			return nil, fault
		}
		return rows(name, shape, first, count)
	}
	clear(asked)
	if _, err := RunRows(t.Context(), p, art, model.Hyperparameters, of(model), broken); !errors.Is(err, fault) {
		t.Errorf("%v, want the reader's error", err)
	}
}
