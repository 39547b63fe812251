package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/supervisor"
)

// TestMain makes this test binary a stand-in for whisper-cli when it is started under that name. What
// it does is in the model file, since a run's arguments and environment are closed.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == stagedCLI {
		os.Exit(pretend())
	}
	os.Exit(m.Run())
}

func pretend() int {
	model, err := os.ReadFile(stagedModel)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 99
	}
	script, argument, _ := strings.Cut(strings.TrimSpace(string(model)), " ")
	switch script {
	case "words":
		fmt.Println(" some words")
		fmt.Fprintln(os.Stderr, "whisper_print_timings:    total time =  1203.11 ms")
	case "exit3":
		return 3
	case "first3":
		// Exits with 3 unless it was started before.
		if f, err := os.OpenFile(argument, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			return 3
		}
		fmt.Println(" some words")
	case "segv", "kill":
		// Go's own handler would turn SIGSEGV into an exit code; a shell has none.
		number := map[string]string{"segv": "11", "kill": "9"}[script]
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -" + number + " $$"}, nil)
		return 99
	case "sleep":
		fmt.Fprintln(os.Stderr, "sleeping")
		time.Sleep(10 * time.Minute)
	case "orphan":
		// A helper that outlives the program and holds its streams.
		_ = exec.Command("/bin/sh", "-c", "sleep 600").Start()
		child := exec.Command("/bin/sh", "-c", "sleep 600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		fmt.Println(child.Process.Pid)
	case "flood":
		line := strings.Repeat("x", 1023) + "\n"
		for range (supervisor.MaxStream >> 10) + 100 {
			os.Stdout.WriteString(line)
		}
	case "world":
		for _, v := range os.Environ() {
			fmt.Println(v)
		}
		dir, _ := os.Getwd()
		fmt.Println("cwd", dir)
		entries, _ := os.ReadDir(".")
		for _, e := range entries {
			fmt.Println(e.Name(), e.Type().IsRegular())
		}
	case "setsid":
		// A helper in a session of its own, with no stream of the run's.
		child := exec.Command("/bin/sh", "-c", "sleep 600")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = child.Start()
		fmt.Println(child.Process.Pid)
	case "inherited":
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ls /proc/self/fd | tr '\\n' ' '; echo; grep -E 'Sig(Ign|Blk)' /proc/self/status; ulimit -t; ulimit -c; ulimit -n; umask; cat /dev/tty"}, os.Environ())
		return 99
	case "replaced", "moved", "written", "added", "directory", "exchanged":
		if err := meddle(script); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			return 99
		}
	case "plant":
		if err := os.Mkdir(stagedEncoder, 0o755); err != nil {
			return 99
		}
	}
	return 0
}

// newSpec is a spec of a run in which the stand-in follows the script.
func newSpec(t *testing.T, kind evidence.Kind, script string) *Spec {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.Repeat("0", 64)
	s := &Spec{
		Schema: 1, Kind: kind, Lane: evidence.LaneEmulated, LaneIdentity: map[string]string{"double": "1"}, Flavour: "coreml",
		Pin: write("pin.json", `{"name":"p","commit":"`+sum[:40]+`","tree":"`+sum[:40]+`","supported":true,"manifest_sha256":"`+sum+`","patch":{"label":"l","sha256":"`+sum+`"},"patched_file":{"path":"src/whisper.cpp","sha256":"`+sum+`"}}`),
		CLI: self, Model: write("private name.bin", script), Audio: write("private talk.WAV", "riff"),
		Threads: 2, DeadlineSeconds: 30, Evaluator: write("evaluator", "none"), Public: true,
	}
	switch kind {
	case evidence.KindCoreML:
		write("my-encoder.mlmodelc/weights/weight.bin", "weights")
		s.Encoder = filepath.Join(dir, "my-encoder.mlmodelc")
	case evidence.KindContrast:
		s.Flavour, s.Evaluator = "ggml", ""
	}
	return s
}

