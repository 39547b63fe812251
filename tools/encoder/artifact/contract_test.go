package artifact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

func TestGoodPair(t *testing.T) {
	_, model, enc := pair(t)
	r := expect(t, model, enc, Options{})
	if !r.Shippable {
		t.Error("a good pair may not be shipped")
	}
	if r.Pairing == nil || r.Pairing.Matched != r.Pairing.Tensors || r.Pairing.Tensors == 0 || len(r.Pairing.Unmatched) != 0 {
		t.Errorf("pairing: %+v", r.Pairing)
	}
	if e := r.Encoder; e.Precision.Class != "float16" || e.MinimumMacOS != "12.0" || e.Digest == "" || !e.Producer.Known {
		t.Errorf("encoder: %+v", e)
	}
	// Without the encoder's path the derived one is taken.
	if r := expect(t, model, "", Options{}); !r.Shippable {
		t.Error("the pair may be shipped when the encoder is named, and not when it is derived")
	}
}

// Each artifact breaks one clause of the contract and nothing else.
func TestClauses(t *testing.T) {
	input := func(d *bundle.CoreMLData) *spec.Feature { return &d.Description.Inputs[0] }
	output := func(d *bundle.CoreMLData) *spec.Feature { return &d.Description.Outputs[0] }
	mil := func(enc string) string { return filepath.Join(enc, "model.mil") }
	for _, c := range []struct {
		name   string
		change func(t *testing.T, enc string)
		want   []string
	}{
		{"input under another name", func(t *testing.T, enc string) {
			edit(t, mil(enc), "logmel_data)", "mel)")
			describe(t, enc, func(d *bundle.CoreMLData) { input(d).Name = "mel" })
		}, []string{"INPUT_NAME"}},
		{"output under another name", func(t *testing.T, enc string) {
			edit(t, mil(enc), "} -> (output)", "} -> (hidden)")
			edit(t, mil(enc), "> output = ", "> hidden = ")
			describe(t, enc, func(d *bundle.CoreMLData) { output(d).Name = "hidden" })
		}, []string{"OUTPUT_NAME"}},
		{"float16 input", func(t *testing.T, enc string) {
			edit(t, mil(enc), "(tensor<fp32, [1, 80, 40]> logmel_data)", "(tensor<fp16, [1, 80, 40]> logmel_data)")
			describe(t, enc, func(d *bundle.CoreMLData) { input(d).Array.DType = spec.ArrayFloat16 })
		}, []string{"INPUT_TYPE"}},
		{"float16 output (B04)", func(t *testing.T, enc string) {
			edit(t, mil(enc), "tensor<fp32, [1, 20, 48]> output = ", "tensor<fp16, [1, 20, 48]> output = ")
			describe(t, enc, func(d *bundle.CoreMLData) { output(d).Array.DType = spec.ArrayFloat16 })
		}, []string{"OUTPUT_TYPE"}},
		{"double output", func(t *testing.T, enc string) {
			edit(t, mil(enc), "tensor<fp32, [1, 20, 48]> output = ", "tensor<fp64, [1, 20, 48]> output = ")
			describe(t, enc, func(d *bundle.CoreMLData) { output(d).Array.DType = spec.ArrayDouble })
		}, []string{"OUTPUT_TYPE"}},
		{"128 mels for a model of 80 (A26, A33)", func(t *testing.T, enc string) { inputShape(t, enc, "[1, 128, 40]", 1, 128, 40) }, []string{"N_MELS_MISMATCH"}},
		{"half the frames", func(t *testing.T, enc string) { inputShape(t, enc, "[1, 80, 20]", 1, 80, 20) }, []string{"INPUT_SHAPE"}},
		{"rank 4 input", func(t *testing.T, enc string) { inputShape(t, enc, "[1, 80, 1, 40]", 1, 80, 1, 40) }, []string{"INPUT_SHAPE"}},
		{"a batch", func(t *testing.T, enc string) { inputShape(t, enc, "[8, 80, 40]", 8, 80, 40) }, []string{"INPUT_SHAPE"}},
		{"transposed input", func(t *testing.T, enc string) { inputShape(t, enc, "[1, 40, 80]", 1, 40, 80) }, []string{"INPUT_SHAPE"}},
		{"output too large", func(t *testing.T, enc string) { outputShape(t, enc, "[1, 40, 48]", 1, 40, 48) }, []string{"OUTPUT_SHAPE"}},
		{"output too small", func(t *testing.T, enc string) { outputShape(t, enc, "[1, 10, 48]", 1, 10, 48) }, []string{"OUTPUT_SHAPE"}},
		{"output of batch 2 (B09)", func(t *testing.T, enc string) { outputShape(t, enc, "[2, 20, 48]", 2, 20, 48) }, []string{"OUTPUT_SHAPE"}},
		{"output without its batch", func(t *testing.T, enc string) { outputShape(t, enc, "[20, 48]", 20, 48) }, []string{"OUTPUT_SHAPE"}},
		{"channels first", func(t *testing.T, enc string) { outputShape(t, enc, "[1, 48, 20]", 1, 48, 20) }, []string{"OUTPUT_CHANNEL_FIRST"}},
		{"channels first, rank 4", func(t *testing.T, enc string) { outputShape(t, enc, "[1, 48, 1, 20]", 1, 48, 1, 20) }, []string{"OUTPUT_CHANNEL_FIRST"}},
		{"a range of frames", func(t *testing.T, enc string) {
			edit(t, mil(enc), "[1, 80, 40]> logmel_data", "[1, 80, ?]> logmel_data")
			describe(t, enc, func(d *bundle.CoreMLData) {
				input(d).Array.Ranges = []spec.Range{{Lower: 1, Upper: 1}, {Lower: 80, Upper: 80}, {Lower: 1, Upper: 40}}
			})
		}, []string{"INPUT_FLEXIBLE"}},
		{"a range that only the description states", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) {
				input(d).Array.Ranges = []spec.Range{{Lower: 1, Upper: 1}, {Lower: 80, Upper: 80}, {Lower: 1, Upper: -1}}
			})
		}, []string{"INPUT_FLEXIBLE"}},
		{"a list of shapes", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) {
				input(d).Array.Enumerated = [][]int64{{1, 80, 40}, {1, 80, 20}}
			})
		}, []string{"INPUT_ENUMERATED"}},
		{"an output that is not fixed", func(t *testing.T, enc string) {
			edit(t, mil(enc), "tensor<fp32, [1, 20, 48]> output = ", "tensor<fp32, [1, ?, 48]> output = ")
			describe(t, enc, func(d *bundle.CoreMLData) { output(d).Array.Shape = nil })
		}, []string{"OUTPUT_FLEXIBLE"}},
		{"another input", func(t *testing.T, enc string) {
			edit(t, mil(enc), "(tensor<fp32, [1, 80, 40]> logmel_data)", "(tensor<fp32, [1]> extra, tensor<fp32, [1, 80, 40]> logmel_data)")
			describe(t, enc, func(d *bundle.CoreMLData) {
				d.Description.Inputs = append(d.Description.Inputs, spec.Feature{Name: "extra", Kind: spec.MultiArrayFeature,
					Array: &spec.Array{Shape: []int64{1}, DType: spec.ArrayFloat32}})
			})
		}, []string{"INPUT_EXTRA"}},
		{"another output", func(t *testing.T, enc string) {
			edit(t, mil(enc), "-> (output)", "-> (output, conv1_cast)")
			describe(t, enc, func(d *bundle.CoreMLData) {
				d.Description.Outputs = append(d.Description.Outputs, spec.Feature{Name: "conv1_cast", Kind: spec.MultiArrayFeature,
					Array: &spec.Array{Shape: []int64{1, 48, 40}, DType: spec.ArrayFloat16}})
			})
		}, []string{"OUTPUT_EXTRA"}},
		{"optional input", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) { input(d).Optional = true })
		}, []string{"FEATURE_OPTIONAL"}},
		{"image input", kindOf(spec.ImageFeature), []string{"FEATURE_IMAGE"}},
		{"sequence input", kindOf(spec.SequenceFeature), []string{"FEATURE_SEQUENCE"}},
		{"dictionary input", kindOf(spec.DictionaryFeature), []string{"FEATURE_DICTIONARY"}},
		{"string input", kindOf(spec.StringFeature), []string{"FEATURE_SCALAR"}},
		{"integer input", kindOf(spec.Int64Feature), []string{"FEATURE_SCALAR"}},
		{"a state", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) {
				d.Description.States = []spec.Feature{{Name: "cache", Kind: spec.StateFeature, Array: &spec.Array{Shape: []int64{1}, DType: spec.ArrayFloat16}}}
			})
		}, []string{"FEATURE_STATE"}},
		{"two functions", func(t *testing.T, enc string) {
			b, err := os.ReadFile(mil(enc))
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			at := strings.Index(text, "    func main")
			end := strings.LastIndex(text, "}")
			writeFile(t, mil(enc), []byte(text[:end]+strings.Replace(text[at:end], "func main", "func second", 1)+text[end:]))
		}, []string{"MULTI_FUNCTION"}},
		{"two functions, each with its own features", func(t *testing.T, enc string) {
			b, err := os.ReadFile(mil(enc))
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			at := strings.Index(text, "    func main")
			end := strings.LastIndex(text, "}")
			one := text[at:end]
			writeFile(t, mil(enc), []byte(text[:at]+strings.Replace(one, "func main", "func long", 1)+strings.Replace(one, "func main", "func short", 1)+text[end:]))
			describe(t, enc, func(d *bundle.CoreMLData) {
				of := d.Description.Function
				d.Description.Function = spec.Function{}
				for _, name := range []string{"long", "short"} {
					of.Name = name
					d.Description.Functions = append(d.Description.Functions, of)
				}
				d.Description.DefaultFunction = "long"
			})
		}, []string{"MULTI_FUNCTION"}},
		{"a pipeline", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) { d.Kind = spec.Pipeline })
		}, []string{"PIPELINE"}},
		{"a neural network", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) { d.Kind = spec.NeuralNetwork })
		}, []string{"NOT_MLPROGRAM"}},
		{"an updatable model", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "metadata.json"), `"isUpdatable": "0"`, `"isUpdatable": "1"`)
		}, []string{"UPDATABLE"}},
		{"a specification from the future", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) { d.SpecificationVersion = 99 })
		}, []string{"SPEC_VERSION"}},
		{"a specification before programs", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) { d.SpecificationVersion = 5 })
		}, []string{"SPEC_VERSION"}},
		{"an operation set that the specification lacks", func(t *testing.T, enc string) {
			edit(t, mil(enc), "main<ios15>", "main<ios18>")
		}, []string{"SPEC_VERSION"}},
		{"description and program disagree on a shape", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) { output(d).Array.Shape = []int64{1, 20, 47} })
		}, []string{"INTERFACE_CONTRADICTION", "OUTPUT_SHAPE"}},
		{"description and program disagree on a name", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) { input(d).Name = "logmel" })
		}, []string{"INPUT_EXTRA", "INTERFACE_CONTRADICTION"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, model, enc := pair(t)
			c.change(t, enc)
			r := expect(t, model, enc, Options{}, c.want...)
			if r.Shippable {
				t.Error("it may be shipped")
			}
		})
	}
}

