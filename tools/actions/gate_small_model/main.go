// Command gate_small_model writes a small seeded Whisper model, for tests that
// must be quick. See package synthetic.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, stderr io.Writer) int {
	o := synthetic.Default()
	var out, typ string
	flags := flag.NewFlagSet("gate_small_model", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of all values")
	flags.IntVar(&o.Layers, "layers", o.Layers, "encoder layers")
	flags.IntVar(&o.TextLayers, "text-layers", o.TextLayers, "decoder layers")
	flags.IntVar(&o.State, "state", o.State, "width of encoder and decoder")
	flags.IntVar(&o.Heads, "heads", o.Heads, "attention heads")
	flags.IntVar(&o.Mels, "mels", o.Mels, "mel bands")
	flags.IntVar(&o.AudioCtx, "audio-ctx", o.AudioCtx, "positions that the encoder puts out")
	flags.IntVar(&o.TextCtx, "text-ctx", o.TextCtx, "positions of the decoder")
	flags.BoolVar(&o.Multilingual, "multilingual", o.Multilingual, "a multilingual vocabulary")
	flags.StringVar(&typ, "type", "f16", "type of the large matrices: f16 or f32")
	flags.StringVar(&out, "out", "", "the model `file` to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if out == "" || flags.NArg() != 0 || (typ != "f16" && typ != "f32") {
		fmt.Fprintln(stderr, "gate_small_model: --out is needed, --type is f16 or f32, and there are no other arguments")
		return 2
	}
	o.Float32 = typ == "f32"
	if err := write(out, o); err != nil {
		fmt.Fprintf(stderr, "gate_small_model: %v\n", err)
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
