package eval

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// FuzzCompile: whatever a program says, it is refused or evaluated, with the
// shapes that it declares, and in bounded memory.
func FuzzCompile(f *testing.F) {
	var cases []corpusCase
	if err := json.Unmarshal(corpus, &cases); err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		f.Add(c.Program)
	}
	for _, typ := range []string{"fp16", "fp32"} {
		f.Add("program(1.3)\n{\n func main<ios18>(tensor<" + typ + ",[1,5,8]> q, tensor<" + typ + ",[1,5,8]> k, tensor<" + typ + ",[1,5,8]> v) {\n" +
			strings.ReplaceAll(channels+engineAttention, "tensor<T,", "tensor<"+typ+",") + "\n} -> (output);\n}\n")
	}
	f.Fuzz(tryProgram)
}

// TestChangedNumbers puts odd numbers into the corpus's programs: extents, axes,
// strides and types that do not fit each other.
func TestChangedNumbers(t *testing.T) {
	number := regexp.MustCompile(`-?\b\d+\b`)
	odd := []string{"0", "-1", "1", "2", "3", "5", "7", "-2", "64", "1000", "100000", "2147483647", "-2147483648", "4294967296"}
	next := uint32(1)
	random := func(n int) int {
		next = next*1664525 + 1013904223
		return int(next>>8) % n
	}
	for _, c := range readCorpus(t) {
		places := number.FindAllStringIndex(c.Program, -1)
		for range 30 {
			changed := c.Program
			for range 1 + random(2) {
				// The first places are the version and the function's own name.
				at := places[2+random(len(places)-2)]
				if at[1] <= len(changed) {
					changed = changed[:at[0]] + odd[random(len(odd))] + changed[at[1]:]
				}
			}
			tryProgram(t, changed)
		}
	}
}

// tryProgram fails on a panic, or on an output that is not what was declared.
func tryProgram(t *testing.T, source string) {
	p, err := text.Parse(source)
	if err != nil || len(p.Functions) == 0 {
		return
	}
	name := p.Functions[0].Name
	obstacles := Check(p, name)
	plan, err := Compile(p, name, nil, Options{Threads: 1, MaxBytes: 1 << 22})
	if err != nil {
		return
	}
	if len(obstacles) > 0 {
		t.Fatalf("compiled in spite of %v", obstacles)
	}
	in := map[string]mil.Tensor{}
	total := int64(0)
	for _, i := range plan.Inputs {
		n, err := (&mil.Type{DType: i.DType, Shape: i.Shape}).Elements()
		if err != nil {
			t.Fatal(err)
		}
		if total += n; total > 1<<16 {
			return
		}
		in[i.Name] = mil.Tensor{DType: i.DType, Shape: i.Shape, Data: make([]byte, int(n)*i.DType.Bits()/8)}
	}
	if work(p) > 1<<24 {
		return
	}
	out, err := plan.Run(t.Context(), in)
	if err != nil {
		return
	}
	for _, o := range plan.Outputs {
		n, _ := (&mil.Type{DType: o.DType, Shape: o.Shape}).Elements()
		if got := out[o.Name]; len(got.Data) != int(n)*o.DType.Bits()/8 {
			t.Fatalf("output %s has %d bytes", o.Name, len(got.Data))
		}
	}
}

// work guesses how much a program computes, so that fuzzing stays quick.
func work(p *mil.Program) int64 {
	total := int64(0)
	for _, op := range p.Functions[0].Body.Ops {
		for _, o := range op.Outputs {
			n, err := o.Type.Elements()
			if err != nil {
				return 1 << 40
			}
			total += n * 64
		}
	}
	return total
}
