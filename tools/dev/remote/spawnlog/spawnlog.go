// Package spawnlog reads what Bazel writes with --execution_log_json_file and says where each action ran.
//
// The file is a sequence of JSON objects, SpawnExec of Bazel's src/main/protobuf/spawn.proto, one an
// attempt to run an action. Read of each: mnemonic, targetLabel, runner, cacheHit, remotable, status,
// exitCode, digest (of the remote action: its key), platform.properties and actualOutputs. A disk cache,
// a sandbox and a worker process each have a runner's name of their own, so that nothing that ran or was
// found on this machine can pass for remote; a runner that is not known here is not remote either.
package spawnlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Names of runners that Bazel 7 gives to what happened on the service. (A Bazel of this version does not
// tell a cache that is remote from one that is disk and remote by another name than the last one.)
const (
	RunnerRemote = "remote"
	RunnerCache  = "remote cache hit"
)

// Spawn is one action that was started or found in a cache.
type Spawn struct {
	Mnemonic  string `json:"mnemonic"`
	Label     string `json:"targetLabel"`
	Runner    string `json:"runner"`
	CacheHit  bool   `json:"cacheHit"`
	Remotable bool   `json:"remotable"`
	Status    string `json:"status"`
	ExitCode  int    `json:"exitCode"`
	// Digest is the remote action's, its key; empty if it failed before it had one.
	Digest   Digest `json:"digest"`
	Platform struct {
		Properties []Property `json:"properties"`
	} `json:"platform"`
	Outputs []Output `json:"actualOutputs"`
}

// Digest names bytes.
type Digest struct {
	Hash string `json:"hash"`
	// Size is in bytes, in decimal digits.
	Size string `json:"sizeBytes"`
}

// Property is one exec property of the platform that an action asked for.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Output is a file that an action made.
type Output struct {
	Path   string `json:"path"`
	Digest Digest `json:"digest"`
}

// Property returns the value of an exec property, or "".
func (s Spawn) Property(name string) string {
	for _, p := range s.Platform.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// Remote says whether the action ran on the service or came from its cache.
func (s Spawn) Remote() bool { return s.Runner == RunnerRemote || s.Runner == RunnerCache }

// Read returns the log's spawns. A file that is cut short is an error.
func Read(r io.Reader) ([]Spawn, error) {
	dec := json.NewDecoder(r)
	var out []Spawn
	for {
		var s Spawn
		err := dec.Decode(&s)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("execution log, spawn %d: %w: expected what --execution_log_json_file writes, whole", len(out)+1, err)
		}
		if s.Mnemonic == "" || s.Runner == "" && s.Status == "" {
			return nil, fmt.Errorf("execution log, spawn %d (%s): expected mnemonic and runner, found neither or one", len(out)+1, s.Label)
		}
		out = append(out, s)
	}
}

// AllRemote returns an error that names what was neither run on the service nor found in its cache, and
// one when the log is empty: a build that did nothing shows nothing.
func AllRemote(spawns []Spawn) error {
	if len(spawns) == 0 {
		return errors.New("the execution log is empty: nothing was run or looked up, so nothing is shown; build in a fresh output base")
	}
	var bad []string
	for _, s := range spawns {
		if !s.Remote() {
			bad = append(bad, fmt.Sprintf("%s of %s: expected a runner of the service, found %q", s.Mnemonic, s.Label, s.Runner))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d actions did not run on the service:\n%s", len(bad), len(spawns), strings.Join(head(bad, 20), "\n"))
	}
	return nil
}

// AllCached returns an error that names what was not found in the service's cache.
func AllCached(spawns []Spawn) error {
	if err := AllRemote(spawns); err != nil {
		return err
	}
	var bad []string
	for _, s := range spawns {
		if s.Runner != RunnerCache || !s.CacheHit {
			bad = append(bad, fmt.Sprintf("%s of %s: expected a hit in the service's cache, found runner %q", s.Mnemonic, s.Label, s.Runner))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d actions were run again:\n%s", len(bad), len(spawns), strings.Join(head(bad, 20), "\n"))
	}
	return nil
}

func head(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	return append(slices.Clone(lines[:n]), fmt.Sprintf("… and %d more", len(lines)-n))
}

// Counts returns how many spawns each runner had.
func Counts(spawns []Spawn) map[string]int {
	out := map[string]int{}
	for _, s := range spawns {
		out[s.Runner]++
	}
	return out
}

// Mnemonics returns the kinds of actions there were.
func Mnemonics(spawns []Spawn) []string {
	seen := map[string]bool{}
	for _, s := range spawns {
		seen[s.Mnemonic] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Find returns the spawns of a target with a mnemonic.
func Find(spawns []Spawn, mnemonic, label string) []Spawn {
	var out []Spawn
	for _, s := range spawns {
		if s.Mnemonic == mnemonic && (label == "" || s.Label == label || strings.TrimPrefix(s.Label, "@@") == label) {
			out = append(out, s)
		}
	}
	return out
}
