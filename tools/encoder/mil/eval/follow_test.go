package eval

import (
	"bytes"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// What follows a product is joined to it where it alone reads it, and the bytes are those of separate steps.
func TestWhatFollowsAProductIsJoined(t *testing.T) {
	const params = "tensor<T,[1,7,8]> x, tensor<T,[8,8]> w, tensor<T,[1,7,8]> r, tensor<T,[8]> v, tensor<T,[8,7,3]> k"
	const linear = "tensor<T,[1,7,8]> p = linear(x=x, weight=w, bias=v);\n"
	const conv = `tensor<T,[1,8,6]> p = conv(x=x, weight=k, bias=v, pad_type=string("custom"), pad=tensor<int32,[2]>([1,1]),
		strides=tensor<int32,[1]>([1]), dilations=tensor<int32,[1]>([1]), groups=int32(1));` + "\n"
	for name, c := range map[string]struct {
		body, outs string
		ops        string // of the steps that compute, in order
	}{
		"gelu":             {linear + `tensor<T,[1,7,8]> o = gelu(x=p, mode=string("EXACT"));`, "o", "linear, gelu"},
		"a residual":       {linear + "tensor<T,[1,7,8]> o = add(x=r, y=p);", "o", "linear, add"},
		"its order":        {linear + "tensor<T,[1,7,8]> o = sub(x=r, y=p);", "o", "linear, sub"},
		"its other order":  {linear + "tensor<T,[1,7,8]> o = sub(x=p, y=r);", "o", "linear, sub"},
		"a number":         {linear + "tensor<T,[1,7,8]> o = real_div(x=T(0.3), y=p);", "o", "linear, real_div"},
		"its own operand":  {linear + "tensor<T,[1,7,8]> o = mul(x=p, y=x);", "o", "linear, mul"},
		"several":          {linear + `tensor<T,[1,7,8]> a = gelu(x=p, mode=string("EXACT")); tensor<T,[1,7,8]> b = mul(x=a, y=r); tensor<T,[1,7,8]> o = relu(x=b);`, "o", "linear, gelu, mul, relu"},
		"through a view":   {linear + "tensor<T,[1,7,2,4]> s = reshape(x=p, shape=tensor<int32,[4]>([1,7,2,4])); tensor<T,[1,7,2,4]> o = mul(x=s, y=T(0.3));", "o", "linear, mul"},
		"a convolution":    {conv + `tensor<T,[1,8,6]> o = gelu(x=p, mode=string("EXACT"));`, "o", "conv, gelu"},
		"two products":     {linear + "tensor<T,[1,7,8]> q = linear(x=r, weight=w, bias=v); tensor<T,[1,7,8]> o = mul(x=q, y=p);", "o", "linear; linear, mul"},
		"a row for all":    {linear + "tensor<T,[1,7,8]> o = add(x=p, y=v);", "o", "linear; add"},
		"turned":           {linear + "tensor<T,[1,8,7]> u = transpose(x=p, perm=tensor<int32,[3]>([0,2,1])); tensor<T,[1,8,7]> o = relu(x=u);", "o", "linear; relu"},
		"one row for all":  {"tensor<T,[1,1,8]> y = slice_by_size(x=x, begin=tensor<int32,[3]>([0,2,0]), size=tensor<int32,[3]>([1,1,8])); tensor<T,[1,1,8]> p = linear(x=y, weight=w, bias=v); tensor<T,[1,7,8]> o = add(x=p, y=r);", "o", "linear; add"},
		"repeated":         {linear + "tensor<T,[1,1,8]> u = slice_by_size(x=p, begin=tensor<int32,[3]>([0,2,0]), size=tensor<int32,[3]>([1,1,8])); tensor<T,[1,7,8]> o = add(x=u, y=r);", "o", "linear; add"},
		"read twice":       {linear + `tensor<T,[1,7,8]> a = relu(x=p); tensor<T,[1,7,8]> o = add(x=p, y=a);`, "o", "linear; relu; add"},
		"with itself":      {linear + "tensor<T,[1,7,8]> o = add(x=p, y=p);", "o", "linear; add"},
		"an output":        {linear + "tensor<T,[1,7,8]> o = relu(x=p);", "o, p", "linear; relu"},
		"a view's output":  {linear + "tensor<T,[7,8]> s = squeeze(x=p, axes=tensor<int32,[1]>([0])); tensor<T,[1,7,8]> o = relu(x=p);", "o, s", "linear; relu"},
		"an output on top": {linear + "tensor<T,[1,7,8]> a = relu(x=p); tensor<T,[1,7,8]> o = add(x=a, y=r);", "o, a", "linear, relu; add"},
	} {
		for typ, d := range map[string]mil.DType{"fp32": mil.Float32, "fp16": mil.Float16} {
			text := func(s string) string { return strings.NewReplacer("<T,", "<"+typ+",", "T(", typ+"(").Replace(s) }
			in := map[string]mil.Tensor{"x": wave(d, 56, 1.1, 1, 7, 8), "w": wave(d, 64, 0.7, 8, 8), "r": wave(d, 56, 1.9, 1, 7, 8), "v": wave(d, 8, 2.3, 8), "k": wave(d, 168, 0.9, 8, 7, 3)}
			p := program(t, text(params), text(c.body), c.outs)
			if name == "a convolution" {
				in["x"] = wave(d, 42, 1.1, 1, 7, 6)
				p = program(t, text(strings.Replace(params, "x, ", "y, ", 1)+", tensor<T,[1,7,6]> x"), text(c.body), c.outs)
				in["y"] = wave(d, 56, 1.1, 1, 7, 8)
			}
			var first map[string]mil.Tensor
			for _, o := range []Options{{KeepAll: true}, {Threads: 2}} {
				plan, err := Compile(p, "main", nil, o)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				out, err := plan.Run(t.Context(), in)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if first == nil {
					first = out
					continue
				}
				var ops []string
				made := map[*node]bool{}
				for _, n := range plan.inputs {
					made[n] = true
				}
				for _, s := range plan.steps {
					for _, n := range s.ins {
						if !made[n.root] && n.root.constant == nil {
							t.Errorf("%s in %s: %s reads %s, which no step makes", name, typ, s.op, n.name)
						}
					}
					for _, n := range s.outs {
						made[n.root] = true
					}
					if !s.view() {
						ops = append(ops, s.op)
					}
				}
				if got := strings.Join(ops, "; "); got != c.ops {
					t.Errorf("%s in %s: steps %s; expected %s", name, typ, got, c.ops)
				}
				for k, v := range out {
					if !bytes.Equal(v.Data, first[k].Data) {
						t.Errorf("%s in %s: output %s changes when steps are joined", name, typ, k)
					}
				}
			}
		}
	}
}
