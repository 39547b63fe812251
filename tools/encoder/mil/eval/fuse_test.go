package eval

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// wave makes n values of a type.
func wave(d mil.DType, n int, seed float64, shape ...int64) mil.Tensor {
	t := mil.Tensor{DType: d, Shape: shape}
	for i := range n {
		v := float32(math.Sin(seed + 1.7*float64(i)*seed))
		if d == mil.Float16 {
			t.Data = binary.LittleEndian.AppendUint16(t.Data, kernel.Float32ToHalf(v))
		} else {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
		}
	}
	return t
}

// Two heads of four channels over five positions, in the plain form and in that
// of the Neural Engine.
const plainAttention = `
	tensor<T,[1,5,2,4]> qr = reshape(x=q, shape=tensor<int32,[4]>([1,5,2,-1]));
	tensor<T,[1,5,2,4]> kr = reshape(x=k, shape=tensor<int32,[4]>([1,5,2,-1]));
	tensor<T,[1,5,2,4]> vr = reshape(x=v, shape=tensor<int32,[4]>([1,5,2,-1]));
	tensor<T,[1,2,5,4]> qt = transpose(x=qr, perm=tensor<int32,[4]>([0,2,1,3]));
	tensor<T,[1,2,4,5]> kt = transpose(x=kr, perm=tensor<int32,[4]>([0,2,3,1]));
	tensor<T,[1,2,5,5]> s = matmul(x=qt, y=kt, transpose_x=bool(false), transpose_y=bool(false));
	tensor<T,[1,2,5,5]> w = softmax(x=s, axis=int32(-1));
	tensor<T,[1,2,5,4]> vt = transpose(x=vr, perm=tensor<int32,[4]>([0,2,1,3]));
	tensor<T,[1,2,5,4]> a = matmul(x=w, y=vt, transpose_x=bool(false), transpose_y=bool(false));
	tensor<T,[1,5,2,4]> at = transpose(x=a, perm=tensor<int32,[4]>([0,2,1,3]));
	tensor<T,[1,5,8]> o = reshape(x=at, shape=tensor<int32,[3]>([1,5,8]));
	tensor<T,[1,5,8]> output = add(x=o, y=q);`

const engineAttention = `
	tensor<T,[1,8,1,5]> q4 = expand_dims(x=qc, axes=tensor<int32,[1]>([2]));
	tensor<T,[1,8,1,5]> k4 = expand_dims(x=kc, axes=tensor<int32,[1]>([2]));
	tensor<T,[1,8,1,5]> v4 = expand_dims(x=vc, axes=tensor<int32,[1]>([2]));
	tensor<T,[1,5,1,8]> kt = transpose(x=k4, perm=tensor<int32,[4]>([0,3,2,1]));
	tensor<T,[1,4,1,5]> q0, tensor<T,[1,4,1,5]> q1 = split(x=q4, axis=int32(1), split_sizes=tensor<int32,[2]>([4,4]));
	tensor<T,[1,5,1,4]> k0, tensor<T,[1,5,1,4]> k1 = split(x=kt, axis=int32(3), split_sizes=tensor<int32,[2]>([4,4]));
	tensor<T,[1,4,1,5]> v0, tensor<T,[1,4,1,5]> v1 = split(x=v4, axis=int32(1), split_sizes=tensor<int32,[2]>([4,4]));
	tensor<T,[1,5,1,5]> s0 = einsum(equation=string("bkhc,bchq->bkhq"), values=(k0,q0));
	tensor<T,[1,5,1,5]> s1 = einsum(equation=string("bkhc,bchq->bkhq"), values=(k1,q1));
	tensor<T,[1,5,1,5]> w0 = softmax(x=s0, axis=int32(1));
	tensor<T,[1,5,1,5]> w1 = softmax(x=s1, axis=int32(1));
	tensor<T,[1,4,1,5]> a0 = einsum(equation=string("bchk,bkhq->bchq"), values=(v0,w0));
	tensor<T,[1,4,1,5]> a1 = einsum(equation=string("bchk,bkhq->bchq"), values=(v1,w1));
	tensor<T,[1,8,1,5]> a = concat(values=(a0,a1), axis=int32(1), interleave=bool(false));
	tensor<T,[1,8,5]> sq = squeeze(x=a, axes=tensor<int32,[1]>([2]));
	tensor<T,[1,5,8]> o = transpose(x=sq, perm=tensor<int32,[3]>([0,2,1]));
	tensor<T,[1,5,8]> output = add(x=o, y=q);`

// channels turns [1,5,8] into [1,8,5] for the Neural Engine's form.
const channels = `
	tensor<T,[1,8,5]> qc = transpose(x=q, perm=tensor<int32,[3]>([0,2,1]));
	tensor<T,[1,8,5]> kc = transpose(x=k, perm=tensor<int32,[3]>([0,2,1]));
	tensor<T,[1,8,5]> vc = transpose(x=v, perm=tensor<int32,[3]>([0,2,1]));`

