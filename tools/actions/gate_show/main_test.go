package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// TestX17 holds that neither what a run heard nor what a model says of itself reaches a terminal as anything but text.
func TestX17(t *testing.T) {
	const hostile = "ask not\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\u200b"
	w := gatefixture.New(t)
	evidencetest.SetStreams(w.CoreML, evidencetest.Stderr(evidence.KindCoreML), hostile+"\n::error::x\n")
	w.Contract.Add(reason.PairingAbsent, "tensor "+hostile, "the model's", hostile+"\n::error::x")
	w.Write(t)
	path := w.File(t, "receipt.json", string(w.Receipt(t)))
	shown := filepath.Join(t.TempDir(), "receipt")
	var errs bytes.Buffer
	if code := run([]string{"--receipt=" + path, "--coreml=" + w.Spec.CoreML, "--contrast=" + w.Spec.Contrast, "--out=" + shown}, &errs); code != 0 || errs.Len() > 0 {
		t.Fatalf("exit %d, %s", code, errs.String())
	}
	text, code := printed(t, shown)
	if code != 1 {
		t.Errorf("exit %d, want 1: the receipt fails", code)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return reason.Hidden(r) && r != '\n' }); i >= 0 {
		t.Errorf("%q reaches the terminal", text[i:min(len(text), i+12)])
	}
	if strings.Contains(text, "\n::error") || !strings.Contains(text, "ask not") {
		t.Errorf("a line of its own, or no words:\n%s", text)
	}
}

// TestScript holds that the script prints any text as it is and exits with the code that it was given.
func TestScript(t *testing.T) {
	for code, text := range []string{
		"",
		"plain\n",
		"it's 'quoted' \"twice\"\n",
		"$(exit 7) `exit 7` ${HOME} \\ \\n %s %% !! *\n",
		"EOF\n'\nexit 0\n#",
		"größer, 日本語, no line end",
	} {
		path := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(path, script(text, code), 0o755); err != nil {
			t.Fatal(err)
		}
		if found, exit := printed(t, path); found != text || exit != code {
			t.Errorf("printed %q and exited %d, want %q and %d", found, exit, text, code)
		}
	}
}

// TestUnreadable refuses what is no receipt, and writes no script.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	receipt, out := filepath.Join(dir, "receipt.json"), filepath.Join(dir, "script")
	if err := os.WriteFile(receipt, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	if code := run([]string{"--receipt=" + receipt, "--coreml=none", "--contrast=none", "--out=" + out}, &errs); code != 1 || errs.Len() == 0 {
		t.Errorf("exit %d, %q, want 1 and a reason", code, errs.String())
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a script was written: %v", err)
	}
}

// printed runs a script and returns what it printed and its exit code.
func printed(t *testing.T, path string) (string, int) {
	t.Helper()
	out, err := exec.Command(path).Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return string(out), exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	return string(out), 0
}

// TestReadme holds that the first screen of README.md is what this program prints, but for the pin.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```console\n$ bazel run //gate:receipt\n")
	block, _, found := strings.Cut(block, "…\n```")
	if !found {
		t.Fatal("README.md does not show what bazel run //gate:receipt prints")
	}
	w := gatefixture.New(t)
	w.Write(t)
	shown := filepath.Join(t.TempDir(), "receipt")
	var errs bytes.Buffer
	if code := run([]string{"--receipt=" + w.File(t, "receipt.json", string(w.Receipt(t))), "--coreml=" + w.Spec.CoreML, "--contrast=" + w.Spec.Contrast, "--out=" + shown}, &errs); code != 0 {
		t.Fatalf("exit %d, %s", code, errs.String())
	}
	out, _ := printed(t, shown)
	pin := regexp.MustCompile(`whisper\.cpp .* pin\)`)
	lines := strings.Split(pin.ReplaceAllString(out, "PIN"), "\n")
	for i, line := range strings.Split(strings.TrimSuffix(pin.ReplaceAllString(block, "PIN"), "\n"), "\n") {
		if i >= len(lines) || strings.TrimRight(lines[i], " ") != line {
			t.Fatalf("line %d of README.md's example is %q, but this is printed:\n%s", i+1, line, out)
		}
	}
}
