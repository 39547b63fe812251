// Package gatefixture lays out the files of a small gate that passes, for tests to bend.
package gatefixture

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	frozen "github.com/coreml-gate/rules_coreml_gate/gate/policy"
	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

// World is a gate's files in a directory, and what they hold.
type World struct {
	Dir  string
	Spec statement.Spec
	// Evidence of the three runs; [World.Write] writes them.
	CoreML, Canary, Contrast *evidence.Evidence
	// Contract and Parity are what other actions judged; [World.Write] writes them too, unless they are nil.
	Contract, Parity *verdict.Judgement
	Sources          *pin.Check
}

// New lays a world out in a temporary directory.
func New(t testing.TB) *World {
	t.Helper()
	w := &World{Dir: t.TempDir(), CoreML: evidencetest.Sample(evidence.KindCoreML), Canary: evidencetest.Sample(evidence.KindCanary), Contrast: evidencetest.Sample(evidence.KindContrast)}
	s := &w.Spec
	s.Schema, s.Name = 1, "//gate:receipt"
	s.CLI = w.File(t, "whisper-cli", "program")
	s.ContrastCLI = w.File(t, "whisper-cli-ggml", "another program")
	s.Model = w.File(t, "ggml-model.bin", "model")
	w.File(t, "ggml-model-encoder.mlmodelc/model.mil", "program(1.0)")
	w.File(t, "ggml-model-encoder.mlmodelc/weights/weight.bin", "weights")
	s.Encoder = filepath.Join(w.Dir, "ggml-model-encoder.mlmodelc")
	s.Audio = w.File(t, "audio.wav", "RIFF")
	s.Reference = w.File(t, "reference.txt", evidencetest.Reference+"\n")
	pinned, err := pins.Load(w.CoreML.Pin.Name)
	if err != nil {
		t.Fatal(err)
	}
	s.Manifest = w.File(t, "manifest", string(pinned.Manifest.Format()))
	s.Patch = w.File(t, "patch", string(pinned.Patch))
	s.Toolchain = map[string]string{"compiler": "clang", "cpu": "k8", "libc": "glibc", "target": "x86_64-linux-gnu", "compiler_sha256": strings.Repeat("5", 64), "linker_sha256": strings.Repeat("6", 64)}
	gate, err := frozen.Files.ReadFile("gate_v2.json")
	if err != nil {
		t.Fatal(err)
	}
	s.Policies = []string{w.File(t, "gate_v2.json", string(gate))}

	p := &w.CoreML.Pin
	w.Sources = &pin.Check{Schema: pin.CheckSchema, Verdict: "pass", Pin: p.Name, ManifestSHA256: p.ManifestSHA256, Files: len(pinned.Manifest) + 1, Mismatches: []pin.Mismatch{}}
	s.Required = []string{"contract", "parity"}
	w.Contract = verdict.NewJudgement("contract")
	w.Contract.Facts = map[string]any{
		"compression": "", "compute": "float32", "derived": "ggml-model-encoder.mlmodelc", "encoder_form": "mlmodelc", "encoder_kind": "mlProgram", "minimum_macos": "12.0",
		"model_type": "f16", "pairing_rule": "exact", "precision": "float32", "producer": "coreml-gate.encoder-writer 1", "shippable": true, "specification_version": 6,
		"tensors": 67, "tensors_matched": 67, "weights": "float32", "weights_finer": false,
	}
	w.Parity = verdict.NewJudgement("parity")
	w.Parity.Add(reason.EmulatedUnits, "ggml-model-encoder.mlmodelc", "Core ML at all compute units", "evaluated from the program (portable)")
	w.Parity.Facts = map[string]any{
		"cosine": 0.999999999999439, "encoder_form": "mlmodelc", "kernel_path": "portable", "max_error": 0.000155, "mean_error": 8.6e-7, "mel": "built-in probe",
		"mel_sha256": strings.Repeat("7", 64), "precision": "float32", "reference": "float64 from the .bin's tensors", "satisfies_gate": true, "snr_db": 119.5,
	}
	w.Under(t, w.Parity, "fp32_v2")
	w.Rehash(t)
	return w
}

// MacHost is what Core ML's numbers say of the machine of [Physical].
const MacHost = "Mac16,10, Apple M4, macOS 15.6 (24G720)"

