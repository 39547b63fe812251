package reading_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/reading"
)

func encoder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ggml-tiny.en-encoder.mlmodelc")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "coremldata.bin"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPlan(t *testing.T) {
	path := encoder(t)
	digest, err := tree.Digest(path)
	if err != nil {
		t.Fatal(err)
	}
	pending := placementtest.Unfinished(computeplan.Pending, "")
	for _, c := range []struct {
		name            string
		plan            *computeplan.Plan
		more            string
		deadline        time.Duration
		ended, said     string
		timedOut, fails bool
		why             string
	}{
		{name: "a plan", plan: placementtest.Encoder()},
		{name: "a failed one", plan: placementtest.Unfinished(computeplan.Failed, "no")},
		{name: "an abort", plan: pending, more: `echo "Failed to open file: $2/coremldata.bin." >&2; kill -ABRT $$`, ended: "signal: aborted", said: "Failed to open file: <path>"},
		{name: "no answer", plan: pending, more: "exec sleep 600", deadline: 2 * time.Second, ended: "deadline of 2s", timedOut: true},
		{name: "pending, and yet exit 0", plan: pending, fails: true, why: "pending"},
		{name: "a whole plan, and then a crash", plan: placementtest.Encoder(), more: "kill -ABRT $$", fails: true, why: "and yet the plan is observed"},
		{name: "an exit code", plan: pending, more: "exit 2", fails: true, why: "exit 2"},
		{name: "an encoder that changes meanwhile", plan: placementtest.Encoder(), more: `echo y > "$2/coremldata.bin"`, fails: true, why: "leave it alone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			deadline := c.deadline
			if deadline == 0 {
				deadline = time.Minute
			}
			r, err := reading.Plan(t.Context(), placementtest.Program(t, placementtest.List(true), c.plan, c.more), path, deadline)
			if c.fails {
				if err == nil || !strings.Contains(err.Error(), c.why) {
					t.Fatalf("%v, want %q", err, c.why)
				}
				return
			}
			if err != nil || r.EncoderDigest != digest || !strings.HasPrefix(r.Ended, c.ended) || (r.Ended == "") != (c.ended == "") || r.Said != c.said || r.TimedOut != c.timedOut {
				t.Errorf("%+v, %v", r, err)
			}
			if strings.Contains(r.Said, path) {
				t.Errorf("a record names a path: %s", r.Said)
			}
		})
	}
	named := placementtest.Unfinished(computeplan.Failed, "cannot read '/private"+path+"/model.mil'")
	named.Error.Underlying = []string{"x 1: " + path + "/weights"}
	if r, err := reading.Plan(t.Context(), placementtest.Program(t, nil, named, ""), path, time.Minute); err != nil ||
		r.Plan.Error.String() != "com.apple.CoreML 0: cannot read 'ggml-tiny.en-encoder.mlmodelc/model.mil'; under it x 1: ggml-tiny.en-encoder.mlmodelc/weights" {
		t.Errorf("an error that names a path: %+v, %v", r, err)
	}
	if _, err := reading.Plan(t.Context(), placementtest.Program(t, nil, nil, "rm \"$3\"; kill -ABRT $$"), path, time.Minute); err != nil {
		t.Errorf("a probe that leaves nothing: %v", err)
	}
}

func TestDevices(t *testing.T) {
	l, err := reading.Devices(t.Context(), placementtest.Program(t, placementtest.List(false), nil, ""), time.Minute)
	if err != nil || l.Has(computeplan.NeuralEngine) {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := reading.Devices(t.Context(), placementtest.Program(t, nil, nil, ""), time.Minute); err == nil {
		t.Error("a list of nothing is taken")
	}
}

// xcrun plays xctrace: it records by making a folder and exports prepared files, and writes down how it was started.
func xcrun(t *testing.T, contents, intervals, record string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"toc": contents, "table": intervals} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "xcrun")
	script := fmt.Sprintf(`#!/bin/sh
echo "$@" >> '%[1]s/started'
env >> '%[1]s/environment'
test "$1" = xctrace || exit 9
case $2 in
record) %[2]s; mkdir "$6" ;;
export) case $5 in --toc) cp '%[1]s/toc' "$7" ;; *) cp '%[1]s/table' "$8" ;; esac ;;
esac
`, dir, record)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRecord(t *testing.T) {
	dir := filepath.Dir(encoder(t))
	for _, name := range []string{"whisper-cli", "ggml-tiny.en.bin", "a.wav"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PLACEMENT_SECRET", "1")
	contents, intervals := placementtest.Contents("whisper-cli", "Core ML", "launched", 0), placementtest.Intervals("ane-hw-intervals", "ggml-tiny.en-encoder Prediction")
	run := func(tool, name string) reading.Run {
		return reading.Run{XCRun: tool, CLI: filepath.Join(dir, "whisper-cli"), Model: filepath.Join(dir, "ggml-tiny.en.bin"), Audio: filepath.Join(dir, "a.wav"),
			Language: "en", Folder: filepath.Join(dir, name), Deadline: time.Minute}
	}
	tool := xcrun(t, contents, intervals, "true")
	if err := reading.Record(t.Context(), run(tool, "good")); err != nil {
		t.Fatal(err)
	}
	r, err := placement.ReadRecording(filepath.Join(dir, "good"))
	if err != nil || len(r.Intervals) != 1 || r.About.Program != "whisper-cli" {
		t.Fatalf("%+v, %v", r, err)
	}
	started, _ := os.ReadFile(filepath.Join(filepath.Dir(tool), "started"))
	for _, want := range []string{"xctrace record --template Core ML --output", "--no-prompt --launch -- " + filepath.Join(dir, "whisper-cli") + " -m ", "--toc", `table[@schema="ane-hw-intervals"]`} {
		if !strings.Contains(string(started), want) {
			t.Errorf("started as %s, want %q", started, want)
		}
	}
	if environment, _ := os.ReadFile(filepath.Join(filepath.Dir(tool), "environment")); strings.Contains(string(environment), "PLACEMENT_SECRET") {
		t.Error("Instruments saves what a person has set")
	}
	for _, c := range []struct{ name, contents, record, why string }{
		{"a failed recording", contents, "echo cannot find template >&2; exit 5", "cannot find template"},
		{"without the table", strings.ReplaceAll(contents, "ane-hw-intervals", "time-profile"), "true", "expected one of"},
		{"an encoder that changes meanwhile", contents, `echo y > "` + dir + `/ggml-tiny.en-encoder.mlmodelc/coremldata.bin"`, "leave it alone"},
	} {
		if err := reading.Record(t.Context(), run(xcrun(t, c.contents, intervals, c.record), c.name)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.name, err, c.why)
		}
	}
	if err := reading.Record(t.Context(), run(tool, "good")); err == nil || !strings.Contains(err.Error(), "not there yet") {
		t.Errorf("a folder that is there: %v", err)
	}
}
