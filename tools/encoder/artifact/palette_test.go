package artifact

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// clusters is a palette of n entries with equally many values each, their means, as one that follows the values is, and
// the nearest entry of each value.
func clusters(v []float32, n int) (lut []float32, at []int) {
	sorted := slices.Sorted(slices.Values(v))
	for i := range n {
		part := sorted[i*len(sorted)/n : (i+1)*len(sorted)/n]
		sum := 0.0
		for _, x := range part {
			sum += float64(x)
		}
		lut = append(lut, ggml.Float16ToFloat32(ggml.Float32ToFloat16(float32(sum/float64(len(part))))))
	}
	for _, x := range v {
		best := 0
		for i := range lut {
			if math.Abs(float64(lut[i]-x)) < math.Abs(float64(lut[best]-x)) {
				best = i
			}
		}
		at = append(at, best)
	}
	return lut, at
}

// lutOp makes values from a palette of 1 to 8 bits.
func lutOp(out mil.Param, bits int, lut []float32, at []int) *mil.Op {
	index := map[int]mil.DType{1: mil.Uint1, 2: mil.Uint2, 3: mil.Uint3, 4: mil.Uint4, 6: mil.Uint6, 8: mil.Uint8}[bits]
	extents := append(slices.Repeat([]int64{1}, len(out.Type.Shape)), int64(len(lut)), 1)
	return &mil.Op{Type: "constexpr_lut_to_dense", Outputs: []mil.Param{out}, Inputs: inputs(
		"indices", bytesOf(index, out.Type.Shape, packed(bits, at)...), "lut", halves(extents, lut...))}
}

// Palettes of a few entries hide what a converter multiplied into a projection. The form is told by the palette all the same.
func TestScaleOfCoarsePalettes(t *testing.T) {
	const width = 32
	for seed := range uint64(2) {
		o := wide
		o.Seed = seed + 1
		b := modelBytes(t, o)
		m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for name, palette := range map[string]func([]float32, int) ([]float32, []int){"even": levels, "that follows the values": clusters} {
			for _, bits := range []int{1, 2, 3, 4} {
				for _, scale := range []float32{1, float32(math.Pow(width, -0.25)), float32(math.Pow(width, -0.5))} {
					const role = "blocks.1.attn.query.weight"
					s := &stores{t: t, m: m, left: map[string]bool{}}
					lut, at := palette(scaledBy(s.values(role), scale), 1<<bits)
					shape := s.tensor(role).Shape()
					s.add(&weight{name: "w", shape: shape, typ: mil.Float16, op: lutOp(mil.Param{Name: "w", Type: mil.TensorOf(mil.Float16, shape...)}, bits, lut, at)})
					p, err := newPairing(m, s.list, newDecompressor(&mil.Block{}, nil))
					if err != nil {
						t.Fatal(err)
					}
					if found := p.found["encoder."+role]; len(found) != 1 || found[0].form.scale != scale {
						t.Errorf("seed %d, a palette %s of %d bits, times %v: found %v", seed, name, bits, scale, found)
					}
				}
			}
		}
	}
}

// Encoders all of whose matrices have even palettes of any size are their model's, and their values are in their places.
func TestEvenPalettes(t *testing.T) {
	for _, bits := range []int{1, 2, 3, 4, 6, 8} {
		t.Run(fmt.Sprintf("%d bits", bits), func(t *testing.T) {
			dir := t.TempDir()
			model := filepath.Join(dir, "ggml-x.bin")
			good := modelBytes(t, wide)
			writeFile(t, model, good)
			writeEncoder(t, dir, "plain", good, milencoder.Float16)
			pkg := filepath.Join(dir, "palettes.mlpackage")
			palettise(t, filepath.Join(dir, "plain.mlpackage"), pkg, bits)
			r := expect(t, model, pkg, Options{ContentsOnly: true})
			if r.Pairing.Rule != "bounded" || len(r.Pairing.Places) != 20 || r.Encoder.Precision.Compression[0].Bits != bits {
				t.Errorf("%+v", r.Pairing)
			}
			// Those of another model are not.
			other := wide
			other.Seed = 9
			writeFile(t, model, modelBytes(t, other))
			bad, err := Inspect(model, pkg, Options{ContentsOnly: true})
			if err != nil || bad.Verdict != "fail" || !contains(codes(bad.Reasons), "PAIRING_ABSENT") {
				t.Errorf("another model's: %v, %v", bad.Reasons, err)
			}
		})
	}
}

// palettise writes a package whose matrices and kernels have even palettes.
func palettise(t *testing.T, from, to string, bits int) {
	t.Helper()
	a, err := bundle.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Program.Functions[0].Opset, a.Model.SpecificationVersion = "CoreML8", 9
	for i, op := range a.Program.Functions[0].Body.Ops {
		if op.Type != "const" || len(op.Outputs[0].Type.Shape) < 2 || !op.Outputs[0].Type.DType.IsFloat() || op.Outputs[0].Type.Shape[0] < 48 {
			continue
		}
		tensor, err := mil.Resolve(op.Attr("val"), a)
		if err != nil {
			t.Fatal(err)
		}
		lut, at := levels(decodeHalves(tensor.Data), 1<<bits)
		a.Program.Functions[0].Body.Ops[i] = lutOp(op.Outputs[0], bits, lut, at)
	}
	weights, err := os.ReadFile(filepath.Join(from, "Data", "com.apple.CoreML", "weights", "weight.bin"))
	if err != nil {
		t.Fatal(err)
	}
	err = bundle.WritePackage(to, a.Model, func(w io.Writer) error {
		_, err := w.Write(weights)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
