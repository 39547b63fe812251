package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/remote/spawnlog"
)

// events is what is read of a build event file.
type events struct {
	// runners counts actions by how they ran, from the build metrics.
	runners map[string]int
	// tests are the overall status of each test, by label.
	tests map[string]string
	// exit is the name of the build's exit code, such as SUCCESS.
	exit string
}

// readEvents reads what --build_event_json_file writes: one JSON object a line.
func readEvents(r io.Reader) (*events, error) {
	out := &events{runners: map[string]int{}, tests: map[string]string{}}
	dec := json.NewDecoder(bufio.NewReader(r))
	last := false
	for {
		var e struct {
			ID struct {
				TestSummary *struct {
					Label string `json:"label"`
				} `json:"testSummary"`
			} `json:"id"`
			TestSummary struct {
				Status string `json:"overallStatus"`
			} `json:"testSummary"`
			Finished struct {
				ExitCode struct {
					Name string `json:"name"`
				} `json:"exitCode"`
			} `json:"finished"`
			Metrics struct {
				Actions struct {
					Runners []struct {
						Name  string `json:"name"`
						Count int    `json:"count"`
					} `json:"runnerCount"`
				} `json:"actionSummary"`
			} `json:"buildMetrics"`
			Last bool `json:"lastMessage"`
		}
		err := dec.Decode(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("build events: %w", err)
		}
		if e.ID.TestSummary != nil {
			out.tests[e.ID.TestSummary.Label] = e.TestSummary.Status
		}
		if name := e.Finished.ExitCode.Name; name != "" {
			out.exit = name
		}
		for _, r := range e.Metrics.Actions.Runners {
			out.runners[r.Name] += r.Count
		}
		last = last || e.Last
	}
	if !last {
		return nil, errors.New("build events: expected an event with lastMessage at the end, found none: Bazel was stopped before it finished")
	}
	return out, nil
}

// nothingHere holds the runner counts against the rule that nothing ran on this machine but what Bazel does in
// its own process: making links, writing parameter files.
func (e *events) nothingHere() error {
	for _, name := range slices.Sorted(maps.Keys(e.runners)) {
		switch name {
		case "total", "internal", spawnlog.RunnerRemote, spawnlog.RunnerCache:
		default:
			return fmt.Errorf("build events: %d actions ran as %q, expected remote, remote cache hit or internal alone", e.runners[name], name)
		}
	}
	if e.runners[spawnlog.RunnerRemote]+e.runners[spawnlog.RunnerCache] == 0 {
		return errors.New("build events: no action ran on the service or came from its cache")
	}
	return nil
}

// ofBuild holds that a log is of the build that the events are of, and whole: Bazel writes one object after another, so a log
// that was cut between two of them reads as a shorter one. Both count each spawn.
func (e *events) ofBuild(spawns []spawnlog.Spawn) error {
	logged := spawnlog.Counts(spawns)
	for _, name := range []string{spawnlog.RunnerRemote, spawnlog.RunnerCache} {
		if logged[name] != e.runners[name] {
			return fmt.Errorf("the execution log has %d actions of the runner %q, the build events have %d: expected both of one build, and the log whole", logged[name], name, e.runners[name])
		}
	}
	return nil
}

// passed holds that there were tests and that each passed.
func (e *events) passed() error {
	if e.exit != "SUCCESS" {
		return fmt.Errorf("build events: the build ended as %q, expected SUCCESS", e.exit)
	}
	if len(e.tests) == 0 {
		return errors.New("build events: no test was run")
	}
	for _, label := range slices.Sorted(maps.Keys(e.tests)) {
		if e.tests[label] != "PASSED" {
			return fmt.Errorf("build events: %s is %s, expected PASSED", label, e.tests[label])
		}
	}
	return nil
}

func readSpawns(path string) ([]spawnlog.Spawn, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, broken(err)
	}
	defer file.Close()
	return spawnlog.Read(bufio.NewReader(file))
}

func readEventFile(path string) (*events, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, broken(err)
	}
	defer file.Close()
	return readEvents(file)
}

// checkLog is the subcommand log.
func checkLog(paths []string, cached bool, stdout io.Writer) error {
	if len(paths) < 1 || len(paths) > 2 {
		return broken(fmt.Errorf("log: expected an execution log and at most one build event file, found %q", paths))
	}
	spawns, err := readSpawns(paths[0])
	if err != nil {
		return err
	}
	check := spawnlog.AllRemote
	if cached {
		check = spawnlog.AllCached
	}
	if err := check(spawns); err != nil {
		return err
	}
	if len(paths) == 2 {
		e, err := readEventFile(paths[1])
		if err != nil {
			return err
		}
		if err := e.nothingHere(); err != nil {
			return err
		}
		if err := e.ofBuild(spawns); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s\n", summary(spawns))
	return nil
}

// summary is one line about how actions ran.
func summary(spawns []spawnlog.Spawn) string {
	counts := spawnlog.Counts(spawns)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	return fmt.Sprintf("%d actions: %s", len(spawns), strings.Join(parts, ", "))
}
