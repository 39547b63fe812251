package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

var update = flag.Bool("update", false, "write goldens in place of comparing them")

// call runs coregate in this process.
func call(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeEvidence(t *testing.T, e *evidence.Evidence) string {
	t.Helper()
	data, err := evidence.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, string(e.Kind)+".json", string(data))
}

// TestExitCodes holds what scripts rely on: 0 pass, 1 fail, 2 could not judge, 3 inconclusive.
func TestExitCodes(t *testing.T) {
	good := "exit: 0\n--- stderr\n" + evidencetest.Stderr("coreml") + "--- stdout\n words\n"
	canary := evidencetest.Stderr("canary")
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        int
		verdict     string
	}{
		{"pass", good, []string{"judge", "--log", "-"}, 0, "pass"},
		{"fail", good, []string{"judge", "--log", "-", "--kind", "canary"}, 1, "fail"},
		{"exit from a flag", canary, []string{"judge", "--log", "-", "--kind", "canary", "--exit", "3"}, 0, "pass"},
		{"signal from a flag", canary, []string{"judge", "--log", "-", "--kind", "canary", "--exit", "SIGABRT"}, 1, "fail"},
		{"argv from a flag", good, []string{"judge", "--log", "-", "--argv", "-ac 512"}, 1, "fail"},
		{"inconclusive", "exit: timeout\n--- stderr\n", []string{"judge", "--log", "-"}, 3, "inconclusive"},
		{"no exit", "whisper_init_state: x\n", []string{"judge", "--log", "-"}, 1, "fail"},
		{"silence", strings.Replace(good, " words", "", 1), []string{"judge", "--log", "-"}, 1, "fail"},
		{"silence expected", strings.Replace(good, " words", "", 1), []string{"judge", "--log", "-", "--silence"}, 0, "pass"},
		{"no input", "", []string{"judge"}, 2, ""},
		{"no such file", "", []string{"judge", "--log", "nowhere"}, 2, ""},
		{"bad exit", good, []string{"judge", "--log", "-", "--exit", "perhaps"}, 2, ""},
		{"bad kind", good, []string{"judge", "--log", "-", "--kind", "warm"}, 2, ""},
		{"two inputs", good, []string{"judge", "--log", "-", "evidence.json"}, 2, ""},
		{"unknown flag", "", []string{"judge", "--nope"}, 2, ""},
		{"unknown command", "", []string{"nope"}, 2, ""},
		{"unknown code", "", []string{"explain", "NOPE"}, 2, ""},
		{"code", "", []string{"explain", "canary_signal"}, 0, ""},
		{"evidence", "", []string{"judge", writeEvidence(t, evidencetest.Sample("canary"))}, 0, "pass"},
		{"not evidence", "", []string{"judge", writeFile(t, "e.json", "{}")}, 2, ""},
		{"not evidence, for a script", "", []string{"judge", writeFile(t, "e.json", "{}")}, 2, "error"},
		{"refused run", "", []string{"run", "--cli", "c", "--pin", "p", "--audio", "a.wav", "--encoder", "e", "--evaluator", "x", "--model", "m.bin", "--", "-np"}, 1, "fail"},
		{"run without anything", "", []string{"run"}, 2, "error"},
		{"run without its pin", "", []string{"run", "--cli", "c", "--audio", "a.wav", "--encoder", "e", "--model", "m.bin"}, 2, "error"},
		{"run without its encoder", "", []string{"run", "--cli", "c", "--pin", "p", "--audio", "a.wav", "--model", "m.bin"}, 2, "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if c.verdict != "" {
				// Before "--", behind which everything is whisper-cli's.
				args = append([]string{args[0], "--json"}, args[1:]...)
			}
			code, stdout, stderr := call(t, c.stdin, args...)
			if code != c.want {
				t.Fatalf("exit %d, want %d\n%s%s", code, c.want, stdout, stderr)
			}
			if c.verdict == "" {
				return
			}
			var got struct {
				Verdict string
				Reasons []struct{ Code, Expected, Found, Where string }
				Facts   map[string]any
			}
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatalf("--json printed no object: %v\n%s", err, stdout)
			}
			if got.Verdict != c.verdict || got.Facts == nil || (got.Verdict != "pass") != (len(got.Reasons) > 0) {
				t.Errorf("got %+v, want verdict %s", got, c.verdict)
			}
			if c.verdict == "error" && got.Reasons[0].Code != "NOT_JUDGED" {
				t.Errorf("got %+v, want NOT_JUDGED", got.Reasons)
			}
		})
	}
}

