package repeat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

func request() Request {
	return Request{Model: "m.mlmodelc", Outputs: []string{"output"}, Loads: 2, Predictions: 3, Overlap: 2,
		Inputs: []Input{{Name: "logmel_data", DType: "float32", Shape: []int{2}, Sets: [][]byte{make([]byte, 8), {1, 2, 3, 4, 5, 6, 7, 8}}}}}
}

// good is the report of a probe that did what the request asks for.
func good() *Report {
	c := Cycle{Load: probe.Loaded, Predicted: 3, Overlapped: Overlapped{State: Asked, Most: 2, Predicted: 2}, Nanoseconds: []int64{}, ResidentBytes: 100 << 20}
	return &Report{Schema: 1, Version: "2", Build: "release", Framework: "com.apple.CoreML", Host: coremlprobe.Host{OSVersion: "15.5"}, Configuration: []probe.Field{}, Inputs: []Memory{{8, 16, true}}, Cycles: []Cycle{c, c},
		InputsUnchanged: true, Counters: Counters{DirectBindings: 10, CopiedBytes: 96, Allocations: 2}}
}

func failure(text string) *coremlprobe.Error {
	return &coremlprobe.Error{Domain: "com.apple.CoreML", Code: "0", Description: &text, Underlying: []string{}}
}

func TestJudge(t *testing.T) {
	q := request()
	for _, c := range []struct {
		name   string
		change func(o *Outcome)
		// code is the one reason, "" for none, and found stands in what it found.
		code, found string
	}{
		{"as asked", func(*Outcome) {}, "", ""},
		{"memory that grows once", func(o *Outcome) { o.Report.Cycles[1].ResidentBytes += 31 << 20 }, "", ""},
		{"memory that grows", func(o *Outcome) { o.Report.Cycles[1].ResidentBytes += 40 << 20 }, reason.RepeatMemory, "40 MiB more"},
		{"memory that is not known", func(o *Outcome) { o.Report.Cycles[0].ResidentBytes = 0 }, "", ""},
		{"one that differs", func(o *Outcome) { o.Report.Cycles[1].Differ = 1 }, reason.RepeatDiffers, "1 of 3 predictions"},
		{"one that overlaps and differs", func(o *Outcome) { o.Report.Cycles[0].Overlapped.Differ = 1 }, reason.RepeatDiffers, "1 of 2 overlapping"},
		{"no first load", func(o *Outcome) {
			o.Report.Cycles = []Cycle{{Load: probe.Failed, Error: failure("no plan"), Overlapped: Overlapped{State: NotAsked}}}
		}, reason.LoadFailed, "no plan"},
		{"no compiled model", func(o *Outcome) {
			why := failure("nothing is there")
			why.Domain = "coremlprobe"
			o.Report.Cycles = []Cycle{{Load: probe.Failed, Error: why, Overlapped: Overlapped{State: NotAsked}}}
		}, reason.LoadNotAsked, "nothing is there"},
		{"no second load", func(o *Outcome) {
			o.Report.Cycles[1] = Cycle{Load: probe.Failed, Error: failure("loaded before"), Overlapped: Overlapped{State: NotAsked}}
		}, reason.RepeatFailed, "loaded before"},
		{"a prediction that fails", func(o *Outcome) {
			o.Report.Cycles[0].Predicted, o.Report.Cycles[0].Failed, o.Report.Cycles[0].Error = 2, 1, failure("no output")
		}, reason.RepeatFailed, "1 that failed: com.apple.CoreML 0: no output"},
		{"one of two at once fails", func(o *Outcome) { o.Report.Cycles[0].Overlapped.Predicted, o.Report.Cycles[0].Overlapped.Failed = 1, 1 }, reason.RepeatFailed, "1 that failed"},
		{"fewer loads", func(o *Outcome) { o.Report.Cycles = o.Report.Cycles[:1] }, reason.RepeatFailed, "1"},
		{"no call for it", func(o *Outcome) {
			for i := range o.Report.Cycles {
				o.Report.Cycles[i].Overlapped = Overlapped{State: NotAvailable}
			}
			o.Report.Cycles = o.Report.Cycles[:1]
		}, reason.RepeatNotOverlapped, "before 14"},
		{"off its place", func(o *Outcome) { o.Report.Inputs[0].Aligned = false }, reason.RepeatAlignment, "does not"},
		{"a changed input", func(o *Outcome) { o.Report.InputsUnchanged = false }, reason.ParityInputChanged, "changed"},
		{"a deadline", func(o *Outcome) { o.TimedOut, o.Ended = true, "deadline of 1s" }, reason.ProbeTimeout, "deadline of 1s"},
		{"a crash in a load", func(o *Outcome) { o.Ended, o.Report.Cycles[1].Load = "signal: aborted", probe.Pending }, reason.ProbeCrashed, "in load 2"},
		{"a crash at once", func(o *Outcome) { o.Ended, o.Report.Cycles[1].Overlapped.State = "signal: aborted", Pending }, reason.ProbeCrashed, "overlapping predictions of load 2"},
		{"a crash before the report", func(o *Outcome) { o.Ended, o.Report = "signal: killed", nil }, reason.ProbeCrashed, "before it wrote anything"},
	} {
		o := &Outcome{Report: good()}
		c.change(o)
		got := Judge(o, &q)
		if c.code == "" && len(got) > 0 || c.code != "" && (len(got) != 1 || got[0].Code != c.code || !strings.Contains(got[0].Found, c.found)) {
			t.Errorf("%s: %v, want %s finding %q", c.name, got, c.code, c.found)
		}
	}
}

