// Command gate_evaluator evaluates one encoder for the double of whisper.cpp's
// Core ML bridge. `gate_evaluator serve PATH` loads the .mlmodelc or .mlpackage
// at PATH and speaks the protocol of package serve on its standard streams.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/serve"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 2 || args[0] != "serve" {
		fmt.Fprintf(stderr, "gate_evaluator: expected `serve PATH`, found %q\n", args)
		return 2
	}
	return serve.Run(stdin, stdout, stderr, args[1], os.Getenv(serve.FaultVariable))
}
