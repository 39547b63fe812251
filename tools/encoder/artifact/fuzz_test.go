package artifact

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// Whatever a program says, inspecting it ends without a panic and without a
// pass: these artifacts have no weights.
func FuzzInspectProgram(f *testing.F) {
	dir := f.TempDir()
	model := filepath.Join(dir, "ggml-x.bin")
	o := wide
	o.Layers, o.State, o.Heads, o.AudioCtx = 1, 8, 1, 4
	writeFile(f, model, modelBytes(f, o))
	for _, name := range []string{"coremltools-add_model.mlmodelc/model.mil", "fluidaudio-transpose-encoder.mlmodelc/model.mil",
		"mlmodelc-export-snippets/quantized-constexpr.model.mil", "mlmodelc-export-snippets/flexible-multifunction.model.mil"} {
		if b, err := os.ReadFile(filepath.Join("../../../testdata/coreml-artifacts", name)); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte(`program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 80, 8]> logmel_data) {
            tensor<fp16, [8]> w = constexpr_lut_to_dense(indices = tensor<uint4, [8]>([0, 1, 2, 3, 4, 5, 6, 7]), lut = tensor<fp16, [1, 16, 1]>([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));
            tensor<fp32, [1, 4, 8]> output = foo(x = logmel_data, y = w);
        } -> (output);
}
`))
	f.Fuzz(func(t *testing.T, program []byte) {
		enc := filepath.Join(t.TempDir(), "ggml-x-encoder.mlmodelc")
		if err := os.Mkdir(enc, 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(enc, "model.mil"), program)
		r, err := Inspect(model, enc, Options{ContentsOnly: true, NoDigests: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Shippable || len(r.Reasons) == 0 {
			t.Errorf("an artifact without coremldata.bin may be shipped: %+v", r)
		}
	})
}

// Decompression of any operands ends with values or an error.
func FuzzDecompress(f *testing.F) {
	f.Add(`tensor<fp16, [4]> w = constexpr_affine_dequantize(quantized_data = tensor<int8, [4]>([1, 2, 3, 4]), scale = fp16(0x1p-1), zero_point = int8(0), axis = int32(0))`)
	f.Add(`tensor<fp16, [2, 2]> w = constexpr_blockwise_shift_scale(data = tensor<int8, [2, 2]>([1, 2, 3, 4]), scale = tensor<fp16, [2, 1]>([0x1p-1, 0x1p0]))`)
	f.Add(`tensor<fp16, [4]> w = constexpr_sparse_to_dense(nonzero_data = tensor<fp16, [2]>([0x1p0, 0x1p1]), mask = tensor<uint8, [1]>([5]), shape = tensor<uint32, [1]>([4]))`)
	f.Add(`tensor<fp16, [4]> w = constexpr_lut_to_dense(indices = tensor<uint8, [1]>([27]), lut = tensor<fp16, [4]>([0x1p0, 0x1p1, 0x1p2, 0x1p3]), shape = tensor<uint32, [1]>([4]))`)
	f.Add(`tensor<fp16, [4]> w = constexpr_cast(source_val = tensor<fp16, [4]>([0x1p0, 0x1p1, 0x1p2, 0x1p3]), output_dtype = string("fp32"))`)
	f.Fuzz(func(t *testing.T, op string) {
		p, err := text.Parse("program(1.3)\n{\n func main<ios18>(tensor<fp32, [1]> x) {\n" + op + ";\n } -> (w);\n}\n")
		if err != nil {
			return
		}
		list, d := collectWeights(p.Functions[0], nil)
		for _, w := range list {
			if w.op == nil {
				continue
			}
			x, err := d.values(w.op)
			if err != nil {
				continue
			}
			b, err := d.bounds(w.op, len(w.op.Outputs)-1)
			if err != nil {
				t.Errorf("values of %s, but: %v", w.op.Type, err)
			}
			for _, o := range []*mil.Tensor{b.below, b.above, b.kept} {
				if o != nil && !slices.Equal(o.Shape, x.Shape) {
					t.Errorf("bounds of extents %v for values of %v", o.Shape, x.Shape)
				}
			}
		}
		precision(p.Functions[0], list, d)
	})
}

// Names fold the way disks fold them: never to something that folds further.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"Model.mil", "é", "e\u0301", "ß", "ẞ", "K", "ſ", "İ", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if once := Fold(s); Fold(once) != once {
			t.Errorf("%q folds to %q, and that to %q", s, once, Fold(once))
		}
	})
}
