// Command first_run is for the first person who has a Mac: one command that runs everything which only a Mac can show.
//
//	bazel run //gate:first_run                    or, where Go is installed:
//	go run ./tools/physical/first_run [-folder DIR] [-only NAME,NAME] [-list]
//
// It checks the host, runs the Go tests, the probe's own check, coremlc, the corpus of hard values through Core ML, parity through Core
// ML, and the gate on the physical lane; signs the receipt with a key made for the occasion, verifies it and makes its page; and
// compares what came out with what the documents expect. It never stops at the first failure, and says where it is. Everything lies in
// one folder (first_run-DATE if none is named): a log of every step, receipts, evidence, reports, differences.md and summary.json.
// `coregate verify` and `coregate report` read it on any machine. It exits 0 if every step passed, 1 if one did not, 2 if
// it could not start.
//
// On Linux the same runs over the stand-in for Core ML (docs/bridge.md), but for what only Xcode has, so that all else of it is
// tried without a Mac. This was never run on a Mac by this project's own CI.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Statuses of a step.
const (
	passed  = "pass"
	failed  = "fail"
	notHere = "not here" // only a Mac has what it needs, or the project has no such target yet
)

// result is what came of a step, as summary.json holds it.
type result struct {
	Step    string  `json:"step"`
	About   string  `json:"about"`
	Status  string  `json:"status"`
	Seconds float64 `json:"seconds"`
	Log     string  `json:"log"`
	Why     string  `json:"why,omitempty"`
}

// summary is summary.json.
type summary struct {
	Schema      int      `json:"schema"` // 1
	Lane        string   `json:"lane"`
	Host        []fact   `json:"host"`
	Steps       []result `json:"steps"`
	Differences []string `json:"differences"`
}

func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("first_run", flag.ContinueOnError)
	f.SetOutput(stderr)
	folder := f.String("folder", "", "where everything goes; must not exist")
	only := f.String("only", "", "run these steps alone, by name, separated by commas")
	list := f.Bool("list", false, "list the steps")
	if err := f.Parse(args); err != nil {
		return 2
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "first_run: expected flags alone, found %q\n", f.Args())
		return 2
	}
	s, err := start(*folder, runtime.GOOS == "darwin" && runtime.GOARCH == "arm64", stdout)
	if err != nil {
		fmt.Fprintln(stderr, "first_run:", err)
		return 2
	}
	steps := s.steps()
	if *list {
		for _, st := range steps {
			fmt.Fprintf(stdout, "%-12s %s\n", st.name, st.about)
		}
		return 0
	}
	if steps, err = choose(steps, *only); err != nil {
		fmt.Fprintln(stderr, "first_run:", err)
		return 2
	}
	if err := os.MkdirAll(filepath.Join(s.folder, "logs"), 0o755); err != nil {
		fmt.Fprintln(stderr, "first_run:", err)
		return 2
	}
	return s.all(steps)
}

// choose keeps the named steps.
func choose(steps []step, only string) ([]step, error) {
	if only == "" {
		return steps, nil
	}
	var chosen []step
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(steps, func(s step) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no step is called %q; -list lists them", name)
		}
		chosen = append(chosen, steps[i])
	}
	return chosen, nil
}

// start finds the workspace, the folder and Bazel.
func start(folder string, isMac bool, stdout io.Writer) (*session, error) {
	if workspace := os.Getenv("BUILD_WORKSPACE_DIRECTORY"); workspace != "" {
		if err := os.Chdir(workspace); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat("MODULE.bazel"); err != nil {
		return nil, fmt.Errorf("expected to run in a checkout of rules_coreml_gate, found no MODULE.bazel here: change into it, or use `bazel run //gate:first_run`")
	}
	if folder == "" {
		folder = "first_run-" + time.Now().UTC().Format("20060102-150405")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(folder); err == nil {
		return nil, fmt.Errorf("%s exists: name a folder that does not, so that nothing of an earlier run is taken for this one's", folder)
	}
	s := &session{folder: folder, mac: isMac, stdout: stdout, summary: summary{Schema: 1, Lane: "emulated", Host: []fact{}, Steps: []result{}, Differences: []string{}}}
	if isMac {
		s.summary.Lane = "physical"
	}
	if s.bazel, err = findBazel(); err != nil {
		return nil, err
	}
	return s, nil
}

// all runs the steps in order, whatever comes of each, and writes the summary anew after every one.
func (s *session) all(steps []step) int {
	code := 0
	for i, st := range steps {
		head := fmt.Sprintf("[%d/%d] %s", i+1, len(steps), st.name)
		s.say("%s: %s", head, st.about)
		r := s.one(head, i, st)
		s.summary.Steps = append(s.summary.Steps, r)
		if r.Status == failed {
			code = 1
		}
		if err := s.writeSummary(); err != nil {
			s.say("cannot write the summary: %v", err)
			code = 2
		}
		s.say("%s: %s in %.0f s%s", head, r.Status, r.Seconds, because(r.Why))
	}
	s.say("everything is in %s; send that folder", s.folder)
	return code
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// one runs a step with a log of its own and says every minute that it is still running.
func (s *session) one(head string, i int, st step) result {
	name := filepath.Join("logs", fmt.Sprintf("%02d-%s.log", i+1, st.name))
	r := result{Step: st.name, About: st.about, Status: passed, Log: name}
	log, err := os.Create(filepath.Join(s.folder, name))
	if err != nil {
		r.Status, r.Why = failed, err.Error()
		return r
	}
	defer log.Close()
	began := time.Now()
	done := make(chan struct{})
	go func() {
		for tick := time.NewTicker(time.Minute); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				s.say("%s: still running after %.0f s (%s)", head, time.Since(began).Seconds(), name)
			}
		}
	}()
	err = st.do(log)
	close(done)
	r.Seconds = time.Since(began).Seconds()
	if missing, ok := err.(absent); ok {
		r.Status, r.Why = notHere, string(missing)
	} else if err != nil {
		r.Status, r.Why = failed, strings.ReplaceAll(err.Error(), "\n", "; ")
		fmt.Fprintf(log, "first_run: %v\n", err)
	}
	return r
}

func (s *session) writeSummary() error {
	data, err := json.MarshalIndent(s.summary, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.folder, "summary.json"), append(data, '\n'), 0o644)
}
