// Command conformance shows that this project's gates run on a remote-execution service, from what Bazel itself
// records of a build: its execution log and its build events, never its text.
//
//	go run ./tools/dev/remote/conformance log [--cached] EXEC.json [EVENTS.json]
//	go run ./tools/dev/remote/conformance keys
//	go run ./tools/dev/remote/conformance demo
//	go run ./tools/dev/remote/conformance faults [--run=REGEXP]
//
// `log` holds the files of any build, on any service (--execution_log_json_file, --build_event_json_file):
// every action ran there or came from its cache; with --cached, all came from the cache. `keys` shows which
// keys the identity of a worker enters, and what is refused at analysis; it needs no service. `demo` runs
// //gate:all on the service of tools/dev/remote/service with nothing run here, then from a second checkout
// with nothing run at all, and compares the receipts with locally built ones. `faults` breaks that service in
// every way of docs/remote_reference.md's table and holds what Bazel says against what a user has to be told.
//
// The exit code is 0 if everything held, 1 if not, 2 if it could not be tried.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "conformance: expected log, keys, demo or faults")
		return 2
	}
	flags := flag.NewFlagSet("remote check "+args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	bazel := flags.String("bazel", "bazel", "the Bazel to run")
	root := flags.String("root", ".", "this project's source tree")
	cached := flags.Bool("cached", false, "log: every action has to come from the service's cache")
	keep := flags.String("keep", "", "demo, faults: a folder for Bazel's output bases that stays, for another start; default a temporary one")
	only := flags.String("run", "", "faults: only those whose name matches")
	if err := flags.Parse(args[1:]); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintf(stderr, "conformance: --run: %v\n", err)
		return 2
	}
	switch args[0] {
	case "log":
		err = checkLog(flags.Args(), *cached, stdout)
	case "keys", "demo", "faults":
		if flags.NArg() > 0 {
			fmt.Fprintf(stderr, "conformance: %s takes no arguments, found %q\n", args[0], flags.Args())
			return 2
		}
		err = withStand(*bazel, *root, *keep, stdout, stderr, func(s *stand) error {
			switch args[0] {
			case "keys":
				return s.keys()
			case "demo":
				return s.demo()
			}
			return s.faults(match)
		})
	default:
		fmt.Fprintf(stderr, "conformance: expected log, keys, demo or faults, found %q\n", args[0])
		return 2
	}
	var broken *brokenStand
	switch {
	case errors.As(err, &broken):
		fmt.Fprintf(stderr, "conformance: could not be tried: %v\n", err)
		return 2
	case err != nil:
		fmt.Fprintf(stdout, "conformance: %v\n", err)
		return 1
	}
	return 0
}

// brokenStand is an error of the set-up and no finding.
type brokenStand struct{ err error }

func (b *brokenStand) Error() string { return b.err.Error() }
func (b *brokenStand) Unwrap() error { return b.err }

func broken(err error) error {
	if err == nil {
		return nil
	}
	return &brokenStand{err}
}
