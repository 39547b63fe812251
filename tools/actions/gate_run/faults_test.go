package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

// kills and full are the counts of faults; continuous integration's long form raises them.
var (
	kills = flag.Int("kills", 20, "how often the runner is killed, each time at another moment")
	full  = flag.Int("full", 20, "at how many offsets the disk is full")
	seed  = flag.Int64("seed", 1, "of the moments")
)

const (
	underTest = "gate_run_under_test"
	limit     = "GATE_RUN_TEST_FILE_SIZE"
)

// TestMain makes this test binary gate_run itself when it is started under that name, with a disk that is full
// after so many bytes if the environment says so.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != underTest {
		os.Exit(m.Run())
	}
	if text := os.Getenv(limit); text != "" {
		n, err := strconv.ParseUint(text, 10, 63)
		var now syscall.Rlimit
		if err == nil {
			err = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now)
		}
		signal.Ignore(syscall.SIGXFSZ)
		now.Cur = n
		if err == nil {
			err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
	}
	main()
}

// whisper stands in for whisper-cli: it starts one helper in its group and one that leaves it, writes, and ends.
const whisper = `#!/bin/sh
sleep 600 >/dev/null 2>&1 &
setsid sleep 600 </dev/null >/dev/null 2>&1 &
echo "system_info: n_threads = 2" >&2
echo " some words"
sleep 0.1
`

// scene is one gate_run: its folder, its spec and its outputs.
type scene struct {
	t             *testing.T
	dir, tmp, out string
	spec          string
}

func newScene(t *testing.T, script string) *scene {
	t.Helper()
	s := &scene{t: t, dir: t.TempDir()}
	s.tmp, s.out = filepath.Join(s.dir, "tmp"), filepath.Join(s.dir, "out")
	sum := strings.Repeat("0", 64)
	pin := `{"name":"p","commit":"` + sum[:40] + `","tree":"` + sum[:40] + `","supported":true,"manifest_sha256":"` + sum +
		`","patch":{"label":"l","sha256":"` + sum + `"},"patched_file":{"path":"src/whisper.cpp","sha256":"` + sum + `"}}`
	for name, content := range map[string]string{"cli": script, "model.bin": "model", "audio.wav": "riff", "evaluator": "none", "pin.json": pin} {
		s.write(name, content)
	}
	for _, dir := range []string{s.tmp, s.out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.spec = filepath.Join(s.dir, "spec.json")
	s.respec(func(*runner.Spec) {})
	return s
}

func (s *scene) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) respec(change func(*runner.Spec)) {
	s.t.Helper()
	at := func(name string) string { return filepath.Join(s.dir, name) }
	spec := &runner.Spec{
		Schema: 1, Kind: evidence.KindCanary, Lane: evidence.LaneEmulated, Flavour: "coreml", Pin: at("pin.json"), CLI: at("cli"), Model: at("model.bin"),
		Audio: at("audio.wav"), Threads: 1, DeadlineSeconds: 60, Evaluator: at("evaluator"), Public: true,
	}
	change(spec)
	data, err := json.Marshal(spec)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("spec.json", string(data))
}

func (s *scene) evidence() string     { return filepath.Join(s.out, "evidence.json") }
func (s *scene) observations() string { return filepath.Join(s.out, "observations.json") }

// start starts gate_run, in a process group of its own.
func (s *scene) start(env ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := &exec.Cmd{
		Path: self, Args: []string{underTest, "--spec=" + s.spec, "--evidence=" + s.evidence(), "--observations=" + s.observations()},
		Env: append([]string{"TMPDIR=" + s.tmp, "PATH=/usr/bin:/bin"}, env...), Stderr: &stderr,
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd, &stderr
}

// outputs checks that what stands at the outputs is whole: evidence with its own observations, or nothing of the
// kind. It says whether there is evidence.
func (s *scene) outputs() bool {
	s.t.Helper()
	_, sum, err := evidence.ReadFile(s.evidence())
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		s.t.Fatalf("half of the evidence stands there: %v", err)
	}
	data, err := os.ReadFile(s.observations())
	if err != nil {
		s.t.Fatalf("evidence without observations: %v", err)
	}
	o, err := evidence.DecodeObservations(data)
	if err != nil {
		s.t.Fatalf("half of the observations stands there: %v", err)
	}
	if o.EvidenceSHA256 != sum {
		s.t.Fatalf("observations of evidence %s beside evidence %s", o.EvidenceSHA256, sum)
	}
	return true
}

