package artifact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// stores makes weights of a model's tensors in the forms that converters write.
type stores struct {
	t    *testing.T
	m    *ggml.Model
	list []*weight
	left map[string]bool // tensors that are in no weight yet
}

func newStores(t *testing.T) *stores {
	t.Helper()
	b := modelBytes(t, wide)
	m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	s := &stores{t: t, m: m, left: map[string]bool{}}
	for _, x := range m.Tensors {
		if name, ok := strings.CutPrefix(x.Name, "encoder."); ok {
			s.left[name] = true
		}
	}
	return s
}

func (s *stores) tensor(name string) ggml.Tensor {
	s.t.Helper()
	x, ok := s.m.Tensor("encoder." + name)
	if !ok {
		s.t.Fatalf("no tensor %s", name)
	}
	delete(s.left, name)
	return x
}

func (s *stores) values(name string) []float32 {
	s.t.Helper()
	v, err := s.m.Float32s(s.tensor(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func (s *stores) add(w *weight) { w.live = true; s.list = append(s.list, w) }

func (s *stores) float16(name string, shape []int64, v []float32) {
	s.add(&weight{name: name, shape: shape, typ: mil.Float16, value: halves(shape, v...)})
}

func (s *stores) float32(name string, shape []int64, v []float32) {
	x := &mil.Value{Type: mil.TensorOf(mil.Float32, shape...)}
	for _, f := range v {
		x.Data = binary.LittleEndian.AppendUint32(x.Data, math.Float32bits(f))
	}
	s.add(&weight{name: name, shape: shape, typ: mil.Float32, value: x})
}

// rest stores what is left as it is.
func (s *stores) rest() {
	for _, x := range s.m.Tensors {
		if name, ok := strings.CutPrefix(x.Name, "encoder."); ok && s.left[name] {
			s.float16("w."+name, x.Shape(), s.values(name))
		}
	}
}

func scaledBy(v []float32, by float32) []float32 {
	out := slices.Clone(v)
	for i := range out {
		out[i] *= by
	}
	return out
}

// everyForm stores a model in every form that docs/artifacts.md lists, each in a place of its own.
func everyForm(t *testing.T) *stores {
	s := newStores(t)
	const state, heads, width = 64, 2, 32
	// Layer 0: query, key and value fused by rows, the key with the scale of attention; out transposed; biases fused.
	scale := float32(math.Pow(width, -0.25))
	q, k, v := s.values("blocks.0.attn.query.weight"), s.values("blocks.0.attn.key.weight"), s.values("blocks.0.attn.value.weight")
	s.float16("rows", []int64{3 * state, state}, slices.Concat(q, k, v))
	s.float16("biases", []int64{2 * state}, slices.Concat(s.values("blocks.0.attn.query.bias"), s.values("blocks.0.attn.value.bias")))
	out := s.values("blocks.0.attn.out.weight")
	turned := make([]float32, len(out))
	for i, x := range out {
		turned[i%state*state+i/state] = x
	}
	s.float16("turned", []int64{state, state}, turned)
	// Layer 1: the query scaled, key and value fused by columns of the transposed, out in pieces of one head.
	s.float32("scaled", []int64{state, state}, scaledBy(s.values("blocks.1.attn.query.weight"), scale))
	s.float32("scaled.bias", []int64{state}, scaledBy(s.values("blocks.1.attn.query.bias"), scale))
	k, v = s.values("blocks.1.attn.key.weight"), s.values("blocks.1.attn.value.weight")
	var wide []float32
	for r := range state {
		wide = append(wide, k[r*state:][:state]...)
		wide = append(wide, v[r*state:][:state]...)
	}
	s.float16("columns", []int64{state, 2 * state}, wide)
	out = s.values("blocks.1.attn.out.weight")
	for h := range heads {
		var piece []float32
		for r := range state {
			piece = append(piece, out[r*state+h*width:][:width]...)
		}
		s.float16("head", []int64{state, width}, piece)
	}
	// The MLPs: a norm's gain folded in, a bias with the norm's, more bits than the .bin has, and int8 per channel.
	gain := s.values("blocks.0.mlp_ln.weight")
	folded := slices.Clone(s.values("blocks.0.mlp.0.weight"))
	plain := s.values("blocks.0.mlp.0.weight")
	shift := slices.Clone(s.values("blocks.0.mlp.0.bias"))
	beta := s.values("blocks.0.mlp_ln.bias")
	for i := range folded {
		folded[i] *= gain[i%state]
		shift[i/state] += plain[i] * beta[i%state]
	}
	s.left["blocks.0.mlp_ln.weight"], s.left["blocks.0.mlp_ln.bias"] = true, true
	s.float32("folded", []int64{4 * state, state}, folded)
	s.float32("shifted", []int64{4 * state}, shift)
	finer := slices.Clone(s.values("blocks.0.mlp.2.weight"))
	for i := range finer {
		finer[i] *= 1 + 1e-5*float32(i%7)
	}
	s.float32("finer", []int64{state, 4 * state}, finer)
	shape := []int64{4 * state, state}
	dense := s.values("blocks.1.mlp.0.weight")
	sc := scales(dense, 4*state, 127)
	codes := make([]byte, len(dense))
	for i, x := range grid(dense, sc, -127, 127) {
		codes[i] = byte(x)
	}
	s.add(&weight{name: "int8", shape: shape, typ: mil.Float16, op: &mil.Op{Type: "constexpr_affine_dequantize",
		Outputs: []mil.Param{{Name: "int8", Type: mil.TensorOf(mil.Float16, shape...)}}, Attrs: attrs(
			"quantized_data", bytesOf(mil.Int8, shape, codes...), "scale", halves([]int64{4 * state}, sc...),
			"zero_point", bytesOf(mil.Int8, []int64{}, 0), "axis", mil.Int32Value(0))}})
	// Another value in an otherwise equal tensor, and one that no weight holds.
	changed := slices.Clone(s.values("blocks.1.mlp.2.weight"))
	changed[777] += 0.125
	s.float16("changed", []int64{state, 4 * state}, changed)
	s.tensor("conv2.weight")
	s.rest()
	return s
}

// What is read by rows is what is read whole, in every form that a tensor may be stored in.
func TestRowsAreTheTensors(t *testing.T) {
	s := everyForm(t)
	p, err := newPairing(s.m, s.list, newDecompressor(&mil.Block{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Absent) != 1 || p.Absent[0] != "encoder.conv2.weight" || len(p.Differing) != 1 || len(p.Unreadable) != 0 {
		t.Fatalf("absent %v, differing %v, unreadable %v", p.Absent, p.Differing, p.Unreadable)
	}
	alone := map[string]bool{} // read by rows without the tensor whole
	for _, x := range s.m.Tensors {
		name, ok := strings.CutPrefix(x.Name, "encoder.")
		if !ok {
			continue
		}
		var shape []int
		for _, d := range x.Shape() {
			shape = append(shape, int(d))
		}
		whole, err := p.tensors(name, shape)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		near(t, name, whole, mustFloats(t, s.m, x), name == "blocks.1.mlp.2.weight")
		rows, columns := shape[0], len(whole)/shape[0]
		for _, c := range [][2]int{{0, rows}, {0, 1}, {rows - 1, 1}, {rows / 3, rows / 2}, {rows / 2, 0}} {
			got, err := p.rows()(name, shape, c[0], c[1])
			if err != nil || !slices.Equal(got, whole[c[0]*columns:(c[0]+c[1])*columns]) {
				t.Errorf("%s, %d rows from %d on: %v, or other values than the whole tensor has", name, c[1], c[0], err)
			}
		}
		part, err := p.stretch(x, 0, int64(columns))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		alone[name] = part != nil
	}
	for name, want := range map[string]bool{
		"blocks.0.attn.key.weight": true, "blocks.0.attn.value.bias": true, "blocks.0.attn.out.weight": true, "blocks.1.attn.query.weight": true,
		"blocks.1.attn.key.weight": true, "blocks.1.attn.value.weight": true, "blocks.1.attn.out.weight": false, "blocks.0.mlp.0.weight": true,
		"blocks.0.mlp.0.bias": false, "blocks.0.mlp.2.weight": true, "blocks.1.mlp.0.weight": true, "blocks.1.mlp.2.weight": true, "conv1.weight": true, "conv2.weight": true,
	} {
		if alone[name] != want {
			t.Errorf("%s is read by rows: %v, want %v", name, alone[name], want)
		}
	}
}

func mustFloats(t *testing.T, m *ggml.Model, x ggml.Tensor) []float32 {
	t.Helper()
	v, err := m.Float32s(x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// near checks that a tensor was read back as the .bin has it, within what int8 rounds; one value is other where changed.
func near(t *testing.T, name string, got, want []float32, changed bool) {
	t.Helper()
	other := 0
	for i, x := range want {
		if math.Abs(float64(got[i]-x)) > 0.01*(1+math.Abs(float64(x))) {
			other++
		}
	}
	if other != map[bool]int{false: 0, true: 1}[changed] {
		t.Errorf("%s: %d of %d values are not the tensor's", name, other, len(want))
	}
}

// cut has weight files whose sections end early.
type cut struct{ data []byte }

func (c cut) Blob(mil.BlobRef) (mil.DType, []byte, error) { return mil.Float16, c.data, nil }
func (c cut) Section(mil.BlobRef) (mil.DType, *io.SectionReader, error) {
	// Claims all of it, and has half.
	return mil.Float16, io.NewSectionReader(bytes.NewReader(c.data[:len(c.data)/2]), 0, int64(len(c.data))), nil
}

// A weight file that ends within what is read is an error, and no zeros.
func TestRowsOfACutWeight(t *testing.T) {
	s := newStores(t)
	x := s.tensor("blocks.0.mlp.2.weight")
	data := halves(x.Shape(), mustFloats(t, s.m, x)...).Data
	w := &weight{name: "cut", shape: x.Shape(), typ: mil.Float16, live: true, value: mil.BlobValue(mil.TensorOf(mil.Float16, x.Shape()...), "weight.bin", 64)}
	p := &pairing{model: s.m, d: newDecompressor(&mil.Block{}, cut{data}), found: map[string][]match{}}
	// Fused with something, so that the .bin's own values do not stand in for it.
	view := &view{w: w, cols: x.Shape()[1], row: x.Shape()[1], col: 1, n: x.Elements()}
	p.found[x.Name] = []match{{target: &target{name: x.Name, typ: x.Type, shape: x.Shape()}, view: view, form: &form{scale: 1}, count: 1}}
	shape := []int{int(x.Shape()[0]), int(x.Shape()[1])}
	if v, err := p.rows()("blocks.0.mlp.2.weight", shape, 0, 1); err != nil || len(v) != shape[1] {
		t.Errorf("before the cut: %d values, %v", len(v), err)
	}
	for _, c := range [][2]int{{shape[0]/2 - 1, 2}, {shape[0] - 1, 1}} {
		if _, err := p.rows()("blocks.0.mlp.2.weight", shape, c[0], c[1]); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d rows from %d on: %v, want the end of the file", c[1], c[0], err)
		}
	}
}

// A tensor that the model lacks is named.
func TestRowsOfNoTensor(t *testing.T) {
	s := newStores(t)
	p := &pairing{model: s.m, found: map[string][]match{}}
	if _, err := p.rows()("blocks.9.mlp.2.weight", []int{4, 4}, 0, 1); err == nil || !strings.Contains(err.Error(), "blocks.9.mlp.2.weight") {
		t.Errorf("%v, want an error that names the tensor", err)
	}
}