func TestJudgeRuns(t *testing.T) {
	args := []string{"judge", "--json", "--reference", writeFile(t, "r.txt", evidencetest.Reference)}
	for _, kind := range []evidence.Kind{"coreml", "canary", "contrast"} {
		args = append(args, "--"+string(kind), writeEvidence(t, evidencetest.Sample(kind)))
	}
	if code, stdout, stderr := call(t, "", args...); code != 0 {
		t.Errorf("exit %d, want 0\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := call(t, "", args[:len(args)-2]...); code != 1 || !strings.Contains(stdout, "EVIDENCE_MISSING") {
		t.Errorf("without the contrast run: exit %d, want 1 with EVIDENCE_MISSING\n%s", code, stdout)
	}
}

// TestReasonsPage holds docs/reasons.md against the tables in the code.
func TestReasonsPage(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "reasons.md")
	code, want, _ := call(t, "", "explain", "--markdown")
	if code != 0 {
		t.Fatalf("exit %d", code)
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reasons.md is stale; run this test with -update (-want +got):\n%s", diff)
	}
}

// A demand that nobody checks would be met by every program.
func TestBinaryRefusesUnknownDemands(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--lane=Physical", "--lane=bogus", "--flavour=coreML", "--os=darwin", "--arch=aarch64", "--arch=arm64e", "--sha256=abc", "--sha256=" + strings.Repeat("x", 64)} {
		code, _, stderr := call(t, "", "binary", flag, self)
		name, value, _ := strings.Cut(flag, "=")
		if code != 2 || !strings.Contains(stderr, name) || !strings.Contains(stderr, value) {
			t.Errorf("%s: exit %d, %q, want 2 and a message that names both", flag, code, stderr)
		}
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("%X", sha256.Sum256(data))
	if _, stdout, stderr := call(t, "", "binary", "--sha256="+digest, self); strings.Contains(stdout, "BINARY_DIGEST") || stderr != "" {
		t.Errorf("a digest in capitals is another: %s%s", stdout, stderr)
	}
}

// --here demands this machine's system, architecture and instructions. The program of this test is of this machine; without the text of
// upstream's stub it is taken for a whisper-cli.
func TestBinaryHere(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	cli := filepath.Join(t.TempDir(), "whisper-cli")
	if err := os.WriteFile(cli, bytes.ReplaceAll(data, []byte(whispercpp.StubText), bytes.Repeat([]byte{'-'}, len(whispercpp.StubText))), 0o755); err != nil {
		t.Fatal(err)
	}
	system, arch := machine()
	if code, stdout, stderr := call(t, "", "binary", "--here", "--os="+system, "--arch="+arch, cli); code == 0 || !strings.Contains(stdout, "BINARY_INSTRUCTIONS_UNTOLD") || strings.Contains(stdout, "BINARY_PLATFORM") {
		t.Errorf("exit %d, %s%s, want what it does not tell and no other platform", code, stdout, stderr)
	}
	other := map[string]string{"x86_64": "arm64", "arm64": "x86_64"}[arch]
	if code, _, stderr := call(t, "", "binary", "--here", "--arch="+other, cli); code != 2 || !strings.Contains(stderr, "--here: this machine is "+system+" "+arch) {
		t.Errorf("another architecture: exit %d, %q, want 2 and this machine's", code, stderr)
	}
}

// An experiment with a program that cannot show anything is not begun: the program is named.
func TestExperimentsNameWrongPrograms(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	script := filepath.Join(dir, "cli")
	for path, text := range map[string]string{script: "#!/bin/sh\ntouch " + ran + "\n", filepath.Join(dir, "m.bin"): "m", filepath.Join(dir, "a.wav"): "a"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	model := []string{"--model", filepath.Join(dir, "m.bin"), "--audio", filepath.Join(dir, "a.wav")}
	for _, args := range [][]string{
		{"ab", "--n=1", "--unpatched", script, "--patched", script},
		{"sanitize", "--build", "address=" + script + "," + script},
		{"pin", "candidate", "--source", dir, "--unpatched", script},
	} {
		code, stdout, stderr := call(t, "", append(args, model...)...)
		if code != 1 || !strings.Contains(stdout, "BINARY_FORMAT") || !strings.Contains(stdout, script) {
			t.Errorf("%s: exit %d, %s%s, want 1 and BINARY_FORMAT of %s", args[0], code, stdout, stderr, script)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: the program ran", args[0])
		}
		// A program that is not there is no verdict.
		if code, _, stderr := call(t, "", append(strings.Split(strings.ReplaceAll(strings.Join(args, " "), script, script+".not"), " "), model...)...); code != 2 || !strings.Contains(stderr, script+".not") {
			t.Errorf("%s: exit %d, %q, want 2 and the missing program's name", args[0], code, stderr)
		}
	}
}

// A log in place of evidence gets the way to judge it.
func TestJudgeOfALogSaysHow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.txt")
	if err := os.WriteFile(path, []byte("whisper_init_state: loading\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, "", "judge", path); code != 2 || !strings.Contains(stderr, "--log "+path) {
		t.Errorf("exit %d, %q, want 2 and --log", code, stderr)
	}
}
