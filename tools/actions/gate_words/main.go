// Command gate_words is the build action that runs whisper-cli with and without the Core ML encoder on recordings and
// compares what was heard.
//
//	gate_words --spec=FILE.json --out=DIR
//
// DIR gets report.json (package transcript) and, for each comparison of it in order, NNN-coreml.evidence.json and
// NNN-ggml.evidence.json. It exits 0 when it could do its work, whatever the programs did; 1 for broken inputs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/words"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_words", flag.ContinueOnError)
	flags.SetOutput(stderr)
	specPath := flags.String("spec", "", "the words spec, a JSON file (package words)")
	out := flags.String("out", "", "the folder that gets report.json and the evidence of every run")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *specPath == "" || *out == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_words: --spec and --out are both required, and nothing else")
		return 2
	}
	spec, err := words.ReadSpec(*specPath)
	if err == nil {
		var outcome *words.Outcome
		if outcome, err = words.Run(ctx, spec); err == nil {
			err = outcome.Write(*out)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "gate_words: %v\n", err)
		return 1
	}
	return 0
}
