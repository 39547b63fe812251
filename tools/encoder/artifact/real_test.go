package artifact

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// real copies one of testdata/coreml-artifacts: a sandbox presents files as
// links, which an artifact must not hold.
func real(t *testing.T, name string) string {
	t.Helper()
	for _, root := range []string{"../../..", "."} {
		p := filepath.Join(root, "testdata", "coreml-artifacts", name)
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		to := filepath.Join(t.TempDir(), filepath.Base(p))
		if info.IsDir() {
			copyTree(t, p, to)
			return to
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, to, b)
		return to
	}
	t.Fatalf("testdata/coreml-artifacts/%s is missing", name)
	return ""
}

// Artifacts that Apple's and other people's tools wrote, held against the
// header of Whisper tiny.
func TestRealArtifacts(t *testing.T) {
	tiny := synthetic.Options{Layers: 4, TextLayers: 1, State: 384, Heads: 6, Vocab: 16, TextCtx: 4}
	model := filepath.Join(t.TempDir(), "ggml-tiny.bin")
	writeFile(t, model, modelBytes(t, tiny))
	for _, c := range []struct {
		name     string
		want     []string
		producer string
	}{
		// Names, types and shapes are those of tiny; its parts were never fetched.
		{"swiftwhisper-tiny-encoder.mlmodelc", []string{"ARTIFACT_INCOMPLETE"}, "coremlc 1436.100.10"},
		{"coremltools-add_model.mlmodelc", []string{"INPUT_EXTRA", "INPUT_NAME", "INPUT_SHAPE", "INPUT_TYPE", "OUTPUT_NAME", "OUTPUT_SHAPE", "OUTPUT_TYPE", "PAIRING_ABSENT"},
			"coremltools 8.1, torch==2.5.1, coremlc 3402.4.1"},
		{"fluidaudio-transpose-encoder.mlmodelc", []string{"INPUT_FLEXIBLE", "INPUT_NAME", "INPUT_TYPE", "OUTPUT_FLEXIBLE", "OUTPUT_NAME", "OUTPUT_TYPE", "PAIRING_ABSENT"},
			"coremltools 8.3.0, torch==2.5.0, coremlc 3404.23.1"},
		{"rules_apple-sample/sample.mlpackage", []string{"FEATURE_SCALAR", "INPUT_NAME", "NOT_MLPROGRAM", "OUTPUT_NAME"}, "unknown producer"},
		{"rules_apple-sample/sample.mlmodel", []string{"FEATURE_SCALAR", "INPUT_NAME", "NOT_MLPROGRAM", "OUTPUT_NAME"}, "unknown producer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := expect(t, model, real(t, c.name), Options{ContentsOnly: true}, c.want...)
			if r.Encoder == nil || r.Encoder.Producer.String() != c.producer {
				t.Errorf("expected the producer %q, found %+v", c.producer, r.Encoder)
			}
		})
	}
}

// TestExportSystem holds that the system which exported an encoder is read where it was written down, and where only the compiled folder has it.
func TestExportSystem(t *testing.T) {
	model := filepath.Join(t.TempDir(), "ggml-tiny.bin")
	writeFile(t, model, modelBytes(t, synthetic.Options{Layers: 4, TextLayers: 1, State: 384, Heads: 6, Vocab: 16, TextCtx: 4}))
	copied := filepath.Join(t.TempDir(), "e.mlmodelc")
	if err := os.CopyFS(copied, os.DirFS(real(t, "coremltools-add_model.mlmodelc"))); err != nil {
		t.Fatal(err)
	}
	of := func() Producer {
		r, err := Inspect(model, copied, Options{ContentsOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return r.Encoder.Producer
	}
	if p := of(); p.System != "" || p.Portable() || strings.Contains(p.String(), "exported") {
		t.Errorf("without a word about it: %+v", p)
	}
	path := filepath.Join(copied, "metadata.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const key = `"userDefinedMetadata" : {`
	with := strings.Replace(string(data), key, key+`"`+ExportedOn+`" : "macOS 15.7.7 (24G720)",`, 1)
	if with == string(data) {
		t.Fatalf("the sample has no %s", key)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, []byte(with))
	if p := of(); p.System != "macOS 15.7.7 (24G720)" || p.String() != "coremltools 8.1, torch==2.5.1, coremlc 3402.4.1, exported on macOS 15.7.7 (24G720)" {
		t.Errorf("%+v, %s", p, p)
	}
	if p := (Producer{Converter: ourWriter, Compiler: "coremlc", Known: true}); p.Portable() {
		t.Error("what coremlc compiled is called the same on every system")
	}
	if p := (Producer{Converter: ourWriter, Compiler: ourCompiler, Known: true}); !p.Portable() {
		t.Error("what our own writer and compiler made is called different from system to system")
	}
}

// The sample that was converted from openai-whisper keeps the contract of tiny,
// but for what is missing from the folder.
func TestRealEncoderKeepsTheContract(t *testing.T) {
	model := filepath.Join(t.TempDir(), "ggml-tiny.bin")
	writeFile(t, model, modelBytes(t, synthetic.Options{Layers: 4, TextLayers: 1, State: 384, Heads: 6, Vocab: 16, TextCtx: 4}))
	r, err := Inspect(model, real(t, "swiftwhisper-tiny-encoder.mlmodelc"), Options{ContentsOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, x := range r.Reasons {
		missing = append(missing, x.Where)
	}
	slices.Sort(missing)
	if want := []string{"coremldata.bin", "weights/weight.bin"}; !slices.Equal(missing, want) {
		t.Errorf("expected %v to be missing, found %v", want, r.Reasons)
	}
	if p := r.Encoder.Precision; p == nil || p.Class != "float16" || p.Values["fp16"] != 8_209_920 {
		t.Errorf("precision %+v", p)
	}
}

// The texts of program 1.3: compression is described from them, and several
// functions are counted.
func TestProgramTexts(t *testing.T) {
	read := func(name string) *mil.Program {
		t.Helper()
		f, err := os.Open(real(t, filepath.Join("mlmodelc-export-snippets", name)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p, err := text.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := read("flexible-multifunction.model.mil"); len(p.Functions) != 2 || mainFunction(p) != nil {
		t.Errorf("%d functions, main %v", len(p.Functions), mainFunction(p))
	}
	in, _ := programFeatures(mainFunction(read("flexible-weighted-legacy.model.mil")))
	if len(in) != 1 || !in[0].Flexible || in[0].Type != "Float32" {
		t.Errorf("inputs %+v", in)
	}
	main := mainFunction(read("quantized-constexpr.model.mil"))
	d := newDecompressor(main.Body, nil)
	var schemes []string
	main.Body.EachOp(func(op *mil.Op) {
		if strings.HasPrefix(op.Type, "constexpr_") {
			schemes = append(schemes, d.scheme(op).String())
		}
	})
	if want := []string{"int8 linear, per tensor"}; !slices.Equal(schemes, want) {
		t.Errorf("expected %v, found %v", want, schemes)
	}
}
