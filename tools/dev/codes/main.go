// Command codes checks that every reason code is defined once, emitted somewhere, and, if it changes a verdict, raised by a test.
//
//	go run ./tools/dev/codes
//	go run ./tools/dev/codes -texts [PREFIX]
//
// -texts prints each code's text beside the places that raise it and the tests' inputs that do, for who reviews the texts.
// It reads the Go files of tools and gate, and docs/clauses.md, where each code has to be in a test beside it. A test raises what it, its test data, a mutant or an experiment names. It exits 1 on a finding.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/clauses"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	sources, tests, err := read("tools", "gate", "third_party")
	if err != nil {
		fmt.Fprintf(stderr, "codes: %v\n", err)
		return 2
	}
	if len(args) > 0 {
		if args[0] != "-texts" || len(args) > 2 {
			fmt.Fprintln(stderr, "usage: codes [-texts [PREFIX]]")
			return 2
		}
		c, files, err := take(sources)
		if err != nil {
			fmt.Fprintf(stderr, "codes: %v\n", err)
			return 2
		}
		c.texts(stdout, files, tests, strings.Join(args[1:], ""))
		return 0
	}
	wrong, err := check(sources, tests, byHand)
	if err != nil {
		fmt.Fprintf(stderr, "codes: %v\n", err)
		return 2
	}
	beside, err := besideTests()
	if err != nil {
		fmt.Fprintf(stderr, "codes: %v\n", err)
		return 2
	}
	wrong = append(wrong, beside...)
	for _, line := range wrong {
		fmt.Fprintln(stdout, line)
	}
	if len(wrong) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "codes: %d files, every reason code defined once and emitted\n", len(sources))
	return 0
}

// besideTests are the codes of the table of clauses that none of the files beside them has.
func besideTests() ([]string, error) {
	const page = "docs/clauses.md"
	text := func(path string) (string, error) {
		data, err := os.ReadFile(path)
		return string(data), err
	}
	table, err := text(page)
	if err != nil {
		return nil, err
	}
	wrong, err := clauses.Codes(table, text)
	for i := range wrong {
		wrong[i] = page + ": " + wrong[i]
	}
	return wrong, err
}

// read returns, by slashed path, the Go files below the folders without tests, and what tests are made of.
func read(roots ...string) (sources, tests map[string]string, err error) {
	sources, tests = map[string]string{}, map[string]string{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			slashed := filepath.ToSlash(path)
			source := strings.HasSuffix(slashed, ".go") && !strings.HasSuffix(slashed, "_test.go")
			if !source && !ofTests(slashed) {
				return nil
			}
			data, err := os.ReadFile(path)
			if source {
				sources[slashed] = string(data)
			}
			if ofTests(slashed) {
				tests[slashed] = string(data)
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return sources, tests, nil
}

// ofTests says whether a file's text says what tests demand: a test, its cases, a mutant, an experiment.
func ofTests(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tools/dev/mutants/") || path == "gate/experiments/BUILD.bazel" ||
		strings.Contains(path, "/testdata/") && (strings.HasSuffix(path, ".txtar") || strings.HasSuffix(path, ".txt") || strings.HasSuffix(path, ".json"))
}
