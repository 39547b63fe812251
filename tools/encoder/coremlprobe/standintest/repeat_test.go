package standintest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/repeat"
)

// sets are inputs that differ in every element.
func sets(n, elements int) [][]byte {
	var out [][]byte
	for s := range n {
		var b []byte
		for i := range elements {
			b = binary.LittleEndian.AppendUint32(b, 0x3f800000+uint32(s*elements+i))
		}
		out = append(out, b)
	}
	return out
}

func TestRepetitions(t *testing.T) {
	model := compiled(t)
	for _, c := range []struct {
		name, fault, standIn, model string
		// code is a reason that must follow, "" for none, and found stands in what it found.
		code, found string
	}{
		{name: "as it should be"},
		{name: "drifts", standIn: "drifts", code: "REPEAT_DIFFERS", found: "predictions that differ"},
		{name: "mixes what overlaps", standIn: "mixes-overlap", code: "REPEAT_DIFFERS", found: "3 of 5 overlapping predictions that differ"},
		{name: "loads once", standIn: "refuses-reload", code: "REPEAT_FAILED", found: "The model was loaded before"},
		{name: "never loads", standIn: refusesAll, code: "LOAD_FAILED", found: "execution plan for all"},
		{name: "names its path", standIn: refusesAll + " names-path", code: "LOAD_FAILED", found: `(reading "<model>", <model>/coremldata.bin)`},
		{name: "keeps memory", standIn: "keeps-memory", code: "REPEAT_MEMORY", found: "MiB more after each of them"},
		{name: "never predicts", fault: "prediction-fails", code: "REPEAT_FAILED", found: "the prediction fails"},
		{name: "has another output", fault: "output-renamed", code: "REPEAT_FAILED", found: "6 that failed"},
		{name: "writes its input", standIn: "writes-input", code: "PARITY_INPUT_CHANGED", found: "changed"},
		{name: "aborts while loading", standIn: "aborts-load", code: "PROBE_CRASHED", found: "in load 1"},
		{name: "nothing there", model: filepath.Join(t.TempDir(), "none.mlmodelc"), code: "LOAD_NOT_ASKED", found: "nothing is there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.model
			if path == "" {
				path = model
			}
			q := repeat.Request{Model: path, Outputs: []string{"output"}, Loads: 3, Predictions: 6, Overlap: 5,
				Inputs: []repeat.Input{{Name: "logmel_data", DType: "float32", Shape: []int{1, 3, 5}, Sets: sets(3, 15)}}}
			o, err := repeat.Run(t.Context(), withEnvironment(t, c.fault, c.standIn), q, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			reasons := repeat.Judge(o, &q)
			found := c.code == "" && len(reasons) == 0
			for _, r := range reasons {
				found = found || r.Code == c.code && strings.Contains(r.Found, c.found)
			}
			if !found {
				t.Fatalf("expected %q finding %q, found %v; the probe said %s", c.code, c.found, reasons, o.Stderr)
			}
			if c.code == "" {
				checkCounters(t, o.Report)
				if want := q.Inputs[0].Sets[0]; !bytes.Equal(o.First, want) {
					t.Errorf("the first output is %x, want the first input %x", o.First, want)
				}
				checkTimes(t, o.Report, false)
			}
			for _, said := range []string{o.Stderr, text(t, o.Report)} {
				if strings.Contains(said, filepath.Dir(path)) || strings.Contains(said, os.TempDir()+"/") || strings.Contains(said, "logmel_data") && said != o.Stderr {
					t.Errorf("a path or a feature's name leaves: %s", said)
				}
			}
		})
	}
}

// checkCounters: 3 loads of 6 predictions and 5 that overlap, each over the probe's own memory; 3 sets of 60 bytes read, and 33 outputs
// of 60 bytes taken.
func checkCounters(t *testing.T, r *repeat.Report) {
	t.Helper()
	if r.Counters != (repeat.Counters{DirectBindings: 33, CopiedBytes: 3*60 + 33*60, Allocations: 3}) {
		t.Errorf("the counters are %+v", r.Counters)
	}
	if r.Inputs[0] != (repeat.Memory{Bytes: 60, Alignment: repeat.SmallAlignment, Aligned: true}) {
		t.Errorf("the input lay as %+v", r.Inputs[0])
	}
	for _, c := range r.Cycles {
		if c.Overlapped.Most < 1 || c.ResidentBytes == 0 {
			t.Errorf("%+v", c)
		}
	}
}

// TestTimes holds that each prediction is timed where that is asked for, and that the report says what was timed.
func TestTimes(t *testing.T) {
	q := repeat.Request{Model: compiled(t), Outputs: []string{"output"}, Loads: 2, Predictions: 5, Time: true,
		Inputs: []repeat.Input{{Name: "logmel_data", DType: "float32", Shape: []int{1, 3, 5}, Sets: sets(1, 15)}}}
	began := time.Now()
	o, err := repeat.Run(t.Context(), withEnvironment(t, "", ""), q, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	all := time.Since(began)
	if got := repeat.Judge(o, &q); len(got) > 0 {
		t.Fatal(got)
	}
	checkTimes(t, o.Report, true)
	sum := time.Duration(0)
	for _, c := range o.Report.Cycles {
		for _, n := range c.Nanoseconds {
			sum += time.Duration(n)
		}
	}
	if sum > all {
		t.Errorf("the predictions took %s, and all of it %s", sum, all)
	}
	if (len(repeat.JudgeTimes(o.Report)) == 0) != (o.Report.Build == "release") {
		t.Errorf("a %s build: %v", o.Report.Build, repeat.JudgeTimes(o.Report))
	}
}

func checkTimes(t *testing.T, r *repeat.Report, timed bool) {
	t.Helper()
	if r.Framework != "stand-in" {
		t.Errorf("the framework is %q", r.Framework)
	}
	if l := r.Latency(); timed && (len(l.First) != 2 || l.Warm != 8 || l.Fastest <= 0) || !timed && (len(l.First) != 0 || l.Warm != 0) {
		t.Errorf("%+v, where times asked for is %v", l, timed)
	}
}

// A large input begins on a page.
func TestLargeInputsBeginOnAPage(t *testing.T) {
	const rows, columns = 64, 65 // 16640 bytes, above 16 KiB
	q := repeat.Request{Model: compiledOf(t, rows, columns), Outputs: []string{"output"}, Loads: 1, Predictions: 3, Overlap: 3,
		Inputs: []repeat.Input{{Name: "logmel_data", DType: "float32", Shape: []int{1, rows, columns}, Sets: sets(3, rows*columns)}}}
	o, err := repeat.Run(t.Context(), withEnvironment(t, "", ""), q, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if got := repeat.Judge(o, &q); len(got) > 0 {
		t.Fatal(got)
	}
	if m := o.Report.Inputs[0]; m.Bytes != 4*rows*columns || m.Alignment < repeat.PageAlignedFrom || !m.Aligned {
		t.Errorf("%+v", m)
	}
}

// text is a report as it leaves.
func text(t *testing.T, r *repeat.Report) string {
	t.Helper()
	if r == nil {
		return ""
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