// Physical makes a receipt of the emulated lane one of the physical lane, in all that it says.
func Physical(s *statement.Statement) {
	p := &s.Predicate
	p.Lane, p.Provisional = evidence.LanePhysical, p.Provisional[1:]
	p.LaneIdentity = map[string]string{
		"lane": "physical", "core_ml": "CoreML.framework", "os_version": "15.6", "os_build": "24G720", "hardware": "Mac16,10", "chip": "Apple M4", "xcode_version": "16.4", "xcode_build": "16F6",
	}
	p.Materials = slices.DeleteFunc(p.Materials, func(r statement.Resource) bool { return r.Name == statement.MaterialEvaluator })
	for _, j := range p.Judgements {
		delete(j.Facts, "double_predictions")
		if j.Name == "parity" {
			delete(j.Facts, "kernel_path")
			j.Facts["core_ml_host"], j.Facts["compute_units_asked"], j.Facts["compute_units_loaded"], j.Facts["load_attempts"] = MacHost, "all", "all", "all: loaded"
			j.Notes = slices.DeleteFunc(slices.Clone(j.Notes), func(r reason.Reason) bool { return r.Code == reason.EmulatedUnits })
		}
		if _, ok := j.Facts["lane"]; ok {
			j.Facts["lane"] = "physical"
		}
	}
}

// Placed adds a placement to a receipt of the physical lane, with the policy that it goes by, and returns the judgement.
func Placed(t testing.TB, s *statement.Statement) *verdict.Judgement {
	t.Helper()
	p := &s.Predicate
	j := placementtest.Judgement(t, s.Digest(statement.SubjectEncoder), p.LaneIdentity["os_build"])
	known, err := policy.Frozen(j.Policy.Name)
	if err != nil {
		t.Fatal(err)
	}
	j.Facts["model_sha256"] = s.Digest(statement.SubjectModel)
	p.Judgements = append(p.Judgements, j)
	p.Policies = append(p.Policies, statement.PolicyRef{Name: known.Name, Kind: known.Kind, SHA256: known.SHA256, Frozen: true})
	p.Placement = j.Facts[verdict.FactPlacement].(string)
	p.Provisional = slices.DeleteFunc(p.Provisional, func(text string) bool { return strings.HasPrefix(text, "placement:") })
	return j
}

// Under lets a judgement go by the frozen policy of that name; parity says then whether it satisfies the release gate.
func (w *World) Under(t testing.TB, j *verdict.Judgement, name string) {
	t.Helper()
	under(t, j, name)
}

func under(t testing.TB, j *verdict.Judgement, name string) {
	t.Helper()
	p, err := policy.Frozen(name)
	if err != nil {
		t.Fatal(err)
	}
	j.Policy = &verdict.PolicyRef{Name: p.Name, SHA256: p.SHA256}
	if j.Name != parity.Name {
		return
	}
	j.Facts["satisfies_gate"] = name == parity.GatePolicy
	j.Notes = slices.DeleteFunc(j.Notes, func(r reason.Reason) bool { return r.Code == reason.PolicyNotGate })
	if name != parity.GatePolicy {
		j.Add(reason.PolicyNotGate, "policy "+name, parity.GatePolicy, name)
	}
}

// Precise gives the encoder of contract and parity a class of precision, as parity names it, and with it a frozen policy.
func Precise(t testing.TB, contract, numbers *verdict.Judgement, class, policyName string) {
	t.Helper()
	f := contract.Facts
	f["precision"], f["weights"], f["compute"], f["compression"] = class, class, class, ""
	if strings.HasPrefix(class, "compressed") {
		f["precision"], f["weights"], f["compute"], f["compression"] = "compressed", "compressed", "float16", "uint8 linear, per channel"
	}
	numbers.Facts["precision"] = class
	under(t, numbers, policyName)
}

// Words is a judgement of words about what the world binds, which passes.
func (w *World) Words(t testing.TB) *verdict.Judgement {
	t.Helper()
	j := verdict.NewJudgement("words")
	j.Facts = map[string]any{
		"cli_sha256": w.CoreML.Digests.CLI, "ggml_cli_sha256": w.Contrast.Digests.CLI, "model_sha256": w.CoreML.Digests.Model, "encoder_digest": *w.CoreML.Digests.Encoder, "lane": string(w.CoreML.Lane),
		"evidence_digest": strings.Repeat("8", 64), "nondeterminism": "none in the decoding; a near tie of two tokens falls either way where kernels or thread counts differ", "provisional": false, "recordings": 12, "units": 400,
		"coreml_source_edits": 2, "ggml_source_edits": 2, "coreml_ggml_edits": 1, "coreml_source_rate": 0.005, "ggml_source_rate": 0.005, "coreml_ggml_rate": 0.0025,
	}
	w.Under(t, j, "words_v1")
	return j
}

// Apart gives the gate a name and runs of its own: in a release, one run counts once.
func (w *World) Apart(t testing.TB, name string) {
	t.Helper()
	w.Spec.Name = name
	for _, e := range []*evidence.Evidence{w.CoreML, w.Canary, w.Contrast} {
		// The greeting in the log names the version of what stands for Core ML.
		was := "version " + e.LaneIdentity["version"]
		e.LaneIdentity["version"] = fmt.Sprint(2 + crc32.ChecksumIEEE([]byte(name))%1e6)
		evidencetest.Edit(e, was+",", "version "+e.LaneIdentity["version"]+",")
	}
	w.Write(t)
}

