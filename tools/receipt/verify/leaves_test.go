package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/accuracy"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/recordings"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// tensors lets an encoder be written from a model's own tensors.
type tensors struct{ *ggml.Model }

func (s tensors) Dims() encoder.Dims {
	h := s.Hyperparameters
	return encoder.Dims{Mels: int64(h.Mels), AudioCtx: int64(h.AudioCtx), State: int64(h.AudioState), Heads: int64(h.AudioHead), Layers: int64(h.AudioLayer)}
}

func (s tensors) Shape(name string) ([]int64, error) {
	t, ok := s.Tensor(name)
	if !ok {
		return nil, fmt.Errorf("no tensor %s", name)
	}
	return t.Shape(), nil
}

func (s tensors) Values(name string, visit func([]float32) error) error {
	t, _ := s.Tensor(name)
	return s.Model.Values(t, func(_ int64, v []float32) error { return visit(v) })
}

// whole is a gate over a small real model and its encoder, with contract, parity and words as the actions judge them, and
// everything at hand that they were judged from.
func whole(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	w := s.world
	var model bytes.Buffer
	// Size adds nothing here, and the pair is judged again for each change that nothing else refuses.
	if err := synthetic.Write(&model, synthetic.Options{Seed: 1, Layers: 2, TextLayers: 1, State: 16, Heads: 2, Mels: 80, AudioCtx: 16, TextCtx: 8}); err != nil {
		t.Fatal(err)
	}
	w.File(t, "ggml-model.bin", model.String())
	if err := os.RemoveAll(w.Spec.Encoder); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Open(w.Spec.Model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	pkg := filepath.Join(w.Dir, "e.mlpackage")
	if err := encoder.WritePackage(pkg, tensors{m}, "float32"); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(pkg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := bundle.Compile(a, w.Spec.Encoder); err != nil {
		t.Fatal(err)
	}
	w.Contract, w.Parity, w.Spec.Judgements = nil, nil, nil
	w.Rehash(t)
	report, err := artifact.Inspect(w.Spec.Model, w.Spec.Encoder, artifact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := evaluation.Run(t.Context(), evaluation.Request{Model: w.Spec.Model, Encoder: w.Spec.Encoder})
	if err != nil {
		t.Fatal(err)
	}
	w.Contract, w.Parity = report.Judgement(), result.Record()
	// Where things lie is cut out by the actions.
	w.Contract.Facts["derived"] = filepath.Base(w.Contract.Facts["derived"].(string))
	for i := range w.Parity.Notes {
		w.Parity.Notes[i].Where = filepath.Base(w.Parity.Notes[i].Where)
	}
	w.Spec.Judgements = []string{heard(t, s)}
	w.Spec.Required = append(w.Spec.Required, "words")
	s.files.AsSigned, s.files.Words, s.files.Others = false, filepath.Join(w.Dir, "words"), []string{}
	s.rebuild(t)
	s.files.Others = []string{w.Spec.Sources}
	return s
}

// heard writes the runs on two recordings and their judgement, whose path it returns.
func heard(t *testing.T, s *scene) string {
	t.Helper()
	w, o := s.world, &recordings.Outcome{Report: &transcript.Report{Schema: 1}}
	for i := range 2 {
		pair := recordings.Pair{CoreML: evidencetest.Sample(evidence.KindCoreML), GGML: evidencetest.Sample(evidence.KindContrast)}
		f := transcript.Fixture{Name: "jfk", Public: true, Language: "en", Probe: i == 0}
		for _, side := range []struct {
			e, of *evidence.Evidence
			to    **transcript.Heard
		}{{pair.CoreML, w.CoreML, &f.CoreML}, {pair.GGML, w.Contrast, &f.GGML}} {
			side.e.Digests = side.of.Digests
			side.e.Digests.Audio = strings.Repeat(fmt.Sprint(i+1), 64)
			h, err := recordings.HeardIn(side.e, strings.Join(side.e.Stdout.Lines, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			*side.to = h
		}
		o.Report.Comparisons, o.Runs = append(o.Report.Comparisons, transcript.Compare(f)), append(o.Runs, pair)
	}
	if err := o.Write(filepath.Join(w.Dir, "words")); err != nil {
		t.Fatal(err)
	}
	j, err := accuracy.Judge(o, accuracy.DefaultPolicy)
	if err != nil {
		t.Fatal(err)
	}
	return w.JSON(t, "words.json", j)
}

// meaningless are the leaves that may change without anyone deciding by them, and why.
var meaningless = []struct{ path, why string }{
	{`^\.predicate\.name$`, "the label is what the signer calls the gate: no run knows it"},
	{`^\.predicate\.toolchain\.`, "the builder's word about its compiler, which audit compares by building again"},
	{`^\.predicate\.judgements\[contract\]\.facts\.derived$`, "the name under which the pair ships, which --release compares with the folder"},
}

// TestEveryLeaf changes one leaf at a time of a signed receipt, signs it again, and verifies it with all that it was made
// from at hand: it is refused, or the leaf is listed as one by which nobody decides.
func TestEveryLeaf(t *testing.T) {
	s := whole(t)
	if r := s.verify(t, s.signed(t)); r.Verdict != reason.Pass || len(r.Unchecked) > 0 {
		t.Fatalf("as built: %s %v, not checked %q", r.Verdict, r.Reasons, r.Unchecked)
	}
	good := slices.Clone(s.payload)
	refused, free, used := 0, 0, map[string]bool{}
	for _, leaf := range leaves(t, good) {
		for _, value := range others(leaf.value) {
			var tree any
			if err := json.Unmarshal(good, &tree); err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(replaced(tree, leaf.keys, value))
			if err != nil {
				t.Fatal(err)
			}
			if s.payload, err = jcs.Transform(data); err != nil {
				t.Fatal(err)
			}
			r, err := verify.Verify(t.Context(), s.signed(t), s.demands, s.files)
			if err != nil || r.Verdict != reason.Pass {
				refused++
				continue
			}
			free++
			i := slices.IndexFunc(meaningless, func(m struct{ path, why string }) bool { return regexp.MustCompile(m.path).MatchString(leaf.path) })
			if i < 0 {
				t.Errorf("%s may be %v instead of %v", leaf.path, value, leaf.value)
				continue
			}
			used[meaningless[i].path] = true
		}
	}
	t.Logf("%d changes of single leaves, signed again: %d refused, %d of leaves by which nobody decides", refused+free, refused, free)
	for _, m := range meaningless {
		if !used[m.path] {
			t.Errorf("%s is listed, and every change of it is refused", m.path)
		}
	}
}

// leaf is a text, number, truth value or null of a document; keys lead to it, path names it.
type leaf struct {
	keys  []any
	path  string
	value any
}

func leaves(t *testing.T, document []byte) []leaf {
	t.Helper()
	var tree any
	if err := json.Unmarshal(document, &tree); err != nil {
		t.Fatal(err)
	}
	var out []leaf
	var walk func(v any, path string, keys []any)
	walk = func(v any, path string, keys []any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				walk(x, path+"."+key, append(slices.Clone(keys), key))
			}
		case []any:
			for i, x := range v {
				name := fmt.Sprint(i)
				if m, ok := x.(map[string]any); ok && strings.HasSuffix(path, ".judgements") {
					name = fmt.Sprint(m["name"])
				}
				walk(x, path+"["+name+"]", append(slices.Clone(keys), i))
			}
		default:
			out = append(out, leaf{keys, path, v})
		}
	}
	walk(tree, "", nil)
	slices.SortFunc(out, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	return out
}

// others are values that a leaf does not have.
func others(value any) []any {
	switch v := value.(type) {
	case string:
		out := []any{v + "x"}
		if v != "" {
			first, middle := []byte(v), []byte(v)
			first[0] ^= 1
			middle[len(v)/2] ^= 1
			out = append(out, "", string(first), string(middle))
		}
		return out
	case float64:
		out := []any{v + 1, v - 1, fmt.Sprint(v)}
		if v != 0 {
			out = append(out, v*1.0000001)
		}
		return out
	case bool:
		return []any{!v}
	}
	return []any{"x"}
}

// replaced is the document with another value at these keys.
func replaced(v any, keys []any, value any) any {
	if len(keys) == 0 {
		return value
	}
	switch v := v.(type) {
	case map[string]any:
		v[keys[0].(string)] = replaced(v[keys[0].(string)], keys[1:], value)
	case []any:
		v[keys[0].(int)] = replaced(v[keys[0].(int)], keys[1:], value)
	}
	return v
}
