// Package evaluation measures the parity of one encoder: it finds what precision the
// artifact has and whether its weights are the model's, feeds one mel to both
// sides, and judges under a frozen policy.
//
// The candidate is evaluated here from the shipped program and weights, or read
// from a tensor that was predicted elsewhere. The reference is computed from the
// .bin's own tensors in float64, or read from the user's own pipeline, with the
// sidecar that says how it was made.
package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

// Request says what is to be compared.
type Request struct {
	Model, Encoder string // Encoder may be "" for a candidate of ggml's own encoder
	// Mel is a tensor file or 16 kHz WAV file; "" takes the built-in probe.
	Mel, MelMember string
	// Reference is a tensor of the source model's; "" computes it from the .bin.
	Reference, ReferenceMember string
	// Candidate is a tensor that was predicted from the encoder elsewhere; ""
	// evaluates the encoder here.
	Candidate, CandidateMember string
	// Probe is the coremlprobe to predict with, on a Mac; "" evaluates the
	// encoder here. ProbeDeadline bounds it, the first load included; 0 is
	// DefaultDeadline.
	Probe         string
	ProbeDeadline time.Duration
	// Policy names a frozen policy; "" is parity.GatePolicy.
	Policy string
	// Threads is the number of workers; it changes no result.
	Threads int
	// Bisect looks for the first point on the way that differs.
	Bisect bool
}

// Result is a judgement with the facts that a receipt binds.
type Result struct {
	*parity.Judgement
	Facts map[string]any
}

// DefaultDeadline bounds a prediction by coremlprobe: a first load on a device
// may compile for minutes.
const DefaultDeadline = 15 * time.Minute

// Run carries out a request. The error is for what could not be judged: files
// that cannot be read, unknown policies, a context that is done.
func Run(ctx context.Context, q Request) (*Result, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.Policy == "" {
		q.Policy = parity.GatePolicy
	}
	p, err := policy.Frozen(q.Policy)
	if err != nil {
		return nil, err
	}
	c := &checker{ctx: ctx, Request: q, policy: p, Result: &Result{Facts: map[string]any{}}}
	if q.Encoder == "" {
		if err := c.withoutEncoder(); err != nil {
			return nil, err
		}
	} else {
		report, err := artifact.Inspect(q.Model, q.Encoder, artifact.Options{ContentsOnly: true})
		if err != nil {
			return nil, err
		}
		// What is not an encoder has no precision to choose a policy by.
		c.Judgement = parity.NewJudgement(p, cmp.Or(Precision(report), unread(report, p)))
		if !c.inspect(report) {
			return c.Result, nil
		}
	}
	model, err := ggml.Open(q.Model)
	if err != nil {
		return nil, err
	}
	defer model.Close()
	if err := c.compare(model); err != nil {
		return nil, err
	}
	return c.Result, nil
}

// check refuses what would be left out of account.
func (q *Request) check() error {
	for _, m := range []struct{ name, member, file string }{
		{"reference", q.ReferenceMember, q.Reference}, {"candidate", q.CandidateMember, q.Candidate},
	} {
		if m.member != "" && m.file == "" {
			return fmt.Errorf("%s member %q: expected the file that has it", m.name, m.member)
		}
	}
	switch {
	case q.Candidate != "" && q.Probe != "":
		return errors.New("a candidate and a probe: expected one of them, since either gives the encoder's output")
	case q.Bisect && (q.Reference != "" || q.Encoder == ""):
		return errors.New("a bisection needs the values on the way on both sides: expected an encoder, and no reference tensor")
	}
	return nil
}

// Precision is the class of an encoder as policies name it: float32, float16,
// compressed8 (eight bits and more), compressed4 (four to seven), or what has no
// policy: compressed, pruned; "" where it is unknown.
func Precision(r *artifact.Report) string {
	if r.Encoder == nil || r.Encoder.Precision == nil {
		return ""
	}
	p := r.Encoder.Precision
	if p.Class != "compressed" {
		return p.Class
	}
	bits := 0
	for _, s := range p.Compression {
		if s.Sparsity > 0 || strings.Contains(s.Kind, "pruned") {
			return "pruned"
		}
		if s.Bits > 0 && (bits == 0 || s.Bits < bits) {
			bits = s.Bits
		}
	}
	switch {
	case bits >= 8:
		return "compressed8"
	case bits >= 4:
		return "compressed4"
	}
	return "compressed"
}

// unread is the policy's own precision where the encoder could not be read at all: then that is the
// reason, and no word about precision is due.
func unread(r *artifact.Report, p *policy.Policy) string {
	if len(r.Reasons) > 0 && (r.Model == nil || r.Encoder == nil || r.Encoder.Kind == "" || r.Encoder.Precision == nil) {
		return p.AppliesTo
	}
	return ""
}

type checker struct {
	ctx context.Context
	Request
	*Result
	policy *policy.Policy
	mel    []float32
	digest string
}

// withoutEncoder begins a judgement of ggml's own encoder, whose precision is
// what the candidate's sidecar says: ggml, or ggml-flash with flash attention.
func (c *checker) withoutEncoder() error {
	if c.Candidate == "" {
		return errors.New("expected an encoder, or the output of ggml's own as a candidate")
	}
	_, s, _, err := parity.ReadSide(c.Candidate, c.CandidateMember, "candidate")
	if err != nil {
		return err
	}
	precision := ""
	if s != nil && strings.HasPrefix(s.DType, "ggml") {
		precision = s.DType
	}
	c.Facts[verdict.FactPrecision] = precision
	c.Judgement = parity.NewJudgement(c.policy, precision)
	return nil
}

