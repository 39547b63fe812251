package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// victim names the folder in which the process of [TestKilled] that is killed leaves what it started.
const victim = "GATE_TEST_SESSION_VICTIM"

// TestKilled holds that a session which is killed leaves nothing behind: not the program, nor what the program started (on Linux
// not even in a session of its own), nor the staging folder.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(victim); dir != "" {
		p := newPlan(t, fmt.Sprintf(`echo $$ > %[1]s/program; pwd > %[1]s/stage
sh -c 'echo $$ > %[1]s/child; exec sleep 600' &
setsid sh -c 'echo $$ > %[1]s/stray; exec sleep 600' &
sleep 600`, dir))
		_, err := Run(t.Context(), p)
		t.Fatalf("the session ended by itself: %v", err)
	}
	for _, whole := range []bool{false, true} {
		t.Run(map[bool]string{false: "process", true: "group"}[whole], func(t *testing.T) {
			dir := t.TempDir()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "-test.run=^TestKilled$")
			cmd.Env = append(os.Environ(), victim+"="+dir, "TMPDIR="+dir)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			names := []string{"program", "child", "stage"}
			if runtime.GOOS == "linux" { // macOS has nothing that tells such a process from a stranger: package supervisor says so
				names = append(names, "stray")
			}
			said := map[string]string{}
			until(t, "the program has started", func() bool {
				for _, name := range names {
					data, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil || !strings.HasSuffix(string(data), "\n") {
						return false
					}
					said[name] = strings.TrimSpace(string(data))
				}
				return true
			})
			// As a shell ends a job, or as one process is picked.
			target := cmd.Process.Pid
			if whole {
				target = -target
			}
			if err := syscall.Kill(target, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			for name, text := range said {
				if name == "stage" {
					until(t, "the staging folder "+text+" is gone", func() bool {
						_, err := os.Stat(filepath.Dir(text))
						return errors.Is(err, os.ErrNotExist)
					})
					continue
				}
				var pid int
				if _, err := fmt.Sscan(text, &pid); err != nil {
					t.Fatal(err)
				}
				until(t, fmt.Sprintf("%s, process %d, has ended", name, pid), func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
			}
		})
	}
}

// until waits for what must come; a minute is for a machine however busy.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("expected that %s; it is not so after a minute", what)
		}
	}
}
