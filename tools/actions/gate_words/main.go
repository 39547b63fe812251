// Command gate_words is the build action that runs whisper-cli with and without the Core ML encoder on recordings and
// compares what was heard.
//
//	gate_words --spec=FILE.json --out=DIR --judgement=OUT.json [--policy=NAME]
//
// DIR gets report.json (package transcript) and, for each comparison of it in order, NNN-coreml.evidence.json and
// NNN-ggml.evidence.json; OUT.json the judgement of them under a frozen policy. It exits 0 when it could do its work, whatever the programs did; 1 for broken inputs.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/accuracy"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/recordings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_words", flag.ContinueOnError)
	flags.SetOutput(stderr)
	specPath := flags.String("spec", "", "the words spec, a JSON file (package words)")
	out := flags.String("out", "", "the folder that gets report.json and the evidence of every run")
	judgement := flags.String("judgement", "", "where the judgement goes")
	policy := flags.String("policy", accuracy.DefaultPolicy, "`name` of the frozen policy")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *specPath == "" || *out == "" || *judgement == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_words: --spec, --out and --judgement are required, and --policy is all else that there is")
		return 2
	}
	if err := act(ctx, *specPath, *out, *judgement, *policy); err != nil {
		fmt.Fprintf(stderr, "gate_words: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(ctx context.Context, specPath, out, judgement, policy string) error {
	spec, err := recordings.ReadSpec(specPath)
	if err != nil {
		return err
	}
	outcome, err := recordings.Run(ctx, spec)
	if err != nil {
		return err
	}
	if err := outcome.Write(out); err != nil {
		return err
	}
	verdict, err := accuracy.Judge(outcome, policy)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(verdict, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(judgement, append(data, '\n'), 0o644)
}
