package session

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/power"
)

// told is an instrument that says on the disk when a part of its window began, so that a program can wait for it.
type told struct {
	power.Instrument
	file string
}

func (i told) Begin() (power.Window, error) {
	w, err := i.Instrument.Begin()
	return toldWindow{w, i.file}, err
}

type toldWindow struct {
	power.Window
	file string
}

func (w toldWindow) Mark() {
	w.Window.Mark()
	if err := os.WriteFile(w.file, nil, 0o644); err != nil {
		panic(err) // the folder is the test's own
	}
}

// TestEnergyAfterLoad holds that what an inference takes is told with the load and without it: of 6 J, 4 are drawn once the model is loaded, for
// Core ML and for ggml's own encoder alike. A program that never says that it is loaded has no such part.
func TestEnergyAfterLoad(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	zone, marked := filepath.Join(root, "sys/class/powercap/intel-rapl:0"), filepath.Join(root, "marked")
	if err := os.MkdirAll(zone, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"name": "package-0", "energy_uj": "0", "max_energy_range_uj": "2000000000"} {
		if err := os.WriteFile(filepath.Join(zone, file), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	instrument, err := power.FindIn(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	draw := func(microjoules int) string {
		return fmt.Sprintf("read n < %[1]s/energy_uj; echo $(( n + %[2]d )) > %[1]s/energy_uj\n", zone, microjoules)
	}
	ready := fmt.Sprintf("echo 'system_info: n_threads = 1 / 2 | WHISPER : COREML = 1 | ' >&2\nuntil [ -e %[1]s ]; do sleep 0.01; done; rm %[1]s\n", marked)
	p := newPlan(t, draw(2000000)+ready+draw(4000000)+said, draw(2000000)+ready+draw(4000000)+said, draw(6000000)+said)
	p.Sources[1].Program.Flavour, p.Sources[1].Encoder, p.Sources[1].Artifact.EncoderDigest, p.Sources[1].Artifact.Units = "ggml", "", "", "cpu"
	short := *p.Protocol
	short.EnergyTime = 0.01
	p.Protocol, p.Mode, p.Power = &short, measure.Energy, told{instrument, marked}
	s := mustRun(t, p)
	for _, a := range s.Arms {
		for _, r := range a.Runs {
			all, after := measure.Joules.Of(&r), measure.JoulesAfterLoad.Of(&r)
			want := map[bool]float64{true: 4, false: math.NaN()}[a.Name != "arm2"]
			if math.Abs(all-6) > 1e-6 || math.IsNaN(after) != math.IsNaN(want) || math.Abs(after-want) > 1e-6 || (r.Power.AfterLoad == nil) != math.IsNaN(want) {
				t.Errorf("%s, run %d: %v J, %v J after the load, want 6 and %v", a.Name, r.Index, all, after, want)
			}
		}
	}
	e := measure.Entry{Submission: s, Arm: &s.Arms[0]}
	if got := e.Energy(); !strings.Contains(got, "cold 6.00 J (6.00 to 6.00, n = 1) with the load, 4.00 J (4.00 to 4.00, n = 1) after it; warm 6.00 J (6.00 to 6.00, n = 3)") {
		t.Errorf("it says %q", got)
	}
	if e.Arm = &s.Arms[2]; !strings.Contains(e.Energy(), "with the load, none after it") {
		t.Errorf("without a part it says %q", e.Energy())
	}
}

// TestEnergyBySysfs holds an energy session over a made tree of RAPL counters: every run draws the 6 J that its program draws there, and a
// machine that draws nothing without load has no baseline to claim anything by.
func TestEnergyBySysfs(t *testing.T) {
	t.Parallel()
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
