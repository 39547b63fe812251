// Package probe runs coremlprobe, the Objective-C++ helper that predicts with Apple's Core ML, and reads its report.
//
// Two JSON files are exchanged. The request (schema 1) names the compiled model, the inputs and where outputs go; tensors
// are files of little-endian elements. The report (schema 1) says what was done:
//
//	attempts       to load, in order: route; what was asked, null where Core ML was never asked; result; error
//	configuration  each field of the bridge's configuration: its value, and that of an untouched one
//	prediction     not_asked, pending, predicted or failed, with the error
//	outputs        name, type, shape, strides, count, whether contiguous, whether it shares memory with an input
//
// "pending" is what a crash inside Core ML leaves behind. Only what the probe writes is accepted: attempts in another
// order, or flags that contradict shapes, make a report malformed. What a report means for parity is judged by tools/encoder/parity.
//
// The probe itself was never run on a Mac by this project's own CI; tools/encoder/coremlprobe/standintest runs it over a stand-in.
package probe

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// Routes of attempts.
const (
	// RoutePath is the look at the path that comes before Core ML is asked; only its failure is reported.
	RoutePath = "path"
	// RouteURL is +[MLModel modelWithContentsOfURL:configuration:error:], the bridge's own.
	RouteURL = "modelWithContentsOfURL"
)

// Results of attempts and predictions.
const (
	NotAsked  = "not_asked"
	Pending   = "pending"
	Loaded    = "loaded"
	Predicted = "predicted"
	Failed    = "failed"
)

// AllUnits is what the bridge asks for.
const AllUnits = "all"

// Ladder is what the probe asks for, in order, until a model loads.
var Ladder = []string{AllUnits, "cpu_and_neural_engine", "cpu_and_gpu", "cpu_only"}

// Bounds of a report. Core ML itself has no tensor of rank above 5 or with an extent of zero.
const (
	maxBytes    = 1 << 20
	maxRank     = 5
	maxElements = 1 << 28
	maxOutputs  = 64
)

// Report is what the probe did and found.
type Report struct {
	Schema        int        `json:"schema"` // 1
	Version       string     `json:"version"`
	Host          Host       `json:"host"`
	Configuration []Field    `json:"configuration"`
	Attempts      []Attempt  `json:"attempts"`
	Prediction    Prediction `json:"prediction"`
	// Features are the names of all outputs of the prediction.
	Features []string `json:"features"`
	// Outputs are those that were asked for and are there.
	Outputs []Output `json:"outputs"`
	// InputsUnchanged is false if the prediction wrote to its inputs.
	InputsUnchanged bool `json:"inputs_unchanged"`
}

// Host is the machine.
type Host = coremlprobe.Host

// Field is one field of MLModelConfiguration as the bridge leaves it, and as it is when untouched.
type Field struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Default string `json:"default"`
}

// Attempt is one attempt to load.
type Attempt struct {
	Route string `json:"route"`
	// Asked names the compute units that Core ML was asked for, or is nil where it was never asked.
	Asked  *string `json:"asked"`
	Result string  `json:"result"`
	Error  *Error  `json:"error"`
}

// Error is an NSError.
type Error = coremlprobe.Error

// Prediction says how the prediction went.
type Prediction struct {
	Result string `json:"result"`
	Error  *Error `json:"error"`
}

// Output is one output as it lay in memory.
type Output struct {
	Name      string `json:"name"`
	DType     string `json:"dtype"` // float16, float32, float64, int8, int32 or unknown
	DTypeCode int    `json:"dtype_code"`
	Shape     []int  `json:"shape"`
	Strides   []int  `json:"strides"` // in elements
	Count     int    `json:"count"`
	// Contiguous says that a plain copy of Count elements is the tensor in row-major order.
	Contiguous  bool `json:"contiguous"`
	SharesInput bool `json:"shares_input"`
	// Written says that the tensor's file was written.
	Written bool `json:"written"`
}

// elementTypes are the types of which tensors are exchanged, with the codes of MLMultiArrayDataType.
var elementTypes = map[string]struct{ code, size int }{
	"float32": {65568, 4}, "float16": {65552, 2}, "float64": {65600, 8}, "int32": {131104, 4}, "int8": {131080, 1},
}

// ElementSize is the number of bytes of a type's elements, 0 for types that are not exchanged.
func ElementSize(dtype string) int { return elementTypes[dtype].size }

// Parse reads a report and holds it against itself.
func Parse(data []byte) (*Report, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("report of coremlprobe: %d bytes, more than the %d that a report may have", len(data), maxBytes)
	}
	r := &Report{}
	if err := strictjson.Decode(data, r); err != nil {
		return nil, fmt.Errorf("report of coremlprobe: %w", err)
	}
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("report of coremlprobe: %w", err)
	}
	return r, nil
}

