// Command ruledocs prints docs/rules.md, the reference of every public rule, macro, provider and module extension:
//
//	bazel build //tools/dev/ruledocs:page && cp bazel-bin/tools/dev/ruledocs/rules.md docs/rules.md
//
// Bazel's own starlark_doc_extract reads the .bzl files (copy.bzl), and this program lays out what it found, in the form that
// Stardoc writes. Its arguments are NAME.bzl=FILE, in the order of the page. A rule, parameter or field without documentation is an
// error. //tools/dev/ruledocs:up_to_date_test holds the page against the files.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var sources []source
	for _, arg := range args {
		name, path, ok := strings.Cut(arg, "=")
		if !ok {
			fmt.Fprintf(stderr, "ruledocs: expected NAME.bzl=FILE, found %q\n", arg)
			return 2
		}
		data, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintf(stderr, "ruledocs: read what Bazel extracted of %s: %v\n", name, err)
			return 2
		}
		sources = append(sources, source{name, data})
	}
	text, err := page(sources)
	if err != nil {
		fmt.Fprintf(stderr, "ruledocs: %v\n", err)
		return 1
	}
	fmt.Fprint(stdout, text)
	return 0
}
