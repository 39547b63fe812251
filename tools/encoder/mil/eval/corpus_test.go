package eval

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// The corpus is made by tools/dev/peers/mil_ops.py: programs, inputs, and what
// coremltools' own value inference answers.
//
//go:embed testdata/ops.json
var corpus []byte

type corpusTensor struct {
	DType string  `json:"dtype"`
	Shape []int64 `json:"shape"`
	Hex   string  `json:"hex"`
}

type corpusCase struct {
	Name    string                  `json:"name"`
	Program string                  `json:"program"`
	Inputs  map[string]corpusTensor `json:"inputs"`
	Outputs map[string]corpusTensor `json:"outputs"`
	// A value may differ by so many units in the last place of the expected
	// one, or by so much.
	ULP float64 `json:"ulp"`
	Abs float64 `json:"abs"`
}

func (c corpusTensor) tensor(t *testing.T) mil.Tensor {
	t.Helper()
	d, ok := mil.ParseDType(c.DType)
	b, err := hex.DecodeString(c.Hex)
	if !ok || err != nil {
		t.Fatalf("the corpus holds a tensor of type %q, %v", c.DType, err)
	}
	shape := c.Shape
	if len(shape) == 0 {
		shape = []int64{1} // a scalar, as it enters and leaves a program
	}
	return mil.Tensor{DType: d, Shape: shape, Data: b}
}

func readCorpus(t *testing.T) []corpusCase {
	t.Helper()
	var cases []corpusCase
	if err := json.Unmarshal(corpus, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 200 {
		t.Fatalf("the corpus has %d cases only", len(cases))
	}
	return cases
}

// known lists cases whose difference from the corpus is understood. They are
// evaluated all the same, and fail when they differ no more.
var known = map[string]string{}

func TestCorpus(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range readCorpus(t) {
		err := c.check(t, Options{})
		why, expected := known[c.Name]
		seen[c.Name] = true
		switch {
		case err != nil && !expected:
			t.Errorf("%s: %v", c.Name, err)
		case err == nil && expected:
			t.Errorf("%s agrees, though it is listed as differing (%s): take it off the list", c.Name, why)
		}
	}
	for name := range known {
		if !seen[name] {
			t.Errorf("%s is listed as differing, but is not in the corpus", name)
		}
	}
}

func (c corpusCase) check(t *testing.T, o Options) error {
	t.Helper()
	p, err := text.Parse(c.Program)
	if err != nil {
		return err
	}
	plan, err := Compile(p, "main", nil, o)
	if err != nil {
		return err
	}
	in := map[string]mil.Tensor{}
	for name, v := range c.Inputs {
		in[name] = v.tensor(t)
	}
	out, err := plan.Run(t.Context(), in)
	if err != nil {
		return err
	}
	for name, v := range c.Outputs {
		if err := c.agree(out[name], v.tensor(t)); err != nil {
			return fmt.Errorf("output %s: %w", name, err)
		}
	}
	return nil
}

func (c corpusCase) agree(got, want mil.Tensor) error {
	if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) || len(got.Data) != len(want.Data) {
		return fmt.Errorf("%s %v of %d bytes, want %s %v of %d", got.DType, got.Shape, len(got.Data), want.DType, want.Shape, len(want.Data))
	}
	g, w := numbersOf(got), numbersOf(want)
	for i := range w {
		a, b := g[i], w[i]
		switch {
		case a == b && math.Signbit(a) == math.Signbit(b), a != a && b != b:
		case a == b && c.ULP > 0: // zeros of either sign, where rounding is loose anyway
		case math.Abs(a-b) <= math.Max(c.Abs, c.ULP*unit(want.DType, b)):
		default:
			return fmt.Errorf("element %d is %g, want %g", i, a, b)
		}
	}
	return nil
}

// unit is the distance from |v| to the next number of the type.
func unit(d mil.DType, v float64) float64 {
	v = math.Abs(v)
	digits, least := 23, -149
	if d == mil.Float16 {
		digits, least = 10, -24
	}
	if v == 0 || math.IsInf(v, 0) {
		return math.Ldexp(1, least)
	}
	_, exp := math.Frexp(v)
	return math.Ldexp(1, max(exp-1-digits, least))
}

func numbersOf(t mil.Tensor) []float64 {
	switch t.DType {
	case mil.Float32:
		return each(cells[float32](aligned(t.Data, t.DType)), func(v float32) float64 { return float64(v) })
	case mil.Float16:
		return each(cells[uint16](aligned(t.Data, t.DType)), func(v uint16) float64 { return float64(kernel.HalfToFloat32(v)) })
	case mil.Int32:
		return each(cells[int32](aligned(t.Data, t.DType)), func(v int32) float64 { return float64(v) })
	}
	return each(t.Data, func(v byte) float64 { return float64(v) })
}

func each[T any](v []T, f func(T) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

// Neither threads nor the choice of what to keep changes a byte.
func TestCorpusIsTheSameForAnyThreads(t *testing.T) {
	for _, c := range readCorpus(t) {
		p, err := text.Parse(c.Program)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]mil.Tensor{}
		for name, v := range c.Inputs {
			in[name] = v.tensor(t)
		}
		var first map[string]mil.Tensor
		for _, o := range []Options{{Threads: 1}, {Threads: 5}, {KeepAll: true}} {
			plan, err := Compile(p, "main", nil, o)
			if err != nil {
				break // TestCorpus reports it
			}
			out, err := plan.Run(t.Context(), in)
			if err != nil {
				break
			}
			if first == nil {
				first = out
			}
			for name, v := range out {
				if !slices.Equal(v.Data, first[name].Data) {
					t.Errorf("%s: output %s changes with %+v", c.Name, name, o)
				}
			}
		}
	}
}

// Every operation that is offered is in the corpus, or has tests of its own.
func TestEveryOperationIsAnswered(t *testing.T) {
	own := []string{"const", "identity", "constexpr_affine_dequantize", "constexpr_cast", "constexpr_lut_to_dense", "constexpr_sparse_to_dense",
		"constexpr_blockwise_shift_scale", "constexpr_lut_to_sparse", "constexpr_sparse_blockwise_shift_scale"}
	answered := map[string]bool{}
	for _, c := range readCorpus(t) {
		p, err := text.Parse(c.Program)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range p.Functions[0].Body.Ops {
			answered[op.Type] = true
		}
	}
	for _, s := range Operations() {
		if !answered[s.Op] && !slices.Contains(own, s.Op) {
			t.Errorf("%s is offered, but no case answers it", s.Op)
		}
	}
}
