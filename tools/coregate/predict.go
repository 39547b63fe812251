package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/tensorfile"
)

// prediction is what coregate predict is asked for.
type prediction struct {
	model, encoder, mel, member, out, probe string
	deadline                                time.Duration
	threads                                 int
	asJSON                                  bool
}

func newPredictCmd() *cobra.Command {
	var p prediction
	cmd := &cobra.Command{
		Use:   "predict --model MODEL.bin --encoder ENCODER --out OUT.npy",
		Short: "Evaluate an encoder on a mel and write its output",
		Long: `Evaluate the encoder's program on this host and write its output as a float32 .npy, with the
sidecar OUT.npy.json that says which mel was fed. This is the program's definition, not Core ML;
with --probe PROGRAM, on a Mac, it is Core ML, and the sidecar carries coremlprobe's report.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.model == "" || p.encoder == "" || p.out == "" {
				return fmt.Errorf("predict needs --model MODEL.bin, --encoder ENCODER and --out OUT.npy")
			}
			if !strings.HasSuffix(p.out, ".npy") {
				return fmt.Errorf("--out %s: expected a name that ends in .npy, by which it is read again", p.out)
			}
			return p.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.model, "model", "", "the ggml model, for the shape of the mel and its filters")
	f.StringVar(&p.encoder, "encoder", "", "the .mlmodelc or .mlpackage folder")
	f.StringVar(&p.mel, "mel", "", "the mel: .npy, .npz or .safetensors, or a 16 kHz mono .wav; a built-in sound if left out")
	f.StringVar(&p.member, "mel-member", "", "the mel's name in its file")
	f.StringVar(&p.out, "out", "", "where the output goes")
	f.StringVar(&p.probe, "probe", "", "the coremlprobe to predict with, on a Mac")
	f.DurationVar(&p.deadline, "probe-deadline", evaluation.DefaultDeadline, "how long Core ML may take, its first load included")
	f.IntVar(&p.threads, "threads", 0, "threads to use (all processors if 0); changes no result")
	f.BoolVar(&p.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (p *prediction) run(ctx context.Context, stdout, stderr io.Writer) error {
	m, err := ggml.Open(p.model)
	if err != nil {
		return err
	}
	defer m.Close()
	mel, source, err := evaluation.ReadMel(m, p.mel, p.member)
	if err != nil {
		return err
	}
	s := &parity.Sidecar{Schema: 1, Role: "candidate", Model: filepath.Base(p.encoder), DType: "float32", Mode: "eval", Attention: "as converted", MelSHA256: parity.MelDigest(mel)}
	if s.EncoderDigest, err = tree.Digest(p.encoder); err != nil {
		return err
	}
	predict := p.evaluate
	if p.probe != "" {
		predict = p.ask
	}
	t, err := predict(ctx, m, mel, s, stderr)
	if err != nil {
		return err
	}
	if err := writeTensor(p.out, t, s); err != nil {
		return err
	}
	if p.asJSON {
		return printJSON(stdout, map[string]any{"out": p.out, "shape": t.Shape, "mel_sha256": s.MelSHA256, "source": source, "sidecar": s})
	}
	fmt.Fprintf(stdout, "%s: %v, mel %s (%s)\n", p.out, t.Shape, s.MelSHA256, source)
	return nil
}

// evaluate computes the program here.
func (p *prediction) evaluate(ctx context.Context, m *ggml.Model, mel []float32, s *parity.Sidecar, stderr io.Writer) (parity.Tensor, error) {
	e, err := evaluation.Load(p.encoder, p.threads)
	if err != nil {
		return parity.Tensor{}, err
	}
	defer e.Close()
	for _, w := range e.Warnings() {
		fmt.Fprintln(stderr, "coregate: warning:", w)
	}
	s.Tool, s.Device = "coregate predict ("+kernel.Path()+")", "emulated"
	return e.Predict(ctx, mel, m.Hyperparameters.Mels, m.Hyperparameters.MelFrames())
}

// ask has Core ML predict. What speaks against the output is said here, and travels in the sidecar.
func (p *prediction) ask(ctx context.Context, m *ggml.Model, mel []float32, s *parity.Sidecar, stderr io.Writer) (parity.Tensor, error) {
	o, err := evaluation.Probe(ctx, p.probe, p.encoder, mel, m.Hyperparameters.Mels, m.Hyperparameters.MelFrames(), p.deadline)
	if err != nil {
		return parity.Tensor{}, err
	}
	var wrong error
	for _, r := range parity.JudgeOutcome(o, p.encoder, evaluation.OutputName) {
		wrong = cmp.Or(wrong, errors.New(r.String()))
		fmt.Fprintln(stderr, "coregate: warning:", r)
	}
	t, ok := parity.ProbedTensor(o, evaluation.OutputName)
	if !ok {
		return t, fmt.Errorf("core ml gave no float32 output: %w", wrong)
	}
	s.Tool, s.Device, s.Probe = "coremlprobe "+o.Report.Version, "Core ML at "+o.Report.LoadedAt(), o.Report
	return t, nil
}

// writeTensor writes a tensor and its sidecar, each whole or not at all. Between the two a reader finds a
// sidecar that fits another tensor, which is refused.
func writeTensor(path string, t parity.Tensor, s *parity.Sidecar) error {
	values := make([]float32, len(t.Values))
	for i, v := range t.Values {
		values[i] = float32(v)
	}
	if err := writeNPY(path, t.Shape, values); err != nil {
		return err
	}
	digest, err := parity.FileDigest(path)
	if err != nil {
		return err
	}
	s.TensorSHA256 = digest
	data, err := strictjson.Canonical(s)
	if err != nil {
		return err
	}
	return wholefile.Write(path+".json", func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func writeNPY(path string, shape []int, values []float32) error {
	return wholefile.Write(path, func(w io.Writer) error { return tensorfile.WriteNPY(w, shape, values) })
}
