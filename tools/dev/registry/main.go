// Command registry tries a release as its users get it: from a registry, by name and version.
//
//	go run ./tools/dev/registry [--bazel=bazel] [--analyse] [-- OPTION…]
//
// It builds the release's archive, serves a registry on loopback that has the archive's entry as the build wrote it, copies
// examples/own_model to a folder of its own, takes the override out and the version in, and runs its gates with Bazel in an
// output base of its own. Bazel is given the registry's address and nothing else of this command's; options after -- are for a machine's own
// needs, such as another registry that has the other modules, or a cache. --analyse ends after analysis.
//
// The archive is served as a mirror of the address that source.json names, so the entry is tried unchanged. Before that, the
// check has to fail where it must: an archive with one other byte, and a version that the registry does not have.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	module "github.com/coreml-gate/rules_coreml_gate"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("registry", flag.ContinueOnError)
	flags.SetOutput(stderr)
	c := check{stdout: stdout, stderr: stderr}
	flags.StringVar(&c.bazel, "bazel", "bazel", "the Bazel to run")
	flags.BoolVar(&c.analyse, "analyse", false, "end after analysis")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	c.options = flags.Args()
	if err := c.all(); err != nil {
		fmt.Fprintf(stderr, "registry: %v\n", err)
		return 1
	}
	return 0
}

type check struct {
	bazel   string
	analyse bool
	options []string
	stdout  io.Writer
	stderr  io.Writer
}

func (c *check) all() (err error) {
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, outputbase.Remove(dir)) }()
	if _, err := c.run(".", "", "build", append(c.options, "//:release_archive")...); err != nil {
		return err
	}
	built, err := readRelease("bazel-bin/tools/dev/release")
	if err != nil {
		return err
	}
	tracked, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		return fmt.Errorf("ask git for its files: %w", err)
	}
	if err := built.onlyTracked(strings.Fields(string(tracked))); err != nil {
		return err
	}

	workspace := filepath.Join(dir, "consumer")
	if err := copyConsumer("examples/own_model", workspace, module.Version); err != nil {
		return err
	}
	base := filepath.Join(dir, "output_base")
	defer func() { _, _ = c.run(workspace, base, "shutdown") }()
	if err := c.refusals(built, workspace, base); err != nil {
		return err
	}
	server, err := serve(built)
	if err != nil {
		return err
	}
	defer server.close()
	verb := []string{"test", "//..."}
	if c.analyse {
		verb = []string{"build", "--nobuild", "//..."}
	}
	if _, err := c.run(workspace, base, verb[0], append(append([]string{server.option()}, c.options...), verb[1:]...)...); err != nil {
		return err
	}
	if !server.asked("source.json") {
		return fmt.Errorf("the consumer was built without the registry, which was asked for %q alone", server.paths())
	}
	fmt.Fprintf(c.stdout, "registry: %s %s, archive %s: the consumer's gates %s from name and version alone\n", module.Name, module.Version, built.digest(),
		map[bool]string{true: "analyse", false: "pass"}[c.analyse])
	return nil
}

// refusals shows that the registry decides: each fetch has to fail, with its words.
func (c *check) refusals(built *release, workspace, base string) error {
	spoilt := *built
	spoilt.archive = append([]byte{}, built.archive...)
	spoilt.archive[len(spoilt.archive)/2] ^= 1
	other := *built
	other.version = "0.0.1-other"
	for _, refusal := range []struct {
		what    string
		release *release
		words   string
	}{
		{"an archive with one other bit", &spoilt, "hecksum was"},
		{"a registry without this version", &other, "not found in registries"},
	} {
		server, err := serve(refusal.release)
		if err != nil {
			return err
		}
		// Bazel's own cache of downloads may hold the right bytes from an earlier run.
		args := append([]string{server.option(), "--repository_cache="}, c.options...)
		said, err := c.run(workspace, base, "build", append(args, "--nobuild", "@rules_coreml_gate//gate:defs.bzl")...)
		server.close()
		if err == nil {
			return fmt.Errorf("%s was taken: expected Bazel to refuse it", refusal.what)
		}
		if !strings.Contains(said, refusal.words) {
			return fmt.Errorf("%s: expected Bazel to say %q, found %q", refusal.what, refusal.words, said)
		}
		fmt.Fprintf(c.stdout, "registry: %s is refused\n", refusal.what)
	}
	return nil
}

// run runs Bazel and returns what it wrote to standard error, which is shown as well unless it is asked for a refusal.
func (c *check) run(dir, base, verb string, args ...string) (string, error) {
	var startup []string
	if base != "" {
		startup = []string{"--output_base=" + base}
	}
	var said strings.Builder
	cmd := exec.Command(c.bazel, append(append(startup, verb), args...)...)
	cmd.Dir = dir
	cmd.Stderr = io.MultiWriter(c.stderr, &said)
	if err := cmd.Run(); err != nil {
		return said.String(), fmt.Errorf("bazel %s in %s: %w", verb, dir, err)
	}
	return said.String(), nil
}
