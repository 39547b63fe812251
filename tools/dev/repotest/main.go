// Command repotest runs the repository rules of this project under a real Bazel, and shows that each of
// their refusals refuses.
//
//	go run ./tools/dev/repotest [--bazel=bazel] [--root=.] [--run=REGEXP]
//
// It makes a small workspace that loads gate/extensions.bzl and the rules below gate/private/repo, and
// gives them an upstream of four files, a pin, a patch and a model of its own, so it needs no network and
// no archive. Every case edits one thing, fetches, and holds Bazel's words against what a user must be told;
// a refused fetch must leave nothing behind, and the next good one must work. It cannot be a test
// target: a Bazel inside a test action of Bazel has no place to live.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("repotest", flag.ContinueOnError)
	flags.SetOutput(stderr)
	bazel := flags.String("bazel", "bazel", "the Bazel to run")
	root := flags.String("root", ".", "this project's source tree")
	only := flags.String("run", "", "run only the cases whose name matches")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintf(stderr, "repotest: --run: %v\n", err)
		return 2
	}
	failed, ran, err := runCases(*bazel, *root, match, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "repotest: %v\n", err)
		return 2
	}
	fmt.Fprintf(stdout, "repotest: %d cases, %d failed\n", ran, failed)
	if failed > 0 || ran == 0 {
		return 1
	}
	return 0
}

func runCases(bazel, root string, match *regexp.Regexp, stdout io.Writer) (failed, ran int, err error) {
	dir, err := os.MkdirTemp("", "repotest")
	if err != nil {
		return 0, 0, fmt.Errorf("make a folder: %w", err)
	}
	w, err := newWorld(dir, root, bazel)
	if err != nil {
		return 0, 0, err
	}
	defer w.close()
	for _, c := range cases {
		if !match.MatchString(c.name) {
			continue
		}
		ran++
		if err := runCase(w, c); err != nil {
			failed++
			fmt.Fprintf(stdout, "FAIL %s\n    %s\n", c.name, strings.ReplaceAll(err.Error(), "\n", "\n    "))
			continue
		}
		fmt.Fprintf(stdout, "ok   %s\n", c.name)
	}
	return failed, ran, nil
}

// runCase starts from a good world, edits it, fetches, and judges.
func runCase(w *world, c testCase) error {
	if err := w.reset(); err != nil {
		return err
	}
	if c.edit != nil {
		if err := c.edit(w); err != nil {
			return fmt.Errorf("edit: %w", err)
		}
	}
	if err := w.write(); err != nil {
		return err
	}
	if c.afterGood != nil {
		if out, ok := w.fetch(c.target()); !ok {
			return fmt.Errorf("the fetch before the edit failed:\n%s", out)
		}
		if err := c.afterGood(w); err != nil {
			return fmt.Errorf("edit after a good fetch: %w", err)
		}
	}
	out, ok := w.fetch(c.target())
	if c.harmless {
		if err := w.nothingPlanted(ok); err != nil {
			return err
		}
		if len(c.refusal) == 0 {
			return nil
		}
	}
	if len(c.refusal) == 0 {
		if !ok {
			return fmt.Errorf("expected a fetch, found:\n%s", out)
		}
		return c.check(w)
	}
	if ok {
		return fmt.Errorf("expected a refusal with %q, found a fetch", c.refusal)
	}
	for _, want := range c.refusal {
		if !strings.Contains(out, w.expand(want)) {
			return fmt.Errorf("expected the refusal to say %q, found:\n%s", w.expand(want), out)
		}
	}
	for _, no := range c.silent {
		if strings.Contains(out, no) {
			return fmt.Errorf("expected the refusal not to reach %q, found:\n%s", no, out)
		}
	}
	if c.before {
		return nil
	}
	return w.nothingLeft(c.repository())
}
