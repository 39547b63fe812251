package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// meddle changes the staging directory as another process of the same user could, and puts the bytes back
// where the name says so.
func meddle(how string) error {
	other := filepath.Join("tmp", "other")
	switch how {
	case "replaced":
		if err := os.Remove(stagedModel); err != nil {
			return err
		}
		return os.WriteFile(stagedModel, []byte("another model"), 0o444)
	case "moved":
		return errors.Join(os.Rename("audio.wav", other), os.WriteFile("audio.wav", []byte("another"), 0o444), os.Rename(other, "audio.wav"))
	case "written":
		name := filepath.Join(stagedEncoder, "weights", "weight.bin")
		if err := os.Chmod(name, 0o644); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // longer than a tick of the file system's clock
		return errors.Join(os.WriteFile(name, []byte("another"), 0o644), os.WriteFile(name, []byte("weights"), 0o644), os.Chmod(name, 0o444))
	case "added":
		return os.WriteFile(filepath.Join(stagedEncoder, "more.bin"), nil, 0o644)
	case "directory":
		time.Sleep(20 * time.Millisecond)
		return errors.Join(os.Rename(stagedEncoder, other), os.Mkdir(stagedEncoder, 0o755), os.Remove(stagedEncoder), os.Rename(other, stagedEncoder))
	case "exchanged":
		return errors.Join(os.Rename(stagedEvaluator, other), os.Symlink(other, stagedEvaluator))
	}
	return fmt.Errorf("no way to meddle is called %q", how)
}

// TestStagingUnchanged holds that no change of the staging directory during a run is left unseen, with the
// bytes put back or not.
func TestStagingUnchanged(t *testing.T) {
	for _, how := range []string{"replaced", "moved", "written", "added", "directory", "exchanged"} {
		t.Run(how, func(t *testing.T) {
			if runtime.GOOS != "linux" && slices.Contains([]string{"moved", "directory"}, how) {
				how = "replaced" // only Linux's time of change cannot be put back
			}
			_, err := Run(t.Context(), newSpec(t, evidence.KindCoreML, how))
			if err == nil || !strings.Contains(err.Error(), "changed while the program ran") {
				t.Errorf("error %v, want one that says that the staging directory changed", err)
			}
		})
	}
}

// TestInterrupt holds that a run which is told to end is an error, neither a timeout nor evidence.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(500*time.Millisecond, func() { cancel(errors.New("terminated")) })
	_, err := Run(ctx, newSpec(t, evidence.KindCanary, "sleep"))
	if err == nil || !strings.Contains(err.Error(), "interrupted (terminated)") {
		t.Errorf("error %v, want one that says that the run was interrupted", err)
	}
	// Before the start, too.
	if _, err := Run(ctx, newSpec(t, evidence.KindCanary, "exit3")); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v, want one that says that the run was interrupted", err)
	}
}

// TestSessionEnds holds that a helper which left the program's group ends with the run.
func TestSessionEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("macOS has nothing that tells such a process from a stranger: package supervisor says so")
		return
	}
	r := mustRun(t, newSpec(t, evidence.KindCanary, "setsid"))
	var pid int
	if _, err := fmt.Sscan(string(r.Stdout), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d in a session of its own still runs after the run (%v)", pid, err)
	}
}

// TestInheritsNothing holds that what surrounds the runner does not reach the program: descriptors, ignored and
// blocked signals, soft limits, the mode mask, a terminal.
func TestInheritsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the program reads /proc")
		return
	}
	// A descriptor without the close-on-exec flag, as a shell's "9<file" leaves.
	fd, err := syscall.Open("/etc/passwd", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	signal.Ignore(syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGPIPE)
	defer syscall.Umask(syscall.Umask(0o077))
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CPU, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: 5000, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_CPU, &was) }()

	r := mustRun(t, newSpec(t, evidence.KindCanary, "inherited"))
	got := strings.Split(strings.TrimSpace(string(r.Stdout)), "\n")
	want := []string{"0 1 2 3", "SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000", "unlimited", "0", "1024", "0022"}
	for i := range got {
		got[i] = strings.TrimSpace(got[i]) // ls opens the directory that it lists as descriptor 3
	}
	if !slices.Equal(got, want) {
		t.Errorf("the program found %q, want %q", got, want)
	}
	if !strings.Contains(string(r.Stderr), "/dev/tty") {
		t.Errorf("the program could read a terminal: stderr %q", r.Stderr)
	}
}

// TestNoSpecialFiles holds that no input is opened which is a FIFO, a device or a directory: to open a FIFO
// would wait for ever.
func TestNoSpecialFiles(t *testing.T) {
	fifo := func(t *testing.T, name string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *Spec)
	}{
		{"audio", func(t *testing.T, s *Spec) { s.Audio = fifo(t, "a.wav") }},
		{"audio behind a link", func(t *testing.T, s *Spec) {
			link := filepath.Join(t.TempDir(), "a.wav")
			if err := os.Symlink(fifo(t, "b.wav"), link); err != nil {
				t.Fatal(err)
			}
			s.Audio = link
		}},
		{"model", func(t *testing.T, s *Spec) { s.Model = fifo(t, "m.bin") }},
		{"program", func(t *testing.T, s *Spec) { s.CLI = fifo(t, "cli") }},
		{"evaluator", func(t *testing.T, s *Spec) { s.Evaluator = fifo(t, "evaluator") }},
		{"pin", func(t *testing.T, s *Spec) { s.Pin = fifo(t, "pin.json") }},
		{"defines", func(t *testing.T, s *Spec) { s.Defines = fifo(t, "defines.json") }},
		{"lane identity", func(t *testing.T, s *Spec) { s.LaneIdentityFile = fifo(t, "identity.json") }},
		{"in the encoder", func(t *testing.T, s *Spec) {
			if err := syscall.Mkfifo(filepath.Join(s.Encoder, "model.mil"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"a device as audio", func(_ *testing.T, s *Spec) { s.Audio = "/dev/zero" }},
		{"a directory as audio", func(_ *testing.T, s *Spec) { s.Audio = os.TempDir() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpec(t, evidence.KindCoreML, "words")
			c.change(t, s)
			done := make(chan error, 1)
			go func() {
				_, err := Run(t.Context(), s)
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil {
					t.Error("taken, want a refusal")
				}
			case <-time.After(time.Minute):
				t.Fatal("still waiting after a minute")
			}
		})
	}
	if _, err := ReadSpec(fifo(t, "spec.json")); err == nil || !strings.Contains(err.Error(), "a FIFO") {
		t.Errorf("a spec that is a FIFO: %v", err)
	}
}
