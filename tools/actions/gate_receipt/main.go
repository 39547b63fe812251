// Command gate_receipt is the build action that judges a gate's evidence and writes its receipt.
//
//	gate_receipt --spec=FILE.json --out=RECEIPT.json
//
// It exits 0 when it could write a receipt, whatever the verdict; broken input exits 1.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_receipt", flag.ContinueOnError)
	flags.SetOutput(stderr)
	spec := flags.String("spec", "", "the receipt spec, a JSON file (package receipt)")
	out := flags.String("out", "", "where the receipt goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *spec == "" || *out == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_receipt: --spec and --out are both required, and nothing else")
		return 2
	}
	if err := act(*spec, *out); err != nil {
		fmt.Fprintf(stderr, "gate_receipt: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(specPath, out string) error {
	spec, err := statement.ReadSpec(specPath)
	if err != nil {
		return err
	}
	built, err := statement.Build(spec)
	if err != nil {
		return err
	}
	data, err := statement.Encode(built)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		return fmt.Errorf("write receipt: %w", err)
	}
	return nil
}
