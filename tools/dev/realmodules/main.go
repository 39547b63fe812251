// Command realmodules analyses this project with the modules that a registry's users get, on Linux and on a made-up Mac:
//
//	go run ./tools/dev/realmodules --registry=DIR --modules=DIR [--startup=OPTION…] [--option=OPTION…] [--only=STEP]
//
// It is for machines that have the sources and no registry. --registry is a registry's folder (modules/NAME/VERSION/MODULE.bazel).
// --modules holds the source of each module that something here loads, by name, at the version that MODULE.bazel selects:
// apple_support, bazel_features, bazel_skylib, gazelle, package_metadata, platforms, rules_cc, rules_go, rules_license and rules_shell.
// Every other module of the graph is empty. --startup and --option go to Bazel: where the model and whisper.cpp come from, say.
//
// Steps:
//
//	resolve     the graph by the registry's MODULE files, where each direct dependency is of the version that MODULE.bazel names
//	linux       every target, as the root module, and an example's, which depends on it
//	mac         the same for the physical lane, where repository rules see macOS and an Xcode that answers questions
//	actions     the commands that would make whisper-cli on that Mac: frameworks, ARC, oldest macOS, processor, signature, optimisation,
//	            and beside what upstream's CMake does, as the table of docs/compatibility.md
//
// Nothing is compiled, and no Mac takes part: what it shows is what Bazel would do.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("realmodules", flag.ContinueOnError)
	flags.SetOutput(stderr)
	c := &check{stdout: stdout, stderr: stderr}
	flags.StringVar(&c.bazel, "bazel", "bazel", "the Bazel to run")
	flags.StringVar(&c.registry, "registry", "", "a registry's folder")
	flags.StringVar(&c.modules, "modules", "", "a folder of modules' sources, by name")
	only := flags.String("only", "", "one step alone")
	flags.Func("startup", "a startup option of Bazel; may be repeated", func(o string) error { c.startup = append(c.startup, o); return nil })
	flags.Func("option", "an option of Bazel's commands; may be repeated", func(o string) error { c.options = append(c.options, o); return nil })
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := c.all(*only); err != nil {
		fmt.Fprintf(stderr, "realmodules: %v\n", err)
		return 1
	}
	return 0
}

// consumer is the example that depends on this module, and example the repository rules' prefix in it.
const consumer = "examples/own_model"

// step is one thing that is checked.
type step struct {
	name string
	run  func() error
}

func (c *check) all(only string) (err error) {
	if c.registry == "" || c.modules == "" {
		return errors.New("expected --registry and --modules, found one or none of them")
	}
	for _, dir := range []*string{&c.registry, &c.modules} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	if c.root, err = os.Getwd(); err != nil {
		return err
	}
	if c.scratch, err = os.MkdirTemp("", "realmodules"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, outputbase.Remove(c.scratch)) }()
	defer c.shutdown()
	if err := c.prepare(); err != nil {
		return err
	}
	steps := []step{{"resolve", c.resolve}, {"linux", c.linux}, {"mac", c.mac}, {"actions", c.actions}}
	if only != "" && !slices.ContainsFunc(steps, func(s step) bool { return s.name == only }) {
		return fmt.Errorf("there is no step %s", only)
	}
	for _, s := range steps {
		if only != "" && s.name != only {
			continue
		}
		if err := s.run(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(c.stdout, "realmodules: %s: ok\n", s.name)
	}
	return nil
}