func mustRun(t *testing.T, s *Spec) *Result {
	t.Helper()
	r, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExits(t *testing.T) {
	for _, c := range []struct {
		script string
		want   evidence.Exit
	}{
		{"words", evidence.Exit{Kind: evidence.ExitCode}},
		{"exit3", evidence.Exit{Kind: evidence.ExitCode, Code: 3}},
		{"segv", evidence.Exit{Kind: evidence.ExitSignal, Signal: 11}},
		{"kill", evidence.Exit{Kind: evidence.ExitSignal, Signal: 9}},
	} {
		t.Run(c.script, func(t *testing.T) {
			r := mustRun(t, newSpec(t, evidence.KindCanary, c.script))
			if diff := cmp.Diff(c.want, r.Evidence.Exit); diff != "" {
				t.Errorf("exit differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeadline holds that a passed deadline is recorded as such, not as the signal that enforced it, and
// that what was written before is kept. A busy machine may not get the program to write within a second,
// so later tries give it longer.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for seconds := 1; ; seconds *= 4 {
		s := newSpec(t, evidence.KindCanary, "sleep")
		s.DeadlineSeconds = seconds
		r := mustRun(t, s)
		if got := r.Evidence.Exit; got != (evidence.Exit{Kind: evidence.ExitTimeout}) {
			t.Fatalf("exit %+v, want a timeout", got)
		}
		if slices.Equal(r.Evidence.Stderr.Lines, []string{"sleeping"}) {
			return
		}
		if seconds > 16 {
			t.Fatalf("what was written before a deadline of %d s is lost: %q", seconds, r.Evidence.Stderr.Lines)
		}
	}
}

// TestGroupEnds holds that helpers which outlive the program end with it.
func TestGroupEnds(t *testing.T) {
	t.Parallel()
	r := mustRun(t, newSpec(t, evidence.KindCanary, "orphan"))
	var pid int
	if _, err := fmt.Sscan(string(r.Stdout), &pid); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}

func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}

func TestFlood(t *testing.T) {
	t.Parallel()
	r := mustRun(t, newSpec(t, evidence.KindCanary, "flood"))
	if !r.Evidence.Stdout.Truncated || len(r.Stdout) != supervisor.MaxStream {
		t.Errorf("truncated %v with %d bytes kept, want true with %d", r.Evidence.Stdout.Truncated, len(r.Stdout), supervisor.MaxStream)
	}
	if want := int64(supervisor.MaxStream) + 100<<10; r.Observations.RawStdoutBytes != want {
		t.Errorf("%d bytes seen, want %d", r.Observations.RawStdoutBytes, want)
	}
}

// TestClosedWorld holds what the program sees: the listed environment, and real files side by side.
func TestClosedWorld(t *testing.T) {
	t.Setenv("WHISPER_ARG_DEVICE", "xyz")
	t.Setenv("GGML_BACKEND_PATH", "/evil.so")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	r := mustRun(t, newSpec(t, evidence.KindCoreML, "world"))
	want := []string{
		"COREML_GATE_DOUBLE_FAULT=none", "COREML_GATE_EVALUATOR=$STAGE/gate_evaluator", "HOME=$STAGE/home", "LC_ALL=C",
		"PATH=/usr/bin:/bin", "TMPDIR=$STAGE/tmp", "TZ=UTC", "audio.wav true", "cwd $STAGE", "gate_evaluator true",
		"ggml-model-encoder.mlmodelc false", "ggml-model.bin true", "home false", "tmp false", "whisper-cli true",
	}
	got := append([]string{}, r.Evidence.Stdout.Lines...)
	for i := range got {
		if strings.HasPrefix(got[i], "PWD=") {
			t.Errorf("PWD is set: %s", got[i])
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the program's world differs (-want +got):\n%s", diff)
	}
}

// TestHeapFill holds that a filled heap reaches the program and is in the evidence.
func TestHeapFill(t *testing.T) {
	s := newSpec(t, evidence.KindCoreML, "world")
	s.HeapFill = 0xaa
	r := mustRun(t, s)
	if !slices.Contains(r.Evidence.Stdout.Lines, "MALLOC_PERTURB_=85") || r.Evidence.Environment["MALLOC_PERTURB_"] != "85" {
		t.Errorf("the program saw %q and the evidence says %v, want MALLOC_PERTURB_=85 in both", r.Evidence.Stdout.Lines, r.Evidence.Environment)
	}
}

// TestDeterministic holds that two runs leave the same bytes.
func TestDeterministic(t *testing.T) {
	s := newSpec(t, evidence.KindCoreML, "words")
	first, err := evidence.Encode(mustRun(t, s).Evidence)
	if err != nil {
		t.Fatal(err)
	}
	second, err := evidence.Encode(mustRun(t, s).Evidence)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("evidence differs between two runs:\n%s", diff)
	}
}

// TestPrivate holds that neither words nor names of a fixture that is not public reach evidence.
func TestPrivate(t *testing.T) {
	s := newSpec(t, evidence.KindCoreML, "words")
	s.Public = false
	data, err := evidence.Encode(mustRun(t, s).Evidence)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"some words", "private", "talk", filepath.Base(filepath.Dir(s.Model)), "my-encoder"} {
		if strings.Contains(string(data), secret) {
			t.Errorf("evidence of a private fixture holds %q:\n%s", secret, data)
		}
	}
}

// TestEncoderPath holds what is recorded about the derived path, a plant by the program included.
// The end of a file's name is a word of it, unless it is what recordings are called.
func TestAudioExtension(t *testing.T) {
	for name, want := range map[string]string{"talk.WAV": ".wav", "a.b.flac": ".flac", "with dr.jones": "", "talk.2026": "", "talk": "", ".wav/talk": "", "talk.wav.": ""} {
		if got := audioExtension("some/folder/" + name); got != want {
			t.Errorf("%s is staged with extension %q, want %q", name, got, want)
		}
	}
}

func TestEncoderPath(t *testing.T) {
	for _, c := range []struct {
		kind   evidence.Kind
		script string
		want   evidence.EncoderPath
	}{
		{evidence.KindCoreML, "words", evidence.EncoderPath{Derived: stagedEncoder, Before: true, After: true}},
		{evidence.KindCanary, "exit3", evidence.EncoderPath{Derived: stagedEncoder}},
		{evidence.KindCanary, "plant", evidence.EncoderPath{Derived: stagedEncoder, After: true}},
	} {
		if diff := cmp.Diff(c.want, mustRun(t, newSpec(t, c.kind, c.script)).Evidence.EncoderPath); diff != "" {
			t.Errorf("%s %s: encoder path differs (-want +got):\n%s", c.kind, c.script, diff)
		}
	}
}

// TestAttemptToken holds that a second start of the same attempt is seen.
func TestAttemptToken(t *testing.T) {
	s := newSpec(t, evidence.KindCanary, "exit3")
	s.AttemptToken = filepath.Join(t.TempDir(), "token")
	for _, want := range []int{1, 2} {
		if got := mustRun(t, s).Evidence.Attempts; got != want {
			t.Errorf("attempts %d, want %d", got, want)
		}
	}
}

// TestAttemptLedger holds that the ledger tells canaries apart by their programs, bytes and workers alone: a
// second start from another checkout, or with another setting of the run, is the second.
func TestAttemptLedger(t *testing.T) {
	ledger := t.TempDir()
	start := func(change func(s *Spec)) int {
		s := newSpec(t, evidence.KindCanary, "exit3")
		s.AttemptLedger = ledger
		change(s)
		return mustRun(t, s).Evidence.Attempts
	}
	for _, c := range []struct {
		name   string
		change func(s *Spec)
		want   int
	}{
		{"the first", func(*Spec) {}, 1},
		{"inputs at another place", func(*Spec) {}, 2},
		{"other threads", func(s *Spec) { s.Threads++ }, 2},
		{"another deadline", func(s *Spec) { s.DeadlineSeconds++ }, 2},
		{"words that may not be kept", func(s *Spec) { s.Public = !s.Public }, 2},
		{"the language said", func(s *Spec) { s.Language = "en" }, 2},
		{"an argument more", func(s *Spec) { s.Arguments = []string{"-bs", "1"} }, 2},
		{"a heap filled otherwise", func(s *Spec) { s.HeapFill = 1 }, 2},
		{"another flavour's name", func(s *Spec) { s.Flavour = "coreml_unpatched" }, 2},
		{"the audio by another name", func(s *Spec) { s.Audio = renamed(t, s.Audio, "x.mp3") }, 2},
		{"another audio", func(s *Spec) { rewrite(t, s.Audio, "other") }, 1},
		{"a fault", func(s *Spec) { s.Fault = "nan" }, 1},
		{"a third", func(*Spec) {}, 2},
		{"another kind of worker", func(s *Spec) { s.LaneIdentityFile = identityFile(t, `{"os_build": "24G84"}`) }, 1},
		{"yet another", func(s *Spec) { s.LaneIdentityFile = identityFile(t, `{"os_build": "24G90"}`) }, 1},
		{"that one again, its file at another place", func(s *Spec) { s.LaneIdentityFile = identityFile(t, `{"os_build":"24G90"}`) }, 2},
	} {
		if got := start(c.change); got != c.want {
			t.Errorf("%s: attempts %d, want %d", c.name, got, c.want)
		}
	}
}

func renamed(t *testing.T, path, name string) string {
	t.Helper()
	to := filepath.Join(filepath.Dir(path), name)
	if err := os.Rename(path, to); err != nil {
		t.Fatal(err)
	}
	return to
}

func identityFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "identity.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAttemptNumber holds that the number of a positive run reaches its evidence, and that a ledger
// which is not there ends the action.
func TestAttemptNumber(t *testing.T) {
	s := newSpec(t, evidence.KindCoreML, "words")
	s.Attempt = 3
	if got := mustRun(t, s).Evidence.Attempt; got != 3 {
		t.Errorf("attempt %d, want 3", got)
	}
	s.AttemptLedger = filepath.Join(t.TempDir(), "absent")
	if _, err := Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "claim attempt token") {
		t.Errorf("a ledger that is not there: %v", err)
	}
}
