// Command figures writes the figures of documents from the submissions and reports in testdata/measurements. Nobody types one:
//
//	go run ./tools/dev/figures [--check]
//
// A document marks a table with "<!-- figures: KIND FILE.json… -->" before it and "<!-- end of figures -->" behind it; KIND is encoders, pairs,
// state, drift or sustained, of submissions; or, of stored reports (package tools/dev/report), table, whose files are FILE.json#TABLE or FILE.json#TABLE=BEGINNING, with + for a blank, for the
// rows that begin so (how many are not shown is said), or reports, which
// says what made them. Several tables of the same columns become one. With --check nothing is written, and a table that is not what its submissions give exits with 1.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// documents are those that may have figures, and folder is where the submissions are.
const (
	documents = "docs/*.md"
	folder    = "testdata/measurements"
)

func run(args []string, stdout, stderr io.Writer) int {
	check := len(args) == 1 && args[0] == "--check"
	if len(args) > 0 && !check {
		fmt.Fprintln(stderr, "usage: figures [--check]")
		return 2
	}
	total, err := all(documents, folder, check)
	if err != nil {
		fmt.Fprintln(stderr, "figures:", err)
		return 1
	}
	fmt.Fprintf(stdout, "%d tables\n", total)
	return 0
}

// all rewrites the documents, or only compares them.
func all(pattern, folder string, check bool) (int, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		return 0, fmt.Errorf("no document matches %s (%v)", pattern, err)
	}
	total := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return total, err
		}
		text, n, err := rewrite(string(data), folder)
		if err != nil {
			return total, fmt.Errorf("%s: %w", path, err)
		}
		total += n
		switch {
		case text == string(data):
		case check:
			return total, fmt.Errorf("%s: a table of figures is not what its submissions and reports give; expected what go run ./tools/dev/figures writes", path)
		default:
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}
