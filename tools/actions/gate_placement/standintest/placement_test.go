package standintest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/reading"
)

// A program with constants, a break in the middle where a word asks for it, and casts at both ends.
const source = `program(1.3)
{
    func main<CoreML6>(tensor<fp32, [1, 4, 6]> logmel_data) {
        string to16 = const()[name = string("to16"), val = string("fp16")];
        string to32 = const()[name = string("to32"), val = string("fp32")];
        int32 axis = const()[name = string("axis"), val = int32(2)];
        tensor<fp16, [1, 4, 6]> mel_to_fp16 = cast(dtype = to16, x = logmel_data)[name = string("mel_to_fp16")];
        tensor<fp16, [1, 4, 6]> first = add(x = mel_to_fp16, y = mel_to_fp16)[name = string("first")];
        tensor<fp16, [1, 4, 6]> weights = softmax(axis = axis, x = first)[name = string("weights")];
        tensor<fp16, [1, 4, 6]> second = mul(x = first, y = weights)[name = string("second")];
        tensor<fp32, [1, 4, 6]> output = cast(dtype = to32, x = second)[name = string("output")];
    } -> (output);
}
`

func compiled(t *testing.T) string {
	t.Helper()
	p, err := text.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	array := func(name string) spec.Feature {
		return spec.Feature{Name: name, Kind: spec.MultiArrayFeature, Array: &spec.Array{Shape: []int64{1, 4, 6}, DType: spec.ArrayFloat32}}
	}
	m := &spec.Model{SpecificationVersion: 7, Kind: spec.MLProgram, Program: p, Description: &spec.Description{}}
	m.Description.Inputs, m.Description.Outputs = []spec.Feature{array("logmel_data")}, []spec.Feature{array("output")}
	dir := t.TempDir()
	packaged := filepath.Join(dir, "e.mlpackage")
	if err := bundle.WritePackage(packaged, m, nil); err != nil {
		t.Fatal(err)
	}
	a, err := bundle.Open(packaged)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	path := filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	if err := bundle.Compile(a, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// probe is coremlprobe with words for the stand-in: what starts it hands no environment on.
func probe(t *testing.T, words string) string {
	t.Helper()
	program := os.Getenv("COREMLPROBE")
	if program == "" {
		t.Fatal("COREMLPROBE must name a file; `bazel test //tools/actions/gate_placement/standintest:standintest_test` does")
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(os.Getenv("TEST_SRCDIR"), filepath.FromSlash(program))
	}
	path := filepath.Join(t.TempDir(), "coremlprobe")
	script := fmt.Sprintf("#!/bin/sh\nCOREML_GATE_STAND_IN='%s' exec '%s' \"$@\"\n", words, program)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFromEndToEnd(t *testing.T) {
	encoder := compiled(t)
	p, err := policy.Frozen("placement_plan_v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, words, encoder string
		deadline             time.Duration
		// codes are the reasons beside that the lane is emulated.
		codes, found string
		notes        string
		share        float64
	}{
		{name: "on the Neural Engine but for casts", codes: "PLACEMENT_STAND_IN PLACEMENT_SHARE", found: "ios16.cast (layer mel_to_fp16) on CPU", share: 0.6},
		{name: "a break", words: "plan-cpu-softmax", codes: "PLACEMENT_STAND_IN PLACEMENT_SHARE", found: "ios16.softmax (layer weights) on CPU", notes: "between first and second: ios16.softmax (layer weights) on CPU", share: 0.4},
		{name: "a break, by its layer", words: "plan-gpu-weights", codes: "PLACEMENT_STAND_IN PLACEMENT_SHARE", found: "ios16.softmax (layer weights) on GPU", notes: "(layer weights) on GPU", share: 0.4},
		{name: "no costs", words: "plan-unweighed", codes: "PLACEMENT_STAND_IN PLACEMENT_UNWEIGHED", found: "none among 5"},
		{name: "no Neural Engine", words: "no-neural-engine", codes: "PLACEMENT_NO_NEURAL_ENGINE", found: "CPU, GPU"},
		{name: "before macOS 14.4", words: "plan-unavailable", codes: "PLACEMENT_NOT_OBSERVED", found: "MLComputePlan needs macOS 14.4"},
		{name: "a failed plan", words: "plan-fails", codes: "COMPUTE_PLAN_FAILED", found: "com.apple.CoreML 0: Failed to build the model execution plan"},
		{name: "a failed plan without an error", words: "plan-fails no-error", codes: "COMPUTE_PLAN_FAILED", found: "no error given"},
		{name: "an aborted reader", words: "plan-aborts", codes: "PLAN_READER_ABORTED", found: "signal: aborted"},
		{name: "a reader that never answers", words: "plan-never", deadline: 2 * time.Second, codes: "PROBE_TIMEOUT", found: "none until the deadline of 2s"},
		{name: "a word that the stand-in does not know", words: "plan-maybe", codes: "COMPUTE_PLAN_FAILED", found: "plan-maybe"},
		{name: "a package, which no reader is given", encoder: filepath.Join(filepath.Dir(encoder), "e.mlpackage"), words: "plan-aborts", codes: "LOAD_NOT_ASKED", found: "coremldata.bin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			of, deadline := c.encoder, c.deadline
			if of == "" {
				of = encoder
			}
			if deadline == 0 {
				deadline = time.Minute
			}
			answer, err := reading.Ask(t.Context(), probe(t, c.words), of, p, deadline)
			if err != nil {
				t.Fatal(err)
			}
			digest, err := tree.Digest(of)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Devices.Framework != computeplan.FrameworkStandIn {
				t.Errorf("the device list is one of %s", answer.Devices.Framework)
			}
			// On the lane of Apple's Core ML, to see that nothing but the mark keeps it from passing.
			j := placement.Judge(&placement.Given{Lane: evidence.LanePhysical, Encoder: filepath.Base(of), EncoderDigest: digest, Devices: answer.Devices, Plan: answer.Plan}, p)
			var codes, found []string
			for _, r := range j.Reasons {
				codes, found = append(codes, r.Code), append(found, r.Found)
			}
			if strings.Join(codes, " ") != c.codes || !strings.Contains(strings.Join(found, "\n"), c.found) || j.Verdict == reason.Pass {
				t.Errorf("%v, want %s and %q", j.Reasons, c.codes, c.found)
			}
			if (c.notes == "") != (len(j.Notes) == 0) || len(j.Notes) > 0 && !strings.Contains(j.Notes[0].Found, c.notes) {
				t.Errorf("notes %v, want %q", j.Notes, c.notes)
			}
			if share, ok := j.Facts["share_neural_engine"].(float64); ok != (c.share > 0) || ok && share != c.share {
				t.Errorf("share %v, want %v", j.Facts["share_neural_engine"], c.share)
			}
			if _, claims := j.Facts["placement"]; claims {
				t.Errorf("the stand-in places an encoder: %v", j.Facts)
			}
		})
	}
}

// TestOnTheNeuralEngine holds that a plan of the stand-in which meets the policy is no pass, on either lane.
func TestOnTheNeuralEngine(t *testing.T) {
	encoder := compiled(t)
	p, err := policy.Frozen("placement_plan_v1")
	if err != nil {
		t.Fatal(err)
	}
	record, err := reading.Plan(t.Context(), probe(t, ""), encoder, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	neuralEngine := computeplan.NeuralEngine
	for i := range record.Plan.Operations {
		if record.Plan.Operations[i].Preferred != nil {
			record.Plan.Operations[i].Preferred = &neuralEngine
		}
	}
	for _, lane := range []evidence.Lane{evidence.LanePhysical, evidence.LaneEmulated} {
		j := placement.Judge(&placement.Given{Lane: lane, Encoder: filepath.Base(encoder), EncoderDigest: record.EncoderDigest, Plan: record}, p)
		if j.Verdict != reason.Unknown || !j.Has(reason.PlacementStandIn) || j.Has(reason.PlacementShare) || j.Facts["core_ml_host"] != nil {
			t.Errorf("lane %s: %s %v %v", lane, j.Verdict, j.Reasons, j.Facts)
		}
	}
}

// TestPage binds the stand-in's answer into a receipt and draws it: the page shows operations and the break, by the model's own names, and
// says whose plan it is.
func TestPage(t *testing.T) {
	encoder := compiled(t)
	p, err := policy.Frozen("placement_plan_v1")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := reading.Ask(t.Context(), probe(t, "plan-cpu-softmax"), encoder, p, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	w := gatefixture.New(t)
	w.Spec.Encoder = encoder
	w.Rehash(t)
	j := placement.Judge(&placement.Given{Lane: w.CoreML.Lane, Encoder: filepath.Base(encoder), EncoderDigest: answer.Plan.EncoderDigest, Devices: answer.Devices, Plan: answer.Plan}, p)
	w.Spec.Judgements = append(w.Spec.Judgements, w.JSON(t, "placement.json", j))
	w.Spec.Required = append(w.Spec.Required, placement.Name)
	receipt, err := statement.Decode(w.Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Predicate.Verdict == reason.Pass || receipt.Predicate.Placement != "not observed" {
		t.Errorf("verdict %s, placement %q", receipt.Predicate.Verdict, receipt.Predicate.Placement)
	}
	d, err := report.New(receipt)
	if err != nil {
		t.Fatal(err)
	}
	record, err := answer.Plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.AddPlacement(record); err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := d.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"This plan is of the stand-in", "<title>weights: ios16.softmax on CPU, 20.00 % of the estimated cost</title>", `<rect class="break"`,
		"<tr><td>first</td><td>weights (ios16.softmax) on CPU</td><td>second</td></tr>", "PLACEMENT_STAND_IN"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}
