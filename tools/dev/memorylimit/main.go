// Command memorylimit holds fit check and governor against real memory limits: it makes control groups and runs them inside.
//
//	go run ./tools/dev/memorylimit MODEL.bin
//
// It needs Linux, root, and a memory controller (of either version of control groups) below whose group it may make others; where
// there is none it says so and exits with 2, since nothing was checked. Otherwise 0, or 1 with what was wrong.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/governor"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == "allocate" {
		return allocate(stdout)
	}
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: memorylimit MODEL.bin")
		return 2
	}
	checks := []struct {
		about string
		do    func(model string) error
	}{
		{"coregate fit refuses the model under 200 MiB by the group's figure, and not without a limit", refusal},
		{"the governor's four steps come in order under 256 MiB, before the kernel kills", emergency},
	}
	for _, check := range checks {
		err := check.do(args[0])
		switch {
		case errors.Is(err, errNoGroup):
			fmt.Fprintln(stderr, "memorylimit: nothing was checked:", err)
			return 2
		case err != nil:
			fmt.Fprintln(stderr, "memorylimit:", err)
			return 1
		}
		fmt.Fprintf(stdout, "ok   %s\n", check.about)
	}
	fmt.Fprintf(stdout, "memorylimit: %d checks, 0 failed\n", len(checks))
	return 0
}

var errNoGroup = errors.New("no control group could be made: expected root and a memory controller below /sys/fs/cgroup")

// inGroup runs a program in a new group with so much memory, and returns its output and exit code.
func inGroup(limit int64, program string, args ...string) (string, int, error) {
	dir, procs, err := makeGroup(limit)
	if err != nil {
		return "", 0, err
	}
	defer os.Remove(dir)
	// The shell joins the group before it becomes the program.
	cmd := exec.Command("sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`, procs, program}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return "", 0, err
	}
	return out.String(), cmd.ProcessState.ExitCode(), nil
}

// makeGroup makes a group below the root of the memory hierarchy, of either version.
func makeGroup(limit int64) (dir, procs string, err error) {
	for _, v := range []struct{ root, file string }{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}} {
		if v.file == "memory.max" {
			// A controller has to be handed down first; where it is already, this changes nothing.
			_ = os.WriteFile(filepath.Join(v.root, "cgroup.subtree_control"), []byte("+memory"), 0)
		}
		dir, err := os.MkdirTemp(v.root, "coregate-check-")
		if err != nil {
			continue
		}
		if os.WriteFile(filepath.Join(dir, v.file), []byte(strconv.FormatInt(limit, 10)), 0) == nil {
			return dir, filepath.Join(dir, "cgroup.procs"), nil
		}
		os.Remove(dir)
	}
	return "", "", errNoGroup
}

// refusal holds that coregate fit refuses a model under a limit that it does not fit into, by the group's own figure, and does
// not refuse it without one.
func refusal(model string) error {
	scratch, err := os.MkdirTemp("", "memorylimit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	coregate := filepath.Join(scratch, "coregate")
	if out, err := exec.Command("go", "build", "-o", coregate, "./tools/coregate").CombinedOutput(); err != nil {
		return fmt.Errorf("build coregate: %w\n%s", err, out)
	}
	out, code, err := inGroup(200*memory.MiB, coregate, "fit", "--model", model)
	if err != nil {
		return err
	}
	if code != 1 || !strings.Contains(out, reason.FitExceeded) || !strings.Contains(out, "gate 1") || !strings.Contains(out, "cgroup") {
		return fmt.Errorf("coregate fit under 200 MiB: expected exit 1 with FIT_EXCEEDED, gate 1 and the cgroup as source, found exit %d:\n%s", code, out)
	}
	free, err := exec.Command(coregate, "fit", "--model", model).CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != 3 || !bytes.Contains(free, []byte(reason.FitUnknown)) {
		return fmt.Errorf("coregate fit without a limit: expected exit 3 with FIT_UNKNOWN, found %v:\n%s", err, free)
	}
	return nil
}

// emergency holds that the governor's steps come in order under a real limit, and before the kernel kills.
func emergency(string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, code, err := inGroup(256*memory.MiB, self, "allocate")
	if err != nil {
		return err
	}
	if want := "warn\npressure\ncritical\nemergency\n"; code != 0 || out != want {
		return fmt.Errorf("a program that allocates under 256 MiB: expected the four steps and exit 0, found exit %d:\n%s", code, out)
	}
	return nil
}

// allocate takes memory until the governor says stop.
func allocate(w io.Writer) int {
	emergency := false
	budget := fit.Now()
	if budget.Bytes == nil {
		return 2
	}
	g := governor.New(*budget.Bytes, func() *int64 { return memory.Available().Bytes }, func(e governor.Event) {
		fmt.Fprintln(w, e.Step)
		emergency = emergency || e.Step == governor.Emergency
	})
	var held [][]byte
	for !emergency && len(held) < 1024 {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = byte(i)
		}
		held = append(held, block)
		g.Poll()
	}
	if !emergency {
		return 1
	}
	return 0
}
