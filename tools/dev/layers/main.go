// Command layers holds the import graph of the Go code against the directions that the design gives it.
//
//	go run ./tools/dev/layers
//
// It reads `go list` and exits 1 if a package depends on what it must not know. Imports of tests do not
// count: a test may build its world from anywhere.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

const module = "github.com/coreml-gate/rules_coreml_gate/"

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		fmt.Fprintf(stderr, "layers: go list: %v\n", err)
		return 2
	}
	imports := parse(out)
	wrong := append(check(imports), unused(imports)...)
	for _, line := range wrong {
		fmt.Fprintln(stdout, line)
	}
	if len(wrong) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "layers: %d packages under %d rules, all in their directions\n", len(imports), len(rules))
	return 0
}

// parse reads lines "PACKAGE IMPORT…" and keeps what is ours.
func parse(list []byte) map[string][]string {
	imports := map[string][]string{}
	for _, line := range strings.Split(string(bytes.TrimSpace(list)), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		pkg := strings.TrimPrefix(fields[0], module)
		imports[pkg] = []string{}
		for _, dep := range fields[1:] {
			if ours, ok := strings.CutPrefix(dep, module); ok {
				imports[pkg] = append(imports[pkg], ours)
			}
		}
	}
	return imports
}
