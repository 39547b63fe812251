package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// TestMain makes this test binary a stand-in for Bazel, whose outputs lie in a world of a test.
func TestMain(m *testing.M) {
	if root := os.Getenv("AUDIT_TEST_ROOT"); root != "" && len(os.Args) > 2 && strings.HasPrefix(os.Args[1], "--output_base=") {
		os.Exit(pretend(root, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func pretend(root string, args []string) int {
	f, err := os.OpenFile(filepath.Join(root, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 99
	}
	fmt.Fprintln(f, strings.Join(args[1:], " "))
	f.Close()
	switch args[1] {
	case "build":
		if slices.Contains(args, "//broken:receipt") {
			return 1
		}
	case "cquery":
		fmt.Println("out/receipt.json")
	case "info":
		fmt.Println(root)
	}
	return 0
}

// lay writes a world's receipt and spec as a build would, and returns the receipt.
func lay(t *testing.T, w *gatefixture.World) *statement.Statement {
	t.Helper()
	data := w.Receipt(t)
	w.File(t, "out/receipt.json", string(data))
	spec := w.Spec
	for _, p := range []*string{&spec.CLI, &spec.Model, &spec.Encoder} {
		rel, err := filepath.Rel(w.Dir, *p)
		if err != nil {
			t.Fatal(err)
		}
		*p = rel
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	w.File(t, "out/receipt.spec.json", string(text))
	s, err := statement.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request is an audit whose Bazel finds the rebuilt world.
func request(t *testing.T, audited *statement.Statement, rebuilt *gatefixture.World) Request {
	t.Helper()
	t.Setenv("AUDIT_TEST_ROOT", rebuilt.Dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Request{Receipt: audited, Workspace: t.TempDir(), Bazel: self, Flags: []string{"--config=ci"}, Log: os.Stderr}
}

func codesOf(reasons []reason.Reason) []string {
	out := []string{}
	for _, r := range reasons {
		out = append(out, r.Code)
	}
	return out
}

// TestAudit changes one thing about the rebuilt world at a time.
func TestAudit(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, w *gatefixture.World)
		verdict reason.Verdict
		codes   []string
	}{
		{"equal", func(*testing.T, *gatefixture.World) {}, reason.Pass, []string{}},
		{"another program (C13, C17, C24)", func(t *testing.T, w *gatefixture.World) {
			w.File(t, "whisper-cli", "program built elsewhere")
			w.CoreML.Digests.CLI, w.Canary.Digests.CLI = gatefixture.Sum(t, w.Spec.CLI), gatefixture.Sum(t, w.Spec.CLI)
			w.Write(t)
		}, reason.Failed, []string{"REBUILT_DIFFERS"}},
		{"another encoder", func(t *testing.T, w *gatefixture.World) {
			w.File(t, "ggml-model-encoder.mlmodelc/weights/weight.bin", "other weights")
			w.Rehash(t)
		}, reason.Unknown, []string{"ENCODER_REBUILT_DIFFERS"}},
		{"another compiler", func(t *testing.T, w *gatefixture.World) { w.Spec.Toolchain["compiler"] = "gcc" }, reason.Unknown, []string{"AUDIT_TOOLCHAIN_DIFFERS"}},
		{"another audio", func(t *testing.T, w *gatefixture.World) {
			w.File(t, "audio.wav", "RIFFX")
			w.Rehash(t)
		}, reason.Failed, []string{"AUDIT_INPUT_DIFFERS"}},
		{"another pin", func(t *testing.T, w *gatefixture.World) {
			w.CoreML.Pin.Commit = strings.Repeat("1", 40)
			w.Canary.Pin, w.Contrast.Pin = w.CoreML.Pin, w.CoreML.Pin
			w.Write(t)
		}, reason.Failed, []string{"AUDIT_INPUT_DIFFERS"}},
		{"another lane's identity", func(t *testing.T, w *gatefixture.World) {
			for _, e := range []*evidence.Evidence{w.CoreML, w.Canary, w.Contrast} {
				e.LaneIdentity["version"] = "9"
			}
			w.Write(t)
		}, reason.Unknown, []string{"AUDIT_LANE_DIFFERS"}},
		{"another run of the same", func(t *testing.T, w *gatefixture.World) {
			evidencetest.Edit(w.CoreML, "4.85 MB", "4.86 MB")
			w.Write(t)
		}, reason.Failed, []string{"AUDIT_EVIDENCE_DIFFERS"}},
		{"another fact", func(t *testing.T, w *gatefixture.World) {
			w.Contract.Facts["producer"] = "another converter"
			w.Write(t)
		}, reason.Failed, []string{"AUDIT_DIFFERS"}},
		{"another note", func(t *testing.T, w *gatefixture.World) {
			w.Contract.Add(reason.ProducerUnknown, "model.mil", "a name", "none")
			w.Write(t)
		}, reason.Failed, []string{"AUDIT_DIFFERS"}},
		{"another name", func(_ *testing.T, w *gatefixture.World) { w.Spec.Name = "//gate:other" }, reason.Failed, []string{"AUDIT_DIFFERS"}},
		{"a canary that crashes now", func(t *testing.T, w *gatefixture.World) {
			w.Canary.Exit.Code = 139
			w.Write(t)
		}, reason.Failed, []string{"AUDIT_VERDICT_DIFFERS", "AUDIT_VERDICT_DIFFERS", "AUDIT_VERDICT_DIFFERS", "AUDIT_VERDICT_DIFFERS", "AUDIT_EVIDENCE_DIFFERS"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			audited := lay(t, gatefixture.New(t))
			w := gatefixture.New(t)
			c.change(t, w)
			lay(t, w)
			r, err := Run(t.Context(), request(t, audited, w))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.codes, codesOf(r.Reasons)); diff != "" || r.Verdict != c.verdict {
				t.Errorf("verdict %s, want %s; codes (-want +got):\n%s\n%v", r.Verdict, c.verdict, diff, r.Changes)
			}
		})
	}
}

// TestExplained holds that differences are explained where the originals are at hand.
func TestExplained(t *testing.T) {
	before := gatefixture.New(t)
	audited := lay(t, before)
	w := gatefixture.New(t)
	w.File(t, "whisper-cli", "program built elsewhere")
	w.File(t, "ggml-model-encoder.mlmodelc/weights/extra.bin", "x")
	w.Rehash(t)
	lay(t, w)
	q := request(t, audited, w)
	q.CLI, q.Encoder = before.Spec.CLI, before.Spec.Encoder
	r, err := Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Program) != 1 || r.Program[0].Section != "file" {
		t.Errorf("program explained as %v", r.Program)
	}
	if len(r.Encoder) < 3 || r.Encoder[0] != "file weights/extra.bin: only in the rebuilt encoder" {
		t.Errorf("encoder explained as %q", r.Encoder)
	}
	q.CLI = w.Spec.CLI
	var refused *reason.Error
	if _, err := Run(t.Context(), q); !errors.As(err, &refused) || refused.Code != "ORIGINAL_MISMATCH" {
		t.Errorf("an original that the receipt does not bind: %v, want ORIGINAL_MISMATCH", err)
	}
}

// TestBazel holds how Bazel is called: a clean base, the flags everywhere, and a server that is stopped.
func TestBazel(t *testing.T) {
	w := gatefixture.New(t)
	audited := lay(t, w)
	q := request(t, audited, w)
	if _, err := Run(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile(filepath.Join(w.Dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	flags := "--config=ci --disk_cache= --remote_cache= --remote_executor= "
	want := "build " + flags + "//gate:receipt\ncquery " + flags + "--output=files //gate:receipt\ninfo " + flags + "execution_root\nshutdown\n"
	if diff := cmp.Diff(want, string(calls)); diff != "" {
		t.Errorf("calls differ (-want +got):\n%s", diff)
	}
	q.OutputBase = w.Dir
	if _, err := Run(t.Context(), q); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("an output base with something in it: %v", err)
	}
	q.OutputBase = ""
	for _, target := range []string{"--script_path=/tmp/x", "-c", "build", "../x:y", "//...", "//a:b --flag", "//a:b\n//c:d", "//a b"} {
		q.Target = target
		if _, err := Run(t.Context(), q); err == nil || !strings.Contains(err.Error(), "label of one receipt") {
			t.Errorf("target %q: %v", target, err)
		}
	}
	q.Target = "//broken:receipt"
	if _, err := Run(t.Context(), q); err == nil || !strings.Contains(err.Error(), "rebuild //broken:receipt") {
		t.Errorf("a build that fails: %v", err)
	}
}