// inspect takes over what the artifact's inspection found. It reports whether a
// comparison makes sense.
func (c *checker) inspect(r *artifact.Report) bool {
	c.Facts[verdict.FactPrecision] = Precision(r)
	if r.Model != nil {
		c.Facts[verdict.FactModel] = r.Model.SHA256
	}
	if r.Encoder != nil {
		c.Facts[verdict.FactEncoder] = r.Encoder.Digest
		c.Facts[verdict.FactEncoderForm] = r.Encoder.Form
		if r.Encoder.Form != "mlmodelc" {
			c.Add(reason.PackageNotCompiled, c.Encoder, "an .mlmodelc", r.Encoder.Form)
		}
	}
	for _, x := range r.Reasons {
		switch {
		case x.Code == reason.PairingUnreadable && c.Reference != "":
			// The reference says what the weights must compute.
			c.Add(reason.PairingByReference, x.Where, x.Expected, x.Found)
		case x.Code == reason.OperationUnknown:
			// The evaluator says so itself; of what was predicted elsewhere the numbers tell.
		case x.Code == reason.PlaceUnknown && (c.Candidate != "" || c.Probe != ""):
			c.Add(reason.PlaceByNumbers, x.Where, x.Expected, x.Found)
		default:
			c.AddReason(x)
		}
	}
	// A quantised .bin is further from the source than float16 is.
	coarse := c.Judgement.Policy == parity.GatePolicy || c.policy.AppliesTo == "float16" && quantised(r.Model)
	c.Notes = append(c.Notes, r.Notes...)
	if p := r.Pairing; p != nil && p.Finer && c.Reference == "" && coarse {
		c.Add(reason.ReferenceCoarse, c.Encoder, "weights that are the .bin's own, or a reference of the source's", p.FinerBecause())
	}
	return r.Model != nil && r.Encoder != nil && r.Encoder.Form != "" && r.Encoder.Kind != ""
}

// quantised says whether a .bin holds tensors that were rounded to a grid.
func quantised(m *artifact.Model) bool {
	if m == nil {
		return false
	}
	for name := range m.Tensors {
		if !slices.Contains([]string{"f64", "f32", "f16", "bf16"}, name) {
			return true
		}
	}
	return false
}

func (c *checker) compare(model *ggml.Model) error {
	if err := c.readMel(model); err != nil {
		return err
	}
	c.Facts[parity.FactMel] = c.digest
	candidate, ok, err := c.candidate(model)
	if err != nil || !ok {
		return err
	}
	ref, points, err := c.reference(model)
	if err != nil {
		return err
	}
	if ref.Values == nil {
		return nil // its bytes are no tensor
	}
	c.Compare(c.policy, ref, candidate)
	if c.Bisect && points != nil {
		return c.bisect(points, model.Hyperparameters.Mels, model.Hyperparameters.MelFrames())
	}
	return nil
}

// candidate reads or evaluates the encoder's output; false when there is none.
func (c *checker) candidate(model *ggml.Model) (parity.Tensor, bool, error) {
	if c.Candidate != "" {
		t, s, reasons, err := parity.ReadSide(c.Candidate, c.CandidateMember, "candidate")
		if err != nil {
			return t, false, err
		}
		for _, r := range reasons {
			c.AddReason(r)
		}
		if s == nil {
			return t, false, nil
		}
		c.Facts["candidate"] = s
		c.elsewhere(s)
		return t, true, nil
	}
	if c.Probe != "" {
		return c.probed(model)
	}
	c.Facts[verdict.FactEvaluator] = kernel.Path()
	c.AddReason(parity.EmulatedNote(c.Encoder, kernel.Path()))
	e, err := Load(c.Encoder, c.Threads)
	if err != nil {
		c.unsupported(err)
		return parity.Tensor{}, false, nil
	}
	defer e.Close()
	for _, w := range e.Warnings() {
		c.AddReason(Flagged(c.Encoder, w))
	}
	h := model.Hyperparameters
	t, err := e.Predict(c.ctx, c.mel, h.Mels, h.MelFrames())
	var wrong *TypeError
	switch {
	case c.ctx.Err() != nil:
		return t, false, c.ctx.Err()
	case errors.As(err, &wrong):
		c.Add(reason.ParityType, c.Encoder, "float32", wrong.Found)
		return t, false, nil
	case err != nil:
		c.Add(reason.PredictionFailed, c.Encoder, "an output", err.Error())
		return t, false, nil
	}
	t.MelSHA256 = c.digest
	return t, true, nil
}

// reference reads or computes the reference, and keeps the points on the way
// when they will be needed.
func (c *checker) reference(model *ggml.Model) (parity.Tensor, []point, error) {
	if c.Reference != "" {
		t, s, reasons, err := parity.ReadSide(c.Reference, c.ReferenceMember, "reference")
		if err != nil {
			return t, nil, err
		}
		for _, r := range reasons {
			c.AddReason(r)
		}
		c.Facts[parity.FactReference] = "tensor " + filepath.Base(c.Reference)
		if s != nil {
			c.Facts["reference_sidecar"] = s
		}
		return t, nil, nil
	}
	e, err := reference.New(model)
	if err != nil {
		return parity.Tensor{}, nil, err
	}
	e.Threads = c.Threads
	var points []point
	if c.Bisect {
		e.Observe = func(name string, rows, columns int, v []float64) {
			points = append(points, newPoint(name, rows, columns, v))
		}
	}
	v, err := e.Encode(c.ctx, c.mel)
	if err != nil {
		return parity.Tensor{}, nil, err
	}
	h := model.Hyperparameters
	c.Facts[parity.FactReference] = parity.Computed
	return parity.Tensor{Name: "reference", Shape: []int{1, h.AudioCtx, h.AudioState}, Values: v, MelSHA256: c.digest}, points, nil
}
