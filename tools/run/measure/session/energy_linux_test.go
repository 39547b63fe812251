package session

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/power"
)

// TestEnergyBySysfs holds an energy session over a made tree of RAPL counters: every run draws the 6 J that its program draws there, and a
// machine that draws nothing without load has no baseline to claim anything by.
func TestEnergyBySysfs(t *testing.T) {
	root := t.TempDir()
	zone := filepath.Join(root, "sys/class/powercap/intel-rapl:0")
	if err := os.MkdirAll(zone, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"name": "package-0", "energy_uj": "0", "max_energy_range_uj": "20000000"} {
		if err := os.WriteFile(filepath.Join(zone, file), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	instrument, err := power.FindIn(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	// The counter begins again above 20 J, in the fourth run.
	p := newPlan(t, fmt.Sprintf("read n < %[1]s/energy_uj; echo $(( (n + 6000000) %% 20000000 )) > %[1]s/energy_uj\n", zone)+said)
	short := *p.Protocol
	short.EnergyTime = 0.01
	p.Protocol, p.Mode, p.Power = &short, measure.Energy, instrument
	p.Deadline = time.Minute
	s := mustRun(t, p)
	for _, r := range s.Arms[0].Runs {
		if r.Power == nil || r.Power.Instrument != "rapl" || math.Abs(r.Power.MeanWatts*r.Power.Seconds-6) > 1e-6 || r.Power.IdleWatts != 0 || math.Abs(measure.Joules.Of(&r)-6) > 1e-6 {
			t.Errorf("run %d: %+v, want 6 J an inference", r.Index, r.Power)
		}
	}
	if why := p.Protocol.Judge([]*measure.Submission{s}, measure.Efficient, "arm0", "arm0"); len(why) == 0 || why[len(why)-1].Code != reason.EnergyUnmeasured {
		t.Errorf("a claim without a baseline gives %v", why)
	}
}
