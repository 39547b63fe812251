package spawnlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded is cut from a log of Bazel 7.7.1 with BuildGrid: inputs, arguments and metrics left out.
const recorded = `{
  "environmentVariables": [],
  "platform": {"properties": [{"name": "OSFamily", "value": "linux"}, {"name": "Pool", "value": "run"}]},
  "listedOutputs": ["bazel-out/k8-fastbuild/bin/gate/canary_run.evidence.json"],
  "remotable": true, "cacheable": true, "timeoutMillis": "0", "mnemonic": "GateRun",
  "actualOutputs": [{"path": "bazel-out/k8-fastbuild/bin/gate/canary_run.evidence.json", "digest": {"hash": "aa", "sizeBytes": "12", "hashFunctionName": "SHA-256"}}],
  "runner": "remote", "cacheHit": false, "status": "", "exitCode": 0, "remoteCacheable": true,
  "targetLabel": "//gate:canary_run", "digest": {"hash": "bb", "sizeBytes": "140", "hashFunctionName": "SHA-256"}
}{
  "mnemonic": "GoCompilePkg", "runner": "remote cache hit", "cacheHit": true, "targetLabel": "//tools/upstream/pin:pin", "exitCode": 0
}
`

func mustRead(t *testing.T, text string) []Spawn {
	t.Helper()
	spawns, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return spawns
}

func TestRead(t *testing.T) {
	spawns := mustRead(t, recorded)
	if diff := cmp.Diff(map[string]int{"remote": 1, "remote cache hit": 1}, Counts(spawns)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GateRun", "GoCompilePkg"}, Mnemonics(spawns)); diff != "" {
		t.Error(diff)
	}
	run := Find(spawns, "GateRun", "//gate:canary_run")
	if len(run) != 1 || run[0].Property("Pool") != "run" || run[0].Property("none") != "" || run[0].Digest.Hash != "bb" || run[0].Outputs[0].Digest.Hash != "aa" {
		t.Errorf("the run reads as %+v", run)
	}
	if err := AllRemote(spawns); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	spawn := func(runner string) string {
		return `{"mnemonic": "CppCompile", "targetLabel": "//a:b", "runner": "` + runner + `", "cacheHit": true}`
	}
	for _, c := range []struct {
		name, log string
		check     func([]Spawn) error
		want      string
	}{
		{"nothing", "", AllRemote, "is empty"},
		{"a sandbox", recorded + spawn("linux-sandbox"), AllRemote, `1 of 3 actions did not run on the service:` + "\n" + `CppCompile of //a:b: expected a runner of the service, found "linux-sandbox"`},
		{"fallback", spawn("local"), AllRemote, `found "local"`},
		{"a disk cache", spawn("disk cache hit"), AllRemote, `found "disk cache hit"`},
		{"no runner that is known", spawn("remote-ish"), AllRemote, `found "remote-ish"`},
		{"a process of this machine", spawn("worker"), AllCached, `found "worker"`},
		{"run again", recorded, AllCached, `1 of 2 actions were run again:` + "\n" + `GateRun of //gate:canary_run`},
		{"many", strings.Repeat(spawn("local"), 30), AllRemote, "and 10 more"},
	} {
		err := c.check(mustRead(t, c.log))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestTruncated(t *testing.T) {
	for _, text := range []string{recorded[:len(recorded)-20], recorded + "{}", recorded + "x"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("a log that ends in %q was read", text[len(text)-10:])
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(recorded)
	f.Fuzz(func(t *testing.T, text string) {
		spawns, err := Read(strings.NewReader(text))
		if err == nil && AllCached(spawns) == nil && AllRemote(spawns) != nil {
			t.Error("all were cached, yet not all were remote")
		}
	})
}
