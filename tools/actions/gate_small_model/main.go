// Command gate_small_model writes a seeded Whisper model: a small one, for tests that must be quick, or one of a published
// size, for what must be seen at that size. See package synthetic.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

// options reads the arguments. A published size comes first, so that the other flags can change it.
func options(args []string, stderr io.Writer) (o synthetic.Options, out string, err error) {
	o = synthetic.Default()
	flags := flag.NewFlagSet("gate_small_model", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("size", "a published `model`, such as large-v3; given first", func(name string) error {
		o, err = synthetic.Size(name)
		return err
	})
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of all values")
	flags.IntVar(&o.Layers, "layers", o.Layers, "encoder layers")
	flags.IntVar(&o.TextLayers, "text-layers", o.TextLayers, "decoder layers")
	flags.IntVar(&o.State, "state", o.State, "width of encoder and decoder")
	flags.IntVar(&o.Heads, "heads", o.Heads, "attention heads")
	flags.IntVar(&o.Mels, "mels", o.Mels, "mel bands")
	flags.IntVar(&o.AudioCtx, "audio-ctx", o.AudioCtx, "positions that the encoder puts out")
	flags.IntVar(&o.TextCtx, "text-ctx", o.TextCtx, "positions of the decoder")
	flags.BoolVar(&o.Multilingual, "multilingual", o.Multilingual, "a multilingual vocabulary")
	typ := flags.String("type", "f16", "type of the large matrices: f16, f32, q4_0, q5_0 or q8_0")
	flags.StringVar(&out, "out", "", "the model `file` to write")
	if err := flags.Parse(args); err != nil {
		return o, "", err
	}
	quantised, ok := map[string]ggml.Type{"f16": 0, "f32": 0, "q4_0": ggml.Q4_0, "q5_0": ggml.Q5_0, "q8_0": ggml.Q8_0}[*typ]
	if out == "" || flags.NArg() != 0 || !ok {
		return o, "", fmt.Errorf("--out is needed, --type is f16, f32, q4_0, q5_0 or q8_0, and there are no other arguments")
	}
	o.Float32, o.Quantise = *typ == "f32", quantised
	return o, out, nil
}

func run(args []string, stderr io.Writer) int {
	o, out, err := options(args, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "gate_small_model: %s\n", reason.Visible(err.Error()))
		return 2
	}
	if err := write(out, o); err != nil {
		fmt.Fprintf(stderr, "gate_small_model: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func write(path string, o synthetic.Options) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := synthetic.Write(f, o); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
