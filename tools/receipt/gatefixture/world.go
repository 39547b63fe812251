// Package gatefixture lays out the files of a small gate that passes, for tests to bend.
package gatefixture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	frozen "github.com/coreml-gate/rules_coreml_gate/gate/policy"
	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// World is a gate's files in a directory, and what they hold.
type World struct {
	Dir  string
	Spec statement.Spec
	// Evidence of the three runs; [World.Write] writes them.
	CoreML, Canary, Contrast *evidence.Evidence
	Sources                  *pin.Check
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
	s.Toolchain = map[string]string{"compiler": "clang"}
	gate, err := frozen.Files.ReadFile("gate_v1.json")
	if err != nil {
		t.Fatal(err)
	}
	s.Policies = []string{w.File(t, "gate_v1.json", string(gate))}

	p := &w.CoreML.Pin
	w.Sources = &pin.Check{Schema: pin.CheckSchema, Verdict: "pass", Pin: p.Name, ManifestSHA256: p.ManifestSHA256, Files: 120, Mismatches: []pin.Mismatch{}}
	w.Rehash(t)
	return w
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

// Receipt builds and encodes the world's receipt.
func (w *World) Receipt(t testing.TB) []byte {
	t.Helper()
	built, err := statement.Build(&w.Spec)
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
	p, err := policy.Frozen("gate_v1")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return w.File(t, name+".json", strings.Replace(string(data), "gate_v1", name, 1))
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