// Check holds a report against itself.
func (r *Report) Check() error {
	if r.Schema != 1 || r.Version == "" {
		return fmt.Errorf("expected schema 1 and a version, found schema %d, version %q", r.Schema, r.Version)
	}
	seen := map[string]bool{}
	for _, f := range r.Configuration {
		if seen[f.Field] {
			return fmt.Errorf("configuration: the field %q stands there twice", f.Field)
		}
		seen[f.Field] = true
	}
	if !seen["computeUnits"] {
		return errors.New("configuration: the field computeUnits is missing")
	}
	if err := r.checkAttempts(); err != nil {
		return err
	}
	return r.checkPrediction()
}

func (r *Report) checkAttempts() error {
	n := len(r.Attempts)
	if n == 0 {
		return errors.New("attempts: expected at least one")
	}
	if first := r.Attempts[0]; first.Route == RoutePath {
		if n != 1 || first.Asked != nil || first.Result != Failed || first.Error == nil {
			return errors.New("attempts: what failed at its path was never asked of Core ML, and nothing follows it")
		}
		return nil
	}
	if n > len(Ladder) {
		return fmt.Errorf("attempts: %d, more than there are sets of compute units", n)
	}
	for i, a := range r.Attempts {
		switch {
		case a.Route != RouteURL:
			return fmt.Errorf("attempt %d: unknown route %q", i+1, a.Route)
		case a.Asked == nil || *a.Asked != Ladder[i]:
			return fmt.Errorf("attempt %d: expected to have asked for %s, found %s", i+1, Ladder[i], name(a.Asked))
		case i < n-1 && a.Result != Failed, !slices.Contains([]string{Failed, Loaded, Pending}, a.Result):
			return fmt.Errorf("attempt %d of %d: the result %q does not fit there", i+1, n, a.Result)
		}
	}
	if r.Attempts[n-1].Result == Failed && n != len(Ladder) {
		return fmt.Errorf("attempts: the last of %d failed, and the probe goes on until %s", n, Ladder[len(Ladder)-1])
	}
	return nil
}

func name(s *string) string {
	if s == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", *s)
}

func (r *Report) checkPrediction() error {
	p := r.Prediction
	loaded := r.Attempts[len(r.Attempts)-1].Result == Loaded
	switch {
	case !slices.Contains([]string{NotAsked, Pending, Predicted, Failed}, p.Result):
		return fmt.Errorf("prediction: unknown result %q", p.Result)
	case !loaded && p.Result != NotAsked:
		return fmt.Errorf("prediction: %s of a model that did not load", p.Result)
	case p.Result != Predicted && len(r.Outputs)+len(r.Features) > 0:
		return fmt.Errorf("prediction: %s, and yet there are outputs", p.Result)
	case len(r.Outputs) > maxOutputs:
		return fmt.Errorf("outputs: %d, more than %d", len(r.Outputs), maxOutputs)
	}
	seen := map[string]bool{}
	for _, o := range r.Outputs {
		if seen[o.Name] || !slices.Contains(r.Features, o.Name) {
			return fmt.Errorf("output %q stands there twice, or is none of the features %q", o.Name, r.Features)
		}
		seen[o.Name] = true
		if err := o.check(); err != nil {
			return fmt.Errorf("output %q: %w", o.Name, err)
		}
	}
	return nil
}

func (o *Output) check() error {
	if len(o.Shape) != len(o.Strides) || len(o.Shape) > maxRank {
		return fmt.Errorf("shape %v and strides %v: expected as many of each, at most %d", o.Shape, o.Strides, maxRank)
	}
	total := 1
	for i, d := range o.Shape {
		if d <= 0 || d > maxElements || total > maxElements/d || o.Strides[i] < 0 {
			return fmt.Errorf("shape %v, strides %v: expected extents above zero, strides not below, and at most %d elements", o.Shape, o.Strides, maxElements)
		}
		total *= d
	}
	if o.Count != total {
		return fmt.Errorf("shape %v has %d elements, but count is %d", o.Shape, total, o.Count)
	}
	if o.Contiguous != rowMajor(o.Shape, o.Strides) {
		return fmt.Errorf("shape %v with strides %v: contiguous is %v", o.Shape, o.Strides, o.Contiguous)
	}
	t, known := elementTypes[o.DType]
	if o.DType != "unknown" && !known || known && t.code != o.DTypeCode || !known && o.Written {
		return fmt.Errorf("type %q with code %d, written: %v", o.DType, o.DTypeCode, o.Written)
	}
	return nil
}

// rowMajor reports whether elements lie next to each other in row-major order; an axis of one element has any stride.
func rowMajor(shape, strides []int) bool {
	packed := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && strides[i] != packed {
			return false
		}
		packed *= shape[i]
	}
	return true
}

// LoadedAt names the compute units at which the model loaded, "" where it did not.
func (r *Report) LoadedAt() string {
	last := r.Attempts[len(r.Attempts)-1]
	if last.Result != Loaded || last.Asked == nil {
		return ""
	}
	return *last.Asked
}

// Output finds an output.
func (r *Report) Output(name string) (Output, bool) {
	i := slices.IndexFunc(r.Outputs, func(o Output) bool { return o.Name == name })
	if i < 0 {
		return Output{}, false
	}
	return r.Outputs[i], true
}
