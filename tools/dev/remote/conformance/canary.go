package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/remote/spawnlog"
)

// ledger makes a folder that all workers share and that knows no attempt, and returns the flag that leads
// canaries to it. It stands in their keys, so that no earlier canary's result is found.
func (f *faultStand) ledger() (dir, flag string, err error) {
	name := strconv.Itoa(f.salt)
	dir = filepath.Join(f.state, "worker-root", "ledger", name)
	return dir, "--//gate:attempt_ledger=/ledger/" + name, broken(os.MkdirAll(dir, 0o755))
}

func (f *faultStand) canary(flag string) (*outcome, error) {
	return f.run("test", "--config=remote", flag, "//gate:canary_test", "--test_output=errors")
}

// killCanary kills the worker the moment that whisper-cli starts. The service gives the action to the next
// worker, and Bazel hears of nothing.
func killCanary(f *faultStand) (*outcome, error) {
	dir, flag, err := f.ledger()
	if err != nil {
		return nil, err
	}
	started := func() bool {
		tokens, _ := filepath.Glob(filepath.Join(dir, "*.canary"))
		return len(tokens) > 0
	}
	return f.during(func() (*outcome, error) { return f.canary(flag) }, started, func() error {
		if err := f.kill("worker-run"); err != nil {
			return err
		}
		return f.service("start")
	})
}

// forgottenCanary lets one canary pass and has the service lose its evidence, as any cache may.
func forgottenCanary(f *faultStand) (*outcome, error) {
	_, flag, err := f.ledger()
	if err != nil {
		return nil, err
	}
	out, err := f.canary(flag)
	if err != nil {
		return out, err
	}
	if out.code != 0 {
		return out, fmt.Errorf("the first canary did not pass:\n%s", tail(out.text))
	}
	if err := f.forget(); err != nil {
		return nil, err
	}
	if err := f.lose(spawnlog.Find(out.spawns, "GateRun", "//gate:canary_run")); err != nil {
		return nil, err
	}
	return f.canary(flag)
}
