// Command gate_ab is the build action that compares an unpatched whisper-cli with a patched one.
//
//	gate_ab --unpatched=CLI --patched=CLI --model=M.bin --audio=A --n=N --out=REPORT.json --table=REPORT.txt
//
// The verdict is data (package ab): the command exits 1 only if the experiment could not be made.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_ab", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var c ab.Config
	flags.StringVar(&c.Unpatched, "unpatched", "", "the unpatched whisper-cli")
	flags.StringVar(&c.Patched, "patched", "", "the patched whisper-cli")
	flags.StringVar(&c.Model, "model", "", "a ggml model")
	flags.StringVar(&c.Audio, "audio", "", "an audio file")
	flags.IntVar(&c.N, "n", 0, "runs of each arm under each heap setting")
	out := flags.String("out", "", "where the report goes, a JSON file")
	table := flags.String("table", "", "where the table goes, a text file")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := act(ctx, c, *out, *table); err != nil {
		fmt.Fprintf(stderr, "gate_ab: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(ctx context.Context, c ab.Config, out, table string) error {
	report, err := ab.Run(ctx, c)
	if err != nil {
		return err
	}
	data, err := strictjson.Canonical(report)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	var text bytes.Buffer
	if err := report.Table(&text); err != nil {
		return err
	}
	if err := os.WriteFile(table, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
