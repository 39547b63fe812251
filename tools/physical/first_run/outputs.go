package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// event is what is read of one line of Bazel's build events: files that this invocation made or found made. What an earlier one
// left in the same folder is not among them, and so never taken for this run's.
type event struct {
	ID struct {
		TestResult struct {
			Label string `json:"label"`
		} `json:"testResult"`
	} `json:"id"`
	NamedSetOfFiles struct {
		Files []output `json:"files"`
	} `json:"namedSetOfFiles"`
	TestResult struct {
		TestActionOutput []output `json:"testActionOutput"`
	} `json:"testResult"`
}

type output struct {
	Name string `json:"name"` // below bazel-bin, or test.log
	URI  string `json:"uri"`
}

// building runs a command of Bazel that builds, and copies what it made of the gate: receipts, evidence, observations, judgements, and
// the logs of tests. It returns how many files that were.
func (s *session) building(log io.Writer, command string, args ...string) (int, error) {
	events := filepath.Join(s.folder, "events.json")
	defer os.Remove(events)
	_, err := s.call(log, command, append([]string{"--build_event_json_file=" + events}, args...)...)
	found, cerr := s.collect(events)
	return found, errors.Join(err, cerr)
}

func (s *session) collect(events string) (int, error) {
	file, err := os.Open(events)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	found := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return found, err
		}
		for _, f := range e.NamedSetOfFiles.Files {
			if rel, ok := strings.CutPrefix(f.Name, "gate/"); ok && wanted(rel) {
				found++
				err = errors.Join(err, s.keep(f.URI, path.Join("gate", rel)))
			}
		}
		if rel, ok := strings.CutPrefix(e.ID.TestResult.Label, "//gate:"); ok {
			for _, f := range e.TestResult.TestActionOutput {
				if f.Name == "test.log" {
					found++
					err = errors.Join(err, s.keep(f.URI, path.Join("gate", "tests", rel, f.Name)))
				}
			}
		}
		if err != nil {
			return found, err
		}
	}
	return found, lines.Err()
}

// wanted says whether a file of bazel-bin/gate is kept.
func wanted(rel string) bool {
	of, _ := path.Split(rel)
	return strings.HasSuffix(rel, ".json") && !strings.HasSuffix(rel, ".spec.json") && (of == "" || strings.HasSuffix(of, ".evidence/"))
}

func (s *session) keep(uri, to string) error {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return errors.New("expected a file of this machine, found " + uri)
	}
	return copyTo(filepath.FromSlash(u.Path), filepath.Join(s.folder, filepath.FromSlash(to)))
}
