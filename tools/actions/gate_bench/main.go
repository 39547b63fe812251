// Command gate_bench is what `bazel run` of an encoder_bench runs: coregate bench with the rule's arguments, and with those of
// the command line after them.
//
//	GATE_BENCH=SPEC.json gate_bench [ARGUMENTS OF coregate bench]
//
// The spec is a JSON object: coregate, the program; arguments, what the rule says. Paths in it are relative to the runfiles
// folder, which is the working directory of `bazel run`, and are marked by "runfiles:". Where the submission goes is relative to
// the caller's own folder.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

type spec struct {
	Coregate  string   `json:"coregate"`
	Arguments []string `json:"arguments"`
}

func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	cmd, err := command(args, getenv)
	if err != nil {
		fmt.Fprintln(stderr, "gate_bench:", err)
		return 2
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	err = wait(cmd)
	var failed *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed) && failed.ExitCode() > 0:
		return failed.ExitCode()
	}
	fmt.Fprintln(stderr, "gate_bench:", err)
	return 2
}

// wait runs a command to its end. An interrupt from the terminal reaches the command as well, which keeps what it measured: so it is
// waited for, and not left behind. What reaches this program alone is passed on.
func wait(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTERM {
					_ = cmd.Process.Signal(s)
				}
			case <-ended:
				return
			}
		}
	}()
	return cmd.Wait()
}

// command puts the rule's arguments and the caller's together. The caller's stand last, so that they win.
func command(args []string, getenv func(string) string) (*exec.Cmd, error) {
	data, err := os.ReadFile(getenv("GATE_BENCH"))
	if err != nil {
		return nil, fmt.Errorf("read the spec that GATE_BENCH names: %w", err)
	}
	var s spec
	if err := strictjson.Decode(data, &s); err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all := []string{"bench"}
	for _, a := range s.Arguments {
		all = append(all, strings.ReplaceAll(a, "runfiles:", here+string(filepath.Separator)))
	}
	cmd := exec.Command(filepath.Join(here, s.Coregate), append(all, args...)...)
	// Names on the command line are the caller's.
	if cmd.Dir = getenv("BUILD_WORKING_DIRECTORY"); cmd.Dir == "" {
		cmd.Dir = here
	}
	return cmd, nil
}
