package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	module "github.com/coreml-gate/rules_coreml_gate"
	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// asProgram makes this test binary be coregate (TestMain).
const asProgram = "COREGATE_TEST_AS_PROGRAM"

// TestTable holds that help says of every command what it takes and how it ends, and that its examples are its own.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range table {
		if seen[e.path] {
			t.Errorf("%s is there twice", e.path)
		}
		seen[e.path] = true
		cmd := find(newRoot(), e.path)
		if _, _, nested := cutLast(e.path); nested == slices.Contains(groups, e.group) {
			t.Errorf("%s: group %q", e.path, e.group)
		}
		if len(e.exits) == 0 {
			if len(cmd.Commands()) == 0 {
				t.Errorf("%s: no exit codes", e.path)
			}
			continue
		}
		if (cmd.Flags().Lookup("json") == nil) != e.document {
			t.Errorf("%s: expected --json, or a document on standard output; document: %t", e.path, e.document)
		}
		for _, name := range e.stdinFlags {
			if cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s: no flag --%s to read standard input", e.path, name)
			}
		}
		if len(e.examples) == 0 || cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: examples %q, summary %q", e.path, e.examples, cmd.Short)
		}
		for _, x := range e.examples {
			if !strings.HasPrefix(x+" ", "coregate "+e.path+" ") {
				t.Errorf("%s: the example %q is of another command", e.path, x)
			}
		}
		_, help, _ := call(t, "", append(strings.Fields(e.path), "--help")...)
		for _, x := range e.exits {
			if !regexp.MustCompile(`(?m)^  ` + x.code + ` +` + regexp.QuoteMeta(x.means) + `$`).MatchString(help) {
				t.Errorf("%s --help does not say what exit code %s means:\n%s", e.path, x.code, help)
			}
		}
	}
}

