package parity

import (
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe/probetest"
)

// TestJudgeOutcome has one report for each reason, wrong in that one way.
func TestJudgeOutcome(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *probe.Outcome, r *probe.Report)
		code   string
		found  string
		class  reason.Class
	}{
		{"as it should be", func(*probe.Outcome, *probe.Report) {}, "", "", ""},
		{"only at fewer units", func(_ *probe.Outcome, r *probe.Report) { probetest.Refused(r, 1) },
			"LOAD_FALLBACK", "all: com.apple.CoreML -14: no plan for all; under it com.apple.appleneuralengine 5: ANECCompile() FAILED; cpu_and_neural_engine: loaded", reason.Fail},
		{"only on the cpu", func(_ *probe.Outcome, r *probe.Report) { probetest.Refused(r, 3) }, "LOAD_FALLBACK", "cpu_only: loaded", reason.Fail},
		{"nowhere", func(_ *probe.Outcome, r *probe.Report) { probetest.Refused(r, 4) }, "LOAD_FAILED", "cpu_only: com.apple.CoreML -14: no plan for cpu_only", reason.Fail},
		{"nowhere, and no error given", func(_ *probe.Outcome, r *probe.Report) {
			probetest.Refused(r, 4)
			for i := range r.Attempts {
				r.Attempts[i].Error = nil
			}
		}, "LOAD_FAILED", "all: no error given", reason.Fail},
		{"a package", func(_ *probe.Outcome, r *probe.Report) {
			r.Attempts = []probe.Attempt{{Route: probe.RoutePath, Result: probe.Failed, Error: probetest.Failure("it holds no coremldata.bin")}}
			probetest.Unpredicted(r, probe.NotAsked, nil)
		}, "LOAD_NOT_ASKED", "no coremldata.bin", reason.Refuse},
		{"crash while loading", func(o *probe.Outcome, r *probe.Report) {
			r.Attempts[0].Result = probe.Pending
			probetest.Unpredicted(r, probe.NotAsked, nil)
			o.Ended, o.Stderr = "signal: segmentation fault", "x\nbnns::GraphCompile\n"
		}, "PROBE_CRASHED", "signal: segmentation fault while it loaded at all, saying: bnns::GraphCompile", reason.Fail},
		{"crash while predicting", func(o *probe.Outcome, r *probe.Report) {
			probetest.Unpredicted(r, probe.Pending, nil)
			o.Ended = "signal: aborted"
		}, "PROBE_CRASHED", "signal: aborted while it predicted", reason.Fail},
		{"crash before anything", func(o *probe.Outcome, _ *probe.Report) { o.Report, o.Ended = nil, "signal: killed" }, "PROBE_CRASHED", "before anything was asked", reason.Fail},
		{"a report without an end", func(_ *probe.Outcome, r *probe.Report) { probetest.Unpredicted(r, probe.Pending, nil) }, "PROBE_CRASHED", "it is pending", reason.Fail},
		{"compiles for hours", func(o *probe.Outcome, r *probe.Report) {
			r.Attempts[0].Result = probe.Pending
			probetest.Unpredicted(r, probe.NotAsked, nil)
			o.Ended, o.TimedOut = "deadline of 15m0s", true
		}, "PROBE_TIMEOUT", "deadline of 15m0s, while it loaded at all", reason.Inconclusive},
		{"deadline before a report", func(o *probe.Outcome, _ *probe.Report) { o.Report, o.Ended, o.TimedOut = nil, "deadline of 1s", true }, "PROBE_TIMEOUT", "deadline of 1s", reason.Inconclusive},
		{"no prediction", func(_ *probe.Outcome, r *probe.Report) {
			probetest.Unpredicted(r, probe.Failed, probetest.Failure("shape (1 x 80 x 1024) does not match"))
		}, "PREDICTION_FAILED", "shape (1 x 80 x 1024) does not match", reason.Fail},
		{"an output of another name", func(_ *probe.Outcome, r *probe.Report) {
			r.Features, r.Outputs = []string{"encoder_output_embeds"}, nil
		},
			"PREDICTION_FAILED", "encoder_output_embeds", reason.Fail},
		{"float16", func(_ *probe.Outcome, r *probe.Report) { r.Outputs[0].DType, r.Outputs[0].DTypeCode = "float16", 65552 }, "PARITY_TYPE", "float16 (code 65552)", reason.Fail},
		{"padded rows", func(_ *probe.Outcome, r *probe.Report) {
			r.Outputs[0].Strides, r.Outputs[0].Contiguous = []int{24, 8, 1}, false
		},
			"PARITY_STRIDES", "shape [1 3 4] with strides [24 8 1]", reason.Fail},
		{"in the input's memory", func(_ *probe.Outcome, r *probe.Report) { r.Outputs[0].SharesInput = true }, "PARITY_ALIAS", "in the input's", reason.Fail},
		{"writes to the mel", func(_ *probe.Outcome, r *probe.Report) { r.InputsUnchanged = false }, "PARITY_INPUT_CHANGED", "changed", reason.Fail},
		{"asks for less itself", func(_ *probe.Outcome, r *probe.Report) { r.Configuration[0].Value = "cpu_only" }, "PROBE_CONFIGURATION", "cpu_only", reason.Fail},
		{"a hint", func(_ *probe.Outcome, r *probe.Report) { r.Configuration[1].Value = "true" }, "PROBE_CONFIGURATION", "true", reason.Fail},
	} {
		r := probetest.Report("output", 1, 3, 4)
		o := &probe.Outcome{Report: r}
		c.change(o, r)
		if o.Report != nil {
			if err := o.Report.Check(); err != nil {
				t.Errorf("%s: the probe would not write this: %v", c.name, err)
			}
		}
		got := JudgeOutcome(o, "x.mlmodelc", "output")
		if c.code == "" {
			if len(got) != 0 {
				t.Errorf("%s: %v", c.name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Code != c.code || !strings.Contains(got[0].Found, c.found) {
			t.Errorf("%s: %v, want %s alone, finding %q", c.name, got, c.code, c.found)
			continue
		}
		if d, ok := reason.Lookup(c.code); !ok || d.Class != c.class {
			t.Errorf("%s: %s is of class %q, want %q", c.name, c.code, d.Class, c.class)
		}
	}
}

func TestAttemptsKeepOrderAndErrors(t *testing.T) {
	r := probetest.Report("output", 1)
	probetest.Refused(r, 2)
	got := Attempts(r)
	all, ne, gpu := strings.Index(got, "all: com"), strings.Index(got, "; cpu_and_neural_engine: com"), strings.Index(got, "; cpu_and_gpu: loaded")
	if !slices.IsSorted([]int{0, all + 1, ne, gpu}) || all != 0 || gpu < 0 {
		t.Errorf("%q", got)
	}
	// A load that succeeded may still have come with an error.
	r = probetest.Report("output", 1)
	r.Attempts[0].Error = probetest.Failure("ANE inference operation failed")
	if got := Attempts(r); !strings.HasPrefix(got, "all: loaded, with com.apple.CoreML -14: ANE inference") {
		t.Errorf("%q", got)
	}
}
