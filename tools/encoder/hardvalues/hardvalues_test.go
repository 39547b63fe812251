package hardvalues

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe/probetest"
)

func TestMain(m *testing.M) { probetest.Main(m) }

func known(t *testing.T) []Difference {
	t.Helper()
	list, err := Known()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEvaluator(t *testing.T) {
	r, err := Run(t.Context(), Evaluator, Cases(), known(t), Evaluate)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Reasons {
		t.Error(x)
	}
	if r.Cases < 80 || r.Expected != 1 {
		t.Errorf("%d cases, %d differ as listed", r.Cases, r.Expected)
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Name] {
			t.Errorf("%q stands there twice", c.Name)
		}
		seen[c.Name] = true
	}
}

// TestRun shows that the list is held in both directions.
func TestRun(t *testing.T) {
	cases := Cases()[:3]
	right := func(_ context.Context, c *Case) (map[string][]byte, error) {
		return map[string][]byte{"y": c.Want[0].Data}, nil
	}
	// wrong changes one bit of the second case.
	wrong := func(ctx context.Context, c *Case) (map[string][]byte, error) {
		out, err := right(ctx, c)
		if c.Name == cases[1].Name {
			out = map[string][]byte{"y": slices.Clone(out["y"])}
			out["y"][2] ^= 1
		}
		return out, err
	}
	refuses := func(context.Context, *Case) (map[string][]byte, error) {
		return nil, fmt.Errorf("%w: not today", ErrRefused)
	}
	listed := []Difference{{Side: Evaluator, Case: cases[1].Name, Why: "a test"}}
	for _, c := range []struct {
		name    string
		side    string
		predict Predict
		known   []Difference
		want    []string
	}{
		{"all right", Evaluator, right, nil, nil},
		{"differs", Evaluator, wrong, nil, []string{"HARD_VALUE_DIFFERS"}},
		{"differs as listed", Evaluator, wrong, listed, nil},
		{"an unexpected pass", Evaluator, right, listed, []string{"HARD_VALUE_AGREES"}},
		{"listed for the other side", CoreML, wrong, listed, []string{"HARD_VALUE_DIFFERS"}},
		{"a case that is gone", Evaluator, right, []Difference{{Side: Evaluator, Case: "gone"}}, []string{"HARD_VALUE_UNKNOWN"}},
		{"a side that is none", Evaluator, right, []Difference{{Side: "gpu", Case: cases[0].Name}}, []string{"HARD_VALUE_UNKNOWN"}},
		{"refusals", Evaluator, refuses, nil, []string{"HARD_VALUE_DIFFERS", "HARD_VALUE_DIFFERS", "HARD_VALUE_DIFFERS"}},
	} {
		r, err := Run(t.Context(), c.side, cases, c.known, c.predict)
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, x := range r.Reasons {
			codes = append(codes, x.Code)
			if _, ok := reason.Lookup(x.Code); !ok {
				t.Errorf("%s is not in the table", x.Code)
			}
		}
		if !slices.Equal(codes, c.want) {
			t.Errorf("%s: %v, want %v", c.name, r.Reasons, c.want)
		}
	}
	broken := func(context.Context, *Case) (map[string][]byte, error) { return nil, errors.New("no such program") }
	if r, err := Run(t.Context(), Evaluator, cases, nil, broken); err == nil {
		t.Errorf("a side that cannot be asked gives %+v", r)
	}
	// An answer where a refusal is due.
	all := Cases()
	last := all[len(all)-1:]
	if r, err := Run(t.Context(), Evaluator, last, nil, right); err != nil || len(r.Reasons) != 1 || !strings.Contains(r.Reasons[0].Found, "expected a refusal") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestHalfOf(t *testing.T) {
	for h := range 1 << 16 {
		v := halfValue(uint16(h))
		if got := halfOf(v); got != uint16(h) && !(v != v && got == 0x7e00) {
			t.Fatalf("%#04x is %g and becomes %#04x", h, v, got)
		}
	}
	for v, want := range map[float64]uint16{65519.99: 0x7bff, 65520: 0x7c00, -65520: 0xfc00, 1e300: 0x7c00, 0x1p-25: 0, 0x1.000001p-25: 1, 0x1.8p-24: 2, 1 + 0x1p-11: 0x3c00, 1 + 0x3p-11: 0x3c02, 5e-324: 0} {
		if got := halfOf(v); got != want {
			t.Errorf("%g becomes %#04x, want %#04x", v, got, want)
		}
	}
}

// TestPackages holds that each case can be written for Apple's compiler, as ours compiles it again to the same program.
func TestPackages(t *testing.T) {
	for _, c := range Cases() {
		if c.Refused {
			continue
		}
		dir := t.TempDir()
		if err := c.WritePackage(filepath.Join(dir, "c.mlpackage")); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if err := compileHere(t.Context(), filepath.Join(dir, "c.mlpackage"), filepath.Join(dir, "c.mlmodelc")); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "c.mlmodelc/model.mil"))
		if err != nil || !strings.Contains(string(text), c.Inputs[0].typed()) {
			t.Errorf("%s: %v: %s", c.Name, err, text)
		}
	}
}

