package artifact

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements/factstest"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// source hands a model's tensors to the encoder writer.
type source struct{ *ggml.Model }

func (s source) Dims() milencoder.Dims {
	h := s.Hyperparameters
	return milencoder.Dims{Mels: int64(h.Mels), AudioCtx: int64(h.AudioCtx), State: int64(h.AudioState),
		Heads: int64(h.AudioHead), Layers: int64(h.AudioLayer)}
}

func (s source) Shape(name string) ([]int64, error) {
	t, ok := s.Tensor(name)
	if !ok {
		return nil, fmt.Errorf("no tensor %s", name)
	}
	return t.Shape(), nil
}

func (s source) Values(name string, visit func([]float32) error) error {
	t, _ := s.Tensor(name)
	return s.Model.Values(t, func(_ int64, v []float32) error { return visit(v) })
}

// small is the model of these tests: unequal numbers everywhere.
var small = synthetic.Options{Seed: 3, Layers: 2, TextLayers: 1, State: 48, Heads: 3, Mels: 80, AudioCtx: 20, TextCtx: 8}

func modelBytes(t testing.TB, o synthetic.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := synthetic.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeEncoder writes package and compiled encoder of a model into dir, under
// the name stem.
func writeEncoder(t testing.TB, dir, stem string, model []byte, p milencoder.Precision) {
	t.Helper()
	m, err := ggml.Read(bytes.NewReader(model), int64(len(model)))
	if err != nil {
		t.Fatal(err)
	}
	pkg := filepath.Join(dir, stem+".mlpackage")
	if err := milencoder.WritePackage(pkg, source{m}, p); err != nil {
		t.Fatal(err)
	}
	compile(t, pkg, filepath.Join(dir, stem+".mlmodelc"))
}

func compile(t testing.TB, pkg, dest string) {
	t.Helper()
	a, err := bundle.Open(pkg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := bundle.Compile(a, dest); err != nil {
		t.Fatal(err)
	}
}

// master is the good pair that tests copy, made once.
var master = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "artifact-test-")
	return dir, err
})

func TestMain(m *testing.M) {
	// Each case leaves much behind at once and keeps little.
	debug.SetGCPercent(400)
	code := m.Run()
	if dir, err := master(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

var madeMaster sync.Once

// pair copies the good pair into a folder of the test's own: ggml-x.bin,
// ggml-x-encoder.mlmodelc and, beside it in folder "source", the package.
func pair(t testing.TB) (dir, model, enc string) {
	t.Helper()
	from, err := master()
	if err != nil {
		t.Fatal(err)
	}
	madeMaster.Do(func() {
		b := modelBytes(t, small)
		writeFile(t, filepath.Join(from, "ggml-x.bin"), b)
		writeEncoder(t, from, "ggml-x-encoder", b, milencoder.Float16)
	})
	dir = t.TempDir()
	model, enc = filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	copyTree(t, filepath.Join(from, "ggml-x.bin"), model)
	copyTree(t, filepath.Join(from, "ggml-x-encoder.mlmodelc"), enc)
	copyTree(t, filepath.Join(from, "ggml-x-encoder.mlpackage"), filepath.Join(dir, "source", "ggml-x-encoder.mlpackage"))
	return dir, model, enc
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			return err
		}
		return os.WriteFile(dest, b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// edit replaces text in a file, everywhere; it must be there.
func edit(t testing.TB, path, old, replacement string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	writeFile(t, path, bytes.ReplaceAll(b, []byte(old), []byte(replacement)))
}

// describe changes coremldata.bin.
func describe(t testing.TB, enc string, change func(*bundle.CoreMLData)) {
	t.Helper()
	path := filepath.Join(enc, "coremldata.bin")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := bundle.ParseCoreMLData(b)
	if err != nil {
		t.Fatal(err)
	}
	change(d)
	if b, err = d.Encode(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, b)
}

func codes(reasons []reason.Reason) []string {
	var c []string
	for _, r := range reasons {
		c = append(c, r.Code)
	}
	slices.Sort(c)
	return slices.Compact(c)
}

// expect inspects a pair and compares the set of codes.
func expect(t *testing.T, model, enc string, o Options, want ...string) *Report {
	t.Helper()
	r, err := Inspect(model, enc, o)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if got := codes(r.Reasons); !slices.Equal(got, want) {
		t.Errorf("expected the reasons %v, found %v", want, r.Reasons)
	}
	if (r.Verdict == reason.Pass) != (len(want) == 0) {
		t.Errorf("verdict %s with the reasons %v", r.Verdict, want)
	}
	j := r.Judgement()
	if path, ok := j.Facts[FactDerived].(string); ok {
		j.Facts[FactDerived] = filepath.Base(path)
	}
	if j.Facts[FactShippable] == false {
		j.Verdict = reason.Failed // nothing that ships: its facts are not those of a pass
	}
	factstest.Check(t, j, "emulated")
	if j.Verdict == reason.Pass {
		for _, x := range CheckFacts(j) {
			t.Errorf("a pass whose facts do not give it: %v", x)
		}
	}
	for _, x := range append(r.Reasons, r.Notes...) {
		if _, ok := reason.Lookup(x.Code); !ok || x.Expected == "" || x.Found == "" {
			t.Errorf("incomplete reason %+v", x)
		}
	}
	return r
}
