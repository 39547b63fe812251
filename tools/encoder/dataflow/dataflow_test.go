package dataflow

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// The positions are divided where nothing else can be taken for them.
func TestDivisor(t *testing.T) {
	for _, c := range []struct{ ctx, state, heads, mels, want int }{
		{1500, 384, 6, 80, 150}, // tiny: 10 positions; 1536 and 3072 are no multiples of 150
		{1500, 1280, 20, 128, 150},
		{16, 16, 2, 80, 1},
		{1500, 1500, 6, 80, 1},
	} {
		h := ggml.Hyperparameters{AudioCtx: c.ctx, AudioState: c.state, AudioHead: c.heads, Mels: c.mels}
		if got := divisor(h); got != int64(c.want) {
			t.Errorf("%+v: divided by %d, want %d", c, got, c.want)
		}
	}
}

// Only what an output depends on is live.
func TestLive(t *testing.T) {
	p, err := text.Parse(`program(1.0) { func main<ios15>(tensor<fp32, [2]> x) {
		tensor<fp32, [2]> a = const()[val = tensor<fp32, [2]>([1, 2])];
		tensor<fp32, [2]> b = const()[val = tensor<fp32, [2]>([3, 4])];
		tensor<fp32, [2]> dead = add(x = x, y = b);
		tensor<fp32, [2]> y = add(x = x, y = a);
	} -> (y); }`)
	if err != nil {
		t.Fatal(err)
	}
	f := p.Functions[0]
	var live []string
	for _, op := range f.Body.Ops {
		if Live(f)[op] {
			live = append(live, op.Outputs[0].Name)
		}
	}
	if want := []string{"a", "y"}; !slices.Equal(live, want) {
		t.Errorf("live are %v, want %v", live, want)
	}
}

// A program that cannot be evaluated is an error that names the operation, and control flow is one of its own.
func TestRefusals(t *testing.T) {
	model := small(t)
	for name, ops := range map[string]string{
		"an unknown operation": `tensor<fp32, [1, 16, 8]> y = lstm(x = logmel_data);`,
		"another shape":        `tensor<fp32, [1, 16, 8]> y = identity(x = logmel_data);`,
	} {
		p, err := text.Parse(`program(1.0) { func main<ios15>(tensor<fp32, [1, 80, 32]> logmel_data) { ` + ops + ` } -> (y); }`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), p.Functions[0], nil, model.Hyperparameters, of(model)); err == nil {
			t.Errorf("%s was evaluated", name)
		}
	}
	loop := &mil.Function{Name: "main", Body: &mil.Block{Outputs: []string{"y"}, Ops: []*mil.Op{
		{Type: "cond", Outputs: []mil.Param{{Name: "y", Type: mil.TensorOf(mil.Float32, 1)}}, Blocks: []*mil.Block{{}}}}}}
	if _, err := Run(t.Context(), loop, nil, model.Hyperparameters, of(model)); err == nil {
		t.Error("control flow was evaluated")
	}
}

func small(t *testing.T) *ggml.Model {
	t.Helper()
	var b bytes.Buffer
	if err := synthetic.Write(&b, synthetic.Options{Layers: 1, TextLayers: 1, State: 8, Heads: 2, AudioCtx: 16, TextCtx: 4, Vocab: 16}); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func of(m *ggml.Model) func(string, []int) ([]float32, error) {
	return func(name string, _ []int) ([]float32, error) {
		t, ok := m.Tensor("encoder." + name)
		if !ok {
			return nil, fmt.Errorf("no tensor %s", name)
		}
		return m.Float32s(t)
	}
}

// A program that chooses by its input shows one of its ways alone; a choice among constants or by a shape is none.
func TestChoice(t *testing.T) {
	const less, pick = "tensor<bool, [2]> b = less(x = x, y = x);", "tensor<fp32, [2]> y = select(cond = b, a = x, b = x);"
	for name, c := range map[string]struct{ ops, named string }{
		"by a comparison":       {less + pick, "b"},
		"by a cast":             {`tensor<bool, [2]> b = cast(x = x, dtype = string("bool"));` + pick, "y"},
		"by an index":           {`tensor<int32, [2]> b = cast(x = x, dtype = string("int32")); tensor<fp32, [2]> y = gather(x = x, indices = b, axis = int32(0));`, "y"},
		"by an order":           {"tensor<fp32, [1]> y, tensor<int32, [1]> i = topk(x = x, k = int32(1));", "y"},
		"by a mask":             {`tensor<bool, [2]> b = cast(x = x, dtype = string("bool")); tensor<fp32, [2]> y = scaled_dot_product_attention(query = x, key = x, value = x, attn_mask = b);`, "y"},
		"by a constant":         {"tensor<bool, [2]> b = less(x = tensor<fp32, [2]>([1, 2]), y = tensor<fp32, [2]>([2, 1]));" + pick, ""},
		"by a constant index":   {"tensor<fp32, [1]> y = gather(x = x, indices = tensor<int32, [1]>([1]), axis = int32(0));", ""},
		"by a shape":            {"tensor<int32, [1]> s = shape(x = x); tensor<bool, [1]> b = less(x = s, y = s); tensor<fp32, [2]> y = select(cond = b, a = x, b = x);", ""},
		"where no output is of": {less + "tensor<fp32, [2]> y = relu(x = x);", ""},
	} {
		p, err := text.Parse("program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { " + c.ops + " } -> (y); }")
		if err != nil {
			t.Fatal(err)
		}
		err = choice(p.Functions[0])
		var u *eval.Unsupported
		if c.named == "" && err != nil || c.named != "" && (!errors.As(err, &u) || u.Obstacles[0].Output != c.named) {
			t.Errorf("%s: %v, expected %q named", name, err, c.named)
		}
	}
}
