package computeplan_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
)

const (
	cpu = computeplan.CPU
	ne  = computeplan.NeuralEngine
)

func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// published are plans that others printed on their own machines: the facts, in this package's form. Operators, devices and weights are
// theirs; where they printed no layer, the position stands for it.
var published = []struct {
	source string
	ops    []string
	// share of the Neural Engine, NaN where no operation has a cost; breaks of its chain.
	share  float64
	breaks int
}{
	// github.com/freedomtan/coreml_modelc_profling, README.md at 01499821 (BSD-3-Clause): the first operations of a MobilenetEdgeTPU.
	{"freedomtan/coreml_modelc_profling", []string{"ios17.mul 0 cpu 0.046175", "ios17.add 1 cpu 0.036490", "ios17.cast 2 cpu 0.022767",
		"ios17.conv 3 ne 0.005662", "ios16.relu 4 ne 0.024627", "ios17.conv 5 ne 0.045811", "ios17.conv 6 ne 0.029749",
		"ios16.relu 7 ne 0.024627", "ios17.conv 8 ne 0.006614", "ios17.conv 9 ne 0.030671", "ios16.relu 10 ne 0.024627",
		"ios17.conv 11 ne 0.006614", "ios17.add 12 ne 0.018685"}, 0.673705, 0},
	// github.com/vx-lang/Vx/issues/436: a matrix product of 4 by 4. Supported by all, and the CPU preferred for each; no costs printed.
	{"vx-lang/Vx#436", []string{"cast 0 cpu -", "cast 1 cpu -", "matmul 2 cpu -", "cast 3 cpu -"}, math.NaN(), 0},
	// github.com/0seba/VoxCPMANE/issues/15, on an M5 Max: constants have no device, and no supported one. No costs printed.
	{"0seba/VoxCPMANE#15", []string{"ios18.mul var_20_cast_fp16 ne -", "const _inversed_mean_square_1_axes_0 - -",
		"const _inversed_mean_square_1_keep_dims_0 - -", "ios16.reduce_mean _inversed_mean_square_1_cast_fp16 ne -",
		"const var_25_to_fp16 - -", "ios18.add var_26_cast_fp16 ne -", "const var_27_epsilon_0 - -",
		"ios18.rsqrt var_27_cast_fp16 ne -", "ios18.mul normalized_1_cast_fp16 ne -"}, math.NaN(), 0},
	// A remark in a session of clpeak: a transformer block of 26 operations, all on the CPU, was given 0 for every cost.
	{"clpeak, costs of zero", []string{"ios16.linear a cpu 0", "ios16.softmax b cpu 0"}, math.NaN(), 0},
	// github.com/roboflow/rf-detr/pull/1495, on an M3 Pro: of 599 operations 592 are on the Neural Engine, with 0.999 of the cost; topk and
	// what takes its indices leave it.
	{"roboflow/rf-detr#1495", append(repeat(592, "ios16.conv", "ne", 0.999/592), "ios16.topk topk cpu 0.001", "ios16.add after ne 0"), 0.999, 1},
}

func repeat(n int, operator, on string, weight float64) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s layer_%d %s %g", operator, i, on, weight))
	}
	return out
}

func TestPublishedPlans(t *testing.T) {
	for _, c := range published {
		p, err := computeplan.ParsePlan(encode(t, placementtest.Plan(c.ops...)))
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		share := p.ShareOf(ne).Weight
		if math.IsNaN(share) != math.IsNaN(c.share) || math.Abs(share-c.share) > 1e-5 {
			t.Errorf("%s: share %v, want %v", c.source, share, c.share)
		}
		if breaks := p.Breaks(ne); len(breaks) != c.breaks {
			t.Errorf("%s: breaks %+v, want %d", c.source, breaks, c.breaks)
		}
	}
}

func TestShares(t *testing.T) {
	p := placementtest.Plan("const c - -", "a 1 ne 0.2", "b 2 gpu 0.1", "c 3 cpu 0.1", "d 4 ne -")
	total, operations := 0.0, 0
	for _, s := range p.Shares() {
		total += s.Weight
		operations += s.Operations
	}
	if math.Abs(total-1) > 1e-12 || operations != 4 || math.Abs(p.ShareOf(ne).Weight-0.5) > 1e-12 || p.ShareOf(ne).Operations != 2 {
		t.Errorf("%+v", p.Shares())
	}
	if len(p.Unweighed(ne)) != 0 || len(p.Unweighed(cpu)) != 1 {
		t.Errorf("unweighed: %v, %v", p.Unweighed(ne), p.Unweighed(cpu))
	}
}

