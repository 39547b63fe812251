// Command gate_run is the build action that runs whisper-cli once and writes its evidence.
//
//	gate_run --spec=FILE.json --evidence=OUT --observations=OUT
//
// It exits 0 when it could do its work, whatever the program did; a spec that the contract forbids,
// or a file that is not there, exits 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	spec := flags.String("spec", "", "the run spec, a JSON file (package runner)")
	evidenceOut := flags.String("evidence", "", "where evidence.json goes")
	observationsOut := flags.String("observations", "", "where observations.json goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *spec == "" || *evidenceOut == "" || *observationsOut == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_run: --spec, --evidence and --observations are all required, and nothing else")
		return 2
	}
	if err := act(ctx, *spec, *evidenceOut, *observationsOut); err != nil {
		fmt.Fprintf(stderr, "gate_run: %v\n", err)
		return 1
	}
	return 0
}

func act(ctx context.Context, specPath, evidenceOut, observationsOut string) error {
	spec, err := runner.ReadSpec(specPath)
	if err != nil {
		return err
	}
	result, err := runner.Run(ctx, spec)
	if err != nil {
		return err
	}
	data, err := evidence.Encode(result.Evidence)
	if err != nil {
		return err
	}
	if err := os.WriteFile(evidenceOut, data, 0o644); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	if data, err = evidence.EncodeObservations(result.Observations); err != nil {
		return err
	}
	if err := os.WriteFile(observationsOut, data, 0o644); err != nil {
		return fmt.Errorf("write observations: %w", err)
	}
	return nil
}
