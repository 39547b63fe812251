package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/remote/spawnlog"
)

const faultPackage = "//tools/dev/remote/faults:"

// fault is one way to break the service, with what has to follow. try returns what Bazel did after it.
type fault struct {
	name string
	try  func(f *faultStand) (*outcome, error)
	// codes are the exit codes that may follow; 0 for a fault that must do no harm.
	codes []int
	// says are what Bazel must say, all of them.
	says []string
	// runner, if not empty, is how the target must have run in the end.
	runner string
}

// faultStand is where faults are tried: one output base, cleaned between them.
type faultStand struct {
	*stand
	*place
	salt int
}

var faults = []fault{
	{name: "nothing broken", try: buildQuick, codes: []int{0}, runner: spawnlog.RunnerRemote},
	{name: "no matching worker", try: noWorker, codes: []int{34}, says: []string{"FAILED_PRECONDITION", "Could not find property set"}},
	{name: "the deadline of a test passed", try: lateTest, codes: []int{3}, says: []string{"TIMEOUT"}},
	{name: "the worker's disk is full", try: fullDisk, codes: []int{1, 34}, says: []string{"No space left on device"}},
	{name: "the cache lost its blobs", try: lostBlobs, codes: []int{0}, runner: spawnlog.RunnerRemote},
	{name: "a blob is corrupt", try: corruptBlob, codes: []int{1, 34, 39}, says: []string{"does not match"}},
	{name: "a worker was killed in the middle", try: killWorker, codes: []int{0}, runner: spawnlog.RunnerRemote},
	{name: "a canary was killed in the middle and started again", try: killCanary, codes: []int{3}, says: []string{reason.CanaryRetried}},
	{name: "the result of a canary was lost and it was started again", try: forgottenCanary, codes: []int{3}, says: []string{reason.CanaryRetried}},
	// Last, since what the server remembers of results goes with it.
	{name: "the server was killed in the middle", try: killServer, codes: []int{34}, says: []string{"UNAVAILABLE"}},
	{name: "no server at all", try: noServer, codes: []int{34}, says: []string{"UNAVAILABLE"}},
}

// faults tries each fault on a whole service.
func (s *stand) faults(match *regexp.Regexp) error {
	f := &faultStand{stand: s, place: s.place(s.root, "faults", s.remote()...), salt: int(time.Now().Unix())}
	failed, tried := 0, 0
	for _, c := range faults {
		if !match.MatchString(c.name) {
			continue
		}
		if err := s.service("start"); err != nil {
			return err
		}
		f.salt++
		tried++
		began := time.Now()
		err := f.hold(c)
		took := time.Since(began).Seconds()
		var stand *brokenStand
		switch {
		case errors.As(err, &stand):
			return err
		case err != nil:
			failed++
			s.say("FAIL %s (%.0f s)\n    %s", c.name, took, strings.ReplaceAll(err.Error(), "\n", "\n    "))
		default:
			s.say("ok   %s (%.0f s)", c.name, took)
		}
	}
	if failed > 0 || tried == 0 {
		return fmt.Errorf("%d faults tried, %d did not end as they have to", tried, failed)
	}
	s.say("conformance: %d faults, 0 failed", tried)
	return nil
}

func (f *faultStand) hold(c fault) error {
	out, err := c.try(f)
	if err != nil {
		return err
	}
	ok := false
	for _, code := range c.codes {
		ok = ok || out.code == code
	}
	if !ok {
		return fmt.Errorf("expected exit code %v, found %d:\n%s", c.codes, out.code, tail(out.text))
	}
	for _, want := range c.says {
		if !strings.Contains(out.text, want) {
			return fmt.Errorf("expected Bazel to say %q, found:\n%s", want, tail(out.text))
		}
	}
	for _, spawn := range out.spawns {
		if !spawn.Remote() && spawn.Runner != "" {
			return fmt.Errorf("%s of %s ran as %q: a fault of the service must never lead to a run on this machine", spawn.Mnemonic, spawn.Label, spawn.Runner)
		}
	}
	if c.runner != "" && (len(out.spawns) == 0 || out.spawns[len(out.spawns)-1].Runner != c.runner) {
		return fmt.Errorf("expected the target to have run as %q, found %s", c.runner, summary(out.spawns))
	}
	return nil
}

// build builds a target of tools/dev/remote/faults with a key that no earlier start of the check had.
func (f *faultStand) build(target string, args ...string) (*outcome, error) {
	return f.run("build", append([]string{"--config=remote", "--remote_download_outputs=all", "--action_env=FAULT_SALT=" + strconv.Itoa(f.salt), faultPackage + target}, args...)...)
}

// forget makes Bazel ask the service about everything again.
func (f *faultStand) forget() error {
	_, err := f.must("clean")
	return err
}

func buildQuick(f *faultStand) (*outcome, error) { return f.build("quick") }

func noWorker(f *faultStand) (*outcome, error) { return f.build("nowhere") }

