// Command gate_package lays the files of a `.mlpackage` out as one folder in a build action:
//
//	gate_package --root=DIR --out=DIR.mlpackage FILE...
//
// Every FILE lies below --root, and comes to lie at the same place below --out. Exit codes: 0 done, 1 a
// file cannot be copied, 2 wrong usage.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_package", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", "", "the `folder` that the files lie in")
	out := flags.String("out", "", "the `folder` to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *root == "" || *out == "" || flags.NArg() == 0 {
		fmt.Fprintln(stderr, "gate_package: --root, --out and at least one file are needed")
		return 2
	}
	for _, file := range flags.Args() {
		rel, below := strings.CutPrefix(file, *root+"/")
		if !below || !filepath.IsLocal(rel) {
			fmt.Fprintf(stderr, "gate_package: %s: expected a file below %s\n", file, *root)
			return 2
		}
		if err := copyFile(file, filepath.Join(*out, rel)); err != nil {
			fmt.Fprintf(stderr, "gate_package: %s\n", reason.Visible(err.Error()))
			return 1
		}
	}
	return 0
}

// copyFile copies what a sandbox shows as a link. (A hard link would lend the user's own file to the build.)
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return out.Close()
}
