package hardvalues

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/repeat"
)

// Evaluate is the side of tools/encoder/mil/eval. What it lists as an obstacle, or cannot compute exactly, is a refusal.
func Evaluate(ctx context.Context, c *Case) (map[string][]byte, error) {
	p, err := text.Parse(c.Program())
	if err != nil {
		return nil, err
	}
	plan, err := eval.Compile(p, "main", nil, eval.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	in := map[string]mil.Tensor{}
	for _, t := range c.Inputs {
		d, _ := mil.ParseDType(t.DType)
		in[t.Name] = mil.Tensor{DType: d, Shape: wide(t.outside()), Data: t.dense()}
	}
	got, err := plan.Run(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	out := map[string][]byte{}
	for name, t := range got {
		out[name] = t.Data
	}
	return out, nil
}

func wide(shape []int) []int64 {
	out := make([]int64, len(shape))
	for i, d := range shape {
		out[i] = int64(d)
	}
	return out
}

// opsets gives the protobuf's name and specification version of an operation set.
var opsets = map[string]struct {
	name    string
	version int32
}{"ios15": {"CoreML5", 6}, "ios16": {"CoreML6", 7}, "ios17": {"CoreML7", 8}, "ios18": {"CoreML8", 9}, "ios26": {"CoreML9", 10}}

// WritePackage writes the case as an .mlpackage, for Apple's compiler.
func (c *Case) WritePackage(dest string) error {
	p, err := text.Parse(c.Program())
	if err != nil {
		return err
	}
	set := opsets[c.Opset]
	f := p.Functions[0]
	f.Opset = set.name
	m := &spec.Model{SpecificationVersion: set.version, Description: &spec.Description{}, Kind: spec.MLProgram, Program: p}
	m.Description.Inputs, m.Description.Outputs = features(c.Inputs), features(c.Want)
	return bundle.WritePackage(dest, m, nil)
}

func features(tensors []Tensor) []spec.Feature {
	types := map[string]spec.ArrayDType{"fp16": spec.ArrayFloat16, "fp32": spec.ArrayFloat32, "int32": spec.ArrayInt32, "int8": spec.ArrayInt8}
	var out []spec.Feature
	for _, t := range tensors {
		out = append(out, spec.Feature{Name: t.Name, Kind: spec.MultiArrayFeature, Array: &spec.Array{Shape: wide(t.outside()), DType: types[t.DType]}})
	}
	return out
}

// Compiler turns an .mlpackage into an .mlmodelc.
type Compiler func(ctx context.Context, pkg, compiled string) error

// Coremlc is Xcode's compiler.
func Coremlc(ctx context.Context, pkg, compiled string) error {
	out, err := exec.CommandContext(ctx, "xcrun", "coremlc", "compile", pkg, filepath.Dir(compiled)).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: coremlc: %w: %s", ErrRefused, err, strings.TrimSpace(string(out)))
	}
	return err
}

// Probe is Core ML's side, on a Mac: each case is written as a package, compiled, and predicted by coremlprobe. A case that
// loads only at fewer compute units is not an answer of what ships.
func Probe(program string, compile Compiler, deadline time.Duration) Predict {
	return func(ctx context.Context, c *Case) (_ map[string][]byte, err error) {
		compiled, remove, err := c.compiled(ctx, compile)
		defer func() { err = errors.Join(err, remove()) }()
		if err != nil {
			return nil, err
		}
		q := probe.Request{Model: compiled}
		for _, t := range c.Inputs {
			q.Inputs = append(q.Inputs, probe.Input{Name: t.Name, DType: arrayTypes[t.DType], Shape: t.outside(), Strides: t.Strides, Data: t.Data})
		}
		for _, t := range c.Want {
			q.Outputs = append(q.Outputs, t.Name)
		}
		o, err := probe.Run(ctx, program, q, deadline)
		if err != nil {
			return nil, err
		}
		return answers(o, c)
	}
}

// Persistent repetitions of a case: each prediction takes the same memory, and several are under way at once.
const (
	persistentPredictions = 3
	persistentOverlap     = 2
)

// Persistent is Core ML's side with the inputs kept in memory that lives longer than a prediction: the model is loaded once, predicts
// again and again from the same storage, and has to give the case's answer first and the same bytes ever after, with the inputs as
// they were. What an output is called and shaped is [Probe]'s to see.
func Persistent(program string, compile Compiler, deadline time.Duration) Predict {
	return func(ctx context.Context, c *Case) (_ map[string][]byte, err error) {
		compiled, remove, err := c.compiled(ctx, compile)
		defer func() { err = errors.Join(err, remove()) }()
		if err != nil {
			return nil, err
		}
		q := repeat.Request{Model: compiled, Loads: 1, Predictions: persistentPredictions, Overlap: persistentOverlap}
		for _, t := range c.Inputs {
			q.Inputs = append(q.Inputs, repeat.Input{Name: t.Name, DType: arrayTypes[t.DType], Shape: t.outside(), Strides: t.Strides, Sets: [][]byte{t.Data}})
		}
		for _, t := range c.Want {
			q.Outputs = append(q.Outputs, t.Name)
		}
		o, err := repeat.Run(ctx, program, q, deadline)
		if err != nil {
			return nil, err
		}
		for _, r := range repeat.Judge(o, &q) {
			// A macOS without overlapping predictions still predicts one after the other.
			if r.Code != reason.RepeatNotOverlapped {
				return nil, fmt.Errorf("%w: %s, expected %s, found %s", ErrRefused, r.Code, r.Expected, r.Found)
			}
		}
		return c.parted(o.First)
	}
}

// parted divides outputs that lie one after the other.
func (c *Case) parted(all []byte) (map[string][]byte, error) {
	out, want := map[string][]byte{}, 0
	for _, t := range c.Want {
		n := count(t.outside()) * sizes[t.DType]
		if want += n; want > len(all) {
			break
		}
		out[t.Name] = all[want-n : want]
	}
	if want != len(all) {
		return nil, fmt.Errorf("%w: expected outputs of %d bytes in all, found %d", ErrRefused, want, len(all))
	}
	return out, nil
}

// compiled writes the case as a package and has it compiled. remove takes both away again, whatever err is.
func (c *Case) compiled(ctx context.Context, compile Compiler) (path string, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "hardvalues-")
	if err != nil {
		return "", func() error { return nil }, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	pkg, path := filepath.Join(dir, "case.mlpackage"), filepath.Join(dir, "case.mlmodelc")
	if err := c.WritePackage(pkg); err != nil {
		return "", remove, err
	}
	return path, remove, compile(ctx, pkg, path)
}

var arrayTypes = map[string]string{"fp16": "float16", "fp32": "float32", "int32": "int32", "int8": "int8"}

func answers(o *probe.Outcome, c *Case) (map[string][]byte, error) {
	r := o.Report
	switch {
	case r == nil || o.Ended != "":
		return nil, fmt.Errorf("%w: the probe ended by %s", ErrRefused, o.Ended)
	case r.LoadedAt() != probe.AllUnits:
		return nil, fmt.Errorf("%w: not loaded at all units, but %q: %v", ErrRefused, r.LoadedAt(), r.Attempts[0].Error)
	case r.Prediction.Result != probe.Predicted:
		return nil, fmt.Errorf("%w: %v", ErrRefused, r.Prediction.Error)
	}
	out := map[string][]byte{}
	for _, want := range c.Want {
		got, ok := r.Output(want.Name)
		if !ok || got.DType != arrayTypes[want.DType] || fmt.Sprint(got.Shape) != fmt.Sprint(want.outside()) {
			return nil, fmt.Errorf("%w: output %s: expected %s, found %s %v", ErrRefused, want.Name, want.typed(), got.DType, got.Shape)
		}
		out[want.Name] = o.Tensors[want.Name]
	}
	return out, nil
}
