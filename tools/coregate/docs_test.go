package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	module "github.com/coreml-gate/rules_coreml_gate"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
)

// deskFolder is a folder with the files that documents speak of, by the names that they use.
func deskFolder(t *testing.T) string {
	t.Helper()
	w := gatefixture.New(t)
	receipt := w.Receipt(t)
	dir := w.Dir
	private, public := envelopetest.Write(t, envelopetest.Ed25519(t))
	link := func(name, target string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("K.pem", private)
	link("P.pem", public)
	for name, text := range map[string]string{
		"receipt.json": string(receipt), "old.json": string(receipt), "bazel-bin/small_en_receipt.json": string(receipt),
		"words.txt": evidencetest.Reference + "\n", "run.log": evidencetest.Stderr("coreml"), "canary.log": evidencetest.Stderr("canary"), "jfk.wav": tone(),
	} {
		w.File(t, name, text)
	}
	code, signed, stderr := call(t, "", "sign", "--key", private, filepath.Join(dir, "receipt.json"))
	if code != 0 {
		t.Fatal(stderr)
	}
	w.File(t, "signed.json", signed)
	for name, path := range map[string]string{"coreml.json": w.Spec.CoreML, "canary.json": w.Spec.Canary, "contrast.json": w.Spec.Contrast, "evidence.json": w.Spec.CoreML} {
		if filepath.Base(path) != name {
			link(name, path)
		}
	}
	w.File(t, "ships/whisper-cli", "program")
	w.File(t, "ships/ggml-model.bin", "model")
	modelWithEncoder(t, dir, "ggml-tiny.en", 7)
	modelWithEncoder(t, dir, "ggml-small.en", 8)
	link("coremlprobe", placementtest.Program(t, placementtest.List(true), placementtest.Encoder(), ""))
	digest, err := tree.Digest(filepath.Join(dir, "ggml-tiny.en-encoder.mlmodelc"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := placementtest.Record(digest, placementtest.Encoder()).Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.File(t, "plan.json", string(plan))
	if err := os.Mkdir(filepath.Join(dir, "models"), 0o755); err != nil {
		t.Fatal(err)
	}
	modelWithEncoder(t, filepath.Join(dir, "models"), "ggml-tiny.en", 7)
	session := measuretest.Sample(0.8)
	second := measuretest.Sample(0.8)
	second.StartedAt = "2026-12-02T00:00:00Z"
	if err := writeSubmission(filepath.Join(dir, "session.json"), session); err != nil {
		t.Fatal(err)
	}
	if err := writeSubmission(filepath.Join(dir, "other.json"), measuretest.Seal(second)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tone is half a second of sound, 16 kHz, mono.
func tone() string {
	const samples = 8000
	var b bytes.Buffer
	b.WriteString("RIFF")
	for _, v := range []any{uint32(36 + 2*samples), [8]byte([]byte("WAVEfmt ")), uint32(16), uint16(1), uint16(1), uint32(16000), uint32(32000), uint16(2), uint16(16), [4]byte([]byte("data")), uint32(2 * samples)} {
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	for i := range samples {
		_ = binary.Write(&b, binary.LittleEndian, int16(8000*math.Sin(float64(i)/6)))
	}
	return b.String()
}

// shell runs a script of bash in a folder, where coregate is this program.
func shell(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "coregate")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var runnable = regexp.MustCompile("(?ms)^```sh run\n(.*?)^```")

// TestDocumentsRun runs what documents mark to be run (```sh run), in a folder with the files that they name.
func TestDocumentsRun(t *testing.T) {
	documents, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for _, path := range documents {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var script strings.Builder
		for _, m := range runnable.FindAllStringSubmatch(string(text), -1) {
			script.WriteString(m[1])
			blocks++
		}
		if script.Len() == 0 {
			continue
		}
		if out, err := shell(t, deskFolder(t), script.String()); err != nil {
			t.Errorf("%s: %v\n%s\n%s", filepath.Base(path), err, script.String(), out)
		}
	}
	if blocks < 6 {
		t.Errorf("%d blocks of documents were run: the marks are gone, or the documents are not there", blocks)
	}
}

// TestDocumentsThatFail holds that a command line which fails fails the test of its document.
func TestDocumentsThatFail(t *testing.T) {
	dir := deskFolder(t)
	for _, script := range []string{"coregate verify --key P.pem --lane physical signed.json\n", "coregate verfy\n", "coregate sign --key K.pem none.json > x\ntrue\n"} {
		if out, err := shell(t, dir, script); err == nil {
			t.Errorf("%s: no error\n%s", script, out)
		}
	}
}

// Commands whose examples need a Mac, a real whisper-cli, a clone of whisper.cpp, a workspace or gigabytes. Their lines are parsed by
// tools/dev/commandlines, and the actions and experiments that they share are run by the gates.
var heavy = map[string]bool{"run": true, "transcripts": true, "ab": true, "sanitize": true, "bench": true, "audit": true, "fit": true, "placement record": true,
	"repeat": true, "pin verify": true, "pin make": true, "pin manifest": true, "pin candidate": true, "patch verify": true}

// TestExamples runs the examples of help: each gives an answer.
func TestExamples(t *testing.T) {
	dir := deskFolder(t)
	if err := os.Mkdir(filepath.Join(dir, "man1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range table {
		if heavy[e.path] {
			continue
		}
		for _, example := range e.examples {
			line := example
			if strings.Contains(line, "--log - --kind canary") {
				line += " < canary.log"
			}
			out, err := shell(t, dir, line)
			// A verdict is an answer too.
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2 || exit.ExitCode() > 3) {
				t.Errorf("%s: %v\n%s", example, err, out)
			}
		}
	}
}

// TestDocumentedVersion holds that documents name this version.
func TestDocumentedVersion(t *testing.T) {
	dependency := regexp.MustCompile(`bazel_dep\(name = "rules_coreml_gate", version = "([0-9][^"]*)"`)
	documents, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(documents, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range dependency.FindAllStringSubmatch(string(text), -1) {
			if m[1] != module.Version {
				t.Errorf("%s: version %s, want %s of MODULE.bazel", path, m[1], module.Version)
			}
		}
	}
}