func inputShape(t *testing.T, enc, text string, shape ...int64) {
	edit(t, filepath.Join(enc, "model.mil"), "[1, 80, 40]> logmel_data)", text+"> logmel_data)")
	describe(t, enc, func(d *bundle.CoreMLData) { d.Description.Inputs[0].Array.Shape = shape })
}

func outputShape(t *testing.T, enc, text string, shape ...int64) {
	edit(t, filepath.Join(enc, "model.mil"), "[1, 20, 48]> output = ", text+"> output = ")
	describe(t, enc, func(d *bundle.CoreMLData) { d.Description.Outputs[0].Array.Shape = shape })
}

func kindOf(k spec.FeatureKind) func(t *testing.T, enc string) {
	return func(t *testing.T, enc string) {
		describe(t, enc, func(d *bundle.CoreMLData) {
			d.Description.Inputs[0].Kind, d.Description.Inputs[0].Array = k, nil
		})
	}
}

func TestMinimumMacOS(t *testing.T) {
	_, model, enc := pair(t)
	expect(t, model, enc, Options{MinimumMacOS: "12.0"})
	expect(t, model, enc, Options{MinimumMacOS: "14.2"})
	expect(t, model, enc, Options{MinimumMacOS: "11.7.10"}, "SPEC_VERSION_TOO_NEW")
}

