package eval_test

import (
	"math"
	"os"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
)

// BenchmarkEncoder evaluates the artifact named by the variable
// COREML_GATE_BENCH_ENCODER; run by hand.
func BenchmarkEncoder(b *testing.B) {
	path := os.Getenv("COREML_GATE_BENCH_ENCODER")
	if path == "" {
		b.Skip("COREML_GATE_BENCH_ENCODER names no artifact")
	}
	a, err := bundle.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	if err := a.Check(); err != nil {
		b.Fatal(err)
	}
	plan, err := eval.Compile(a.Program, a.Program.Functions[0].Name, a, eval.Options{})
	if err != nil {
		b.Fatal(err)
	}
	in := plan.Inputs[0]
	n := 1
	for _, d := range in.Shape {
		n *= int(d)
	}
	mel := mil.Tensor{DType: in.DType, Shape: in.Shape, Data: make([]byte, 0, 4*n)}
	for i := range n {
		v := math.Float32bits(float32(math.Sin(float64(i) * 0.37)))
		mel.Data = append(mel.Data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	for b.Loop() {
		if _, err := plan.Run(b.Context(), map[string]mil.Tensor{in.Name: mel}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(plan.MemoryNeed())/1e6, "MB")
}
