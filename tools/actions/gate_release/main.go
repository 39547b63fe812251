// Command gate_release is the build action that binds the receipts of many gates into one release.
//
//	gate_release --spec=FILE.json --out=RELEASE.json
//
// It exits 0 when it could write a release, whatever the verdict; broken input exits 1.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	spec := flags.String("spec", "", "the release spec, a JSON file (package release)")
	out := flags.String("out", "", "where the release goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *spec == "" || *out == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_release: --spec and --out are both required, and nothing else")
		return 2
	}
	if err := act(*spec, *out); err != nil {
		fmt.Fprintf(stderr, "gate_release: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(specPath, out string) error {
	spec, err := release.ReadSpec(specPath)
	if err != nil {
		return err
	}
	statement, err := release.Build(spec)
	if err != nil {
		return err
	}
	data, err := release.Encode(statement)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		return fmt.Errorf("write release: %w", err)
	}
	return nil
}
