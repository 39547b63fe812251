// Command gate_speech is the build action that makes the recordings of the words gates (package speech).
//
//	gate_speech --out=DIR SOURCE…
//
// Each SOURCE is a file of the packages that third_party/speech names, at a path that ends as it does in its package;
// a folder stands for every file below it. DIR gets the recordings and their list, fixtures.json. It exits 1 where a
// source is missing or is not the pinned one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/speech"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_speech", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "the folder that gets the recordings")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *out == "" || flags.NArg() == 0 {
		fmt.Fprintln(stderr, "usage: gate_speech --out=DIR SOURCE…")
		return 2
	}
	if err := act(flags.Args(), *out); err != nil {
		fmt.Fprintf(stderr, "gate_speech: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(given []string, out string) error {
	var sources []string
	for _, path := range given {
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrPermission):
				return nil // what is needed of a system's folder can be read
			case err == nil && !d.IsDir():
				sources = append(sources, p)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	return speech.Make(sources, out)
}
