// Command gate_sources is the build action that hashes upstream's files again before they are compiled.
//
//	gate_sources --manifest=M --pin=pin.json --root=DIR --out=OUT.json FILES…
//	gate_sources @PARAMS
//
// A parameter file has one argument a line. The verdict is data (package pin, type Check): the command
// exits 0 for a tree that was tampered with as well, and 1 only if it could not do its work.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	err := act(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 2
	}
	if err != nil {
		fmt.Fprintf(stderr, "gate_sources: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func act(args []string, stderr io.Writer) error {
	if len(args) == 1 && strings.HasPrefix(args[0], "@") {
		data, err := os.ReadFile(args[0][1:])
		if err != nil {
			return fmt.Errorf("read parameter file: %w", err)
		}
		args = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	flags := flag.NewFlagSet("gate_sources", flag.ContinueOnError)
	flags.SetOutput(stderr)
	manifestPath := flags.String("manifest", "", "the content manifest")
	pinPath := flags.String("pin", "", "the pin's identity, pin.json")
	root := flags.String("root", "", "the folder that the manifest's paths are relative to")
	out := flags.String("out", "", "where the verdict goes, a JSON file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *manifestPath == "" || *pinPath == "" || *root == "" || *out == "" {
		return fmt.Errorf("--manifest, --pin, --root and --out are all required")
	}
	id, err := pin.ReadIdentity(*pinPath)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(*manifestPath)
	if err != nil {
		return fmt.Errorf("read content manifest: %w", err)
	}
	manifest, err := pin.ParseManifest(data)
	if err != nil {
		return err
	}
	check, err := pin.Rehash(id, manifest, *root, flags.Args())
	if err != nil {
		return err
	}
	if data, err = strictjson.Canonical(check); err != nil {
		return err
	}
	if err := os.WriteFile(*out, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	return nil
}
