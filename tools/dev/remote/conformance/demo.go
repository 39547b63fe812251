package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/remote/spawnlog"
)

// receipts are what all places have to agree about.
var receipts = []string{"//gate:receipt", "//gate:release"}

// everyKind lists actions that must have been among those on the service: C++, Go with its standard
// library, whisper-cli, judging, tests.
var everyKind = []string{
	"CppCompile", "CppLink", "GateContract", "GateCoreMLCompile", "GateEncoderPackage", "GateJudge", "GateParity", "GateReceipt", "GateRelease",
	"GateRun", "GateSources", "GateWords", "GoCompilePkg", "GoLink", "GoStdlib", "GoToolchainBinaryBuild", "TestRunner",
}

// demo runs the gates on the service.
func (s *stand) demo() error {
	if err := s.service("start"); err != nil {
		return err
	}
	// Workers bring no Go: what compiles there came as an input.
	for _, path := range []string{"usr/bin/go", "usr/local/go", "usr/lib/go"} {
		if _, err := os.Lstat(filepath.Join(s.state, "worker-root", path)); err == nil {
			return broken(fmt.Errorf("the workers' root holds /%s: nothing would show that the Go SDK is an input", path))
		}
	}
	targets := append([]string{"--config=remote", "//gate:all"}, receipts...)

	began := time.Now()
	first := s.place(s.root, "first", s.remote()...)
	out, err := first.must("test", targets...)
	if err != nil {
		return err
	}
	if err := allRemote(out, spawnlog.AllRemote); err != nil {
		return err
	}
	if err := present(out.spawns); err != nil {
		return err
	}
	s.say("first checkout: %s, %d tests passed, %.0f s", summary(out.spawns), len(out.events.tests), time.Since(began).Seconds())
	remotely, err := first.outputs(receipts, "--config=remote")
	if err != nil {
		return err
	}

	began = time.Now()
	elsewhere := filepath.Join(s.dir, "another", "folder", "of", "another", "length")
	if err := s.checkout(elsewhere); err != nil {
		return err
	}
	second := s.place(elsewhere, "an-output-base-with-a-longer-name", s.remote()...)
	if out, err = second.must("test", targets...); err != nil {
		return err
	}
	if err := allRemote(out, spawnlog.AllCached); err != nil {
		return fmt.Errorf("second checkout: %w", err)
	}
	s.say("second checkout: %s, %d tests passed, %.0f s", summary(out.spawns), len(out.events.tests), time.Since(began).Seconds())
	cached, err := second.outputs(receipts, "--config=remote")
	if err != nil {
		return err
	}
	if err := same("from the cache", remotely, cached); err != nil {
		return err
	}

	if err := s.here(remotely); err != nil {
		return err
	}
	s.say("conformance: %d receipts are the same bytes from the service, from its cache and built here", len(remotely))
	return nil
}

// here builds the receipts on this machine and compares them with what the service built.
func (s *stand) here(remotely map[string][]byte) error {
	began := time.Now()
	local := s.place(s.root, "local")
	out, err := local.must("build", receipts...)
	if err != nil {
		return err
	}
	for _, spawn := range out.spawns {
		if spawn.Remote() {
			return fmt.Errorf("%s of %s ran on a service (%s), expected a local build to compare with", spawn.Mnemonic, spawn.Label, spawn.Runner)
		}
	}
	locally, err := local.outputs(receipts)
	if err != nil {
		return err
	}
	if err := same("built here", remotely, locally); err != nil {
		return err
	}
	s.say("here: %s, %.0f s", summary(out.spawns), time.Since(began).Seconds())
	return nil
}

func allRemote(out *outcome, check func([]spawnlog.Spawn) error) error {
	return errors.Join(check(out.spawns), out.events.nothingHere(), out.events.ofBuild(out.spawns), out.events.passed())
}

func present(spawns []spawnlog.Spawn) error {
	have := spawnlog.Mnemonics(spawns)
	for _, want := range everyKind {
		if !slices.Contains(have, want) {
			return fmt.Errorf("no action %s was on the service, found %v", want, have)
		}
	}
	return nil
}

func same(how string, want, got map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !bytes.Equal(want[name], got[name]) {
			return fmt.Errorf("%s %s has %d bytes that differ from the %d of the service's", name, how, len(got[name]), len(want[name]))
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%s there are %d outputs, from the service %d", how, len(got), len(want))
	}
	return nil
}
