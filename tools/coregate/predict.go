package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/parity/check"
	"github.com/coreml-gate/rules_coreml_gate/tools/parity/tensorfile"
	"github.com/coreml-gate/rules_coreml_gate/tools/strictjson"
)

func newPredictCmd() *cobra.Command {
	var model, encoder, melPath, member, out string
	var threads int
	cmd := &cobra.Command{
		Use:   "predict --model MODEL.bin --encoder ENCODER --out OUT.npy",
		Short: "Evaluate an encoder on a mel and write its output",
		Long: `Evaluate the encoder's program on this host and write its output as a float32 .npy, with the
sidecar OUT.npy.json that says which mel was fed. This is the program's definition, not Core ML.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if model == "" || encoder == "" || out == "" {
				return fmt.Errorf("predict needs --model MODEL.bin, --encoder ENCODER and --out OUT.npy")
			}
			m, err := ggml.Open(model)
			if err != nil {
				return err
			}
			defer m.Close()
			values, source, err := check.ReadMel(m, melPath, member)
			if err != nil {
				return err
			}
			e, err := check.Load(encoder, threads)
			if err != nil {
				return err
			}
			defer e.Close()
			for _, w := range e.Warnings() {
				fmt.Fprintln(cmd.ErrOrStderr(), "coregate: warning:", w)
			}
			t, err := e.Predict(values, m.Hyperparameters.Mels, m.Hyperparameters.MelFrames())
			if err != nil {
				return err
			}
			result := make([]float32, len(t.Values))
			for i, v := range t.Values {
				result[i] = float32(v)
			}
			digest := parity.MelDigest(values)
			if err := writeTensor(out, t.Shape, result, &parity.Sidecar{
				Schema: 1, Role: "candidate", Model: encoder, Tool: "coregate predict (" + kernel.Path() + ")", DType: "float32",
				Mode: "eval", Device: "emulated", Attention: "as converted", MelSHA256: digest,
			}); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %v, mel %s (%s)\n", out, t.Shape, digest, source)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&model, "model", "", "the ggml model, for the shape of the mel and its filters")
	f.StringVar(&encoder, "encoder", "", "the .mlmodelc or .mlpackage folder")
	f.StringVar(&melPath, "mel", "", "the mel: .npy, .npz or .safetensors, or a 16 kHz mono .wav; a built-in sound if left out")
	f.StringVar(&member, "mel-member", "", "the mel's name in its file")
	f.StringVar(&out, "out", "", "where the output goes")
	f.IntVar(&threads, "threads", 0, "threads to use (all processors if 0); changes no result")
	return cmd
}

// writeTensor writes a tensor file and its sidecar.
func writeTensor(path string, shape []int, values []float32, s *parity.Sidecar) error {
	if err := writeNPY(path, shape, values); err != nil {
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
	return os.WriteFile(path+".json", data, 0o644)
}

func writeNPY(path string, shape []int, values []float32) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	return tensorfile.WriteNPY(f, shape, values)
}
