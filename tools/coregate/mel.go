package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
)

func newMelCmd() *cobra.Command {
	var model, audio, out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mel --model MODEL.bin [--audio AUDIO.wav] --out MEL.npy",
		Short: "Compute the mel that whisper.cpp would feed to an encoder",
		Long: `Compute the log-mel spectrogram of the first 30 seconds as whisper.cpp does, with the model's own
filters, and write it as a float32 .npy of [1, n_mels, frames]. Prints its digest, which a sidecar
carries as mel_sha256.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if model == "" || out == "" {
				return fmt.Errorf("mel needs --model MODEL.bin and --out MEL.npy")
			}
			if !strings.HasSuffix(out, ".npy") {
				return fmt.Errorf("--out %s: expected a name that ends in .npy, by which it is read again", out)
			}
			m, err := ggml.Open(model)
			if err != nil {
				return err
			}
			defer m.Close()
			values, source, err := evaluation.ReadMel(m, audio, "")
			if err != nil {
				return err
			}
			h := m.Hyperparameters
			if err := writeNPY(out, []int{1, h.Mels, h.MelFrames()}, values); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"mel_sha256": parity.MelDigest(values), "out": out, "source": source, "shape": []int{1, h.Mels, h.MelFrames()}})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %s (%s)\n", parity.MelDigest(values), out, source)
			return nil
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the ggml model, a .bin file")
	cmd.Flags().StringVar(&audio, "audio", "", "16 kHz mono WAV; a built-in sound if left out")
	cmd.Flags().StringVar(&out, "out", "", "where the mel goes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