// settled waits until no process of the scene runs and no staging directory is left.
func (s *scene) settled() {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		left := s.running()
		staged, err := os.ReadDir(s.tmp)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range staged {
			left = append(left, "directory "+e.Name())
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("left after the end of the runner: %q", left)
		}
	}
}

// running lists processes whose working directory is in the scene.
func (s *scene) running() []string {
	var out []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && strings.HasPrefix(dir, s.tmp+"/") {
			out = append(out, "process "+strings.Split(link, "/")[2])
		}
	}
	return out
}

// TestKilled holds that kill -9 at any moment leaves neither a running program, helpers that left its group included,
// nor a staging directory, nor half of an output, nor the outputs of the run before.
func TestKilled(t *testing.T) {
	t.Parallel()
	s := newScene(t, whisper)
	began := time.Now()
	cmd, stderr := s.start()
	if err := cmd.Wait(); err != nil || !s.outputs() {
		t.Fatalf("a run that nobody kills: %v\n%s", err, stderr)
	}
	s.settled()
	whole := time.Since(began)
	rng, killed := rand.New(rand.NewSource(*seed)), 0
	for i := range *kills {
		s.write("model.bin", fmt.Sprintf("model %d", i))
		cmd, _ := s.start()
		time.Sleep(time.Duration(rng.Int63n(int64(whole) * 11 / 10)))
		_ = cmd.Process.Kill()
		dead := cmd.Wait() != nil
		if dead {
			killed++
		}
		s.settled()
		// A runner that was killed before it read its arguments has not cleared the outputs of the run before.
		if !s.outputs() {
			continue
		}
		e, _, err := evidence.ReadFile(s.evidence())
		if own := evidence.SHA256([]byte(fmt.Sprintf("model %d", i))); err != nil || !dead && e.Digests.Model != own {
			t.Fatalf("round %d: evidence of another run stands there (%v)", i, err)
		}
	}
	t.Logf("%d of %d rounds were killed before their end, seed %d", killed, *kills, *seed)
	if killed*4 < *kills {
		t.Errorf("only %d of %d rounds were killed before their end", killed, *kills)
	}
}

// TestInterrupted holds that a signal to end is not a timeout: no evidence, the earlier one gone, nothing left running.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		s := newScene(t, whisper)
		cmd, stderr := s.start()
		if err := cmd.Wait(); err != nil || !s.outputs() {
			t.Fatalf("a run that nobody interrupts: %v\n%s", err, stderr)
		}
		s.write("cli", "#!/bin/sh\necho >started\nsleep 600\n")
		cmd, stderr = s.start()
		for len(s.running()) == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if s.outputs() {
			t.Errorf("%v: evidence of an interrupted run, or of the one before", sig)
		}
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%v: %v, stderr %q, want exit 1 over the interrupt", sig, err, stderr)
		}
		s.settled()
	}
}

