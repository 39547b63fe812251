package measure_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	. "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/specialised"
)

// TestMemoryElsewhere: a physical session says that Core ML's own processes are in neither peak; an emulated one, whose double works
// in whisper-cli and what it starts, does not.
func TestMemoryElsewhere(t *testing.T) {
	p, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		t.Fatal(err)
	}
	for lane, want := range map[string]int{"emulated": 0, "physical": 2} {
		s := Sample(1)
		s.Lane = lane
		for _, arm := range Seal(s).Arms {
			notes := p.Notes(measure.Entry{Submission: s, Arm: &arm})
			if len(notes) != want {
				t.Fatalf("%s, arm %s: notes %v, want %d", lane, arm.Name, notes, want)
			}
			if want > 0 && (notes[1].Code != reason.ColdUnsure || notes[1].Found != "what was kept could not be read") {
				t.Errorf("%s, arm %s: %v, want %s", lane, arm.Name, notes[1], reason.ColdUnsure)
			}
			if want > 0 && (notes[0].Code != reason.MemoryElsewhere || notes[0].Where != s.Session+" "+arm.Name) {
				t.Errorf("%s, arm %s: %v, want %s", lane, arm.Name, notes[0], reason.MemoryElsewhere)
			}
		}
	}
}

// TestColdUnsure: a cold run of Core ML is one where nothing was kept of what macOS compiled before, and only such a run says so.
func TestColdUnsure(t *testing.T) {
	p, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		t.Fatal(err)
	}
	around := func(before, after specialised.Kept, cleared bool) *specialised.Around {
		return &specialised.Around{Before: before, After: after, Cleared: cleared}
	}
	none, found := specialised.Kept{State: specialised.None}, specialised.Kept{State: specialised.Found, Entries: 2, Bytes: 3 << 20}
	for name, c := range map[string]struct {
		around  *specialised.Around
		kind    measure.Kind
		flavour string
		found   string // by the note
		refused string
	}{
		"nothing was kept":      {around: around(none, found, false), kind: measure.Cold},
		"it was cleared":        {around: around(none, found, true), kind: measure.Cold},
		"it was kept":           {around: around(found, found, false), kind: measure.Cold, found: "2 models, 3.0 MiB"},
		"it could not be read":  {around: around(specialised.Kept{State: specialised.Unknown}, none, false), kind: measure.Cold, found: "could not be read"},
		"nobody looked":         {kind: measure.Cold, found: "could not be read"},
		"a warm run says it":    {around: around(none, none, false), kind: measure.Warm, refused: "a warm run of the physical lane"},
		"cleared and yet there": {around: around(found, found, true), kind: measure.Cold, refused: "2 entries"},
		"none with entries":     {around: around(specialised.Kept{State: specialised.None, Entries: 1}, none, false), kind: measure.Cold, refused: "Entries:1"},
		"found without entries": {around: around(none, specialised.Kept{State: specialised.Found}, false), kind: measure.Cold, refused: "State:found"},
		"another state":         {around: around(specialised.Kept{State: "full"}, none, false), kind: measure.Cold, refused: "State:full"},
	} {
		s := Sample(1)
		s.Lane = "physical"
		EachRun(s, func(_ *measure.Arm, r *measure.Run) {
			if r.Kind == c.kind {
				r.Specialised = c.around
			}
		})
		if err := measure.Check(s); (err != nil) != (c.refused != "") || c.refused != "" && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
		if c.refused != "" {
			continue
		}
		said := ""
		for _, n := range p.Notes(measure.Entry{Submission: s, Arm: &s.Arms[0]}) {
			if n.Code == reason.ColdUnsure {
				said = n.Found
			}
		}
		if (said == "") != (c.found == "") || !strings.Contains(said, c.found) {
			t.Errorf("%s: the note says %q, want %q", name, said, c.found)
		}
	}
	emulated := EachRun(Sample(1), func(_ *measure.Arm, r *measure.Run) {
		if r.Kind == measure.Cold {
			r.Specialised = around(none, none, false)
		}
	})
	if err := measure.Check(emulated); err == nil || !strings.Contains(err.Error(), "emulated lane") {
		t.Errorf("the emulated lane: %v", err)
	}
}

// TestEnergyParts: what was drawn after the load is a part of the whole, and is shown beside it.
func TestEnergyParts(t *testing.T) {
	part := func(a measure.PowerPart) *measure.Submission {
		s := Sample(1)
		s.Mode = measure.Energy
		return EachRun(s, func(_ *measure.Arm, r *measure.Run) {
			r.Power = &measure.Power{Instrument: "rapl", MeanWatts: 10, IdleWatts: 5, Seconds: r.WallSeconds, Samples: 2, Inferences: 1, IncludesLoad: true, WholeSystem: true, AfterLoad: &a}
		})
	}
	for name, c := range map[string]struct {
		part    measure.PowerPart
		refused bool
	}{
		"a part":               {measure.PowerPart{MeanWatts: 12, Seconds: 1, Samples: 2}, false},
		"longer than all":      {measure.PowerPart{MeanWatts: 1, Seconds: 100, Samples: 2}, true},
		"more than all":        {measure.PowerPart{MeanWatts: 1000, Seconds: 1, Samples: 2}, true},
		"of no reading at all": {measure.PowerPart{MeanWatts: 1, Seconds: 1}, true},
	} {
		if err := measure.Check(part(c.part)); (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "after the load") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := part(measure.PowerPart{MeanWatts: 12, Seconds: 1, Samples: 2})
	if got := (measure.Entry{Submission: s, Arm: &s.Arms[0]}).Energy(); !strings.Contains(got, "warm 20.00 J (20.00 to 20.00, n = 3) with the load, 12.00 J") {
		t.Errorf("it says %q", got)
	}
	s = Sample(1)
	if got := (measure.Entry{Submission: s, Arm: &s.Arms[0]}).Energy(); got != "" {
		t.Errorf("of a burst it says %q", got)
	}
}
