package trace_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/trace"
)

const table = "ane-hw-intervals"

func TestContents(t *testing.T) {
	good := placementtest.Contents("whisper-cli", "Core ML", "launched", 0)
	c, err := trace.ParseContents([]byte(good))
	if err != nil || c.Template != "Core ML" || c.Program != "whisper-cli" || c.Type != "launched" || c.OSBuild != "24G84" || c.OSVersion != "15.6" ||
		c.ExitStatus == nil || *c.ExitStatus != 0 || strings.Join(c.Tables, " ") != "coreml-os-signpost ane-hw-intervals" || c.Instruments != "16.0 (17F113)" {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, x := range []struct{ name, from, to, why string }{
		{"another document", "trace-toc>", "trace-query-result>", "one root"},
		{"two runs", "</run>", "</run><run/>", "more than one run"},
		{"no device", "<device ", "<other ", "no device"},
		{"a build without brackets", "15.6 (24G84)", "15.6", "os-version"},
		{"no template", "Core ML", "", "template"},
		{"an exit status in words", `return-exit-status="0"`, `return-exit-status="ok"`, "return-exit-status"},
		{"a document type", `<?xml version="1.0"?>`, `<!DOCTYPE t SYSTEM "file:///etc/passwd">`, "document type"},
		{"an entity", "Core ML", "Core &ml;", "entity"},
		{"another encoding", `version="1.0"`, `version="1.0" encoding="UTF-16"`, "encoding"},
		{"a cut document", "</trace-toc>", "", "EOF"},
		{"text after it", "</trace-toc>", "</trace-toc>x", "outside of the root"},
	} {
		if !strings.Contains(good, x.from) {
			t.Fatalf("%s: no %q", x.name, x.from)
		}
		if _, err := trace.ParseContents([]byte(strings.Replace(good, x.from, x.to, 1))); err == nil || !strings.Contains(err.Error(), x.why) {
			t.Errorf("%s: %v, want %q", x.name, err, x.why)
		}
	}
}

// published is an export after one of Metal intervals that was trimmed from a real one (VincentGourbin/swift-mlx-profiler,
// XCTraceExportTests.swift at 6885d48f): a second node goes on without a schema and refers to values of the first one. Names, times
// and the label are those of a published recording of an encoder (lgw2023/ImageAll).
const published = `<?xml version="1.0"?>
<trace-query-result>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[34]'><schema name="ane-hw-intervals-internal"><col><mnemonic>start</mnemonic></col><col><mnemonic>duration</mnemonic></col>
<col><mnemonic>channel-name</mnemonic></col><col><mnemonic>event-label</mnemonic></col><col><mnemonic>state</mnemonic></col></schema>
<row><start-time id="1" fmt="00:01.160">1160091583</start-time><duration id="2" fmt="2.55 ms">2545917</duration><ane-event-name id="3" fmt="Apple Neural Engine">Apple Neural Engine</ane-event-name>
<formatted-label id="4"><string id="5">encoder_main__Op0_AneInference</string></formatted-label><gpu-state id="6" fmt="Active">1</gpu-state></row>
</node>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[35]'>
<row><start-time id="7" fmt="00:01.161">1161091583</start-time><duration ref="2"/><ane-event-name ref="3"/><formatted-label ref="4"/><gpu-state ref="6"/></row>
</node>
</trace-query-result>
`

func TestIntervals(t *testing.T) {
	intervals, err := trace.ParseIntervals([]byte(published))
	if err != nil || len(intervals) != 2 || intervals[1] != (trace.Interval{Start: 1161091583, Duration: 2545917, Label: "encoder_main__Op0_AneInference", State: "Active"}) {
		t.Fatalf("%+v, %v", intervals, err)
	}
	// The two overlap by all but a millisecond.
	if a := trace.Of(intervals, "encoder"); a != (trace.Activity{Intervals: 2, Predictions: 2, BusyNanoseconds: 3545917}) {
		t.Errorf("%+v", a)
	}
	if got, err := trace.ParseIntervals([]byte(placementtest.Intervals(table))); err != nil || len(got) != 0 {
		t.Errorf("an empty table: %+v, %v", got, err)
	}
	for _, x := range []struct{ name, from, to, why string }{
		{"another table", "ane-hw-intervals-internal", "metal-gpu-intervals", "schema"},
		{"no schema", `<schema name="ane-hw-intervals-internal">`, `<scheme>`, "syntax"},
		{"a column less", "<col><mnemonic>state</mnemonic></col>", "", "one for each of the columns"},
		{"no label", "event-label", "label", "none is event-label"},
		{"a reference to nothing", `<duration ref="2"/>`, `<duration ref="99"/>`, "none of its kind"},
		{"a reference to another kind", `<duration ref="2"/>`, `<duration ref="1"/>`, "none of its kind"},
		{"a negative time", ">1161091583<", ">-5<", "nanoseconds"},
		{"a time in words", ">1161091583<", ">1 s<", "nanoseconds"},
		{"an id twice", `<gpu-state id="6"`, `<gpu-state id="2"`, "there twice"},
		{"a document type", `<?xml version="1.0"?>`, `<!DOCTYPE t [<!ENTITY a "b">]>`, "document type"},
	} {
		if !strings.Contains(published, x.from) {
			t.Fatalf("%s: no %q", x.name, x.from)
		}
		if _, err := trace.ParseIntervals([]byte(strings.Replace(published, x.from, x.to, 1))); err == nil || !strings.Contains(err.Error(), x.why) {
			t.Errorf("%s: %v, want %q", x.name, err, x.why)
		}
	}
	if _, err := trace.ParseIntervals([]byte("<trace-query-result></trace-query-result>")); err == nil || !strings.Contains(err.Error(), "no schema") {
		t.Errorf("an export without a table: %v", err)
	}
	deep := strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100)
	if _, err := trace.ParseIntervals([]byte("<trace-query-result>" + deep + "</trace-query-result>")); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("a deep document: %v", err)
	}
}

