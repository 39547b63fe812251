package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/repeat"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/pressure"
)

// repetition is what coregate repeat is asked for.
type repetition struct {
	model, encoder, probe       string
	loads, predictions, overlap int
	deadline                    time.Duration
	time, asJSON                bool
}

func newRepeatCmd() *cobra.Command {
	var r repetition
	cmd := &cobra.Command{
		Use:   "repeat --probe PROGRAM --model MODEL.bin --encoder ENCODER.mlmodelc",
		Short: "Load, predict and unload an encoder again and again with Core ML, on a Mac",
		Long: `Have coremlprobe load the compiled encoder, predict several times one after the other, have several
predictions under way at once, and unload it, as often as --loads says. Every prediction must give
the bytes that the same mel gave first, no load may leave memory behind, and the inputs must lie
aligned and stay as they are.

With --time each prediction's time is told, from the call until it returned: the first of each load, and of those
that follow the median, the fastest and the slowest. That takes a release build of the probe, a machine that is not warm,
and low-power mode off; otherwise the times are shown and the answer is inconclusive. No judgement reads a time.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.model == "" || r.encoder == "" || r.probe == "" {
				return errors.New("repeat needs --probe PROGRAM, --model MODEL.bin and --encoder ENCODER.mlmodelc")
			}
			return r.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.probe, "probe", "", "the coremlprobe to ask, on a Mac")
	f.StringVar(&r.model, "model", "", "the ggml model, for the shape of the mel and its filters")
	f.StringVar(&r.encoder, "encoder", "", "the .mlmodelc folder")
	f.IntVar(&r.loads, "loads", 3, "how often to load and unload")
	f.IntVar(&r.predictions, "predictions", 6, "predictions of each load, one after the other")
	f.IntVar(&r.overlap, "overlap", 4, "predictions of each load that are under way at once; 0 for none")
	f.DurationVar(&r.deadline, "probe-deadline", evaluation.DefaultDeadline, "how long all of it may take, the first load included")
	f.BoolVar(&r.time, "time", false, "tell how long each prediction took")
	f.BoolVar(&r.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (r *repetition) run(ctx context.Context, stdout io.Writer) error {
	m, err := ggml.Open(r.model)
	if err != nil {
		return err
	}
	defer m.Close()
	h := m.Hyperparameters
	mel, _, err := evaluation.ReadMel(m, "", "")
	if err != nil {
		return err
	}
	// The same sound three times: as it is, backwards and with its bands turned around. All are mels that differ everywhere.
	backwards, turned := slices.Clone(mel), slices.Clone(mel)
	for band := range h.Mels {
		row := backwards[band*h.MelFrames() : (band+1)*h.MelFrames()]
		slices.Reverse(row)
		copy(turned[band*h.MelFrames():], mel[(h.Mels-1-band)*h.MelFrames():(h.Mels-band)*h.MelFrames()])
	}
	q := repeat.Request{Model: r.encoder, Outputs: []string{"output"}, Loads: r.loads, Predictions: r.predictions, Overlap: r.overlap, Time: r.time,
		Inputs: []repeat.Input{{Name: "logmel_data", DType: "float32", Shape: []int{1, h.Mels, h.MelFrames()}, Sets: [][]byte{encoded(mel), encoded(backwards), encoded(turned)}}}}
	before := strain()
	o, err := repeat.Run(ctx, r.probe, q, r.deadline)
	if err != nil {
		return err
	}
	out := report{verdict.New(), map[string]any{"loads": r.loads, "predictions": r.predictions, "overlap": r.overlap}}
	for _, x := range repeat.Judge(o, &q) {
		out.Add(x.Code, x.Where, x.Expected, x.Found)
	}
	if p := o.Report; p != nil {
		out.Facts["host"], out.Facts["counters"], out.Facts["inputs"], out.Facts["cycles"] = p.Host, p.Counters, p.Inputs, p.Cycles
	}
	if p := o.Report; p != nil && r.time {
		out.AddAll(repeat.JudgeTimes(p))
		for when, s := range map[string]environment.Strain{"before": before, "after": strain()} {
			out.AddAll(strained(when, s))
			out.Facts["machine "+when] = s
		}
		out.Facts["latency"], out.Facts["framework"], out.Facts["build"] = p.Latency(), p.Framework, p.Build
	}
	return out.print(stdout, "repeat", r.asJSON)
}

// strain is what the machine says of itself; tests answer in its place.
var strain = pressure.Strained

// strained are the reasons why times of a machine in that state are no measurement.
func strained(when string, s environment.Strain) []reason.Reason {
	var out []reason.Reason
	if s.Thermal != "nominal" {
		out = append(out, reason.Reason{Code: reason.ThermalNotNominal, Where: "machine " + when, Expected: "nominal", Found: s.Thermal})
	}
	if s.LowPower != "off" {
		out = append(out, reason.Reason{Code: reason.LowPowerMode, Where: "machine " + when, Expected: "off", Found: s.LowPower})
	}
	return out
}

func encoded(values []float32) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, values) // a buffer takes everything
	return b.Bytes()
}