func compileHere(_ context.Context, pkg, compiled string) error {
	a, err := bundle.Open(pkg)
	if err != nil {
		return err
	}
	return errors.Join(bundle.Compile(a, compiled), a.Close())
}

// TestProbe has a program play the probe.
func TestProbe(t *testing.T) {
	all := Cases()
	c := all[slices.IndexFunc(all, func(c Case) bool { return strings.HasPrefix(c.Name, "input with padded rows, fp32") })]
	ask := func(change func(r *probe.Report)) error {
		r := probetest.Report("y", c.Want[0].Shape...)
		change(r)
		program := probetest.Program(t, r, map[string][]byte{"y": c.Want[0].Data}, "")
		differs, broken := c.check(t.Context(), Probe(program, compileHere, time.Minute))
		return errors.Join(differs, broken)
	}
	if err := ask(func(*probe.Report) {}); err != nil {
		t.Error(err)
	}
	for name, x := range map[string]struct {
		change func(r *probe.Report)
		want   string
	}{
		"fewer units":   {func(r *probe.Report) { probetest.Refused(r, 2) }, `not loaded at all units, but "cpu_and_gpu"`},
		"no load":       {func(r *probe.Report) { probetest.Refused(r, 4) }, "not loaded at all units"},
		"no prediction": {func(r *probe.Report) { probetest.Unpredicted(r, probe.Failed, probetest.Failure("no")) }, "-14: no"},
		"other shape":   {func(r *probe.Report) { *r = *probetest.Report("y", 30) }, "found float32 [30]"},
	} {
		if err := ask(x.change); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	noCompiler := func(context.Context, string, string) error { return fmt.Errorf("%w: coremlc", ErrRefused) }
	refused := all[len(all)-1]
	if differs, broken := refused.check(t.Context(), Probe("none", noCompiler, time.Minute)); differs != nil || broken != nil {
		t.Errorf("a shape that coremlc refuses: %v, %v", differs, broken)
	}
}

func TestCompare(t *testing.T) {
	want := vector("y", "fp32", f32(1, float32(math.NaN()), 0))
	for name, c := range map[string]struct {
		got   []byte
		exact bool
		ok    bool
	}{
		"same":         {f32(1, float32(math.NaN()), 0), true, true},
		"other NaN":    {f32(1, math.Float32frombits(0xffc12345), 0), false, true},
		"NaN bits":     {f32(1, math.Float32frombits(0xffc12345), 0), true, false},
		"no NaN":       {f32(1, 2, 0), false, false},
		"minus zero":   {f32(1, float32(math.NaN()), float32(math.Copysign(0, -1))), false, false},
		"short":        {f32(1), false, false},
		"one bit less": {f32(math.Nextafter32(1, 0), float32(math.NaN()), 0), false, false},
	} {
		if err := want.compare(c.got, c.exact); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpsetsAreKnown(t *testing.T) {
	for _, c := range Cases() {
		if !slices.Contains(slices.Collect(maps.Keys(opsets)), c.Opset) {
			t.Errorf("%s: %s", c.Name, c.Opset)
		}
	}
}

// A Mac must refuse what its Core ML does not have yet, and answer everything else.
func TestOn(t *testing.T) {
	all := Cases()
	for version, set := range map[string]string{"26.1": "", "15.7.7": "ios26", "14": "ios18", "13.3": "ios17"} {
		cases, err := On(all, version)
		if err != nil {
			t.Fatal(err)
		}
		refused := map[string]bool{}
		for i, c := range cases {
			if c.Refused && !all[i].Refused {
				refused[c.Opset] = true
			}
		}
		if set != "" && set != "ios18" && !refused[set] || set == "" && len(refused) > 0 || refused["ios16"] {
			t.Errorf("macOS %s refuses %v, expected %q", version, refused, set)
		}
	}
	for _, version := range []string{"", "sonoma", "1", "-3"} {
		if _, err := On(all, version); err == nil {
			t.Errorf("%q is taken for a version", version)
		}
	}
	for _, c := range all {
		if needs[c.Opset] == 0 {
			t.Errorf("%s: the operation set %s has no macOS", c.Name, c.Opset)
		}
	}
}

// Every operation that only other models use has a case here too.
func TestOperationsBeyondWhisper(t *testing.T) {
	var text strings.Builder
	for _, c := range Cases() {
		text.WriteString(c.Body)
	}
	for _, name := range strings.Fields(`equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not select
		floor_div mod real_div max_pool avg_pool pad batch_norm leaky_relu gather gather_along_axis gather_nd reverse tile upsample_nearest_neighbor
		topk reduce_argmax reduce_argmin quantize dequantize shape range_1d fill matmul`) {
		if !strings.Contains(text.String(), " "+name+"(") {
			t.Errorf("no case has %s", name)
		}
	}
}
