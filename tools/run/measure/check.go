package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/specialised"
)

// EncodeSubmission gives a submission its name and returns its canonical bytes.
func EncodeSubmission(s *Submission) ([]byte, error) {
	name, err := sessionName(s)
	if err != nil {
		return nil, err
	}
	s.Session = name
	return strictjson.Canonical(s)
}

// sessionName is the beginning of the digest of everything else. It shows an edit; it is not a signature.
func sessionName(s *Submission) (string, error) {
	unnamed := *s
	unnamed.Session = ""
	data, err := strictjson.Canonical(&unnamed)
	if err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// DecodeSubmission reads a submission and compares it with what the protocol demands of one. What is wrong is a
// [*reason.Error] with the code MEASUREMENT_REFUSED.
func DecodeSubmission(data []byte) (*Submission, error) {
	s := &Submission{}
	if err := strictjson.DecodeCanonical(data, s); err != nil {
		return nil, refuse("submission", "a file that coregate bench wrote", "%v", err)
	}
	return s, Check(s)
}

func refuse(where, expected, found string, args ...any) error {
	return reason.Errorf(reason.MeasurementRefused, where, expected, found, args...)
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Check compares a submission with what the protocol demands of one.
func Check(s *Submission) error {
	if s.Schema != Schema {
		return refuse("schema", fmt.Sprint(Schema), "%d", s.Schema)
	}
	p, err := LoadProtocol(s.Protocol.Name)
	if err != nil || p.Ref != s.Protocol {
		return refuse("protocol", "a frozen protocol, by name and digest", "%s %s", s.Protocol.Name, s.Protocol.SHA256)
	}
	name, err := sessionName(s)
	if err != nil {
		return err
	}
	if name != s.Session {
		return refuse("session", "the digest of the rest, "+name, "%s: the file was changed after it was written", s.Session)
	}
	if !slices.Contains([]Mode{Burst, Sustained, Energy}, s.Mode) || !slices.Contains([]Status{Complete, Interrupted}, s.Status) {
		return refuse("mode and status", "burst, sustained or energy; complete or interrupted", "%s, %s", s.Mode, s.Status)
	}
	if s.Lane != "emulated" && s.Lane != "physical" {
		return refuse("lane", "emulated or physical", "%q", s.Lane)
	}
	if s.Lane == "physical" && !strings.HasPrefix(s.Machine.OS, "macOS") {
		return refuse("lane", "a Mac for the physical lane", "%q", s.Machine.OS)
	}
	if t, err := time.Parse(time.RFC3339, s.StartedAt); err != nil || t.UTC().Format(time.RFC3339) != s.StartedAt {
		return refuse("started_at", "RFC 3339 in UTC", "%q", s.StartedAt)
	}
	if s.arm(s.Control) == nil {
		return refuse("control", "the name of an arm", "%q", s.Control)
	}
	if !hexDigest.MatchString(s.Work.AudioSHA256) || s.Work.Threads < 1 {
		return refuse("work", "the digest of the audio and a number of threads", "%q, %d", s.Work.AudioSHA256, s.Work.Threads)
	}
	if bad := notFinite(reflect.ValueOf(s)); bad != "" {
		return refuse(bad, "a number from zero", "one that is below it, or none")
	}
	return p.checkArms(s)
}

func (p *Protocol) checkArms(s *Submission) error {
	seen := map[string]bool{}
	indices := map[int]string{}
	for i := range s.Arms {
		a := &s.Arms[i]
		if a.Name == "" || seen[a.Name] {
			return refuse("arms", "a name of its own for each", "%q", a.Name)
		}
		seen[a.Name] = true
		if err := checkArtifact(a); err != nil {
			return err
		}
		pairs := map[int]bool{}
		for j := range a.Runs {
			r := &a.Runs[j]
			where := fmt.Sprintf("arm %s, run %d", a.Name, r.Index)
			if other, twice := indices[r.Index]; twice {
				return refuse(where, "an index of its own", "that of a run of arm %s", other)
			}
			indices[r.Index] = a.Name
			// A pair's side that was run twice could be picked from.
			if r.Pair > 0 && pairs[r.Pair] {
				return refuse(where, "one run of each pair", "a second run of pair %d", r.Pair)
			}
			pairs[r.Pair] = true
			if err := checkRun(where, r); err != nil {
				return err
			}
			if err := checkSpecialised(where, s.Lane, r); err != nil {
				return err
			}
			if want := p.Excluded(s.Machine, a.Program, r); !slices.Equal(want, r.Excluded) {
				return refuse(where+", excluded", fmt.Sprintf("what follows from the run, %v", want), "%v", r.Excluded)
			}
		}
	}
	return nil
}

func checkArtifact(a *Arm) error {
	where := "arm " + a.Name
	switch art := &a.Artifact; {
	case !hexDigest.MatchString(a.Program.SHA256) || !hexDigest.MatchString(art.ModelSHA256):
		return refuse(where, "program and model by SHA-256", "%q, %q", a.Program.SHA256, art.ModelSHA256)
	case (a.Program.Flavour == "ggml") != (art.EncoderDigest == "") || art.EncoderDigest != "" && !hexDigest.MatchString(art.EncoderDigest):
		return refuse(where, "the digest of the encoder, or none for ggml's own", "flavour %s, encoder %q", a.Program.Flavour, art.EncoderDigest)
	case art.EncoderDigest != "" && (art.Weights == "" || art.Units == ""):
		return refuse(where, "the encoder's precision and the units that were asked for", "%q, %q", art.Weights, art.Units)
	case art.Weights == "compressed" && len(art.Compression) == 0:
		return refuse(where, "scheme, bits and granularity of the compression", "%q alone", art.Weights)
	}
	return nil
}

var exitForm = regexp.MustCompile(`^(?:code [0-9]{1,3}|signal [0-9]{1,3}|timeout|interrupted|memory)$`)

func checkRun(where string, r *Run) error {
	m := &r.Memory
	switch {
	case !slices.Contains([]Kind{Cold, WarmUp, Warm, Paired, Steady}, r.Kind) || (r.Kind == Paired) != (r.Pair > 0):
		return refuse(where, "a known kind of run, and the number of its pair for a pair's", "%q, %d", r.Kind, r.Pair)
	case !exitForm.MatchString(r.Exit):
		return refuse(where+", exit", "code N, signal N, timeout, interrupted or memory", "%q", r.Exit)
	case (m.PeakResidentBytes == nil) != (m.PeakFootprintBytes == nil):
		return refuse(where+", memory", "both peaks, resident set and footprint, or neither", "one of them alone")
	case r.Exit == "code 0" && r.WallSeconds <= 0:
		return refuse(where+", wall_seconds", "a time above zero", "%v", r.WallSeconds)
	case r.Exit == "code 0" && r.Words.Count > 0 && m.AfterWords == nil:
		return refuse(where+", memory", "a reading after the first words", "none")
	}
	return checkTimes(where, r)
}

// checkSpecialised refuses what a cold run of the physical lane alone can say.
func checkSpecialised(where, lane string, r *Run) error {
	a := r.Specialised
	switch {
	case a == nil:
		return nil
	case lane != "physical" || r.Kind != Cold:
		return refuse(where+", specialised", "nothing but of a cold run of the physical lane", "a %s run of the %s lane", r.Kind, lane)
	case a.Cleared && a.Before.State == specialised.Found:
		return refuse(where+", specialised", "nothing kept after it was cleared", "%d entries", a.Before.Entries)
	}
	for _, k := range []specialised.Kept{a.Before, a.After} {
		if !slices.Contains([]specialised.State{specialised.Found, specialised.None, specialised.Unknown}, k.State) || (k.State == specialised.Found) != (k.Entries > 0) || k.State != specialised.Found && k.Bytes > 0 {
			return refuse(where+", specialised", "found with entries, or none or unknown without", "%+v", k)
		}
	}
	return nil
}

// clock is how far two clocks may differ over one run, in seconds: whisper's lines are rounded, and its own clock begins later.
const clock = 0.05

// checkTimes compares the times that a run has from several clocks, and its power with what it is of.
func checkTimes(where string, r *Run) error {
	for _, part := range []struct {
		name string
		ms   float64
	}{{"encode", r.Timings.Encode.MS}, {"total", r.Timings.TotalMS}, {"decode", r.Timings.Decode.MS + r.Timings.Batch.MS}} {
		if r.Exit == "code 0" && part.ms/1000 > r.WallSeconds+clock {
			return refuse(where+", timings", fmt.Sprintf("no %s time beyond the whole run's %g s", part.name, r.WallSeconds), "%g ms", part.ms)
		}
	}
	w := r.Power
	switch {
	case w == nil:
		return nil
	case w.Inferences != r.Timings.Encode.Runs:
		return refuse(where+", power", fmt.Sprintf("%d inferences, as the program counts", r.Timings.Encode.Runs), "%d", w.Inferences)
	case r.Exit == "code 0" && (w.Seconds > 2*r.WallSeconds+5 || w.Seconds < r.WallSeconds/2):
		return refuse(where+", power", fmt.Sprintf("a window around the run's %g s", r.WallSeconds), "one of %g s", w.Seconds)
	}
	if a := w.AfterLoad; a != nil && (a.Samples < 1 || a.Seconds > w.Seconds || a.MeanWatts*a.Seconds > w.MeanWatts*w.Seconds*(1+1e-9)) {
		return refuse(where+", power", fmt.Sprintf("a part after the load within the window's %g s and %g J", w.Seconds, w.MeanWatts*w.Seconds), "one of %g s and %g J by %d readings", a.Seconds, a.MeanWatts*a.Seconds, a.Samples)
	}
	return nil
}

// notFinite finds a number below zero in a value, and returns its path; "" if there is none. (JSON has no other odd ones.)
func notFinite(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return notFinite(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if bad := notFinite(v.Field(i)); bad != "" {
				return v.Type().Field(i).Tag.Get("json") + " " + bad
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if bad := notFinite(v.Index(i)); bad != "" {
				return fmt.Sprintf("[%d] %s", i, bad)
			}
		}
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
			return "is"
		}
	case reflect.Int, reflect.Int64:
		if v.Int() < 0 {
			return "is"
		}
	}
	return ""
}

// Reasons returns the reason of an error of this package, or nil.
func Reasons(err error) []reason.Reason {
	var refused *reason.Error
	if errors.As(err, &refused) {
		return []reason.Reason{refused.Reason}
	}
	return nil
}
