package evaluation

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// Probe predicts with Core ML, on a Mac, by the given coremlprobe, as the runtime's bridge does: one mel in, the output
// "output" out.
func Probe(ctx context.Context, program, encoder string, mel []float32, mels, frames int, deadline time.Duration) (*probe.Outcome, error) {
	data := make([]byte, 0, 4*len(mel))
	for _, v := range mel {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return probe.Run(ctx, program, probe.Request{
		Model:   encoder,
		Inputs:  []probe.Input{{Name: inputName, DType: "float32", Shape: []int{1, mels, frames}, Data: data}},
		Outputs: []string{OutputName},
	}, cmp.Or(deadline, DefaultDeadline))
}

// probed takes the candidate from Core ML itself.
func (c *checker) probed(model *ggml.Model) (parity.Tensor, bool, error) {
	h := model.Hyperparameters
	o, err := Probe(c.ctx, c.Probe, c.Encoder, c.mel, h.Mels, h.MelFrames(), c.ProbeDeadline)
	if err != nil {
		return parity.Tensor{}, false, err
	}
	for _, r := range parity.JudgeOutcome(o, c.Encoder, OutputName) {
		c.AddReason(r)
	}
	if o.Report != nil {
		c.Facts["probe"] = o.Report
		c.report(o.Report)
	}
	t, ok := parity.ProbedTensor(o, OutputName)
	t.MelSHA256 = c.digest
	return t, ok, nil
}

// elsewhere takes in what the sidecar of a candidate says about its prediction.
func (c *checker) elsewhere(s *parity.Sidecar) {
	if c.Encoder == "" {
		return // ggml's own encoder has no Core ML to ask
	}
	if have, _ := c.Facts[verdict.FactEncoder].(string); s.EncoderDigest != have {
		c.Add(reason.CandidateEncoder, c.Candidate+".json", "encoder_digest "+have, cmp.Or(s.EncoderDigest, "none"))
	}
	if s.Probe == nil {
		c.Add(reason.UnitsUnobserved, c.Candidate+".json", "the report of coremlprobe", "none; device "+s.Device)
		return
	}
	for _, r := range parity.JudgeReport(s.Probe, c.Candidate+".json", OutputName) {
		c.AddReason(r)
	}
	c.report(s.Probe)
}

// report puts a report's outcome among the facts that a receipt binds: where the model loaded and what it took.
func (c *checker) report(r *probe.Report) {
	c.Facts[verdict.FactUnitsAsked] = probe.AllUnits
	c.Facts[verdict.FactUnitsLoaded] = r.LoadedAt()
	c.Facts[verdict.FactLoadAttempts] = parity.Attempts(r)
	c.Facts[verdict.FactCoreMLHost] = r.Host.String()
}
