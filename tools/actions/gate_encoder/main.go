// Gate_encoder makes Core ML encoders in build actions:
//
//	gate_encoder package --model=M.bin --precision=float32|float16 --out=DIR.mlpackage
//	gate_encoder compile --package=DIR.mlpackage --out=DIR.mlmodelc
//
// package writes the encoder of a whisper.cpp model as a Core ML package;
// compile is the emulated lane's compiler, from package to what the runtime
// opens. Equal inputs give equal bytes. Exit codes: 0 done, 1 the input is
// not acceptable or cannot be read, 2 wrong usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/actions/internal/stage"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

var errUsage = errors.New("usage: gate_encoder package --model=M.bin --precision=float32|float16 --out=DIR.mlpackage, " +
	"or gate_encoder compile --package=DIR.mlpackage --out=DIR.mlmodelc")

func run(args []string, stderr io.Writer) int {
	err := dispatch(args, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, reason.Visible(err.Error()))
		return 2
	}
	fmt.Fprintln(stderr, "gate_encoder:", err)
	return 1
}

func dispatch(args []string, stderr io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet("gate_encoder "+args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "the artifact to write; must not exist, or be an empty folder")
	switch args[0] {
	case "package":
		model := flags.String("model", "", "whisper.cpp model file")
		precision := flags.String("precision", "", "float32 or float16")
		if err := parse(flags, args[1:], model, precision, out); err != nil {
			return err
		}
		return packageEncoder(*model, encoder.Precision(*precision), *out)
	case "compile":
		pkg := flags.String("package", "", "the .mlpackage to compile")
		if err := parse(flags, args[1:], pkg, out); err != nil {
			return err
		}
		return compile(*pkg, *out)
	}
	return errUsage
}

// parse wants every flag to be set, and nothing else.
func parse(flags *flag.FlagSet, args []string, required ...*string) error {
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage // flag has printed what was wrong
	}
	for _, r := range required {
		if *r == "" {
			return errUsage
		}
	}
	if flags.NArg() > 0 {
		return errUsage
	}
	return nil
}

func packageEncoder(model string, p encoder.Precision, out string) error {
	m, err := ggml.Open(model)
	if err != nil {
		return err
	}
	defer m.Close()
	return encoder.WritePackage(out, ggmlsource.Of(m), p)
}

func compile(pkg, out string) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(filepath.Clean(out)), ".package-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	staged := filepath.Join(dir, filepath.Base(pkg))
	if err := stage.Stage(pkg, staged); err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	a, err := bundle.Open(staged)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return bundle.Compile(a, out)
}
