package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// tensors hands a model to the encoder writer.
type tensors struct{ *ggml.Model }

func (m tensors) Dims() encoder.Dims {
	h := m.Hyperparameters
	return encoder.Dims{Mels: int64(h.Mels), AudioCtx: int64(h.AudioCtx), State: int64(h.AudioState), Heads: int64(h.AudioHead), Layers: int64(h.AudioLayer)}
}

func (m tensors) Shape(name string) ([]int64, error) {
	t, _ := m.Tensor(name)
	return t.Shape(), nil
}

func (m tensors) Values(name string, visit func([]float32) error) error {
	t, _ := m.Tensor(name)
	return m.Model.Values(t, func(_ int64, v []float32) error { return visit(v) })
}

// modelWithEncoder writes dir/stem.bin and its compiled encoder.
func modelWithEncoder(t *testing.T, dir, stem string, seed uint64) {
	t.Helper()
	bin := filepath.Join(dir, stem+".bin")
	f, err := os.Create(bin)
	if err != nil {
		t.Fatal(err)
	}
	if err := synthetic.Write(f, synthetic.Options{Seed: seed, Layers: 1, State: 16, Heads: 2, AudioCtx: 10, TextCtx: 4}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	pkg := filepath.Join(t.TempDir(), stem+"-encoder.mlpackage")
	if err := encoder.WritePackage(pkg, tensors{m}, encoder.Float32); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(pkg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := bundle.Compile(a, filepath.Join(dir, stem+"-encoder.mlmodelc")); err != nil {
		t.Fatal(err)
	}
}

func TestInspect(t *testing.T) {
	dir := t.TempDir()
	modelWithEncoder(t, dir, "ggml-a", 1)
	bin, enc := filepath.Join(dir, "ggml-a.bin"), filepath.Join(dir, "ggml-a-encoder.mlmodelc")
	other := t.TempDir()
	modelWithEncoder(t, other, "ggml-a", 2)
	foreign := filepath.Join(other, "ggml-a-encoder.mlmodelc")
	packed := filepath.Join(other, "ggml-a-encoder.mlmodelc.zip")
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	if _, err := z.Create("ggml-a-encoder.mlmodelc/model.mil"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile(packed, archive.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		first string
		codes []string
	}{
		{"pair", []string{bin, enc}, 0, "may be shipped: ggml-a.bin with ggml-a-encoder.mlmodelc", nil},
		{"model alone", []string{bin}, 0, "may be shipped", nil},
		{"folder", []string{dir}, 0, "may be shipped", nil},
		{"encoder alone", []string{enc}, 3, "not known whether it may be shipped", []string{"ENCODER_ALONE"}},
		{"another model's encoder", []string{bin, foreign}, 1, "may not be shipped", []string{"ENCODER_NAME", "PAIRING_ABSENT"}},
		{"the same, contents only", []string{"--contents-only", bin, foreign}, 1, "may not be shipped", []string{"PAIRING_ABSENT"}},
		{"contents only", []string{"--contents-only", bin, enc}, 0, "pass, contents only", nil},
		{"an older system", []string{"--minimum-macos=11.0", bin, enc}, 1, "may not be shipped", []string{"SPEC_VERSION_TOO_NEW"}},
		{"nothing there", []string{bin, filepath.Join(dir, "absent.mlmodelc")}, 1, "may not be shipped", []string{"ENCODER_MISSING", "ENCODER_NAME"}},
		{"an archive alone", []string{packed}, 1, "may not be shipped", []string{"ARTIFACT_IS_ARCHIVE"}},
		{"swapped", []string{enc, bin}, 1, "may not be shipped", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := call(t, "", append([]string{"inspect"}, c.args...)...)
			if code != c.code || !strings.HasPrefix(out, c.first) {
				t.Errorf("expected exit code %d and %q first, found %d and\n%s%s", c.code, c.first, code, out, errs)
			}
			code, out, _ = call(t, "", append([]string{"inspect", "--json"}, c.args...)...)
			var got struct {
				Verdict string
				Reasons []struct{ Code, Expected, Found, Where string }
				Facts   map[string]any
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			if want := map[int]string{0: "pass", 1: "fail", 3: "inconclusive"}[c.code]; got.Verdict != want || code != c.code {
				t.Errorf("expected the verdict %s and exit code %d, found %s and %d", want, c.code, got.Verdict, code)
			}
			for _, want := range c.codes {
				if !slices.ContainsFunc(got.Reasons, func(r struct{ Code, Expected, Found, Where string }) bool { return r.Code == want }) {
					t.Errorf("expected the reason %s, found %v", want, got.Reasons)
				}
			}
			if got.Facts["shippable"] != (c.code == 0 && !strings.Contains(strings.Join(c.args, " "), "contents-only")) {
				t.Errorf("shippable is %v", got.Facts["shippable"])
			}
		})
	}
	if code, _, errs := call(t, "", "inspect", t.TempDir()); code != 2 || !strings.Contains(errs, "holds no ggml-*.bin") {
		t.Errorf("an empty folder: exit code %d, %q", code, errs)
	}
	modelWithEncoder(t, dir, "ggml-b", 3)
	code, out, _ := call(t, "", "inspect", dir)
	if code != 0 || !strings.HasPrefix(out, "pass: 2 of 2 may be shipped") {
		t.Errorf("two pairs: exit code %d,\n%s", code, out)
	}
}

// What was not read is not told with gaps where its numbers would be.
func TestInspectTellsNoEmptyVersion(t *testing.T) {
	dir := t.TempDir()
	modelWithEncoder(t, dir, "ggml-made", 1)
	enc := filepath.Join(dir, "ggml-made-encoder.mlmodelc")
	for _, name := range []string{"coremldata.bin", "metadata.json"} {
		if err := os.WriteFile(filepath.Join(enc, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "", "inspect", filepath.Join(dir, "ggml-made.bin"))
	if code != 1 || !strings.Contains(out, "specification  not read") || strings.Contains(out, "macOS  or") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

func TestDerive(t *testing.T) {
	code, out, errs := call(t, "", "derive", "models/ggml-base.en-q5_0.bin", "d.v1/model")
	if code != 0 || out != "models/ggml-base.en-encoder.mlmodelc\nd-encoder.mlmodelc\n" || !strings.Contains(errs, "dot in the name of a directory") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	code, out, _ = call(t, "", "derive", "--json", "m/ggml-x.bin")
	if code != 0 || !strings.Contains(out, `"encoder": "m/ggml-x-encoder.mlmodelc"`) || !strings.Contains(out, `"package": "m/ggml-x-encoder.mlpackage"`) {
		t.Errorf("exit code %d, %s", code, out)
	}
	if code, _, _ := call(t, "", "derive"); code != 2 {
		t.Errorf("no argument: exit code %d, expected 2", code)
	}
}