// Rehash makes the evidence that of the files as they stand now, and writes it.
func (w *World) Rehash(t testing.TB) {
	t.Helper()
	s := &w.Spec
	encoder, err := tree.Digest(s.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	w.CoreML.Digests.Encoder = &encoder
	for _, e := range []*evidence.Evidence{w.CoreML, w.Canary, w.Contrast} {
		e.Digests.CLI, e.Digests.Model, e.Digests.Audio = Sum(t, s.CLI), Sum(t, s.Model), Sum(t, s.Audio)
	}
	w.Contrast.Digests.CLI = Sum(t, s.ContrastCLI)
	for _, j := range []*verdict.Judgement{w.Contract, w.Parity} {
		if j != nil {
			j.Facts["model_sha256"], j.Facts["encoder_digest"] = Sum(t, s.Model), encoder
		}
	}
	w.Write(t)
}

// Write writes pin, sources check and evidence as they stand now.
func (w *World) Write(t testing.TB) {
	t.Helper()
	s := &w.Spec
	s.Pin = w.JSON(t, "pin.json", w.CoreML.Pin)
	s.Sources = w.JSON(t, "sources.json", w.Sources)
	for _, side := range []struct {
		e  *evidence.Evidence
		to *string
	}{{w.CoreML, &s.CoreML}, {w.Canary, &s.Canary}, {w.Contrast, &s.Contrast}} {
		data, err := evidence.Encode(side.e)
		if err != nil {
			t.Fatal(err)
		}
		*side.to = w.File(t, string(side.e.Kind)+".evidence.json", string(data))
	}
	for _, j := range []*verdict.Judgement{w.Contract, w.Parity} {
		if j == nil {
			continue
		}
		path := w.JSON(t, j.Name+".json", j)
		if !slices.Contains(s.Judgements, path) {
			s.Judgements = append(s.Judgements, path)
		}
	}
}

// File writes a file of the world and returns its path.
func (w *World) File(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(w.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// JSON writes a file of the world as JSON.
func (w *World) JSON(t testing.TB, name string, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return w.File(t, name, string(data))
}

// Build builds the world's receipt from its spec and from the judgements that gate_judge would make of its runs.
func (w *World) Build(t testing.TB) (*statement.Statement, error) {
	t.Helper()
	spec := w.Spec
	spec.Judgements = append(w.JudgeRuns(t), spec.Judgements...)
	return statement.Build(&spec)
}

// JudgeRuns writes the judgements of the runs as they stand on disk; none where evidence cannot be read.
func (w *World) JudgeRuns(t testing.TB) []string {
	t.Helper()
	var runs judge.Runs
	for _, side := range []struct {
		path string
		to   **evidence.Evidence
	}{{w.Spec.CoreML, &runs.CoreML}, {w.Spec.Canary, &runs.Canary}, {w.Spec.Contrast, &runs.Contrast}} {
		e, _, err := evidence.ReadFile(side.path)
		if err != nil {
			return nil
		}
		*side.to = e
	}
	reference, err := os.ReadFile(w.Spec.Reference)
	if err != nil {
		return nil
	}
	var paths []string
	p, err := policy.Frozen(agreement.DefaultPolicy)
	if err != nil {
		t.Fatal(err)
	}
	all, err := agreement.JudgeRuns(runs, string(reference), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		paths = append(paths, w.JSON(t, j.Name+".judgement.json", j))
	}
	return paths
}

// About are the facts by which a judgement says that it is about this world, and more.
func (w *World) About(t testing.TB, more map[string]any) map[string]any {
	t.Helper()
	encoder, err := tree.Digest(w.Spec.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{
		verdict.FactCLI: Sum(t, w.Spec.CLI), verdict.FactContrastCLI: Sum(t, w.Spec.ContrastCLI), verdict.FactModel: Sum(t, w.Spec.Model), verdict.FactEncoder: encoder,
	}
	maps.Copy(out, more)
	return out
}

// Receipt builds and encodes the world's receipt.
func (w *World) Receipt(t testing.TB) []byte {
	t.Helper()
	built, err := w.Build(t)
	if err != nil {
		t.Fatal(err)
	}
	data, err := statement.Encode(built)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Policy returns a policy file's text under another name, which is frozen nowhere.
func (w *World) Policy(t testing.TB, name string) string {
	t.Helper()
	p, err := policy.Frozen("gate_v2")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return w.File(t, name+".json", strings.Replace(string(data), "gate_v2", name, 1))
}

// Sum returns a file's SHA-256.
func Sum(t testing.TB, path string) string {
	t.Helper()
	sum, _, err := tree.HashFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
