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

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
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
		dir, err := os.MkdirTemp("", "hardvalues-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		pkg, compiled := filepath.Join(dir, "case.mlpackage"), filepath.Join(dir, "case.mlmodelc")
		if err := c.WritePackage(pkg); err != nil {
			return nil, err
		}
		if err := compile(ctx, pkg, compiled); err != nil {
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
