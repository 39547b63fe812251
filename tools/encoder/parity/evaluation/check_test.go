package evaluation

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements/factstest"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/tensorfile"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe/probetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

var small = synthetic.Options{Seed: 3, Layers: 2, TextLayers: 1, State: 48, Heads: 3, Mels: 80, AudioCtx: 40, TextCtx: 8, Vocab: 96}

// bin writes a model file.
func bin(t *testing.T, o synthetic.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := synthetic.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ggml-x.bin")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// encoded writes the compiled encoder of a model file.
func encoded(t *testing.T, model string, p encoder.Precision) string {
	t.Helper()
	m, err := ggml.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	pkg := filepath.Join(t.TempDir(), "e.mlpackage")
	if err := encoder.WritePackage(pkg, ggmlsource.Of(m), p); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(pkg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	out := filepath.Join(filepath.Dir(pkg), "ggml-x-encoder.mlmodelc")
	if err := bundle.Compile(a, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func run(t *testing.T, q Request) (*Result, []string) {
	t.Helper()
	r, err := Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, x := range r.Reasons {
		codes = append(codes, x.Code)
	}
	j := r.Record()
	if _, ours := j.Facts[verdict.FactEvaluator]; !ours || q.Reference != "" || j.Facts[verdict.FactEncoderForm] != "mlmodelc" {
		j.Verdict = reason.Failed // no such pass is in a receipt, or an action adds digests
	}
	delete(j.Facts, "bisect_failed") // which no action asks for
	factstest.Check(t, j, "emulated")
	return r, codes
}

func TestFloat32EncoderPassesTheGatePolicy(t *testing.T) {
	model := bin(t, small)
	r, codes := run(t, Request{Model: model, Encoder: encoded(t, model, encoder.Float32)})
	if r.Verdict != reason.Pass || !r.SatisfiesGate() || len(codes) > 0 {
		t.Fatalf("%s %v", r.Verdict, r.Reasons)
	}
	if r.Measurement.SNR < 110 || r.Facts["precision"] != "float32" || r.Facts["mel"] != "built-in probe" {
		t.Errorf("%+v %v", r.Measurement.SNR, r.Facts)
	}
}

// A package that was measured says that it is not what ships, and no receipt takes its numbers; the compiled folder says nothing of it.
func TestPackageIsNoEvidence(t *testing.T) {
	model := bin(t, small)
	compiled := encoded(t, model, encoder.Float32)
	for path, want := range map[string]bool{compiled: false, filepath.Join(filepath.Dir(compiled), "e.mlpackage"): true} {
		r, err := Run(t.Context(), Request{Model: model, Encoder: path})
		if err != nil {
			t.Fatal(err)
		}
		noted := slices.ContainsFunc(r.Notes, func(n reason.Reason) bool { return n.Code == reason.PackageNotCompiled })
		if j := r.Record(); noted != want || (j.Facts[verdict.FactEncoderForm] == "mlpackage") != want {
			t.Errorf("%s: notes %v, form %v", filepath.Base(path), r.Notes, j.Facts[verdict.FactEncoderForm])
		}
	}
}

func TestFloat16EncoderNeedsItsProfile(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float16)
	if r, codes := run(t, Request{Model: model, Encoder: enc}); r.SatisfiesGate() || !slices.Contains(codes, "POLICY_PRECISION") || !slices.Contains(codes, "PARITY_SNR") {
		t.Errorf("under the gate's policy: %s %v", r.Verdict, codes)
	}
	r, codes := run(t, Request{Model: model, Encoder: enc, Policy: "fp16_v1"})
	if r.Verdict != reason.Pass || r.SatisfiesGate() {
		t.Errorf("under its own: %s %v, satisfies the gate: %v", r.Verdict, codes, r.SatisfiesGate())
	}
	if snr := r.Measurement.SNR; snr > 74 || snr < 45 {
		t.Errorf("float16 reaches %.1f dB; one rounding alone leaves 73.7", snr)
	}
}

// A quantised .bin runs with the full encoder, and is not a reference for it.
func TestQuantisedModelIsNoReference(t *testing.T) {
	o := small
	o.State, o.Heads = 64, 4
	full := bin(t, o)
	o.Quantise = ggml.Q8_0
	quantised := bin(t, o)
	for p, name := range map[encoder.Precision]string{encoder.Float32: "fp32_v2", encoder.Float16: "fp16_v1"} {
		if r, codes := run(t, Request{Model: quantised, Encoder: encoded(t, full, p), Policy: name}); r.SatisfiesGate() || !slices.Contains(codes, "REFERENCE_COARSE") {
			t.Errorf("%s: %s %v", name, r.Verdict, codes)
		}
		if r, codes := run(t, Request{Model: quantised, Encoder: encoded(t, quantised, p), Policy: name}); r.Verdict != reason.Pass {
			t.Errorf("%s, of the .bin's own values: %s %v", name, r.Verdict, codes)
		}
	}
}

func TestAnotherModelsEncoderFails(t *testing.T) {
	other := small
	other.Seed = 4
	r, codes := run(t, Request{Model: bin(t, small), Encoder: encoded(t, bin(t, other), encoder.Float32)})
	if r.Verdict != reason.Failed || !slices.Contains(codes, "PARITY_SNR") || !slices.ContainsFunc(codes, func(c string) bool { return strings.HasPrefix(c, "PAIRING_") }) {
		t.Errorf("%s %v", r.Verdict, codes)
	}
}

// Where float16 does not hold what an operation gives, the operation is named.
func TestBisectFindsAnOverflow(t *testing.T) {
	o := small
	o.Adjust = func(tensor string, _ int64, v float32) float32 {
		if tensor == "encoder.blocks.1.mlp.0.weight" {
			return v * 30000
		}
		return v
	}
	r, codes := run(t, Request{Model: bin(t, o), Encoder: encoded(t, bin(t, o), encoder.Float16), Policy: "fp16_v1", Bisect: true})
	at := slices.IndexFunc(r.Notes, func(n reason.Reason) bool { return n.Code == reason.ParityOverflow })
	if r.Verdict != reason.Failed || at < 0 || !strings.Contains(r.Notes[at].Found, "blocks_1_mlp_0_cast") {
		t.Errorf("%s %v: %v", r.Verdict, codes, r.Notes)
	}
}

func TestBisectFindsTheOperation(t *testing.T) {
	other := small
	other.Adjust = func(tensor string, _ int64, v float32) float32 {
		if tensor == "encoder.blocks.1.mlp.0.weight" {
			return v * 1.5
		}
		return v
	}
	r, _ := run(t, Request{Model: bin(t, small), Encoder: encoded(t, bin(t, other), encoder.Float32), Bisect: true})
	for _, n := range r.Notes {
		if n.Code == "FIRST_DIFFERENCE" {
			if !strings.HasPrefix(n.Where, "between layer.1.attn") || !strings.HasSuffix(n.Where, "and layer.1.mlp") {
				t.Errorf("the difference is said to be %s", n.Where)
			}
			return
		}
	}
	t.Errorf("no first difference among %v", r.Notes)
}

func TestWhatCannotBeEvaluatedIsInconclusive(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float32)
	path := filepath.Join(enc, "model.mil")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(" gelu("), []byte(" mish("), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	r, codes := run(t, Request{Model: model, Encoder: enc})
	if r.Verdict != reason.Unknown || !slices.Contains(codes, "EVALUATION_UNSUPPORTED") {
		t.Errorf("%s %v", r.Verdict, r.Reasons)
	}
}

// side writes a tensor with its sidecar.
func side(t *testing.T, name string, shape []int, v []float32, change func(*parity.Sidecar)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var b bytes.Buffer
	if err := tensorfile.WriteNPY(&b, shape, v); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	digest, err := parity.FileDigest(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &parity.Sidecar{Schema: 1, Role: "reference", Model: "m", Revision: "r", Tool: "t", DType: "float32", Mode: "eval", Device: "cpu", Attention: "eager", TensorSHA256: digest}
	if change(s); s.Schema == 0 {
		return path
	}
	data, err := strictjson.Canonical(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".json", data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReferencesOfOnesOwn(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float32)
	m, err := ggml.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	mel, _, err := ReadMel(m, "", "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := reference.New(m)
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
	shape := []int{1, 40, 48}
	digest := parity.MelDigest(mel)
	for name, c := range map[string]struct {
		change func(s *parity.Sidecar)
		want   []string
	}{
		"right":            {func(s *parity.Sidecar) {}, nil},
		"no sidecar":       {func(s *parity.Sidecar) { s.Schema = 0 }, []string{"REFERENCE_SIDECAR", "MEL_UNKNOWN"}},
		"other bytes":      {func(s *parity.Sidecar) { s.TensorSHA256 = "00" }, []string{"REFERENCE_SIDECAR", "MEL_UNKNOWN"}},
		"sdpa":             {func(s *parity.Sidecar) { s.Attention = "sdpa" }, []string{"REFERENCE_TERMS"}},
		"training, on gpu": {func(s *parity.Sidecar) { s.Mode, s.Device = "train", "cuda" }, []string{"REFERENCE_TERMS", "REFERENCE_TERMS"}},
		"half":             {func(s *parity.Sidecar) { s.DType = "float16" }, []string{"REFERENCE_TERMS"}},
		"no revision":      {func(s *parity.Sidecar) { s.Revision = "" }, []string{"REFERENCE_TERMS"}},
		"a blank model":    {func(s *parity.Sidecar) { s.Model = " " }, []string{"REFERENCE_TERMS"}},
		"of an encoder":    {func(s *parity.Sidecar) { s.EncoderDigest = strings.Repeat("0", 64) }, []string{"REFERENCE_TERMS"}},
		"of Core ML":       {func(s *parity.Sidecar) { s.Probe = probetest.Report("output", shape...) }, []string{"REFERENCE_TERMS"}},
		"a candidate":      {func(s *parity.Sidecar) { s.Role = "candidate" }, []string{"SIDES_SWAPPED"}},
		"another mel":      {func(s *parity.Sidecar) { s.MelSHA256 = "11" }, []string{"MEL_DIFFERS"}},
	} {
		path := side(t, "ref.npy", shape, v, func(s *parity.Sidecar) { s.MelSHA256 = digest; c.change(s) })
		r, codes := run(t, Request{Model: model, Encoder: enc, Reference: path})
		if !slices.Equal(codes, c.want) || (r.Verdict == reason.Pass) != (c.want == nil) {
			t.Errorf("%s: %s %v, want %v", name, r.Verdict, r.Reasons, c.want)
		}
	}

	from, err := tree.Digest(enc)
	if err != nil {
		t.Fatal(err)
	}
	candidate := func(dtype string) string {
		return side(t, "cand.npy", shape, v, func(s *parity.Sidecar) {
			s.Role, s.MelSHA256, s.DType, s.EncoderDigest = "candidate", digest, dtype, from
		})
	}
	if r, codes := run(t, Request{Model: model, Encoder: enc, Candidate: candidate("float32")}); r.Verdict != reason.Pass {
		t.Errorf("a candidate predicted elsewhere: %v", codes)
	}
	// A tensor that was predicted elsewhere, of a program that takes no such mel: nothing to bisect, and judged all the same.
	path := filepath.Join(enc, "model.mil")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("tensor<fp32, [1, 80, 80]> logmel_data"), []byte("tensor<fp32, [80, 80]> logmel_data"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, codes := run(t, Request{Model: model, Encoder: enc, Candidate: candidate("float32"), Bisect: true}); r.Verdict != reason.Failed || r.Facts["bisect_failed"] == nil {
		t.Errorf("another mel: %s %v, %v", r.Verdict, codes, r.Facts)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	swapped := side(t, "ref.npy", shape, v, func(s *parity.Sidecar) { s.MelSHA256 = digest })
	if _, codes := run(t, Request{Model: model, Encoder: enc, Candidate: swapped}); !slices.Contains(codes, "SIDES_SWAPPED") {
		t.Errorf("a reference given as the candidate: %v", codes)
	}
	if r, codes := run(t, Request{Model: model, Candidate: candidate("ggml"), Policy: "ggml_v1"}); r.Verdict != reason.Pass || r.SatisfiesGate() {
		t.Errorf("ggml's own encoder: %v", codes)
	}
	if _, codes := run(t, Request{Model: model, Candidate: candidate("float32")}); !slices.Contains(codes, "POLICY_PRECISION") {
		t.Errorf("a candidate without an encoder passes as float32: %v", codes)
	}
}

// A tensor file that is malformed is a fault of what was given, and judged; one that is not there is not.
func TestMalformedTensorsAreRefused(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float32)
	path := side(t, "x.npy", []int{1, 40, 48}, make([]float32, 40*48), func(*parity.Sidecar) {})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"cut off": whole[:len(whole)-1], "too long": append(slices.Clone(whole), 0), "no header": whole[:20], "integers": bytes.Replace(whole, []byte("<f4"), []byte("<i4"), 1),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, codes := run(t, Request{Model: model, Encoder: enc, Reference: path}); r.Verdict != reason.Failed || !slices.Equal(codes, []string{"REFERENCE_UNFIT"}) {
			t.Errorf("%s reference: %s %v", name, r.Verdict, r.Reasons)
		}
		if r, codes := run(t, Request{Model: model, Encoder: enc, Candidate: path}); r.Verdict != reason.Failed || !slices.Equal(codes, []string{"CANDIDATE_UNFIT"}) {
			t.Errorf("%s candidate: %s %v", name, r.Verdict, r.Reasons)
		}
	}
	for _, q := range []Request{{Reference: path + ".none.npy"}, {Reference: path, ReferenceMember: "x"}, {Candidate: filepath.Dir(path)}} {
		q.Model, q.Encoder = model, enc
		if r, err := Run(t.Context(), q); err == nil {
			t.Errorf("%+v is judged: %v", q, r.Reasons)
		}
	}
}

func TestRequestsThatCannotBeJudged(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float32)
	wrong := side(t, "mel.npy", []int{1, 80, 3000}, make([]float32, 80*3000), func(*parity.Sidecar) {})
	infinite := make([]float32, 80*80)
	infinite[81] = float32(math.Inf(-1))
	unfit := side(t, "mel.npy", []int{1, 80, 80}, infinite, func(*parity.Sidecar) {})
	for name, c := range map[string]struct {
		q    Request
		want string
	}{
		"an infinite mel":    {Request{Model: model, Encoder: enc, Mel: unfit}, "-Inf in band 1 at frame 1"},
		"no such policy":     {Request{Model: model, Encoder: enc, Policy: "fp32_v3"}, "fp32_v3"},
		"mel of other shape": {Request{Model: model, Encoder: enc, Mel: wrong}, "expected a float32 mel of [1, 80, 80]"},
		"no mel there":       {Request{Model: model, Encoder: enc, Mel: wrong + "x.npy"}, "no such file"},
		"nothing to compare": {Request{Model: model}, "expected an encoder"},
		"a member of what":   {Request{Model: model, Encoder: enc, ReferenceMember: "x"}, `reference member "x"`},
		"a member of sound":  {Request{Model: model, Encoder: enc, MelMember: "x"}, `mel member "x"`},
		"two outputs":        {Request{Model: model, Encoder: enc, Candidate: wrong, Probe: wrong}, "expected one of them"},
		"half a bisection":   {Request{Model: model, Encoder: enc, Reference: wrong, Bisect: true}, "no reference tensor"},
	} {
		if r, err := Run(t.Context(), c.q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
