package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements/factstest"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/tensorfile"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

// A fine-tune: its float32 checkpoint, and the .bin of it with the large matrices in float16.
var fineTune = synthetic.Options{Seed: 5, Layers: 2, TextLayers: 1, State: 48, Heads: 3, Mels: 80, AudioCtx: 40, TextCtx: 8, Vocab: 96}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func model(t *testing.T, dir, name string, float32s bool) (string, *ggml.Model) {
	t.Helper()
	o := fineTune
	o.Float32 = float32s
	var b bytes.Buffer
	if err := synthetic.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	write(t, path, b.Bytes())
	m, err := ggml.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return path, m
}

// world is a .bin in float16, the float32 encoder of its source, and the source's own output with its sidecar.
type world struct{ bin, encoder, reference, sidecar string }

func newWorld(t *testing.T) world {
	t.Helper()
	dir := t.TempDir()
	bin, halves := model(t, dir, "ggml-x.bin", false)
	_, whole := model(t, dir, "source.bin", true)

	pkg, enc := filepath.Join(dir, "e.mlpackage"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	if err := encoder.WritePackage(pkg, ggmlsource.Of(whole), encoder.Float32); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(pkg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := bundle.Compile(a, enc); err != nil {
		t.Fatal(err)
	}

	mel, _, err := evaluation.ReadMel(halves, "", "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := reference.New(whole)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := e.Encode(t.Context(), mel)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float32, len(exact))
	for i, x := range exact {
		v[i] = float32(x)
	}
	var b bytes.Buffer
	if err := tensorfile.WriteNPY(&b, []int{1, fineTune.AudioCtx, fineTune.State}, v); err != nil {
		t.Fatal(err)
	}
	ref := filepath.Join(dir, "source.npy")
	write(t, ref, b.Bytes())
	digest, err := parity.FileDigest(ref)
	if err != nil {
		t.Fatal(err)
	}
	data, err := strictjson.Canonical(&parity.Sidecar{
		Schema: 1, Role: "reference", Model: "example/fine-tune", Revision: "1", Tool: "reference.go", DType: "float32", Mode: "eval",
		Device: "cpu", Attention: "eager", MelSHA256: parity.MelDigest(mel), TensorSHA256: digest,
	})
	if err != nil {
		t.Fatal(err)
	}
	// Beside it under any name: a rule's inputs need not lie in one folder.
	sidecar := filepath.Join(dir, "sidecar.json")
	write(t, sidecar, data)
	return world{bin, enc, ref, sidecar}
}

// judge runs the command and reads what it wrote.
func judge(t *testing.T, args ...string) verdict.Judgement {
	t.Helper()
	out := filepath.Join(t.TempDir(), "parity.json")
	var stderr bytes.Buffer
	if code := run(t.Context(), append(args, "--out="+out), &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var j verdict.Judgement
	if err := json.Unmarshal(data, &j); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), filepath.Dir(out)) {
		t.Errorf("the judgement names a path of this machine:\n%s", data)
	}
	factstest.Check(t, &j, "emulated")
	return j
}

func TestAFineTuneIsHeldToItsSource(t *testing.T) {
	w := newWorld(t)
	sides := []string{"--model=" + w.bin, "--encoder=" + w.encoder, "--policy=fp32_v2"}

	alone := judge(t, sides...)
	if !slices.ContainsFunc(alone.Reasons, func(r reason.Reason) bool { return r.Code == "REFERENCE_COARSE" }) {
		t.Errorf("without a reference: %s %v, want REFERENCE_COARSE", alone.Verdict, alone.Reasons)
	}
	j := judge(t, append(sides, "--reference="+w.reference, "--reference_sidecar="+w.sidecar)...)
	if j.Verdict != reason.Pass || j.Facts["satisfies_gate"] != true {
		t.Errorf("with the source's output: %s %v %v", j.Verdict, j.Reasons, j.Facts)
	}
	for fact, path := range map[string]string{judgements.FactSourceTensor: w.reference, judgements.FactSourceSidecar: w.sidecar} {
		if want, err := parity.FileDigest(path); err != nil || j.Facts[fact] != want {
			t.Errorf("%s is %v, want %s, %v", fact, j.Facts[fact], want, err)
		}
	}
}

func TestAReferenceOfOtherBytesFails(t *testing.T) {
	w := newWorld(t)
	data, err := os.ReadFile(w.reference)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	write(t, w.reference, data)
	j := judge(t, "--model="+w.bin, "--encoder="+w.encoder, "--reference="+w.reference, "--reference_sidecar="+w.sidecar)
	if j.Verdict != reason.Failed || !slices.ContainsFunc(j.Reasons, func(r reason.Reason) bool { return r.Code == "REFERENCE_SIDECAR" }) {
		t.Errorf("%s %v, want REFERENCE_SIDECAR", j.Verdict, j.Reasons)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		nil, {"--model=a"}, {"--model=a", "--encoder=b", "--out=c", "d"},
		{"--model=a", "--encoder=b", "--out=c", "--probe=p"}, {"--model=a", "--encoder=b", "--out=c", "--identity=i"},
		{"--model=a", "--encoder=b", "--out=c", "--reference=r"}, {"--model=a", "--encoder=b", "--out=c", "--reference_sidecar=r"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, &stderr); code != 2 {
			t.Errorf("%q: exit code %d, want 2", args, code)
		}
	}
}
