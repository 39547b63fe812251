// Command tally counts test targets in a Bazel build event file.
//
//	tally EVENTS.json
//
// EVENTS.json is what `bazel test --build_event_json_file=EVENTS.json` writes:
// one JSON object a line, each with an "id" that says what it is about and a
// payload named after its kind (build_event_stream.proto of Bazel). Read here:
//
//   - targetConfigured with a testSize: this label is a test that was asked for;
//   - aborted with reason SKIPPED, about such a label: it does not fit the
//     platform, and Bazel does not count it as a failure either;
//   - testSummary with an overallStatus: PASSED is a pass, and nothing else is,
//     FLAKY included.
//
// A test that was asked for and of which nothing more is heard (it did not
// build) is a failure. The last line is `N passed, N failed, N skipped`. The
// exit code is 0 if at least one test passed and none failed, 1 if not, and 2
// if the file cannot be read.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "tally: expected one argument, the file that --build_event_json_file names")
		return 2
	}
	file, err := os.Open(args[0])
	if err != nil {
		fmt.Fprintf(stderr, "tally: %v\n", err)
		return 2
	}
	defer file.Close()
	tests, err := read(file)
	if err != nil {
		fmt.Fprintf(stderr, "tally: %s: %v\n", args[0], err)
		return 2
	}
	return report(tests, stdout)
}

// state is what is known of one test. The zero value: asked for, no more.
type state struct {
	status  string // testSummary's overallStatus
	skipped bool
}

type event struct {
	ID struct {
		TargetConfigured *labelID `json:"targetConfigured"`
		TargetCompleted  *labelID `json:"targetCompleted"`
		TestSummary      *labelID `json:"testSummary"`
	} `json:"id"`
	Configured struct {
		TestSize string `json:"testSize"`
	} `json:"configured"`
	Aborted struct {
		Reason string `json:"reason"`
	} `json:"aborted"`
	TestSummary struct {
		OverallStatus string `json:"overallStatus"`
	} `json:"testSummary"`
	LastMessage bool `json:"lastMessage"`
}

type labelID struct {
	Label string `json:"label"`
}

// errTruncated says that Bazel did not come to write its last event.
var errTruncated = errors.New("expected an event with lastMessage at the end, found none: Bazel was stopped before it finished")

// read returns the tests by label.
func read(r io.Reader) (map[string]*state, error) {
	tests := map[string]*state{}
	dec := json.NewDecoder(bufio.NewReader(r))
	for n, last := 1, false; ; n++ {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			if !last {
				return nil, errTruncated
			}
			return tests, nil
		} else if err != nil {
			return nil, fmt.Errorf("event %d: %w", n, err)
		}
		last = last || e.LastMessage
		note(tests, e)
	}
}

func note(tests map[string]*state, e event) {
	switch {
	case e.ID.TargetConfigured != nil && e.Configured.TestSize != "":
		of(tests, e.ID.TargetConfigured)
	case e.ID.TargetConfigured != nil && e.Aborted.Reason == "SKIPPED",
		e.ID.TargetCompleted != nil && e.Aborted.Reason == "SKIPPED":
		id := e.ID.TargetCompleted
		if id == nil {
			id = e.ID.TargetConfigured
		}
		if t, ok := tests[id.Label]; ok {
			t.skipped = true
		}
	case e.ID.TestSummary != nil:
		of(tests, e.ID.TestSummary).status = e.TestSummary.OverallStatus
	}
}

func of(tests map[string]*state, id *labelID) *state {
	if tests[id.Label] == nil {
		tests[id.Label] = &state{}
	}
	return tests[id.Label]
}

func report(tests map[string]*state, stdout io.Writer) int {
	labels := make([]string, 0, len(tests))
	for label := range tests {
		labels = append(labels, label)
	}
	sort.Strings(labels)
	var passed, failed, skipped int
	for _, label := range labels {
		switch t := tests[label]; {
		case t.status == "PASSED":
			passed++
		case t.status == "" && t.skipped:
			skipped++
		case t.status == "":
			failed++
			fmt.Fprintf(stdout, "did not build or run: %s\n", label)
		default:
			failed++
			fmt.Fprintf(stdout, "%s: %s\n", t.status, label)
		}
	}
	fmt.Fprintf(stdout, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if passed == 0 || failed > 0 {
		return 1
	}
	return 0
}
