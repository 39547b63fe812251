// Package repeat has coremlprobe do what a program that lives long does with a model: load it once and predict many times, have
// several predictions under way at once, unload it and load it again. Every prediction must give the bytes that the same
// inputs gave first.
package repeat

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

// Input is a tensor to feed, row-major, with one set of values or more.
type Input struct {
	Name  string
	DType string // float16, float32, float64, int32 or int8
	Shape []int
	// Strides are in elements; nil for row-major.
	Strides []int
	Sets    [][]byte
}

// Request says what to repeat. Prediction i takes set i of the inputs, and begins anew behind the last.
type Request struct {
	// Model is the compiled model's folder.
	Model  string
	Inputs []Input
	// Outputs names those that are compared.
	Outputs []string
	// Loads is how often the model is loaded and unloaded, Predictions how many follow each load one after the other, and Overlap how
	// many are under way at once behind those.
	Loads, Predictions, Overlap int
	// Time asks for the time of each prediction.
	Time bool
}

// most is the most of each that is asked for.
const most = 10000

func (q *Request) check() error {
	if len(q.Inputs) == 0 || len(q.Outputs) == 0 || len(q.Inputs[0].Sets) == 0 {
		return errors.New("expected an input with a set of values and an output at least")
	}
	for _, in := range q.Inputs {
		for _, s := range in.Sets {
			if len(in.Sets) != len(q.Inputs[0].Sets) || len(s) != len(in.Sets[0]) || len(s) == 0 {
				return errors.New("expected as many sets of values of one size for each input")
			}
		}
	}
	if n := len(q.Inputs[0].Sets); q.Loads < 1 || q.Predictions < n || q.Overlap < 0 || max(q.Loads, q.Predictions, q.Overlap) > most {
		return fmt.Errorf("expected a load, a prediction of each of %d sets, and at most %d of anything; found %d loads, %d predictions, %d overlapping",
			n, most, q.Loads, q.Predictions, q.Overlap)
	}
	return nil
}

// Outcome is what came of a request. Report is nil where the probe left none.
type Outcome struct {
	Report *Report
	// First are the outputs that the first set of inputs gave first, one after the other in the order of the request, row-major; nil
	// where there are none.
	First []byte
	coremlprobe.End
}

type wireRequest struct {
	Schema      int          `json:"schema"`
	Model       string       `json:"model"`
	Inputs      []wireInput  `json:"inputs"`
	Outputs     []wireOutput `json:"outputs"`
	Loads       int          `json:"loads"`
	Predictions int          `json:"predictions"`
	Overlap     int          `json:"overlap"`
	Time        int          `json:"time"`  // 1 for times
	First       string       `json:"first"` // where the first outputs go
}

type wireInput struct {
	Name    string   `json:"name"`
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Strides []int    `json:"strides"`
	Files   []string `json:"files"`
}

type wireOutput struct {
	Name string `json:"name"`
}

// maxBytes bounds a report.
const maxBytes = 4 << 20

// Run starts the probe once, as a process of its own with a deadline. The error is for what could not be tried.
func Run(ctx context.Context, program string, q Request, deadline time.Duration) (_ *Outcome, err error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "coremlprobe-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	model, err := filepath.Abs(q.Model)
	if err != nil {
		return nil, err
	}
	wire := wireRequest{Schema: 1, Model: model, Loads: q.Loads, Predictions: q.Predictions, Overlap: q.Overlap, First: filepath.Join(dir, "first")}
	if q.Time {
		wire.Time = 1
	}
	for i, in := range q.Inputs {
		w := wireInput{Name: in.Name, DType: in.DType, Shape: in.Shape, Strides: in.Strides}
		if w.Strides == nil {
			w.Strides = coremlprobe.RowMajor(in.Shape)
		}
		for k, data := range in.Sets {
			file := filepath.Join(dir, fmt.Sprintf("in%d.%d", i, k))
			if err := os.WriteFile(file, data, 0o600); err != nil {
				return nil, err
			}
			w.Files = append(w.Files, file)
		}
		wire.Inputs = append(wire.Inputs, w)
	}
	for _, name := range q.Outputs {
		wire.Outputs = append(wire.Outputs, wireOutput{name})
	}
	data, err := strictjson.Canonical(&wire)
	if err != nil {
		return nil, err
	}
	request, report := filepath.Join(dir, "request.json"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(request, data, 0o600); err != nil {
		return nil, err
	}
	end, err := coremlprobe.Start(ctx, program, deadline, "repeat", request, report)
	if err != nil {
		return nil, err
	}
	o := &Outcome{End: *end}
	if err := o.read(report, &q); err != nil {
		return nil, fmt.Errorf("%w%s", err, o.Said())
	}
	if o.First, err = os.ReadFile(wire.First); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return o, nil
}

func (o *Outcome) read(report string, q *Request) error {
	data, err := o.End.Report(report, maxBytes)
	if data == nil || err != nil {
		return err
	}
	o.Report, err = parse(data, q)
	return err
}