func TestReportsThatContradictThemselves(t *testing.T) {
	q := request()
	encode := func(r *Report) []byte {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if _, err := parse(encode(good()), &q); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(r *Report)
		want   string
	}{
		"schema":           {func(r *Report) { r.Schema = 2 }, "schema 2"},
		"an input less":    {func(r *Report) { r.Inputs = []Memory{} }, "1 inputs"},
		"another size":     {func(r *Report) { r.Inputs[0].Bytes = 12 }, "12 bytes"},
		"a small page":     {func(r *Report) { r.Inputs[0].Alignment = 8 }, "alignment of 8"},
		"more loads":       {func(r *Report) { r.Cycles = append(r.Cycles, r.Cycles[0]) }, "at most 2 loads"},
		"more predictions": {func(r *Report) { r.Cycles[0].Predicted = 4 }, "more predictions"},
		"more that differ": {func(r *Report) { r.Cycles[0].Differ = 4 }, "more that differ"},
		"a load after a failure": {func(r *Report) {
			r.Cycles[0] = Cycle{Load: probe.Failed, Overlapped: Overlapped{State: NotAsked}, Nanoseconds: []int64{}}
		}, "another load follows"},
		"an unknown load":         {func(r *Report) { r.Cycles[1].Load = "done" }, `"done"`},
		"an unknown state":        {func(r *Report) { r.Cycles[1].Overlapped.State = "later" }, `"later"`},
		"one that never landed":   {func(r *Report) { r.Cycles[1].Overlapped.Predicted = 1 }, "1 overlapping predictions of 2"},
		"below zero":              {func(r *Report) { r.Cycles[1].Failed = -1 }, "below zero"},
		"bindings beyond":         {func(r *Report) { r.Counters.DirectBindings = 11 }, "11 direct bindings"},
		"allocations beyond":      {func(r *Report) { r.Counters.Allocations = 3 }, "3 allocations"},
		"no build":                {func(r *Report) { r.Build = "fast" }, `found "fast"`},
		"no framework":            {func(r *Report) { r.Framework = "" }, "and a framework"},
		"times nobody asked for":  {func(r *Report) { r.Cycles[0].Nanoseconds = []int64{5, 5, 5} }, "3 times"},
		"predictions of no model": {func(r *Report) { r.Cycles[1].Load = probe.Failed }, "did not load"},
	} {
		r := good()
		c.change(r)
		if _, err := parse(encode(r), &q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := parse([]byte(strings.Replace(string(encode(good())), `"schema":1`, `"schema":1,"features":["x"]`, 1)), &q); err == nil {
		t.Error("an unknown member passes")
	}
}

// TestLatency holds that times are of each prediction, that the first of a load is kept apart, and that a debug build measures nothing.
func TestLatency(t *testing.T) {
	q := request()
	q.Time = true
	r := good()
	r.Cycles[0].Nanoseconds, r.Cycles[1].Nanoseconds = []int64{9000, 30, 10}, []int64{7000, 20, 50}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = parse(data, &q); err != nil {
		t.Fatal(err)
	}
	got := r.Latency()
	if !slices.Equal(got.First, []time.Duration{9000, 7000}) || got.Warm != 4 || got.Median != 25 || got.Fastest != 10 || got.Slowest != 50 {
		t.Errorf("%+v", got)
	}
	if why := JudgeTimes(r); len(why) != 0 {
		t.Errorf("a release build: %v", why)
	}
	r.Build = "debug"
	if why := JudgeTimes(r); len(why) != 1 || why[0].Code != reason.BuildNotRelease {
		t.Errorf("a debug build: %v", why)
	}
	if got := (&Report{}).Latency(); got.Warm != 0 || got.Median != 0 || got.First == nil {
		t.Errorf("without times: %+v", got)
	}
	for name, times := range map[string][]int64{"one is missing": {9000, 30}, "one too many": {9000, 30, 10, 10}, "one took nothing": {9000, 30, 0}, "none": {}} {
		r := good()
		r.Cycles[0].Nanoseconds, r.Cycles[1].Nanoseconds = times, []int64{7000, 20, 50}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(data, &q); err == nil || !strings.Contains(err.Error(), "times") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRequests(t *testing.T) {
	for name, change := range map[string]func(q *Request){
		"no input":          func(q *Request) { q.Inputs = nil },
		"no set":            func(q *Request) { q.Inputs[0].Sets = nil },
		"sets of two sizes": func(q *Request) { q.Inputs[0].Sets[1] = []byte{1} },
		"no output":         func(q *Request) { q.Outputs = nil },
		"no load":           func(q *Request) { q.Loads = 0 },
		"a set left out":    func(q *Request) { q.Predictions = 1 },
		"less than none":    func(q *Request) { q.Overlap = -1 },
		"too many":          func(q *Request) { q.Loads = most + 1 },
	} {
		q := request()
		change(&q)
		if _, err := Run(t.Context(), "none", q, time.Minute); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The probe is a program that leaves a report; what it is told, and what it says, is held here.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	report, err := json.Marshal(good())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), report, 0o600); err != nil {
		t.Fatal(err)
	}
	program := func(script string) string {
		path := filepath.Join(dir, "probe")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o, err := Run(t.Context(), program("test $1 = repeat && cp $2 "+dir+"/request.json && cp "+dir+"/report.json $3 && echo outputs >$(dirname $2)/first"), request(), time.Minute)
	if err != nil || o.Report == nil || len(o.Report.Cycles) != 2 || string(o.First) != "outputs\n" {
		t.Fatalf("%+v, %v", o, err)
	}
	var wire wireRequest
	data, err := os.ReadFile(filepath.Join(dir, "request.json"))
	if err != nil || json.Unmarshal(data, &wire) != nil || wire.Loads != 2 || wire.Predictions != 3 || wire.Overlap != 2 || len(wire.Inputs[0].Files) != 2 || wire.Inputs[0].Strides[0] != 1 {
		t.Errorf("the request is %s, %v", data, err)
	}
	if _, err := Run(t.Context(), program("exit 0"), request(), time.Minute); err == nil || !strings.Contains(err.Error(), "left no report") {
		t.Errorf("no report: %v", err)
	}
	if o, err := Run(t.Context(), program("kill -SEGV $$"), request(), time.Minute); err != nil || o.Report != nil || !strings.Contains(o.Ended, "segmentation") {
		t.Errorf("a crash: %+v, %v", o, err)
	}
}