// TestMistakes holds that a mistyped word is named with what may have been meant, on one line, and exits 2.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"verfy", "did you mean verify?"},
		{"jduge", "did you mean judge?"},
		{"insp", "did you mean inspect?"},
		{"frobnicate", "coregate --help lists all"},
		{"pin verfy", "coregate pin has no command \"verfy\": did you mean verify?"},
		{"pin frobnicate", "coregate pin --help lists all"},
		{"mil frobnicate", "coregate mil has no command"},
		{"help verfy", "did you mean verify?"},
		{"help pin verfy", "did you mean verify?"},
		{"man pin verfy", "did you mean verify?"},
		{"verify --kye P.pem s", "did you mean --key?"},
		{"verify -key P.pem s", "did you mean --key?"},
		{"verify --frobnicate", "coregate verify --help lists the flags"},
		{"parity --threads many", "coregate parity --help lists the flags"},
		{"explain CANARY_SIGNL", "did you mean CANARY_SIGNAL?"},
		{"completion tcsh", "expected one of bash, zsh, fish"},
		{"version now", "unknown command"},
		{"mel --model - --out x.npy", "standard input is not read there"},
		{"inspect -", "standard input is not read there"},
		{"report - --file -", "standard input is not read there, found - as --file"},
		{"judge - --log -", "standard input can be read once"},
		{"judge --coreml - --canary - --reference x", "standard input can be read once"},
	} {
		code, stdout, stderr := call(t, "", strings.Fields(c.line)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, %q, want 2 and %q", c.line, code, stdout, stderr, c.says)
		}
	}
	for _, line := range []string{"", "pin", "patch", "mil"} {
		if code, stdout, stderr := call(t, "", strings.Fields(line)...); code != 2 || stdout != "" || !strings.Contains(stderr, "Usage:") {
			t.Errorf("coregate %s without a command: exit %d, %q, %q", line, code, stdout, stderr)
		}
	}
	for _, line := range []string{"--help", "help", "help pin verify", "pin --help", "pin verify --help"} {
		if code, stdout, stderr := call(t, "", strings.Fields(line)...); code != 0 || stderr != "" || !strings.Contains(stdout, "Usage:") {
			t.Errorf("coregate %s: exit %d, %q, %q", line, code, stdout, stderr)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"verify", "version", "judge", "sign", "diff", "ab"}
	for word, want := range map[string]string{"verfiy": "verify", "ver": "verify version", "VERIFY": "verify", "sing": "sign", "x": "", "ad": "ab", "": "", "dif": "diff", "judgement": ""} {
		if got := strings.Join(nearest(word, names), " "); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if d := distance("äöü", "äüö"); d != 1 {
		t.Errorf("a swap of two letters: %d", d)
	}
}

func TestVersion(t *testing.T) {
	entry, err := pins.Load(pins.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := call(t, "", "version")
	for _, want := range []string{"coregate " + module.Version + "\n", "pin " + entry.Pin.Name + " (supported)", entry.Pin.Commit, entry.Pin.Manifest.SHA256} {
		if !strings.Contains(text, want) {
			t.Errorf("version lacks %q:\n%s", want, text)
		}
	}
	var got struct {
		Version string
		Pins    []pinned
	}
	_, text, _ = call(t, "", "version", "--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Version != module.Version || len(got.Pins) != len(pins.Names()) || got.Pins[0].ManifestSHA256 != entry.Pin.Manifest.SHA256 {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestStandardInput gives the same bytes by name and as "-": the answers are the same.
func TestStandardInput(t *testing.T) {
	d := newDesk(t)
	good := writeEvidence(t, evidencetest.Sample("coreml"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		args []string
	}{
		{good, []string{"judge", "@"}},
		{d.signed, []string{"verify", "--key", d.public, "@"}},
		{d.receipt, []string{"report", "--format", "text", "@"}},
		{d.receipt, []string{"diff", d.receipt, "@"}},
		{d.receipt, []string{"diff", "@", d.receipt}},
		{self, []string{"binary", "@"}},
	} {
		data, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		with := func(name string) []string {
			args := slices.Clone(c.args)
			args[slices.Index(args, "@")] = name
			return args
		}
		code, stdout, stderr := call(t, "", with(c.file)...)
		stdinCode, stdinStdout, stdinStderr := call(t, string(data), with("-")...)
		stdout = strings.ReplaceAll(strings.ReplaceAll(stdout, c.file, "-"), filepath.Base(c.file), "-")
		if code != stdinCode || stdout != withoutTemp(stdinStdout) || stderr != stdinStderr || code == 2 {
			t.Errorf("%s: exit %d\n%s%s\nfrom standard input: exit %d\n%s%s", c.args[0], code, stdout, stderr, stdinCode, stdinStdout, stdinStderr)
		}
	}
}

// withoutTemp replaces the names of spooled files.
func withoutTemp(text string) string {
	return regexp.MustCompile(regexp.QuoteMeta(filepath.Join(os.TempDir(), "coregate-"))+`\d+`).ReplaceAllString(text, "-")
}

// TestColours holds that what is painted is the same text, and that nothing is painted but for a terminal that wants it.
func TestColours(t *testing.T) {
	world := gatefixture.New(t)
	world.Contract.Add(reason.ModelName, "here", "this", "that")
	path := world.File(t, "receipt.json", string(world.Receipt(t)))
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	show := func(colour bool, print func(w *output)) string {
		var b bytes.Buffer
		w := &output{Writer: &b, colour: colour, screen: &screen{w: &b}}
		print(w)
		return b.String()
	}
	for name, print := range map[string]func(w *output){
		"a failure": func(w *output) { _ = report{world.Contract.Findings, map[string]any{}}.print(w, "contract", false) },
		"explain": func(w *output) {
			root := newRoot()
			root.SetArgs([]string{"explain", reason.ModelName})
			root.SetOut(w)
			if err := root.Execute(); err != nil {
				t.Error(err)
			}
		},
	} {
		plain, painted := show(false, print), show(true, print)
		if escape.ReplaceAllString(painted, "") != plain || painted == plain || strings.Contains(plain, "\x1b") || !strings.Contains(painted, "\x1b[1mMODEL_NAME\x1b[0m") {
			t.Errorf("%s: plain %q, painted %q", name, plain, painted)
		}
	}
	if _, stdout, _ := call(t, "", "report", "--format", "text", path); strings.Contains(stdout, "\x1b") {
		t.Errorf("colours where nobody looks: %q", stdout)
	}
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name string
		w    *os.File
		env  map[string]string
		want bool
	}{
		{"a terminal", terminal, map[string]string{"TERM": "xterm"}, true},
		{"NO_COLOR", terminal, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{"NO_COLOR with any value", terminal, map[string]string{"NO_COLOR": "0"}, false},
		{"NO_COLOR, empty", terminal, map[string]string{"NO_COLOR": ""}, true},
		{"a terminal without colours", terminal, map[string]string{"TERM": "dumb"}, false},
		{"a file", file, map[string]string{"TERM": "xterm"}, false},
	} {
		if got := wantsColour(c.w, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestProgress holds that the line of progress goes before anything else is written, and stays away afterwards.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b}
	out := &output{Writer: &b, screen: s}
	if got, want := s.line("coregate x", 2400*time.Millisecond), "coregate x: at work for 2s (Ctrl-C stops it)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	counting(out, "runs")(3, 40)
	if got, want := s.line("coregate x", 62*time.Second), "coregate x: at work for 1m2s, 3 of 40 runs (Ctrl-C stops it)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.show("coregate x: at work")
	if _, err := out.Write([]byte("answer\n")); err != nil {
		t.Fatal(err)
	}
	s.show("coregate x: at work for longer")
	s.close()
	s.show("too late")
	if _, err := out.Write([]byte("late")); err != nil {
		t.Fatal(err)
	}
	const clear = "\r\x1b[K"
	if got, want := b.String(), "coregate x: at work"+clear+"answer\ncoregate x: at work for longer"+clear; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSignals stops the program itself: while it waits for its input, and while a program that it started runs.
func TestSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	dir := t.TempDir()
	bazel := filepath.Join(dir, "bazel")
	started := filepath.Join(dir, "started")
	if err := os.WriteFile(bazel, []byte("#!/bin/sh\ncase \"$*\" in *shutdown*) exit 0;; esac\necho $$ > "+started+"\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		waits  string // a file that says that it has begun
		signal syscall.Signal
		want   int
		says   string
	}{
		{"reading", []string{"judge", "--json", "--log", "-"}, "", syscall.SIGINT, 130, "stopped by Ctrl-C"},
		{"reading, terminated", []string{"judge", "--log", "-"}, "", syscall.SIGTERM, 143, "stopped by SIGTERM"},
		{"a build", []string{"audit", "--bazel", bazel, "--workspace", dir, d.receipt}, started, syscall.SIGINT, 130, "stopped by Ctrl-C"},
	} {
		cmd := exec.CommandContext(t.Context(), self, c.args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		stdin, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// What was begun is seen: a text that is taken is being read, and a program that was started has written a file.
		if c.waits == "" {
			_, err = stdin.Write(bytes.Repeat([]byte("line\n"), 1<<15))
		} else {
			err = awaitFile(t.Context(), c.waits)
		}
		if err == nil {
			err = cmd.Process.Signal(c.signal)
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != c.want || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%s: exit %d, %q, %q, want %d", c.name, code, stdout.String(), stderr.String(), c.want)
		}
		if asJSON := slices.Contains(c.args, "--json"); asJSON != strings.Contains(stdout.String(), reason.NotJudged) {
			t.Errorf("%s: %q", c.name, stdout.String())
		}
	}
	if runtime.GOOS == "linux" {
		pid, err := os.ReadFile(started)
		if err != nil {
			t.Fatal(err)
		}
		if name, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "comm")); err == nil && strings.HasPrefix(string(name), "sleep") {
			t.Errorf("the build goes on as process %s", pid)
		}
	}
}

func awaitFile(ctx context.Context, path string) error {
	for {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestFlagsSaySomething holds that every flag says what it is for.
func TestFlagsSaySomething(t *testing.T) {
	root := newRoot()
	for _, e := range table {
		find(root, e.path).Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: %q", e.path, f.Name, f.Usage)
			}
		})
	}
}
