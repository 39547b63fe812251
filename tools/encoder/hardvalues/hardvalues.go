// Package hardvalues is one corpus of values that implementations get wrong: zeros of both signs, subnormals, infinities,
// NaN, every int8, every float16 and what lies halfway between two, matrices that are not square, strided inputs, shapes
// that Core ML refuses. Each case is a small MIL program with inputs and the answer that follows from the definition of its
// types, computed here by other means than the evaluator's.
//
// The same cases run through the evaluator ([Evaluate]) and, on a Mac, through Core ML ([Probe]). What is known to differ
// stands in known.json, one entry a side and case, with the reason. Those cases are run like all others, and one
// that differs no more fails until it is taken off the list.
package hardvalues

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// Sides that the corpus runs through, as known.json names them.
const (
	Evaluator = "evaluator"
	CoreML    = "core_ml"
)

// Tensor is an input or an output. Data are little-endian elements as they lie in memory.
type Tensor struct {
	Name    string
	DType   string // fp16, fp32 or int32: what Core ML takes and gives, and int8 from iOS 26 on
	Shape   []int  // empty for a scalar, which is [1] outside of the program
	Strides []int  // in elements; nil for row-major
	Data    []byte
}

// Case is one program with its answer.
type Case struct {
	Name   string
	Opset  string // ios15 … ios18, ios26
	Body   string // operations, in MIL's text
	Inputs []Tensor
	Want   []Tensor // row-major
	// Bits says that a NaN must keep its sign and payload, since nothing is computed.
	Bits bool
	// Refused says that the right answer is a refusal; Want then only gives names and types.
	Refused bool
}

// Program is the case as a MIL program in text.
func (c *Case) Program() string {
	var in, out []string
	for _, t := range c.Inputs {
		in = append(in, t.declared())
	}
	for _, t := range c.Want {
		out = append(out, t.Name)
	}
	return fmt.Sprintf("program(1.3)\n{\n    func main<%s>(%s) {\n%s\n    } -> (%s);\n}\n", c.Opset, strings.Join(in, ", "), c.Body, strings.Join(out, ", "))
}

func (t *Tensor) declared() string { return t.typed() + " " + t.Name }

func (t *Tensor) typed() string {
	return fmt.Sprintf("tensor<%s, %s>", t.DType, strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ", "))
}

var sizes = map[string]int{"fp16": 2, "fp32": 4, "int32": 4, "int8": 1}

// outside is the shape of the array that enters or leaves the program.
func (t *Tensor) outside() []int {
	if len(t.Shape) == 0 {
		return []int{1}
	}
	return t.Shape
}

// dense gathers a tensor's elements in row-major order.
func (t *Tensor) dense() []byte {
	if t.Strides == nil {
		return t.Data
	}
	size := sizes[t.DType]
	var out []byte
	at := make([]int, len(t.Shape))
	for n := count(t.Shape); n > 0; n-- {
		from := 0
		for i, x := range at {
			from += x * t.Strides[i]
		}
		out = append(out, t.Data[from*size:(from+1)*size]...)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < t.Shape[i] {
				break
			}
			at[i] = 0
		}
	}
	return out
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// ErrRefused wraps what a side says when it does not take a case.
var ErrRefused = errors.New("refused")

// Predict is one side: it gives a case's outputs by name, or an error that wraps ErrRefused. Any other error ends the run.
type Predict func(ctx context.Context, c *Case) (map[string][]byte, error)

// check runs a case and says how the answer differs, nil where it does not. broken ends the run.
func (c *Case) check(ctx context.Context, predict Predict) (differs, broken error) {
	got, err := predict(ctx, c)
	switch {
	case errors.Is(err, ErrRefused) && c.Refused:
		return nil, nil
	case errors.Is(err, ErrRefused):
		return err, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	case c.Refused:
		return errors.New("expected a refusal, found an answer"), nil
	}
	for _, want := range c.Want {
		if err := want.compare(got[want.Name], c.Bits); err != nil {
			return fmt.Errorf("output %s: %w", want.Name, err), nil
		}
	}
	return nil, nil
}

func (t *Tensor) compare(got []byte, exact bool) error {
	if len(got) != len(t.Data) {
		return fmt.Errorf("expected %d bytes, found %d", len(t.Data), len(got))
	}
	size, wrong, first := sizes[t.DType], 0, -1
	for at := 0; at < len(got); at += size {
		g, w := word(got[at:at+size]), word(t.Data[at:at+size])
		if g == w || !exact && isNaN(t.DType, g) && isNaN(t.DType, w) {
			continue
		}
		if wrong++; first < 0 {
			first = at
		}
	}
	if wrong == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d elements differ; element %d has bits %#0*x, expected %#0*x", wrong, len(got)/size, first/size,
		2*size+2, word(got[first:first+size]), 2*size+2, word(t.Data[first:first+size]))
}

func word(b []byte) uint32 {
	switch len(b) {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return binary.LittleEndian.Uint32(b)
}

func isNaN(dtype string, bits uint32) bool {
	switch dtype {
	case "fp16":
		return bits&0x7fff > 0x7c00
	case "fp32":
		return bits&0x7fffffff > 0x7f800000
	}
	return false
}

// Difference is an entry of the list of known differences.
type Difference struct {
	Side string `json:"side"`
	Case string `json:"case"`
	Why  string `json:"why"`
}

//go:embed known.json
var knownFile []byte

// Known is the checked-in list.
func Known() ([]Difference, error) {
	var list struct {
		Known []Difference `json:"known"`
	}
	if err := strictjson.Decode(knownFile, &list); err != nil {
		return nil, fmt.Errorf("known.json: %w", err)
	}
	return list.Known, nil
}

// Result is what a run of the corpus found.
type Result struct {
	verdict.Findings
	Cases, Expected int
}

// Run runs all cases on one side, those that are known to differ included.
func Run(ctx context.Context, side string, cases []Case, known []Difference, predict Predict) (*Result, error) {
	r := &Result{Findings: verdict.New(), Cases: len(cases)}
	why := map[string]string{}
	for _, k := range known {
		if !slices.ContainsFunc(cases, func(c Case) bool { return c.Name == k.Case }) || k.Side != Evaluator && k.Side != CoreML {
			r.Add(reason.HardValueUnknown, "known.json", "a case of the corpus, and the side "+Evaluator+" or "+CoreML, fmt.Sprintf("case %q, side %q", k.Case, k.Side))
		}
		if k.Side == side {
			why[k.Case] = k.Why
		}
	}
	for i := range cases {
		c := &cases[i]
		differs, broken := c.check(ctx, predict)
		if broken != nil {
			return nil, broken
		}
		known, expected := why[c.Name]
		switch {
		case differs != nil && expected:
			r.Expected++
		case differs != nil:
			r.Add(reason.HardValueDiffers, c.Name, "what the definition gives", differs.Error())
		case expected:
			r.Add(reason.HardValueAgrees, c.Name, "a difference, as listed ("+known+")", "none")
		}
	}
	return r, nil
}
