// Command gate_run is the build action that runs whisper-cli once and writes its evidence.
//
//	gate_run --spec=FILE.json --evidence=OUT --observations=OUT
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
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
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
	observationsOut := flags.String("observations", "", "where observations.json goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	out := runner.Outputs{Evidence: *evidenceOut, Observations: *observationsOut}
	if *spec == "" || *evidenceOut == "" || *observationsOut == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_run: --spec, --evidence and --observations are all required, and nothing else")
		return 2
	}
	if err := act(ctx, *spec, out); err != nil {
		fmt.Fprintf(stderr, "gate_run: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(ctx context.Context, specPath string, out runner.Outputs) error {
	spec, err := runner.Prepare(specPath, out)
	if err != nil {
		return err
	}
	result, err := runner.Run(ctx, spec)
	if err != nil {
		return err
	}
	return result.Write(out)
}
