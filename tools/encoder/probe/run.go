package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// Input is a tensor to feed: elements as they lie in memory, with strides in elements.
type Input struct {
	Name    string
	DType   string // float16, float32, float64, int32 or int8
	Shape   []int
	Strides []int // nil for row-major
	Data    []byte
}

// Request says what to predict.
type Request struct {
	// Model is the compiled model's folder.
	Model  string
	Inputs []Input
	// Outputs names those to fetch.
	Outputs []string
}

// Outcome is what came of a request.
type Outcome struct {
	// Report is nil where the probe left none.
	Report *Report
	// End is how the probe ended.
	coremlprobe.End
	// Tensors are the outputs' elements, row-major, by name.
	Tensors map[string][]byte
}

// The wire form of a request.
type wireRequest struct {
	Schema  int          `json:"schema"`
	Model   string       `json:"model"`
	Inputs  []wireInput  `json:"inputs"`
	Outputs []wireOutput `json:"outputs"`
}

type wireInput struct {
	Name    string `json:"name"`
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Strides []int  `json:"strides"`
	File    string `json:"file"`
}

type wireOutput struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// Run starts the probe once. It may crash inside Core ML or compile for hours, so it is a process of its own with a
// deadline. The error is for what could not be tried: a program that does not start, a report that is malformed.
func Run(ctx context.Context, program string, q Request, deadline time.Duration) (_ *Outcome, err error) {
	dir, err := os.MkdirTemp("", "coremlprobe-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	model, err := filepath.Abs(q.Model)
	if err != nil {
		return nil, err
	}
	wire := wireRequest{Schema: 1, Model: model, Inputs: []wireInput{}, Outputs: []wireOutput{}}
	for i, in := range q.Inputs {
		w := wireInput{in.Name, in.DType, in.Shape, in.Strides, filepath.Join(dir, fmt.Sprintf("in%d", i))}
		if w.Strides == nil {
			w.Strides = coremlprobe.RowMajor(in.Shape)
		}
		if err := os.WriteFile(w.File, in.Data, 0o600); err != nil {
			return nil, err
		}
		wire.Inputs = append(wire.Inputs, w)
	}
	files := map[string]string{}
	for i, name := range q.Outputs {
		files[name] = filepath.Join(dir, fmt.Sprintf("out%d", i))
		wire.Outputs = append(wire.Outputs, wireOutput{name, files[name]})
	}
	data, err := strictjson.Canonical(&wire)
	if err != nil {
		return nil, err
	}
	request, report := filepath.Join(dir, "request.json"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(request, data, 0o600); err != nil {
		return nil, err
	}
	end, err := coremlprobe.Start(ctx, program, deadline, request, report)
	if err != nil {
		return nil, err
	}
	o := &Outcome{End: *end}
	if err := o.read(report, files); err != nil {
		return nil, fmt.Errorf("%w%s", err, o.Said())
	}
	return o, nil
}

// read takes in the report and the tensors that it tells of.
func (o *Outcome) read(report string, files map[string]string) error {
	data, err := o.End.Report(report, maxBytes)
	if data == nil || err != nil {
		return err
	}
	if o.Report, err = Parse(data); err != nil {
		return err
	}
	o.Tensors = map[string][]byte{}
	for _, out := range o.Report.Outputs {
		if !out.Written {
			continue
		}
		want := int64(out.Count) * int64(ElementSize(out.DType))
		path, asked := files[out.Name]
		if info, err := os.Stat(path); !asked || err != nil || info.Size() != want {
			return fmt.Errorf("output %q: expected a file of %d bytes, as its shape says", out.Name, want)
		}
		if o.Tensors[out.Name], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}
