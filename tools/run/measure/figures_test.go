package measure_test

import (
	"math"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	. "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
)

func protocol(t *testing.T) *measure.Protocol {
	t.Helper()
	p, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFilter holds each condition of the filter, and that what is not known does not pass.
func TestFilter(t *testing.T) {
	p := protocol(t)
	s := Sample(1)
	if got := p.Excluded(s.Machine, s.Arms[0].Program, &s.Arms[0].Runs[0]); len(got) > 0 || !p.PassesEnvironmentFilter(s.Machine, s.Arms[0].Program, &s.Arms[0].Runs[0]) {
		t.Fatalf("a quiet run is excluded: %v", got)
	}
	for name, c := range map[string]struct {
		code   string
		change func(s *measure.Submission, r *measure.Run)
	}{
		"warm":                    {reason.ThermalNotNominal, func(_ *measure.Submission, r *measure.Run) { r.Before.Thermal = "fair" }},
		"unknown heat":            {reason.ThermalNotNominal, func(_ *measure.Submission, r *measure.Run) { r.Before.Thermal = "unknown" }},
		"no heat":                 {reason.ThermalNotNominal, func(_ *measure.Submission, r *measure.Run) { r.Before.Thermal = "" }},
		"low power":               {reason.LowPowerMode, func(_ *measure.Submission, r *measure.Run) { r.Before.LowPower = "on" }},
		"low power unknown":       {reason.LowPowerMode, func(_ *measure.Submission, r *measure.Run) { r.Before.LowPower = "unknown" }},
		"debug":                   {reason.BuildNotRelease, func(s *measure.Submission, _ *measure.Run) { s.Arms[0].Program.BuildMode = "debug" }},
		"build unknown":           {reason.BuildNotRelease, func(s *measure.Submission, _ *measure.Run) { s.Arms[0].Program.BuildMode = "unknown" }},
		"virtual":                 {reason.VirtualMachine, func(s *measure.Submission, _ *measure.Run) { s.Machine.VirtualMachine = "yes" }},
		"virtual or not, unknown": {reason.VirtualMachine, func(s *measure.Submission, _ *measure.Run) { s.Machine.VirtualMachine = "unknown" }},
		"beside another":          {reason.OtherAction, func(_ *measure.Submission, r *measure.Run) { r.Before.OurActions = []string{"whisper-cli"} }},
		"another came":            {reason.OtherAction, func(_ *measure.Submission, r *measure.Run) { r.After.OurActions = []string{"gate_words"} }},
		"busy before":             {reason.MachineBusy, func(_ *measure.Submission, r *measure.Run) { r.Before.BusyShare = P(0.11) }},
		"busy unknown":            {reason.MachineBusy, func(_ *measure.Submission, r *measure.Run) { r.Before.BusyShare = nil }},
		"busy meanwhile":          {reason.MachineBusy, func(_ *measure.Submission, r *measure.Run) { r.OthersShare = P(0.5) }},
		"killed":                  {reason.MeasuredRunFailed, func(_ *measure.Submission, r *measure.Run) { r.Exit = "signal 9" }},
		"out of time":             {reason.MeasuredRunFailed, func(_ *measure.Submission, r *measure.Run) { r.Exit = "timeout" }},
		"a time without memory": {reason.MemoryUnread, func(_ *measure.Submission, r *measure.Run) {
			r.Memory.PeakFootprintBytes, r.Memory.PeakResidentBytes = nil, nil
		}},
		"no encode":            {reason.MeasuredRunFailed, func(_ *measure.Submission, r *measure.Run) { r.Timings.Encode = measure.Timing{} }},
		"an encode of no time": {reason.MeasuredRunFailed, func(_ *measure.Submission, r *measure.Run) { r.Timings.Encode.MS = 0 }},
		"no load marker":       {reason.MeasuredRunFailed, func(_ *measure.Submission, r *measure.Run) { r.Memory.AtLoad = nil }},
		"no word":              {reason.MeasuredRunFailed, func(_ *measure.Submission, r *measure.Run) { r.Words = measure.Words{SHA256: Digest("f")} }},
		"no exit":              {reason.MeasuredRunFailed, func(_ *measure.Submission, r *measure.Run) { r.Exit = "" }},
	} {
		s := Sample(1)
		c.change(s, &s.Arms[0].Runs[2])
		got := p.Excluded(s.Machine, s.Arms[0].Program, &s.Arms[0].Runs[2])
		if len(got) != 1 || got[0] != c.code {
			t.Errorf("%s: %v, want %s", name, got, c.code)
		}
	}
}

// TestCells holds the figure: the median of the accepted submissions' warm medians, cold apart, exclusions counted and kept.
func TestCells(t *testing.T) {
	p := protocol(t)
	var subs []*measure.Submission
	for i, factor := range []float64{1, 2, 4} {
		s := Sample(1)
		s.StartedAt = []string{"2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z", "2026-12-03T00:00:00Z"}[i]
		EachRun(s, func(_ *measure.Arm, r *measure.Run) {
			r.Timings.Encode.MS *= factor
			if r.Kind == measure.Warm && r.Index >= 8 {
				// The last of three: neither a mean nor a cold run among them leaves the median.
				r.Timings.Encode.MS *= 5
				r.Timings.TotalMS, r.WallSeconds = r.Timings.Encode.MS, r.Timings.Encode.MS/1000+1
			}
		})
		subs = append(subs, s)
	}
	excluded := Sample(1)
	excluded.StartedAt = "2026-12-04T00:00:00Z"
	EachRun(excluded, func(_ *measure.Arm, r *measure.Run) { r.Before.LowPower = "on"; r.Timings.Encode.MS = 1 })
	cells := p.Cells(append(subs, excluded))
	if len(cells) != 2 {
		t.Fatalf("%d cells, want one an arm", len(cells))
	}
	c := cells[0]
	if c.Accepted != 3 || c.Excluded != 1 || c.Provisional || len(c.Entries) != 4 {
		t.Errorf("%d accepted, %d excluded, provisional %v", c.Accepted, c.Excluded, c.Provisional)
	}
	if got := c.Warm[measure.Encode]; got.Median != 2 || got.Low != 1 || got.High != 4 || got.N != 3 {
		t.Errorf("warm %+v, want 2 (1 to 4)", got)
	}
	if got := c.Entries[0].Warm[measure.Encode]; got.Median != 1 || got.High != 5 || got.N != 3 {
		t.Errorf("warm of one submission %+v, want the median 1 of three", got)
	}
	if got := c.Cold[measure.Encode]; got.Median != 6 {
		t.Errorf("cold %+v, want 6: never averaged into the warm figure", got)
	}
	if two := p.Cells(subs[:2]); !two[0].Provisional {
		t.Error("two submissions are no provisional figure")
	}
	other := Sample(1)
	other.Machine.OSBuild = "25G1"
	if got := p.Cells([]*measure.Submission{subs[0], Seal(other)}); len(got) != 4 {
		t.Errorf("%d cells, want another build of the system apart", len(got))
	}
}

// TestArmExcluded holds what excludes a whole arm.
func TestArmExcluded(t *testing.T) {
	p := protocol(t)
	for name, c := range map[string]struct {
		code   string
		change func(s *measure.Submission)
	}{
		"interrupted":    {reason.MeasurementInterrupted, func(s *measure.Submission) { s.Status = measure.Interrupted }},
		"two warm runs":  {reason.MeasurementRefused, func(s *measure.Submission) { s.Arms[0].Runs[4].Kind = measure.WarmUp }},
		"other words":    {reason.WorkVaries, func(s *measure.Submission) { s.Arms[0].Runs[3].Words.Count = 3 }},
		"another window": {reason.WorkVaries, func(s *measure.Submission) { s.Arms[0].Runs[3].Timings.Encode.Runs = 2 }},
		"one failed run": {reason.MeasuredRunFailed, func(s *measure.Submission) { s.Arms[0].Runs[9].Exit = "signal 9" }},
	} {
		s := Sample(1)
		c.change(s)
		cells := p.Cells([]*measure.Submission{Seal(s)})
		found := false
		for _, r := range cells[0].Entries[0].Excluded {
			found = found || r.Code == c.code
		}
		if !found || cells[0].Accepted != 0 {
			t.Errorf("%s: %v, want %s and no figure", name, cells[0].Entries[0].Excluded, c.code)
		}
		if standing := p.Standing(cells[0]); len(standing) != 1 || standing[0].Code != reason.NothingAccepted {
			t.Errorf("%s: %v, want %s", name, standing, reason.NothingAccepted)
		}
	}
}

func TestTimings(t *testing.T) {
	got := measure.ReadTimings([]byte(`whisper_print_timings:     load time =    53.75 ms
whisper_print_timings:     fallbacks =   0 p /   0 h
whisper_print_timings:      mel time =    10.37 ms
whisper_print_timings:   sample time =    72.14 ms /   130 runs (     0.55 ms per run)
whisper_print_timings:   encode time =  1080.02 ms /     2 runs (   540.01 ms per run)
whisper_print_timings:   decode time =    12.00 ms /     3 runs (     4.00 ms per run)
whisper_print_timings:   batchd time =   309.25 ms /   125 runs (     2.47 ms per run)
whisper_print_timings:   prompt time =     0.00 ms /     1 runs (     0.00 ms per run)
whisper_print_timings:    total time =  1551.09 ms
`))
	want := measure.Timings{LoadMS: 53.75, MelMS: 10.37, TotalMS: 1551.09, Sample: measure.Timing{MS: 72.14, Runs: 130}, Encode: measure.Timing{MS: 1080.02, Runs: 2},
		Decode: measure.Timing{MS: 12, Runs: 3}, Batch: measure.Timing{MS: 309.25, Runs: 125}, Prompt: measure.Timing{Runs: 1}}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	r := measure.Run{Timings: got}
	if e := measure.Encode.Of(&r); math.Abs(e-0.54001) > 1e-12 {
		t.Errorf("one encode takes %v s, want 0.54001", e)
	}
	if n, s := got.Tokens(); n != 128 || math.Abs(s-0.32125) > 1e-12 {
		t.Errorf("%d tokens in %v s", n, s)
	}
}

// TestRetained holds the sustained figure: the last minute against the first, and only of a whole session.
func TestRetained(t *testing.T) {
	p := protocol(t)
	session := func(runs int) *measure.Arm {
		a := &measure.Arm{Name: "a"}
		for i := range runs {
			encode := 1.0
			if i >= 30 {
				encode = 2
			}
			r := Run(measure.Steady, i, 0, encode)
			r.SecondsIn, r.WallSeconds = float64(10*i), 10
			a.Runs = append(a.Runs, r)
		}
		return a
	}
	if l := p.Retained(session(60)); l.Share != 0.5 || !l.Whole || l.String() != "50 % retained over 600 s, running 100 % of the time" {
		t.Errorf("%s, want half of it retained over the whole time", l)
	}
	if l := p.Retained(session(59)); l.Whole || !strings.HasSuffix(l.String(), "no sustained figure, which takes 600 s") {
		t.Errorf("590 s are a sustained session: %s", l)
	}
	if l := p.Retained(&measure.Arm{}); !math.IsNaN(l.Share) || l.Whole || l.String() != "no sustained run" {
		t.Errorf("nothing retained %s", l)
	}
	// The windows of 40 s are 4 s: the first run and the last, which do not overlap.
	short := session(4)
	short.Runs[3].Timings.Encode.MS = 4000
	if l := p.Retained(short); l.Share != 0.25 || l.Whole {
		t.Errorf("%s, want a quarter retained, and no figure", l)
	}
	rests := session(60)
	for i := range rests.Runs {
		rests.Runs[i].WallSeconds = 5
	}
	rests.Runs[59].WallSeconds = 10
	if l := p.Retained(rests); l.Running < 0.50 || l.Running > 0.52 {
		t.Errorf("%s, want the rests between the runs to be said", l)
	}
}