func TestOf(t *testing.T) {
	const encoder = "ggml-tiny.en-encoder"
	for _, c := range []struct {
		label string
		want  int
	}{
		{encoder + "_main__Op0_AneInference", 1},
		{encoder + " Prediction", 1},
		{encoder, 0},
		{encoder + "_main Load: prepare and cache", 0},
		{encoder + "2_main__Op0_AneInference", 0},
		{"Neural Engine Prediction", 0},
		{"other " + encoder + " Prediction", 0},
	} {
		intervals, err := trace.ParseIntervals([]byte(placementtest.Intervals(table, c.label)))
		if err != nil {
			t.Fatal(err)
		}
		if a := trace.Of(intervals, encoder); a.Predictions != c.want || a.Intervals != 1 {
			t.Errorf("%q: %+v, want %d", c.label, a, c.want)
		}
	}
	idle, err := trace.ParseIntervals([]byte(strings.ReplaceAll(placementtest.Intervals(table, encoder+" Prediction"), "Active", "Idle")))
	if err != nil || trace.Of(idle, encoder).Predictions != 0 {
		t.Errorf("an idle interval: %+v, %v", idle, err)
	}
	if trace.Of(idle, "").Predictions != 0 {
		t.Error("an encoder without a name is named by all labels")
	}
}

func FuzzParseIntervals(f *testing.F) {
	f.Add([]byte(published))
	f.Add([]byte(placementtest.Intervals(table, "encoder_main__Op0_AneInference", "Neural Engine Prediction", "encoder_main__Op0_AneInference")))
	f.Fuzz(func(t *testing.T, data []byte) {
		intervals, err := trace.ParseIntervals(data)
		if err != nil {
			return
		}
		if a := trace.Of(intervals, "encoder"); a.Predictions > a.Intervals || a.BusyNanoseconds < 0 {
			t.Fatalf("%+v", a)
		}
	})
}

func FuzzParseContents(f *testing.F) {
	f.Add([]byte(placementtest.Contents("whisper-cli", "Core ML", "launched", 0)))
	f.Add([]byte(placementtest.Contents("python3", "Time Profiler", "attached", 2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := trace.ParseContents(data)
		if err == nil && (c.Template == "" || c.Program == "" || c.OSBuild == "") {
			t.Fatalf("%+v", c)
		}
	})
}
