package probe_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe/probetest"
)

func TestMain(m *testing.M) { probetest.Main(m) }

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParse(t *testing.T) {
	r, err := probe.Parse(encode(t, probetest.Report("output", 1, 3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	if r.LoadedAt() != "all" || r.Outputs[0].Count != 12 {
		t.Errorf("%+v", r)
	}
	text := "all"
	for name, c := range map[string]struct {
		change func(r *probe.Report)
		want   string
	}{
		"other schema":         {func(r *probe.Report) { r.Schema = 2 }, "schema 2"},
		"no attempt":           {func(r *probe.Report) { r.Attempts = []probe.Attempt{} }, "at least one"},
		"first of all the cpu": {func(r *probe.Report) { cpu := "cpu_only"; r.Attempts[0].Asked = &cpu }, "expected to have asked for all"},
		"nothing asked":        {func(r *probe.Report) { r.Attempts[0].Asked = nil }, "found nothing"},
		"unknown route":        {func(r *probe.Report) { r.Attempts[0].Route = "memory" }, `unknown route "memory"`},
		"gave up early": {func(r *probe.Report) {
			r.Attempts[0].Result = probe.Failed
			probetest.Unpredicted(r, probe.NotAsked, nil)
		}, "goes on until cpu_only"},
		"loaded twice": {func(r *probe.Report) { r.Attempts = append(r.Attempts, r.Attempts[0]) }, "does not fit there"},
		"a path that was asked": {func(r *probe.Report) {
			r.Attempts[0] = probe.Attempt{Route: probe.RoutePath, Asked: &text, Result: probe.Failed, Error: probetest.Failure("x")}
		}, "never asked"},
		"predicted without a model": {func(r *probe.Report) { probetest.Refused(r, 9); r.Prediction.Result = probe.Predicted }, "of a model that did not load"},
		"outputs of a failure":      {func(r *probe.Report) { r.Prediction.Result = probe.Failed }, "yet there are outputs"},
		"no feature":                {func(r *probe.Report) { r.Features = []string{"other"} }, "none of the features"},
		"rank 6":                    {func(r *probe.Report) { *r = *probetest.Report("output", 1, 1, 1, 1, 1, 1) }, "at most 5"},
		"zero extent":               {func(r *probe.Report) { r.Outputs[0].Shape[1] = 0 }, "extents above zero"},
		"too large":                 {func(r *probe.Report) { r.Outputs[0].Shape = []int{1 << 28, 1 << 28, 1 << 28} }, "at most 268435456"},
		"count":                     {func(r *probe.Report) { r.Outputs[0].Count = 11 }, "count is 11"},
		"says it is contiguous":     {func(r *probe.Report) { r.Outputs[0].Strides[1] = 8 }, "contiguous is true"},
		"says it is not":            {func(r *probe.Report) { r.Outputs[0].Contiguous = false }, "contiguous is false"},
		"type and code":             {func(r *probe.Report) { r.Outputs[0].DType = "float16" }, `type "float16" with code 65568`},
		"field twice":               {func(r *probe.Report) { r.Configuration = append(r.Configuration, r.Configuration[0]) }, "stands there twice"},
		"no units":                  {func(r *probe.Report) { r.Configuration = r.Configuration[1:] }, "computeUnits is missing"},
	} {
		r := probetest.Report("output", 1, 3, 4)
		c.change(r)
		if _, err := probe.Parse(encode(t, r)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := probe.Parse([]byte(strings.Replace(string(encode(t, probetest.Report("output", 1))), `"schema":1`, `"schema":1,"verdict":"pass"`, 1))); err == nil {
		t.Error("an unknown member passes")
	}
	// An axis of one element may have any stride.
	r = probetest.Report("output", 1, 3, 4)
	r.Outputs[0].Strides[0] = 7
	if _, err := probe.Parse(encode(t, r)); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	data := bytes.Repeat([]byte{1, 2, 3, 4}, 12)
	q := probe.Request{Model: "m.mlmodelc", Inputs: []probe.Input{{Name: "x", DType: "float32", Shape: []int{2}, Data: data[:8]}}, Outputs: []string{"output"}}
	run := func(program string, deadline time.Duration) (*probe.Outcome, error) {
		t.Helper()
		return probe.Run(t.Context(), program, q, deadline)
	}
	good := probetest.Report("output", 1, 3, 4)
	o, err := run(probetest.Program(t, good, map[string][]byte{"output": data}, ""), time.Minute)
	if err != nil || o.Ended != "" || !bytes.Equal(o.Tensors["output"], data) {
		t.Errorf("%+v, %v", o, err)
	}
	// A report and a file that do not belong together.
	if _, err := run(probetest.Program(t, good, map[string][]byte{"output": data[:40]}, ""), time.Minute); err == nil || !strings.Contains(err.Error(), "48 bytes") {
		t.Errorf("a short tensor: %v", err)
	}
	if _, err := run(probetest.Program(t, good, nil, "echo no such model >&2; exit 2"), time.Minute); err == nil || !strings.Contains(err.Error(), "exit 2, saying: no such model") {
		t.Errorf("exit 2: %v", err)
	}
	bad := probetest.Report("output", 1, 3, 4)
	bad.Outputs[0].Count = 7
	if _, err := run(probetest.Program(t, bad, map[string][]byte{"output": data}, ""), time.Minute); err == nil || !strings.Contains(err.Error(), "count is 7") {
		t.Errorf("a report that contradicts itself: %v", err)
	}
	if _, err := run(filepath.Join(t.TempDir(), "none"), time.Minute); err == nil {
		t.Error("a program that is not there runs")
	}
	// A crash leaves what was pending.
	pending := probetest.Report("output", 1, 3, 4)
	pending.Attempts[0].Result = probe.Pending
	probetest.Unpredicted(pending, probe.NotAsked, nil)
	o, err = run(probetest.Program(t, pending, nil, "echo bnns::GraphCompile >&2; kill -SEGV $$"), time.Minute)
	if err != nil || !strings.Contains(o.Ended, "segmentation") || o.Report.Attempts[0].Result != probe.Pending || o.Stderr != "bnns::GraphCompile\n" {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = run(probetest.Program(t, pending, nil, "exec sleep 600"), time.Second)
	if err != nil || !o.TimedOut {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestRunHandsOverTheRequest(t *testing.T) {
	keep := filepath.Join(t.TempDir(), "kept.json")
	program := probetest.Program(t, probetest.Report("output", 2), map[string][]byte{"output": make([]byte, 8)}, "cp \"$1\" '"+keep+"'")
	_, err := probe.Run(t.Context(), program, probe.Request{Model: "m.mlmodelc", Outputs: []string{"output"},
		Inputs: []probe.Input{{Name: "a", DType: "float16", Shape: []int{2, 3}, Data: make([]byte, 12)},
			{Name: "b", DType: "float32", Shape: []int{2, 3}, Strides: []int{8, 2}, Data: make([]byte, 56)}}}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(keep)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema int
		Model  string
		Inputs []struct {
			Name, DType    string
			Shape, Strides []int
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != 1 || !filepath.IsAbs(got.Model) || !slices.Equal(got.Inputs[0].Strides, []int{3, 1}) || !slices.Equal(got.Inputs[1].Strides, []int{8, 2}) || got.Inputs[0].DType != "float16" {
		t.Errorf("%s", text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(encode(f, probetest.Report("output", 1, 3, 4)))
	fell := probetest.Report("output", 2)
	probetest.Refused(fell, 2)
	f.Add(encode(f, fell))
	failed := probetest.Report("output", 2)
	probetest.Refused(failed, 9)
	f.Add(encode(f, failed))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := probe.Parse(data)
		if err != nil {
			return
		}
		// What is accepted can be asked everything.
		r.LoadedAt()
		for _, o := range r.Outputs {
			if _, ok := r.Output(o.Name); !ok || o.Count > 1<<28 {
				t.Fatalf("output %q", o.Name)
			}
		}
		if _, err := probe.Parse(encode(t, r)); err != nil {
			t.Fatalf("an accepted report is refused when written again: %v", err)
		}
	})
}
