package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/supervisor"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// A warm-up is counted and timed beside the run; one that fails is the run, and nothing is started again.
func TestWarmUp(t *testing.T) {
	warmed := func(script string) *Result {
		s := newSpec(t, evidence.KindCoreML, script)
		s.WarmUp = true
		sup, err := supervisor.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer sup.Close()
		defer os.RemoveAll(sup.Dir)
		st, err := stage(s, sup.Dir)
		if err != nil {
			t.Fatal(err)
		}
		id, err := pin.ReadIdentity(s.Pin)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.execute(t.Context(), sup, st, s.LaneIdentity, id)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := warmed("words")
	if r.Evidence.WarmUps != 1 || len(r.Observations.WarmUpSeconds) != 1 || r.Observations.WarmUpSeconds[0] <= 0 || r.Evidence.Exit != (evidence.Exit{Kind: evidence.ExitCode}) {
		t.Errorf("warmed: %d warm-ups, %v s, exit %+v", r.Evidence.WarmUps, r.Observations.WarmUpSeconds, r.Evidence.Exit)
	}
	for script, want := range map[string]evidence.Exit{
		"first3 " + filepath.Join(t.TempDir(), "started"): {Kind: evidence.ExitCode, Code: 3},
		"segv": {Kind: evidence.ExitSignal, Signal: 11},
	} {
		r := warmed(script)
		if r.Evidence.Exit != want || r.Evidence.WarmUps != 0 || len(r.Observations.WarmUpSeconds) != 0 || strings.Contains(string(r.Stdout), "words") {
			t.Errorf("%s: exit %+v, %d warm-ups, %q heard; expected %+v of the first start", script, r.Evidence.Exit, r.Evidence.WarmUps, r.Stdout, want)
		}
	}
}