func TestPackage(t *testing.T) {
	dir, model, _ := pair(t)
	pkg := filepath.Join(dir, "source", "ggml-x-encoder.mlpackage")
	// Elsewhere, and not compiled.
	expect(t, model, pkg, Options{}, "ARTIFACT_NOT_COMPILED", "ENCODER_NAME")
	beside := filepath.Join(dir, "ggml-x-encoder.mlpackage")
	copyTree(t, pkg, beside)
	expect(t, model, beside, Options{}, "ARTIFACT_NOT_COMPILED")
	if r := expect(t, model, pkg, Options{ContentsOnly: true}); r.Shippable {
		t.Error("a package may be shipped")
	}
}

func TestAlone(t *testing.T) {
	_, _, enc := pair(t)
	r := expect(t, "", enc, Options{}, "ENCODER_ALONE")
	if r.Verdict != reason.Unknown {
		t.Errorf("verdict %s, expected inconclusive", r.Verdict)
	}
	inputShape(t, enc, "[1, 80, 1, 40]", 1, 80, 1, 40)
	if r := expect(t, "", enc, Options{}, "ENCODER_ALONE", "INPUT_SHAPE"); r.Verdict != reason.Failed {
		t.Errorf("verdict %s, expected fail", r.Verdict)
	}
}
