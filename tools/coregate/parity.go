package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
)

func newParityCmd() *cobra.Command {
	var q evaluation.Request
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "parity --model MODEL.bin --encoder ENCODER",
		Short: "Compare an encoder's output with the reference, number by number",
		Long: `Feed one mel to the encoder and to the reference, and judge the difference under a frozen policy.

The reference is computed in float64 from the .bin's own tensors, or is a tensor of your own pipeline
(--reference FILE.npy, .npz or .safetensors, with FILE.npy.json beside it; docs/parity.md). The
encoder is evaluated here from its program and weights, or by Core ML itself (--probe, on a Mac), or its
output was predicted elsewhere (--candidate). Without --mel a built-in sound is used.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Model == "" || q.Encoder == "" && q.Candidate == "" {
				return fmt.Errorf("parity needs --model MODEL.bin, and --encoder ENCODER or the --candidate of ggml's own encoder")
			}
			r, err := evaluation.Run(cmd.Context(), q)
			if err != nil {
				return err
			}
			return printParity(cmd.OutOrStdout(), r, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Model, "model", "", "the ggml model, a .bin file")
	f.StringVar(&q.Encoder, "encoder", "", "the .mlmodelc (or .mlpackage) folder")
	f.StringVar(&q.Mel, "mel", "", "the mel: .npy, .npz or .safetensors, or a 16 kHz mono .wav")
	f.StringVar(&q.MelMember, "mel-member", "", "the mel's name in its file")
	f.StringVar(&q.Reference, "reference", "", "the source model's own output for that mel")
	f.StringVar(&q.ReferenceMember, "reference-member", "", "the tensor's name in its file")
	f.StringVar(&q.Candidate, "candidate", "", "the encoder's output for that mel, predicted elsewhere")
	f.StringVar(&q.CandidateMember, "candidate-member", "", "the tensor's name in its file")
	f.StringVar(&q.Probe, "probe", "", "the coremlprobe to predict with, on a Mac")
	f.DurationVar(&q.ProbeDeadline, "probe-deadline", evaluation.DefaultDeadline, "how long Core ML may take, its first load included")
	f.StringVar(&q.Policy, "policy", parity.GatePolicy, "a frozen parity policy; only "+parity.GatePolicy+" satisfies the release gate")
	f.IntVar(&q.Threads, "threads", 0, "threads to use (all processors if 0); changes no result")
	f.BoolVar(&q.Bisect, "bisect", false, "find the first point on the way that differs (from the reference computed here)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printParity(w io.Writer, r *evaluation.Result, asJSON bool) error {
	facts := r.Facts
	facts["policy"], facts["policy_sha256"], facts["satisfies_gate"] = r.Policy, r.PolicySHA256, r.SatisfiesGate()
	out := report{r.Findings, facts}
	if asJSON {
		if r.Measurement != nil {
			facts["measurement"] = r.Measurement
		}
		return out.print(w, "parity", true)
	}
	steps, _ := facts["bisect"].([]evaluation.Step)
	delete(facts, "bisect")
	delete(facts, "probe")
	if s, ok := facts["candidate"].(*parity.Sidecar); ok {
		facts["candidate"] = s.Tool + ", " + s.Device
	}
	err := out.print(w, "parity", false)
	if m := r.Measurement; m != nil {
		fmt.Fprintf(w, "  SNR %.2f dB, cosine %.10f, largest error %.3g at frame %d channel %d, mean error %.3g\n",
			m.SNR, m.Cosine, m.Max, m.MaxAt[0], m.MaxAt[1], m.Mean)
		fmt.Fprintf(w, "  as coremltools computes them: SNR %.2f dB, PSNR %.2f dB\n", m.CoremltoolsSNR, m.CoremltoolsPSNR)
		printSpots(w, "frame", m.WorstFrames)
		printSpots(w, "channel", m.WorstChannels)
	}
	if len(steps) > 0 {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  point\tbest agreement\tby")
		for _, s := range steps {
			fmt.Fprintf(t, "  %s\t%.1f dB\t%s %q, line %d\n", s.Point, s.SNR, s.Op, s.Value, s.Line)
		}
		t.Flush()
	}
	return err
}

func printSpots(w io.Writer, what string, spots []parity.Spot) {
	fmt.Fprintf(w, "  worst %ss:", what)
	for _, s := range spots {
		fmt.Fprintf(w, " %d (%.1f dB)", s.Index, s.SNR)
	}
	fmt.Fprintln(w)
}
