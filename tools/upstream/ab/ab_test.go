package ab

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

func TestWilson(t *testing.T) {
	// From Newcombe (1998), table I, method 3, and by the closed forms at the ends.
	for _, tc := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{100, 100, 0.9630, 1},
		{22, 30, 0.5555, 0.8582},
	} {
		low, high := Wilson(tc.k, tc.n)
		if math.Abs(low-tc.low) > 5e-5 || math.Abs(high-tc.high) > 5e-5 {
			t.Errorf("Wilson(%d, %d) = %.4f, %.4f, want %.4f, %.4f", tc.k, tc.n, low, high, tc.low, tc.high)
		}
	}
	for _, bad := range [][2]int{{0, 0}, {-1, 5}, {6, 5}} {
		if low, high := Wilson(bad[0], bad[1]); low != 0 || high != 1 {
			t.Errorf("Wilson(%d, %d) = %v, %v, want everything open", bad[0], bad[1], low, high)
		}
	}
}

const loadLine = `echo "whisper_init_state: failed to load Core ML model from 'x'" >&2`

const refusal = `echo "whisper_init_state: failed to load Core ML model from 'x'" >&2; echo "error: failed to initialize whisper context" >&2; exit 3`

// experiment runs scripts in place of whisper-cli.
func experiment(t *testing.T, unpatched, patched string, n int, heaps []Heap) *Report {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"unpatched": "#!/bin/sh\n" + unpatched, "patched": "#!/bin/sh\n" + patched, "m.bin": "model", "a.wav": "audio",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Run(context.Background(), Config{
		Unpatched: filepath.Join(dir, "unpatched"), Patched: filepath.Join(dir, "patched"),
		Model: filepath.Join(dir, "m.bin"), Audio: filepath.Join(dir, "a.wav"), N: n, Heaps: heaps,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun(t *testing.T) {
	heaps := []Heap{{"as is", nil}, {"fault", []string{"FAULT=1"}}}
	unpatched := `[ -z "$FAULT" ] || { ` + loadLine + `; kill -ABRT $$; }; ` + refusal
	r := experiment(t, unpatched, refusal, 3, heaps)
	want := []Row{
		{Arm: "unpatched", Heap: "as is", N: 3, Clean: 3, Outcomes: map[string]int{"exit 3": 3}},
		{Arm: "patched", Heap: "as is", N: 3, Clean: 3, Outcomes: map[string]int{"exit 3": 3}},
		{Arm: "unpatched", Heap: "fault", N: 3, Clean: 0, Outcomes: map[string]int{"signal 6": 3}},
		{Arm: "patched", Heap: "fault", N: 3, Clean: 3, Outcomes: map[string]int{"exit 3": 3}},
	}
	for i := range r.Rows {
		want[i].Low, want[i].High = Wilson(want[i].Clean, want[i].N)
	}
	if diff := cmp.Diff(want, r.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if r.Verdict != reason.Pass || !r.FaultShown || len(r.Notes) != 0 {
		t.Errorf("report %+v, want a pass that shows the fault", r)
	}
	var table bytes.Buffer
	if err := r.Table(&table); err != nil || !strings.Contains(table.String(), "signal 6: 3") {
		t.Errorf("table lacks the signals: %v\n%s", err, &table)
	}
}

func TestOutcomes(t *testing.T) {
	for name, tc := range map[string]struct{ script, outcome string }{
		"clean":                       {refusal, "exit 3"},
		"silent":                      {"exit 3", "exit 3, no load failure line, no context line"},
		"wrong cause":                 {`echo "error: failed to initialize whisper context" >&2; exit 3`, "exit 3, no load failure line"},
		"marker on standard output":   {strings.ReplaceAll(refusal, " >&2", ""), "exit 3, no load failure line, no context line"},
		"marker inside another line":  {strings.ReplaceAll(refusal, `"w`, `"x w`), "exit 3, no load failure line"},
		"went on":                     {loadLine + "; exit 0", "exit 0"},
		"no Core ML":                  {"exit 0", "exit 0, no load failure line"},
		"not started":                 {"exit 127", "exit 127, no load failure line"},
		"signal":                      {loadLine + "; kill -SEGV $$", "signal 11"},
		"signal, as a shell tells it": {loadLine + "; exit 139", "signal 11"},
		"signal before the load":      {"kill -ABRT $$", "signal 6, no load failure line"},
	} {
		t.Run(name, func(t *testing.T) {
			r := experiment(t, refusal, tc.script, 1, []Heap{{"as is", nil}})
			if got := r.Rows[1].Outcomes; got[tc.outcome] != 1 {
				t.Errorf("outcomes %v, want %q", got, tc.outcome)
			}
			want := reason.Failed
			if name == "clean" {
				want = reason.Pass
			}
			if r.Verdict != want || r.FaultShown || r.Has("AB_PATCHED_FAULT") != (want == reason.Failed) {
				t.Errorf("verdict %s, fault shown %v, reasons %v", r.Verdict, r.FaultShown, r.Reasons)
			}
			if len(r.Notes) != 1 || r.Notes[0].Code != "AB_FAULT_NOT_SHOWN" {
				t.Errorf("notes %v, want one that no fault was shown", r.Notes)
			}
		})
	}
}

// A program that exits in another way than by the fault shows none, whatever it is.
func TestFaultIsASignal(t *testing.T) {
	for script, want := range map[string]bool{
		"exit 0": false, "exit 3": false, refusal: false, loadLine + "; exit 134": true, loadLine + "; kill -SEGV $$": true, loadLine + "; exit 0": false,
		// Such as dyld's, for a library that is not there.
		"kill -ABRT $$": false,
	} {
		r := experiment(t, script, refusal, 1, []Heap{{"as is", nil}})
		if r.FaultShown != want || (len(r.Notes) == 0) != want {
			t.Errorf("%q: fault shown %v, notes %v, want %v", script, r.FaultShown, r.Notes, want)
		}
		if !want && !strings.HasSuffix(r.Notes[0].Found, ": 1") {
			t.Errorf("%q: the note says %q, and not how runs ended", script, r.Notes[0].Found)
		}
	}
}

func TestRunsAreInterleaved(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	script := func(arm string) string { return "echo " + arm + " >>" + log + "\n" + refusal }
	experiment(t, script("u"), script("p"), 2, []Heap{{"a", nil}, {"b", nil}})
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if want := "u p u p p u p u"; strings.Join(strings.Fields(string(got)), " ") != want {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := Run(context.Background(), Config{N: 0}); err == nil {
		t.Error("n of 0 was accepted")
	}
	if _, err := Run(context.Background(), Config{N: 1, Unpatched: "/nonexistent"}); err == nil {
		t.Error("a missing program was accepted")
	}
}
