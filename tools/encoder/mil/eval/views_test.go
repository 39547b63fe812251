package eval

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// turned gives a tensor with its axes in the opposite order.
func turned(t mil.Tensor) mil.Tensor {
	size, rank := t.DType.Bits()/8, len(t.Shape)
	out := mil.Tensor{DType: t.DType, Shape: slices.Clone(t.Shape)}
	slices.Reverse(out.Shape)
	at := make([]int64, rank) // in out
	for range len(t.Data) / size {
		from := int64(0)
		for d, step := rank-1, int64(1); d >= 0; d-- {
			from += at[rank-1-d] * step
			step *= t.Shape[d]
		}
		out.Data = append(out.Data, t.Data[from*int64(size):(from+1)*int64(size)]...)
		for d := rank - 1; d >= 0; d-- {
			if at[d]++; at[d] < out.Shape[d] {
				break
			}
			at[d] = 0
		}
	}
	return out
}

// Every operation reads a view as it reads a tensor that lies in order: each input of the corpus is fed with its axes turned around,
// and turned back by the program.
func TestCorpusThroughViews(t *testing.T) {
	turnedInputs := 0
	for _, c := range readCorpus(t) {
		p, err := text.Parse(c.Program)
		if err != nil {
			t.Fatal(err)
		}
		f := p.Functions[0]
		in := map[string]mil.Tensor{}
		var back []*mil.Op
		for i, q := range f.Params {
			v := c.Inputs[q.Name].tensor(t)
			if len(q.Type.Shape) < 2 {
				in[q.Name] = v
				continue
			}
			turnedInputs++
			raw := q.Name + "_raw"
			v = turned(v)
			in[raw] = v
			var perm []byte
			for d := len(v.Shape) - 1; d >= 0; d-- {
				perm = binary.LittleEndian.AppendUint32(perm, uint32(d))
			}
			value := &mil.Value{Type: mil.TensorOf(mil.Int32, int64(len(v.Shape))), Data: perm}
			back = append(back, &mil.Op{Type: "transpose", Outputs: []mil.Param{q}, Inputs: []mil.Arg{
				{Name: "x", Bindings: []mil.Binding{{Name: raw}}}, {Name: "perm", Bindings: []mil.Binding{{Value: value}}}}})
			f.Params[i] = mil.Param{Name: raw, Type: mil.TensorOf(q.Type.DType, v.Shape...)}
		}
		f.Body.Ops = append(back, f.Body.Ops...)
		plan, err := Compile(p, "main", nil, Options{Threads: 3})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		out, err := plan.Run(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for name, want := range c.Outputs {
			if err := c.agree(out[name], want.tensor(t)); err != nil {
				t.Errorf("%s: output %s: %v", c.Name, name, err)
			}
		}
	}
	if turnedInputs < 300 {
		t.Errorf("%d inputs were turned around", turnedInputs)
	}
}