// TestRefusedLeavesNothing holds that a run which is refused leaves no evidence of the run before.
func TestRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(s *scene)
	}{
		{"a forbidden argument", func(s *scene) { s.respec(func(spec *runner.Spec) { spec.Arguments = []string{"-np"} }) }},
		{"no such model", func(s *scene) { s.respec(func(spec *runner.Spec) { spec.Model = filepath.Join(s.dir, "absent.bin") }) }},
		{"a spec that is no JSON", func(s *scene) { s.write("spec.json", "{") }},
		{"no spec", func(s *scene) { _ = os.Remove(s.spec) }},
		{"a program that cannot start", func(s *scene) { s.write("cli", "#!/nonexistent\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, whisper)
			cmd, stderr := s.start()
			if err := cmd.Wait(); err != nil || !s.outputs() {
				t.Fatalf("a good run: %v\n%s", err, stderr)
			}
			c.change(s)
			cmd, stderr = s.start()
			if err := cmd.Wait(); err == nil {
				t.Fatalf("not refused: %s", stderr)
			}
			for _, path := range []string{s.evidence(), s.observations()} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s of the run before is still there", filepath.Base(path))
				}
			}
			s.settled()
		})
	}
}

// TestInputsStay holds that an output which is an input, or another's file, is refused and not cleared.
func TestInputsStay(t *testing.T) {
	for _, name := range []string{"model.bin", "spec.json", "pin.json", "audio.wav"} {
		s := newScene(t, whisper)
		if err := os.Link(filepath.Join(s.dir, name), s.evidence()); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := s.start()
		if err := cmd.Wait(); err == nil || !strings.Contains(stderr.String(), "name another") {
			t.Errorf("%s as --evidence: %v, %q", name, err, stderr)
		}
		if _, err := os.Stat(s.evidence()); err != nil {
			t.Errorf("%s as --evidence was removed: %v", name, err)
		}
	}
}

// TestFullDisk holds that a disk which is full after any number of bytes leaves nothing that could be taken for whole.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newScene(t, whisper)
	cmd, stderr := s.start()
	if err := cmd.Wait(); err != nil || !s.outputs() {
		t.Fatalf("a good run: %v\n%s", err, stderr)
	}
	info, err := os.Stat(s.evidence())
	if err != nil {
		t.Fatal(err)
	}
	size, failed := info.Size(), 0
	for i := range *full {
		cmd, stderr := s.start(fmt.Sprintf("%s=%d", limit, size*int64(i)/int64(*full-1)))
		err := cmd.Wait()
		if whole := s.outputs(); whole != (err == nil) {
			t.Errorf("offset %d of %d: evidence %v, but %v\n%s", i, *full, whole, err, stderr)
		}
		if err != nil {
			failed++
		}
		if entries, _ := os.ReadDir(s.out); err != nil && len(entries) > 0 {
			t.Errorf("offset %d of %d: %v left behind", i, *full, entries)
		}
		s.settled()
	}
	if failed == 0 || failed == *full {
		t.Errorf("%d of %d offsets failed: expected some and not all", failed, *full)
	}
}

// TestUnwritable holds that outputs which cannot be written end the action with an error.
func TestUnwritable(t *testing.T) {
	s := newScene(t, whisper)
	if err := os.RemoveAll(s.out); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() error{
		"absent": func() error { return nil },
		"a file": func() error { return os.WriteFile(s.out, nil, 0o644) },
		"a link to what cannot be written": func() error {
			return os.Symlink("/proc/self", s.out)
		},
	} {
		_ = os.Remove(s.out)
		if err := make(); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := s.start()
		if err := cmd.Wait(); err == nil || stderr.Len() == 0 {
			t.Errorf("outputs in a folder that is %s: %v, stderr %q", name, err, stderr)
		}
		s.settled()
	}
}

// TestTwoAtOnce holds that two runs with the same outputs leave those of one of them, whole.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t, whisper)
	for range 5 {
		var wg sync.WaitGroup
		for range 2 {
			cmd, stderr := s.start()
			wg.Go(func() {
				if err := cmd.Wait(); err != nil {
					t.Errorf("one of two: %v\n%s", err, stderr)
				}
			})
		}
		wg.Wait()
		if !s.outputs() {
			t.Error("two runs at once left no evidence")
		}
		s.settled()
	}
}
