package measure_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/schematest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	. "github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
)

func encode(t *testing.T, s *measure.Submission) []byte {
	t.Helper()
	data, err := measure.EncodeSubmission(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSchema(t *testing.T) {
	schematest.Check[measure.Submission](t, "submission.schema.json", measure.SubmissionSchema, "submission of coregate bench", encode(t, Sample(1)))
}

func TestRoundTrip(t *testing.T) {
	data := encode(t, Sample(0.8))
	s, err := measure.DecodeSubmission(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encode(t, s), data) {
		t.Error("a submission that was read is written differently")
	}
}

// TestHandEdited holds that a figure which was typed is refused, wherever it is.
func TestHandEdited(t *testing.T) {
	whole := string(encode(t, Sample(1)))
	for old, typed := range map[string]string{
		`"wall_seconds":2`: `"wall_seconds":1`, `"thermal":"nominal"`: `"thermal":"fair"`, `"virtual_machine":"no"`: `"virtual_machine":"unknown"`,
		`"peak_footprint_bytes":157286400`: `"peak_footprint_bytes":1`, `"flop_per_second":100000000000`: `"flop_per_second":900000000000`,
	} {
		edited := strings.Replace(whole, old, typed, 1)
		if edited == whole {
			t.Fatalf("%s is not in the sample", old)
		}
		refused(t, old, []byte(edited), "session")
	}
}

func refused(t *testing.T, name string, data []byte, where string) {
	t.Helper()
	_, err := measure.DecodeSubmission(data)
	var r *reason.Error
	if !errors.As(err, &r) || r.Code != reason.MeasurementRefused || !strings.Contains(r.Where, where) {
		t.Errorf("%s: %v, want %s at %s", name, err, reason.MeasurementRefused, where)
	}
}

// TestRefused holds what the protocol demands of a submission, though its name be right.
func TestRefused(t *testing.T) {
	each := func(change func(r *measure.Run)) func(*measure.Submission) {
		return func(s *measure.Submission) { EachRun(s, func(_ *measure.Arm, r *measure.Run) { change(r) }) }
	}
	for name, c := range map[string]struct {
		where  string
		change func(*measure.Submission)
	}{
		"another protocol":         {"protocol", func(s *measure.Submission) { s.Protocol.SHA256 = Digest("0") }},
		"a policy of another kind": {"protocol", func(s *measure.Submission) { s.Protocol.Name = "gate_v2" }},
		"unknown mode":             {"mode", func(s *measure.Submission) { s.Mode = "fast" }},
		"no mode":                  {"mode", func(s *measure.Submission) { s.Mode = "" }},
		"unknown lane":             {"lane", func(s *measure.Submission) { s.Lane = "device" }},
		"R43 the physical lane of another system": {"lane", func(s *measure.Submission) { s.Lane, s.Machine.OS = "physical", "Ubuntu 24.04" }},
		"a local date":                              {"started_at", func(s *measure.Submission) { s.StartedAt = "2026-12-01T00:00:00+01:00" }},
		"no control":                                {"control", func(s *measure.Submission) { s.Control = "c" }},
		"two arms of one name":                      {"arms", func(s *measure.Submission) { s.Arms[0].Name = "a"; s.Control = "a" }},
		"an encoder without digest":                 {"arm b", func(s *measure.Submission) { s.Arms[0].Artifact.EncoderDigest = "" }},
		"int4 that is not a scheme":                 {"arm b", func(s *measure.Submission) { s.Arms[0].Artifact.Weights = "compressed" }},
		"a run twice":                               {"run 1", func(s *measure.Submission) { s.Arms[1].Runs[1].Index = 1 }},
		"an exit of another form":                   {"exit", each(func(r *measure.Run) { r.Exit = "0" })},
		"a peak alone":                              {"memory", each(func(r *measure.Run) { r.Memory.PeakFootprintBytes = nil })},
		"a run of no time":                          {"wall_seconds", each(func(r *measure.Run) { r.WallSeconds = 0 })},
		"words that were not seen":                  {"memory", each(func(r *measure.Run) { r.Memory.AfterWords = nil })},
		"a pair without number":                     {"run", each(func(r *measure.Run) { r.Kind, r.Pair = measure.Paired, 0 })},
		"R12 an encode that is longer than its run": {"timings", each(func(r *measure.Run) { r.Timings.Encode.MS = 1000*r.WallSeconds + 100 })},
		"R12 a total that is longer than its run":   {"timings", each(func(r *measure.Run) { r.Timings.TotalMS = 1000*r.WallSeconds + 100 })},
		"R12 more inferences than encodes": {"power", each(func(r *measure.Run) {
			r.Power = &measure.Power{Instrument: "rapl", MeanWatts: 10, IdleWatts: 5, Seconds: r.WallSeconds, Samples: 2, Inferences: 100}
		})},
		"R12 power of another window": {"power", each(func(r *measure.Run) {
			r.Power = &measure.Power{Instrument: "rapl", MeanWatts: 10, IdleWatts: 5, Seconds: 100, Samples: 2, Inferences: 1}
		})},
		"L10 a side of a pair that was run twice": {"run 5", func(s *measure.Submission) {
			again := s.Arms[1].Runs[5]
			again.Index = 500
			s.Arms[1].Runs = append(s.Arms[1].Runs, again)
		}},
		"a time below zero": {"wall_seconds", each(func(r *measure.Run) { r.WallSeconds = -1 })},
		"an exclusion that is hidden": {"excluded", func(s *measure.Submission) {
			for i := range s.Arms {
				s.Arms[i].Runs[0].Before.Thermal = "serious"
			}
		}},
	} {
		s := Sample(1)
		c.change(s)
		refused(t, name, encode(t, s), c.where)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := measure.EncodeSubmission(Sample(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := measure.DecodeSubmission(data); err == nil && measure.Check(s) != nil {
			t.Error("what was read is refused")
		}
	})
}
