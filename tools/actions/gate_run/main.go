// Command gate_run is the build action that runs whisper-cli once and writes its evidence.
//
//	gate_run --spec=FILE.json [--reference=TEXT] --evidence=OUT --observations=OUT
//
// With reference words, the evidence of a private run says how its words differ from them (package agreement), since
// only the run can compare words that it may not keep. A public run keeps its words, and --reference changes nothing.
//
// It exits 0 when it could do its work, whatever the program did; a spec that the contract forbids,
// a file that is not there, or an interrupt exits 1 and leaves no evidence, not even an earlier run's.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	spec := flags.String("spec", "", "the run spec, a JSON file (package runner)")
	evidenceOut := flags.String("evidence", "", "where evidence.json goes")
	reference := flags.String("reference", "", "text `file` with the reference words")
	observationsOut := flags.String("observations", "", "where observations.json goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	out := runner.Outputs{Evidence: *evidenceOut, Observations: *observationsOut}
	if *spec == "" || *evidenceOut == "" || *observationsOut == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_run: --spec, --evidence and --observations are all required, and there are no arguments but --reference")
		return 2
	}
	if err := act(ctx, *spec, *reference, out); err != nil {
		fmt.Fprintf(stderr, "gate_run: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(ctx context.Context, specPath, reference string, out runner.Outputs) error {
	spec, err := runner.Prepare(specPath, out)
	if err != nil {
		return err
	}
	result, err := runner.Run(ctx, spec)
	if err != nil {
		return err
	}
	if reference != "" && !spec.Public && spec.Kind != evidence.KindCanary {
		if err := hear(result, spec, reference); err != nil {
			return err
		}
	}
	return result.Write(out)
}

// hear compares what the run wrote with the reference words.
func hear(result *runner.Result, spec *runner.Spec, reference string) error {
	text, err := os.ReadFile(reference)
	if err != nil {
		return fmt.Errorf("read reference: %w", err)
	}
	audio, err := os.ReadFile(spec.Audio)
	if err != nil {
		return fmt.Errorf("read audio again, for the key of its words: %w", err)
	}
	decoding, err := whispercpp.ReadDecoding(result.Evidence.Argv[1:])
	if err != nil {
		return err
	}
	return result.Hear(func(stdout string) *evidence.Heard {
		return agreement.Hear(stdout, string(text), decoding.Language, agreement.Key(audio))
	})
}
