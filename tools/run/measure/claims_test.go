package measure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	. "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
)

// codes are those that change a verdict.
func codes(reasons []reason.Reason) []string {
	out := []string{}
	for _, r := range reasons {
		if !reason.IsNote(r.Code) && !slices.Contains(out, r.Code) {
			out = append(out, r.Code)
		}
	}
	return out
}

func powered(s *measure.Submission, instrument string, watts map[string]float64) *measure.Submission {
	return EachRun(s, func(a *measure.Arm, r *measure.Run) {
		r.Power = &measure.Power{Instrument: instrument, MeanWatts: watts[a.Name], IdleWatts: 5, Seconds: 4, Samples: 8, Inferences: 1, IncludesLoad: true, WholeSystem: true}
	})
}

// TestClaims holds what may be said of two arms. Every claim that goes further than its measurement is refused.
func TestClaims(t *testing.T) {
	p := protocol(t)
	smaller := func(resident, footprint int64) *measure.Submission {
		return EachRun(Sample(1), func(a *measure.Arm, r *measure.Run) {
			if a.Name == "a" {
				r.Memory.PeakResidentBytes, r.Memory.PeakFootprintBytes = P(resident<<20), P(footprint<<20)
			}
		})
	}
	alone := func(s *measure.Submission, name string) *measure.Submission {
		s.Arms = slices.DeleteFunc(s.Arms, func(a measure.Arm) bool { return a.Name != name })
		s.Control = name
		return Seal(s)
	}
	for name, c := range map[string]struct {
		claim measure.Claim
		subs  []*measure.Submission
		want  []string
	}{
		"faster, beyond the floor":                        {measure.Faster, []*measure.Submission{Sample(0.9)}, []string{}},
		"faster by 4 %":                                   {measure.Faster, []*measure.Submission{Sample(0.96)}, []string{reason.DifferenceNone}},
		"faster, which is slower":                         {measure.Faster, []*measure.Submission{Sample(1.2)}, []string{reason.ClaimContradicted}},
		"faster, on different days":                       {measure.Faster, []*measure.Submission{alone(Sample(0.5), "a"), alone(Sample(0.5), "b")}, []string{reason.ComparisonSessions}},
		"faster, in seven pairs":                          {measure.Faster, []*measure.Submission{drop(Sample(0.5), 8)}, []string{reason.ComparisonPairs}},
		"faster, in one pair":                             {measure.Faster, []*measure.Submission{drop(Sample(0.5), 2, 3, 4, 5, 6, 7, 8)}, []string{reason.ComparisonPairs}},
		"faster, one side always first":                   {measure.Faster, []*measure.Submission{firstAlways(Sample(0.5))}, []string{reason.ComparisonPairs}},
		"faster, block by block":                          {measure.Faster, []*measure.Submission{blocks(Sample(0.5))}, []string{reason.ComparisonPairs}},
		"faster, in a virtual machine":                    {measure.Faster, []*measure.Submission{virtual(Sample(0.5))}, []string{reason.ComparisonPairs}},
		"faster, interrupted":                             {measure.Faster, []*measure.Submission{interrupted(Sample(0.5))}, []string{reason.MeasurementInterrupted}},
		"faster, by doing something else":                 {measure.Faster, []*measure.Submission{lazy(Sample(0.5))}, []string{reason.WorkVaries}},
		"faster, writing no word":                         {measure.Faster, []*measure.Submission{mute(Sample(0.5))}, []string{reason.ComparisonPairs}},
		"faster, its encoder never called":                {measure.Faster, []*measure.Submission{uncalled(Sample(0.5))}, []string{reason.ComparisonPairs}},
		"faster, without its load marker":                 {measure.Faster, []*measure.Submission{unloaded(Sample(0.5))}, []string{reason.ComparisonPairs}},
		"smaller, writing no word":                        {measure.Smaller, []*measure.Submission{mute(smaller(100, 80))}, []string{reason.ComparisonPairs}},
		"faster than the machine":                         {measure.Faster, []*measure.Submission{Sample(0.0001)}, []string{reason.ImplausibleRate}},
		"faster by half of the pairs":                     {measure.Faster, []*measure.Submission{torn(Sample(1))}, []string{reason.DifferenceNone}},
		"smaller in both figures":                         {measure.Smaller, []*measure.Submission{smaller(100, 80)}, []string{}},
		"smaller, resident set alone":                     {measure.Smaller, []*measure.Submission{smaller(100, 180)}, []string{reason.ClaimContradicted}},
		"smaller, footprint alone":                        {measure.Smaller, []*measure.Submission{smaller(200, 80)}, []string{reason.DifferenceNone}},
		"L03 faster, by the session that was given first": {measure.Faster, []*measure.Submission{Sample(0.5), Sample(1.2)}, []string{reason.ClaimContradicted}},
		"L03 faster, in two sessions":                     {measure.Faster, []*measure.Submission{Sample(0.5), Sample(0.6)}, []string{}},
		"L04 faster, by two encoders of one name":         {measure.Faster, []*measure.Submission{Sample(0.5), otherEncoder(Sample(0.5))}, []string{reason.NotMergeable}},
		"faster, by two builds of whisper-cli":            {measure.Faster, []*measure.Submission{Sample(0.5), rebuilt(Sample(0.5))}, []string{reason.NotMergeable}},
		"V-kind efficient, by the runs that had power":    {measure.Efficient, []*measure.Submission{halfPowered()}, []string{reason.EnergyUnmeasured}},
		"efficient, with no power measured":               {measure.Efficient, []*measure.Submission{Sample(0.5)}, []string{reason.EnergyUnmeasured}},
		"efficient, by a published power":                 {measure.Efficient, []*measure.Submission{powered(Sample(0.5), "data sheet", map[string]float64{"a": 6, "b": 30})}, []string{reason.EnergyPublished}},
		"efficient, by an unnamed power":                  {measure.Efficient, []*measure.Submission{powered(Sample(0.5), "", map[string]float64{"a": 6, "b": 30})}, []string{reason.EnergyPublished}},
		"efficient, by zero watts":                        {measure.Efficient, []*measure.Submission{powered(Sample(0.5), "powermetrics", map[string]float64{"a": 0, "b": 30})}, []string{reason.PowerZero}},
		"efficient, by no more than idle":                 {measure.Efficient, []*measure.Submission{powered(Sample(0.5), "rapl", map[string]float64{"a": 5, "b": 30})}, []string{reason.PowerZero}},
		"efficient, in joules":                            {measure.Efficient, []*measure.Submission{powered(Sample(1), "powermetrics", map[string]float64{"a": 12, "b": 30})}, []string{}},
		"efficient, by watts and not joules":              {measure.Efficient, []*measure.Submission{slowButLow()}, []string{reason.ClaimContradicted}},
		"sustained, by a burst":                           {measure.Lasting, []*measure.Submission{Sample(0.5)}, []string{reason.SustainedShort}},
		"that it ran on the Neural Engine":                {"on the Neural Engine", []*measure.Submission{Sample(0.5)}, []string{reason.MeasurementRefused}},
	} {
		got := codes(p.Judge(c.subs, c.claim, "a", "b"))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func otherEncoder(s *measure.Submission) *measure.Submission {
	s.Arms[1].Artifact.EncoderDigest = Digest("9")
	return Seal(s)
}

func rebuilt(s *measure.Submission) *measure.Submission {
	s.Arms[1].Program.SHA256 = Digest("9")
	return Seal(s)
}

// halfPowered is a session whose first warm run of each arm has no power beside it.
func halfPowered() *measure.Submission {
	s := powered(Sample(1), "rapl", map[string]float64{"a": 12, "b": 30})
	for i := range s.Arms {
		for j := range s.Arms[i].Runs {
			if r := &s.Arms[i].Runs[j]; r.Kind == measure.Warm {
				r.Power = nil
				break
			}
		}
	}
	return Seal(s)
}

func drop(s *measure.Submission, pairs ...int) *measure.Submission {
	for i := range s.Arms {
		s.Arms[i].Runs = slices.DeleteFunc(s.Arms[i].Runs, func(r measure.Run) bool { return slices.Contains(pairs, r.Pair) })
	}
	return Seal(s)
}

// firstAlways lets one arm run first in every pair.
func firstAlways(s *measure.Submission) *measure.Submission {
	return EachRun(s, func(a *measure.Arm, r *measure.Run) {
		if r.Pair > 0 {
			r.Index = 100 + 2*r.Pair
			if a.Name == "b" {
				r.Index++
			}
		}
	})
}

// blocks lets one arm run all its runs before the other.
func blocks(s *measure.Submission) *measure.Submission {
	return EachRun(s, func(a *measure.Arm, r *measure.Run) {
		if r.Pair > 0 {
			r.Index = 100 + r.Pair
			if a.Name == "b" {
				r.Index += 100
			}
		}
	})
}

func virtual(s *measure.Submission) *measure.Submission {
	s.Machine.VirtualMachine = "yes"
	return Seal(s)
}

func interrupted(s *measure.Submission) *measure.Submission {
	s.Status = measure.Interrupted
	return Seal(s)
}

func lazy(s *measure.Submission) *measure.Submission {
	s.Arms[1].Runs[7].Words = measure.Words{Count: 5, SHA256: Digest("f")}
	return Seal(s)
}

// mute lets arm a end well without a word in every run: a prediction that failed in silence.
func mute(s *measure.Submission) *measure.Submission {
	return ofA(s, func(r *measure.Run) { r.Words, r.Memory.AfterWords = measure.Words{SHA256: Digest("f")}, nil })
}

func uncalled(s *measure.Submission) *measure.Submission {
	return ofA(s, func(r *measure.Run) { r.Timings.Encode = measure.Timing{} })
}

func unloaded(s *measure.Submission) *measure.Submission {
	return ofA(s, func(r *measure.Run) { r.Memory.AtLoad = nil })
}

func ofA(s *measure.Submission, change func(r *measure.Run)) *measure.Submission {
	return EachRun(s, func(a *measure.Arm, r *measure.Run) {
		if a.Name == "a" {
			change(r)
		}
	})
}

// torn makes half of the pairs much faster and half as much slower.
func torn(s *measure.Submission) *measure.Submission {
	return EachRun(s, func(a *measure.Arm, r *measure.Run) {
		if r.Pair > 0 && a.Name == "a" {
			r.Timings.Encode.MS = map[bool]float64{true: 500, false: 1400}[r.Pair <= 5]
		}
	})
}

// slowButLow draws less power for so much longer that it takes more energy.
func slowButLow() *measure.Submission {
	s := powered(Sample(2), "powermetrics", map[string]float64{"a": 12, "b": 24})
	return EachRun(s, func(a *measure.Arm, r *measure.Run) {
		if a.Name == "a" {
			r.Power.Seconds = 12
		}
	})
}

// TestPlausible holds that a bound which is not of the units that computed bounds nothing, and says so.
func TestPlausible(t *testing.T) {
	p := protocol(t)
	s := Sample(0.0001)
	s.Lane = "physical"
	got := p.Implausible(Seal(s))
	if len(got) != 2 || got[0].Code != reason.RateUnchecked {
		t.Errorf("%v, want a note an arm that nothing was checked", got)
	}
	bytes := EachRun(Sample(1), func(a *measure.Arm, r *measure.Run) { a.Artifact.Bytes = P(int64(1e11)) })
	if got := codes(p.Implausible(bytes)); !slices.Equal(got, []string{reason.ImplausibleRate}) {
		t.Errorf("%v, want the bytes of weights to be too many", got)
	}
}

// TestMerge: what may be in one table.
func TestMerge(t *testing.T) {
	other := func(change func(s *measure.Submission)) []*measure.Submission {
		s := Sample(1)
		s.StartedAt = "2026-12-02T00:00:00Z"
		s.Machine.ID, s.Machine.Hardware = "fedcba9876543210", "Mac14,9"
		change(s)
		return []*measure.Submission{Sample(1), Seal(s)}
	}
	c, reasons := measure.Merge(other(func(*measure.Submission) {}))
	if len(reasons) > 0 || len(c.Submissions) != 2 {
		t.Fatalf("two machines are refused: %v", reasons)
	}
	data, err := measure.EncodeCollection(c)
	if err != nil {
		t.Fatal(err)
	}
	if subs, err := measure.DecodeAny(data); err != nil || len(subs) != 2 {
		t.Errorf("a collection reads as %d submissions, %v", len(subs), err)
	}
	for name, subs := range map[string][]*measure.Submission{
		"nothing":          nil,
		"a session twice":  {Sample(1), Sample(1)},
		"another mode":     other(func(s *measure.Submission) { s.Mode = measure.Sustained }),
		"another lane":     other(func(s *measure.Submission) { s.Lane = "physical" }),
		"another audio":    other(func(s *measure.Submission) { s.Work.AudioSHA256 = Digest("9") }),
		"other threads":    other(func(s *measure.Submission) { s.Work.Threads = 4 }),
		"another language": other(func(s *measure.Submission) { s.Work.Language = "de" }),
		"other variables":  other(func(s *measure.Submission) { s.Work.Environment = map[string]string{"GGML_METAL_DEVICES": "1"} }),
		"other arguments":  other(func(s *measure.Submission) { s.Work.Arguments = append(s.Work.Arguments, "-bs", "1") }),
		"another model":    other(func(s *measure.Submission) { s.Arms[0].Artifact.ModelSHA256 = Digest("9") }),
		"a re-export":      other(func(s *measure.Submission) { s.Arms[0].Artifact.EncoderDigest = Digest("9") }),
		"other units":      other(func(s *measure.Submission) { s.Arms[0].Artifact.Units = "cpu" }),
		"another program":  other(func(s *measure.Submission) { s.Arms[0].Program.SHA256 = Digest("9") }),
		"its evaluator":    other(func(s *measure.Submission) { s.Arms[0].Program.Evaluator = Digest("9") }),
	} {
		if _, reasons := measure.Merge(subs); len(codes(reasons)) == 0 || codes(reasons)[0] != reason.NotMergeable {
			t.Errorf("%s: %v, want %s", name, reasons, reason.NotMergeable)
		}
	}
}

// TestDrift holds that the control arm is compared with itself on the same machine alone.
func TestDrift(t *testing.T) {
	last, now := Sample(1), EachRun(Sample(1), func(_ *measure.Arm, r *measure.Run) { r.Timings.Encode.MS *= 1.16 })
	if ratio, why := measure.DriftOf(now, last); why != "" || ratio < 1.159 || ratio > 1.161 {
		t.Errorf("%v, %q, want 1.16", ratio, why)
	}
	for want, change := range map[string]func(s *measure.Submission){
		"the last session is of another machine":     func(s *measure.Submission) { s.Machine.ID = "fedcba9876543210" },
		"the machine does not say which it is":       func(s *measure.Submission) { s.Machine.ID = "unknown" },
		"the last session's control is another enc":  func(s *measure.Submission) { s.Arms[0].Artifact.EncoderDigest = Digest("9") },
		"the last session is unlike this one: ":      func(s *measure.Submission) { s.Work.Threads = 1 },
		"the last session's control is another eval": func(s *measure.Submission) { s.Arms[0].Program.Evaluator = Digest("9") },
		"the last session's control is another whis": func(s *measure.Submission) { s.Arms[0].Program.SHA256 = Digest("9") },
		"no warm run":         func(s *measure.Submission) { s.Arms[0].Runs = s.Arms[0].Runs[:2] },
		"without its control": func(s *measure.Submission) { s.Control = "c" },
	} {
		s := Sample(1)
		change(s)
		if _, why := measure.DriftOf(s, last); !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
}
