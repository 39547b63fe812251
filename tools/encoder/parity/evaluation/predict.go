package evaluation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
)

// The names that the runtime's bridge uses.
const (
	inputName  = "logmel_data"
	OutputName = "output"
)

// Encoder is an encoder that can be evaluated here.
type Encoder struct {
	artifact *bundle.Artifact
	plan     *eval.Plan
}

// TypeError says that the output is of another type than the runtime copies.
type TypeError struct{ Found string }

func (e *TypeError) Error() string { return "output: expected fp32, found " + e.Found }

// Load opens and compiles the encoder at path.
func Load(path string, threads int) (*Encoder, error) {
	return load(path, eval.Options{Threads: threads})
}

func load(path string, o eval.Options) (*Encoder, error) {
	a, err := bundle.Open(path)
	if err != nil {
		return nil, err
	}
	plan, err := compile(a, o)
	if err != nil {
		a.Close()
		return nil, err
	}
	return &Encoder{a, plan}, nil
}

func compile(a *bundle.Artifact, o eval.Options) (*eval.Plan, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	if a.Program == nil || len(a.Program.Functions) != 1 {
		return nil, fmt.Errorf("the artifact holds no ML program with one function, but %v", a.Kind)
	}
	return eval.Compile(a.Program, a.Program.Functions[0].Name, a, o)
}

// Close releases the artifact.
func (e *Encoder) Close() error { return e.artifact.Close() }

// Warnings lists what the evaluator flags in the program.
func (e *Encoder) Warnings() []eval.Obstacle { return e.plan.Warnings }

// evaluate asks the encoder as the runtime's bridge would.
func (e *Encoder) evaluate(ctx context.Context, mel []float32, mels, frames int) (mil.Tensor, error) {
	out, err := e.plan.Run(ctx, input(mel, mels, frames))
	if err != nil {
		return mil.Tensor{}, err
	}
	t, ok := out[OutputName]
	if !ok {
		return mil.Tensor{}, fmt.Errorf("the program has no output named %q", OutputName)
	}
	if t.DType != mil.Float32 {
		return mil.Tensor{}, &TypeError{t.DType.String()}
	}
	return t, nil
}

// Output is the bytes of the output, little-endian float32.
func (e *Encoder) Output(ctx context.Context, mel []float32, mels, frames int) ([]byte, error) {
	t, err := e.evaluate(ctx, mel, mels, frames)
	return t.Data, err
}

// Predict is the output as one side of a comparison.
func (e *Encoder) Predict(ctx context.Context, mel []float32, mels, frames int) (parity.Tensor, error) {
	t, err := e.evaluate(ctx, mel, mels, frames)
	if err != nil {
		return parity.Tensor{}, err
	}
	r := parity.Tensor{Name: "candidate", Values: make([]float64, len(t.Data)/4)}
	for _, d := range t.Shape {
		r.Shape = append(r.Shape, int(d))
	}
	for i := range r.Values {
		r.Values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:])))
	}
	return r, nil
}

func input(mel []float32, mels, frames int) map[string]mil.Tensor {
	data := make([]byte, 0, 4*len(mel))
	for _, v := range mel {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return map[string]mil.Tensor{inputName: {DType: mil.Float32, Shape: []int64{1, int64(mels), int64(frames)}, Data: data}}
}

// unsupported turns a failure to load into reasons.
func (c *checker) unsupported(err error) {
	var u *eval.Unsupported
	if !errors.As(err, &u) {
		c.Add(reason.PredictionFailed, c.Encoder, "an encoder that loads", err.Error())
		return
	}
	const shown = 10
	for i, o := range u.Obstacles {
		if i == shown {
			c.Add(reason.EvaluationUnsupported, c.Encoder, "operations that are evaluated", fmt.Sprintf("%d more obstacles", len(u.Obstacles)-shown))
			break
		}
		c.AddReason(Unsupported(c.Encoder, o))
	}
}

// Unsupported is the reason for an obstacle in the program at a place; one of the whole program has no line.
func Unsupported(where string, o eval.Obstacle) reason.Reason {
	return reason.Reason{Code: reason.EvaluationUnsupported, Where: line(where, o), Expected: "operations that are evaluated (coregate mil ops)", Found: o.String()}
}

// Flagged is the note for something that is evaluated, and deserves a look.
func Flagged(where string, o eval.Obstacle) reason.Reason {
	return reason.Reason{Code: reason.IntegersInexact, Where: line(where, o), Expected: "integers up to 2^24", Found: o.String()}
}

func line(where string, o eval.Obstacle) string {
	if o.Line > 0 {
		return fmt.Sprintf("%s, line %d", where, o.Line)
	}
	return where
}