func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  []string
		want string
	}{
		{"none", []string{"a 1 ne 0", "b 2 ne 0"}, ""},
		{"at the edges alone", []string{"a 1 cpu 0", "b 2 ne 0", "c 3 gpu 0"}, ""},
		{"constants between", []string{"a 1 ne 0", "const k - -", "b 2 ne 0"}, ""},
		{"one of two operations", []string{"a 1 ne 0", "b 2 cpu 0", "c 3 gpu 0", "d 4 ne 0"}, "1>2,3>4"},
		{"two", []string{"a 1 ne 0", "b 2 cpu 0", "c 3 ne 0", "d 4 cpu 0", "e 5 ne 0", "f 6 cpu 0"}, "1>2>3 3>4>5"},
		{"never there", []string{"a 1 cpu 0", "b 2 cpu 0"}, ""},
	} {
		var got []string
		for _, b := range placementtest.Plan(c.ops...).Breaks(ne) {
			var layers []string
			for _, o := range b.Operations {
				layers = append(layers, o.Layer())
			}
			got = append(got, b.After+">"+strings.Join(layers, ",")+">"+b.Before)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, from, to, why string
	}{
		{"another schema", `"schema":1`, `"schema":2`, "schema 2"},
		{"an unknown member", `"schema":1`, `"schema":1,"speed":3`, "unknown field"},
		{"a member twice", `"units":"all"`, `"units":"all","units":"all"`, "duplicate key"},
		{"a missing member", `"units":"all",`, ``, "units"},
		{"another framework", `"com.apple.CoreML"`, `"com.apple.CoreMl"`, "framework"},
		{"an unknown result", `"observed"`, `"seen"`, "result"},
		{"operations of what was not observed", `"result":"observed"`, `"result":"pending"`, "and yet 2 operations"},
		{"an error of what was observed", `"error":null`, `"error":{"domain":"d","code":"1","description":null,"reason":null,"underlying":[]}`, "with an error"},
		{"an unknown device", `"preferred":"neural_engine"`, `"preferred":"ane"`, `"ane"`},
		{"a device that is not supported", `"supported":["cpu","gpu","neural_engine"]`, `"supported":["cpu","gpu"]`, "not among the supported"},
		{"a device that the machine has not", `,{"kind":"neural_engine","cores":16}`, ``, "device list does not have"},
		{"a weight above 1", `"weight":0.25`, `"weight":1.25`, "expected 0 to 1"},
		{"a negative weight", `"weight":0.25`, `"weight":-0.25`, "expected 0 to 1"},
		{"weights of more than one whole", `"weight":0.25`, `"weight":0.9`, "shares of one whole"},
		{"a layer twice", `"outputs":["one"]`, `"outputs":["two"]`, "there twice"},
		{"an operation without a name", `"operator":"a"`, `"operator":""`, "expected both names"},
		{"cores of a processor", `{"kind":"cpu","cores":null}`, `{"kind":"cpu","cores":4}`, "cores"},
		{"a device list", `"mode":"plan"`, `"mode":"devices"`, "mode"},
		{"a kind of model", `"model_kind":"program"`, `"model_kind":"pipeline"`, "model_kind"},
	} {
		good := string(encode(t, placementtest.Plan("a one ne 0.25", "b two cpu 0.5")))
		if !strings.Contains(good, c.from) {
			t.Fatalf("%s: %q is not in %s", c.name, c.from, good)
		}
		_, err := computeplan.ParsePlan([]byte(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.name, err, c.why)
		}
	}
}

func TestDevices(t *testing.T) {
	for _, has := range []bool{true, false} {
		l, err := computeplan.ParseDevices(encode(t, placementtest.List(has)))
		if err != nil || l.Has(ne) != has {
			t.Errorf("%+v, %v, want a Neural Engine: %v", l, err, has)
		}
	}
	empty := placementtest.List(true)
	empty.Devices = []computeplan.Listed{}
	if _, err := computeplan.ParseDevices(encode(t, empty)); err == nil {
		t.Error("a machine without a processor is taken")
	}
	if _, err := computeplan.ParseDevices(encode(t, placementtest.Encoder())); err == nil {
		t.Error("a plan is taken for a device list")
	}
}

func FuzzParsePlan(f *testing.F) {
	for _, c := range published {
		f.Add(encode(f, placementtest.Plan(c.ops[:min(20, len(c.ops))]...)))
	}
	f.Add(encode(f, placementtest.Encoder()))
	f.Add(encode(f, placementtest.Unfinished(computeplan.Failed, "Failed to build the model execution plan")))
	f.Add(encode(f, placementtest.Unfinished(computeplan.NotObserved, "MLComputePlan needs macOS 14.4")))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := computeplan.ParsePlan(data)
		if err != nil {
			return
		}
		total, none := 0.0, 0
		for _, s := range p.Shares() {
			if math.IsNaN(s.Weight) {
				none++
				continue
			}
			total += s.Weight
		}
		if none == 0 && math.Abs(total-1) > 1e-9 || none != 0 && none != len(computeplan.Devices) {
			t.Fatalf("shares %+v", p.Shares())
		}
		for _, d := range computeplan.Devices {
			for _, b := range p.Breaks(d) {
				for _, o := range b.Operations {
					if *o.Preferred == d {
						t.Fatalf("%+v breaks a chain of its own device", o)
					}
				}
			}
		}
		if _, err := computeplan.ParsePlan(encode(t, p)); err != nil {
			t.Fatalf("an accepted plan is refused when written again: %v", err)
		}
	})
}

func FuzzParseDevices(f *testing.F) {
	f.Add(encode(f, placementtest.List(true)))
	f.Add(encode(f, placementtest.List(false)))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := computeplan.ParseDevices(data)
		if err != nil {
			return
		}
		if _, err := computeplan.ParseDevices(encode(t, l)); err != nil {
			t.Fatalf("an accepted list is refused when written again: %v", err)
		}
	})
}