func lateTest(f *faultStand) (*outcome, error) {
	return f.run("test", "--config=remote", "--test_timeout=3", "--cache_test_results=no", faultPackage+"late_test")
}

// fullDisk gives the build worker a disk of one megabyte to work on.
func fullDisk(f *faultStand) (*outcome, error) {
	pid, err := f.pid("worker-build")
	if err != nil {
		return nil, err
	}
	work := filepath.Join(f.state, "worker-root", "work-build")
	inside := func(args ...string) error {
		said, err := exec.Command("nsenter", append([]string{"--target", strconv.Itoa(pid), "--mount", "--"}, args...)...).CombinedOutput()
		if err != nil {
			return broken(fmt.Errorf("%v: %w: %s", args, err, said))
		}
		return nil
	}
	// Seen from the machine's own root, which is still there in the worker's mount namespace.
	if err := inside("mount", "-t", "tmpfs", "-o", "size=1m", "none", work); err != nil {
		return nil, err
	}
	defer func() { _ = f.service("restart-workers") }()
	return f.build("big")
}

// blob is where the service keeps bytes.
func (f *faultStand) blob(d spawnlog.Digest) (string, error) {
	path := filepath.Join(f.state, "cas", "cas", "objects", d.Hash[:2], d.Hash[2:])
	if _, err := os.Stat(path); err != nil {
		return "", broken(fmt.Errorf("find a blob in the service's folder: %w", err))
	}
	return path, nil
}

// lose removes every output of these spawns from the service.
func (f *faultStand) lose(spawns []spawnlog.Spawn) error {
	for _, s := range spawns {
		for _, o := range s.Outputs {
			path, err := f.blob(o.Digest)
			if err != nil {
				return err
			}
			if err := os.Remove(path); err != nil {
				return broken(err)
			}
		}
	}
	if len(spawns) == 0 {
		return broken(errors.New("found no action whose outputs could be lost"))
	}
	return nil
}

// lostBlobs removes an output that a cached result names: it has to be made again.
func lostBlobs(f *faultStand) (*outcome, error) {
	return f.afterQuick(f.lose)
}

// corruptBlob changes one bit of it: its bytes must reach neither an output nor another action.
func corruptBlob(f *faultStand) (*outcome, error) {
	return f.afterQuick(func(spawns []spawnlog.Spawn) error {
		path, err := f.blob(spawns[0].Outputs[0].Digest)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return broken(err)
		}
		data[0] ^= 1
		_ = os.Chmod(path, 0o644)
		return broken(os.WriteFile(path, data, 0o644))
	})
}

func (f *faultStand) afterQuick(harm func(spawns []spawnlog.Spawn) error) (*outcome, error) {
	out, err := f.build("quick")
	if err != nil || out.code != 0 {
		return out, err
	}
	if err := f.forget(); err != nil {
		return nil, err
	}
	if err := harm(spawnlog.Find(out.spawns, "Genrule", faultPackage+"quick")); err != nil {
		return nil, err
	}
	return f.build("quick")
}

// pid is the process of a part of the service.
func (f *faultStand) pid(name string) (int, error) {
	data, err := os.ReadFile(filepath.Join(f.state, name+".pid"))
	if err != nil {
		return 0, broken(err)
	}
	pid, _, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	n, err := strconv.Atoi(pid)
	return n, broken(err)
}

// kill ends a part of the service with all that it started, at once.
func (f *faultStand) kill(name string) error {
	pid, err := f.pid(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		return broken(err)
	}
	for range 500 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return broken(fmt.Errorf("%s, process %d, did not die", name, pid))
}

// during runs Bazel, waits for a sign of its action and then does harm, while Bazel goes on.
func (f *faultStand) during(call func() (*outcome, error), sign func() bool, harm func() error) (*outcome, error) {
	type result struct {
		out *outcome
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := call()
		done <- result{out, err}
	}()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case r := <-done:
			if r.err != nil {
				return r.out, r.err
			}
			return r.out, fmt.Errorf("the build ended before it could be disturbed:\n%s", tail(r.out.text))
		case <-tick.C:
			if !sign() {
				continue
			}
			if err := harm(); err != nil {
				return nil, err
			}
			r := <-done
			return r.out, r.err
		}
	}
}

// sleeping says whether the action :slow is being run.
func sleeping() bool {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && string(data) == "sleep\x006\x00" {
			return true
		}
	}
	return false
}

func killWorker(f *faultStand) (*outcome, error) {
	return f.during(func() (*outcome, error) { return f.build("slow") }, sleeping, func() error {
		if err := f.kill("worker-build"); err != nil {
			return err
		}
		return f.service("start")
	})
}

func killServer(f *faultStand) (*outcome, error) {
	return f.during(func() (*outcome, error) { return f.build("slow") }, sleeping, func() error { return f.kill("server") })
}

func noServer(f *faultStand) (*outcome, error) {
	if err := f.service("stop"); err != nil {
		return nil, err
	}
	return f.build("quick")
}
