package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/remote/spawnlog"
)

// Cut from what Bazel 7.7.1 wrote about builds on BuildGrid.
const (
	remoteSpawn = `{"mnemonic": "GateRun", "runner": "remote", "targetLabel": "//gate:canary_run", "digest": {"hash": "bb", "sizeBytes": "140"}}`
	cachedSpawn = `{"mnemonic": "GoLink", "runner": "remote cache hit", "cacheHit": true, "targetLabel": "//tools/upstream/pin:pin_test"}`
	localSpawn  = `{"mnemonic": "GoLink", "runner": "processwrapper-sandbox", "targetLabel": "//tools/upstream/pin:pin_test"}`

	finished = `{"id":{"buildFinished":{}},"finished":{"exitCode":{"name":"SUCCESS"}}}` + "\n"
	metrics  = `{"id":{"buildMetrics":{}},"buildMetrics":{"actionSummary":{"runnerCount":[{"name":"total","count":9},{"name":"internal","count":4},{"name":"remote","count":1,"execKind":"Remote"},{"name":"remote cache hit","count":1}]}}}` + "\n"
	cached   = `{"id":{"buildMetrics":{}},"buildMetrics":{"actionSummary":{"runnerCount":[{"name":"total","count":1},{"name":"remote cache hit","count":1}]}}}` + "\n"
	sandbox  = `{"id":{"buildMetrics":{}},"buildMetrics":{"actionSummary":{"runnerCount":[{"name":"remote","count":3},{"name":"processwrapper-sandbox","count":1}]}}}` + "\n"
	last     = `{"id":{"progress":{}},"lastMessage":true}` + "\n"
	passed   = `{"id":{"testSummary":{"label":"//gate:canary_test"}},"testSummary":{"overallStatus":"PASSED"}}` + "\n"
	flaky    = `{"id":{"testSummary":{"label":"//gate:canary_test"}},"testSummary":{"overallStatus":"FLAKY"}}` + "\n"
)

func TestLog(t *testing.T) {
	for _, c := range []struct {
		name, spawns, events string
		cached               bool
		code                 int
		want                 string
	}{
		{"remote", remoteSpawn + cachedSpawn, metrics + last, false, 0, "2 actions: 1 remote, 1 remote cache hit"},
		{"cached", cachedSpawn, cached + last, true, 0, "1 actions: 1 remote cache hit"},
		{"run again", remoteSpawn, metrics + last, true, 1, "were run again"},
		{"run here", remoteSpawn + localSpawn, metrics + last, false, 1, `found "processwrapper-sandbox"`},
		{"run here, by the events alone", remoteSpawn, sandbox + last, false, 1, `1 actions ran as "processwrapper-sandbox"`},
		{"nothing", "", metrics + last, false, 1, "is empty"},
		{"no action in the events", remoteSpawn, last, false, 1, "no action ran on the service"},
		{"events cut short", remoteSpawn, metrics, false, 1, "expected an event with lastMessage"},
		{"no such events", remoteSpawn, "", false, 1, "expected an event with lastMessage"},
		{"a log cut between two", remoteSpawn, metrics + last, false, 1, `0 actions of the runner "remote cache hit", the build events have 1`},
		{"a log of another build", remoteSpawn + remoteSpawn, metrics + last, false, 1, `2 actions of the runner "remote", the build events have 1`},
		{"a log that is none", metrics, metrics + last, false, 1, "execution log, spawn 1"},
		{"a log cut short", remoteSpawn[:40], metrics + last, false, 1, "execution log, spawn 1"},
	} {
		dir := t.TempDir()
		spawns, events := filepath.Join(dir, "spawns.json"), filepath.Join(dir, "events.json")
		for path, text := range map[string]string{spawns: c.spawns, events: c.events} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"log", spawns, events}
		if c.cached {
			args = []string{"log", "--cached", spawns, events}
		}
		var stdout, stderr bytes.Buffer
		if code := run([]string{"log", spawns + ".not"}, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), spawns+".not") {
			t.Errorf("no log: exit %d, %q; want 2 and its name", code, stderr.String())
		}
		if code := run(args, &stdout, &stderr); code != c.code || !strings.Contains(stdout.String(), c.want) {
			t.Errorf("%s: exit %d, %q %q; want %d and %q", c.name, code, stdout.String(), stderr.String(), c.code, c.want)
		}
	}
}

func TestPassed(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"passed", finished + passed + last, ""},
		{"no test", finished + last, "no test was run"},
		{"passed at the second attempt", finished + passed + flaky + last, "is FLAKY, expected PASSED"},
		{"ended otherwise", strings.Replace(finished, "SUCCESS", "REMOTE_ERROR", 1) + passed + last, `ended as "REMOTE_ERROR"`},
		{"did not end", passed + last, `ended as ""`},
	} {
		e, err := readEvents(strings.NewReader(c.events))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.passed(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	want := map[string][]byte{"gate/receipt.json": []byte("a")}
	if err := same("here", want, map[string][]byte{"gate/receipt.json": []byte("a")}); err != nil {
		t.Error(err)
	}
	for name, got := range map[string]map[string][]byte{
		"other bytes": {"gate/receipt.json": []byte("b")},
		"none":        {},
		"one more":    {"gate/receipt.json": []byte("a"), "gate/other.json": []byte("b")},
	} {
		if same("here", want, got) == nil {
			t.Errorf("%s: taken for the same", name)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"run"}, {"log"}, {"log", "a", "b", "c"}, {"demo", "x"}, {"faults", "--run=("}, {"demo", "--root=/nonexistent"}, {"log", "--frob"}} {
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != 2 {
			t.Errorf("%v: exit %d, want 2", args, code)
		}
	}
}

// TestFaults holds what counts as the right end of a fault.
func TestFaults(t *testing.T) {
	f := &faultStand{}
	for _, c := range []struct {
		name string
		c    fault
		out  string
		code int
		log  string
		want string
	}{
		{"right", fault{codes: []int{34}, says: []string{"UNAVAILABLE"}}, "UNAVAILABLE: io", 34, "", ""},
		{"a false pass", fault{codes: []int{34}}, "", 0, "", "expected exit code [34], found 0"},
		{"the wrong words", fault{codes: []int{34}, says: []string{"UNAVAILABLE"}}, "error", 34, "", `to say "UNAVAILABLE"`},
		{"run here after all", fault{codes: []int{0}}, "", 0, localSpawn, "must never lead to a run on this machine"},
		{"taken from the cache", fault{codes: []int{0}, runner: "remote"}, "", 0, cachedSpawn, `run as "remote"`},
	} {
		spawns, err := spawnlog.Read(strings.NewReader(c.log))
		if err != nil {
			t.Fatal(err)
		}
		c.c.try = func(*faultStand) (*outcome, error) { return &outcome{code: c.code, text: c.out, spawns: spawns}, nil }
		if err := f.hold(c.c); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
