package placement_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
)

func TestRecord(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(*placement.Record)
		why  string
	}{
		{"good", func(*placement.Record) {}, ""},
		{"another schema", func(r *placement.Record) { r.Schema = 2 }, "schema"},
		{"no digest", func(r *placement.Record) { r.EncoderDigest = "" }, "two SHA-256"},
		{"no plan of a probe that ended well", func(r *placement.Record) { r.Plan = nil }, "left no plan"},
		{"last words of one", func(r *placement.Record) { r.Said = "x" }, "last words"},
		{"a pending plan of one", func(r *placement.Record) { r.Plan = placementtest.Unfinished(computeplan.Pending, "") }, "pending"},
		{"a whole plan of a crash", func(r *placement.Record) { r.Ended = "signal: aborted" }, "and yet the plan is observed"},
		{"a plan that contradicts itself", func(r *placement.Record) { r.Plan.ModelKind = "unknown" }, "model_kind"},
	} {
		r := placementtest.Record(digest, placementtest.Encoder())
		c.bend(r)
		data, err := r.Encode()
		if c.why != "" {
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v, want %q", c.name, err, c.why)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		back, err := placement.ParseRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := back.Encode(); err != nil || string(again) != string(data) {
			t.Errorf("written again: %v", err)
		}
		if _, err := placement.ParseRecord(append([]byte(strings.Replace(string(data), `"schema":1`, `"schema":1,"x":1`, 1)), '\n')); err == nil {
			t.Error("an unknown member is taken")
		}
	}
}

func TestReadRecording(t *testing.T) {
	contents, intervals := placementtest.Contents("whisper-cli", "Core ML", "launched", 0), placementtest.Intervals("ane-hw-intervals", "x Prediction")
	for _, c := range []struct{ name, file, why string }{
		{"good", "", ""},
		{"another table of contents", placement.ContentsFile, "record again"},
		{"other intervals", placement.IntervalsFile, "record again"},
		{"another description", placement.AboutFile, placement.AboutFile},
	} {
		dir := placementtest.Recording(t, digest, contents, intervals)
		if c.file != "" {
			path := filepath.Join(dir, c.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(data, " x"...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := placement.ReadRecording(dir)
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.name, err, c.why)
		}
		if err == nil && (len(r.Intervals) != 1 || r.About.EncoderDigest != digest || len(r.SHA256) != 64) {
			t.Errorf("%+v", r)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, p := range []*computeplan.Plan{placementtest.Encoder(), placementtest.Broken("ios16.softmax", computeplan.GPU), placementtest.Unfinished(computeplan.NotObserved, "old")} {
		data, err := placementtest.Record(digest, p).Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := placement.ParseRecord(data)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := placement.ParseRecord(again); err != nil {
			t.Fatalf("an accepted record is refused when written again: %v", err)
		}
	})
}
