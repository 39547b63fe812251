package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	state "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
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
	// A hot machine is not warmed further; heat that nobody knows spares nothing.
	real := strain
	defer func() { strain = real }()
	for thermal, want := range map[string]int{"serious": 0, "critical": 0, "fair": 1, "unknown": 1} {
		strain = func() state.Strain { return state.Strain{Thermal: thermal, LowPower: "off"} }
		if r := warmed("words"); r.Evidence.WarmUps != want || len(r.Observations.WarmUpSeconds) != want || !strings.Contains(string(r.Stdout), "words") {
			t.Errorf("thermal state %s: %d warm-ups, want %d; %q heard", thermal, r.Evidence.WarmUps, want, r.Stdout)
		}
	}
	strain = real
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