func TestFusedAttentionIsTheSameBytes(t *testing.T) {
	inputs := func(d mil.DType) map[string]mil.Tensor {
		return map[string]mil.Tensor{"q": wave(d, 40, 1.1, 1, 5, 8), "k": wave(d, 40, 0.7, 1, 5, 8), "v": wave(d, 40, 1.9, 1, 5, 8)}
	}
	var plain map[string][]byte
	for name, body := range map[string]string{"plain": plainAttention, "engine": channels + engineAttention} {
		got := map[string][]byte{}
		for typ, d := range map[string]mil.DType{"fp32": mil.Float32, "fp16": mil.Float16} {
			p := program(t, strings.ReplaceAll("tensor<T,[1,5,8]> q, tensor<T,[1,5,8]> k, tensor<T,[1,5,8]> v", "T", typ),
				strings.ReplaceAll(body, "tensor<T,", "tensor<"+typ+","), "output")
			var want []byte
			for _, o := range []Options{{KeepAll: true, Threads: 1}, {Threads: 3}} {
				plan, err := Compile(p, "main", nil, o)
				if err != nil {
					t.Fatal(err)
				}
				fused := 0
				for _, s := range plan.steps {
					if s.op == "attention" {
						fused++
					}
				}
				if heads := map[string]int{"plain": 1, "engine": 2}[name]; !o.KeepAll && fused != heads || o.KeepAll && fused != 0 {
					t.Errorf("%s %s: %d fused steps with %+v", name, typ, fused, o)
				}
				out, err := plan.Run(t.Context(), inputs(d))
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = out["output"].Data
				} else if !bytes.Equal(want, out["output"].Data) {
					t.Errorf("%s %s: fusing changes the result", name, typ)
				}
			}
			got[typ] = want
		}
		// Both forms say the same thing, in the same order of summation.
		if plain == nil {
			plain = got
			continue
		}
		for typ := range got {
			if !bytes.Equal(plain[typ], got[typ]) {
				t.Errorf("%s: the two forms of attention differ", typ)
			}
		}
	}
}

// A value that something else reads, or that leaves the program, must be there.
func TestFusingLeavesWhatIsRead(t *testing.T) {
	body := strings.ReplaceAll(plainAttention, "tensor<T,", "tensor<fp32,")
	for name, c := range map[string]struct{ more, outs string }{
		"scores are an output":   {"", "output, s"},
		"weights are an output":  {"", "output, w"},
		"scores are read twice":  {"tensor<fp32,[1,2,5,5]> again = add(x=s, y=s);", "output, again"},
		"weights through a view": {"tensor<fp32,[2,5,5]> seen = squeeze(x=w, axes=tensor<int32,[1]>([0]));", "output, seen"},
	} {
		p := program(t, "tensor<fp32,[1,5,8]> q, tensor<fp32,[1,5,8]> k, tensor<fp32,[1,5,8]> v", body+c.more, c.outs)
		var first map[string]mil.Tensor
		for _, o := range []Options{{KeepAll: true}, {}} {
			plan, err := Compile(p, "main", nil, o)
			if err != nil {
				t.Fatal(name, err)
			}
			out, err := plan.Run(t.Context(), map[string]mil.Tensor{"q": wave(mil.Float32, 40, 1.1, 1, 5, 8), "k": wave(mil.Float32, 40, 0.7, 1, 5, 8), "v": wave(mil.Float32, 40, 1.9, 1, 5, 8)})
			if err != nil {
				t.Fatal(name, err)
			}
			if first == nil {
				first = out
				continue
			}
			for k, v := range out {
				if !bytes.Equal(v.Data, first[k].Data) {
					t.Errorf("%s: output %s changes when steps are fused", name, k)
				}
			}
		}
	}
}

// Memory of values that are no longer read is used again.
func TestMemoryIsReused(t *testing.T) {
	body, last := "", "x"
	for i := range 20 {
		body += fmt.Sprintf("tensor<fp32,[1000]> y%d = add(x=%s, y=%s);\n", i, last, last)
		last = fmt.Sprintf("y%d", i)
	}
	p := program(t, "tensor<fp32,[1000]> x", body, last)
	plan, err := Compile(p, "main", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.MemoryNeed() > 2*4096 {
		t.Errorf("20 values in a row, two alive at a time, take %d bytes", plan.MemoryNeed())
	}
	if _, err := Compile(p, "main", nil, Options{MaxBytes: 5000}); err == nil || !strings.Contains(err.Error(), "limit of 5000") {
		t.Errorf("the limit is not kept: %v", err)
	}
	kept, err := Compile(p, "main", nil, Options{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	if _, err := kept.Trace(t.Context(), map[string]mil.Tensor{"x": wave(mil.Float32, 1000, 1, 1000)}, func(v Traced) {
		values++
		if v.Op != "add" || v.Line == 0 || len(v.Data) != 4000 {
			t.Errorf("traced %s %q at line %d with %d bytes", v.Op, v.Name, v.Line, len(v.Data))
		}
	}); err != nil || values != 20 {
		t.Errorf("%d values traced, %v", values, err)
	}
}
