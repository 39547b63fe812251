// Command growth measures how Bazel's time grows with the number of gates.
//
//	go run ./tools/dev/remote/growth [--gates=50,125,250,500] [--repeats=3] [--run] [--keep=DIR] [--bazel=bazel] [--root=.] [--report=FILE.json]
//
// It writes a workspace with so many gates, twenty-five a package, each of a small model of its own, with one
// release a package and one of those, and prints for each count:
//
//   - load: the first analysis on a fresh server, which reads every file that the rules load;
//   - analysis: the gates alone, on a server that has analysed one gate before, with the number of
//     configured targets and of actions;
//   - idle: the same command again;
//   - heap: what Bazel's server then needs, in MB, after a collection;
//
// and with --run, which builds and runs every gate on the emulated lane first:
//
//   - no-op: `bazel test` of every gate and the release again, nothing having changed.
//
// Times are medians of --repeats, in seconds, of the whole command as a user waits for it. A table of them is in
// docs/remote_reference.md, made of what --report writes. Runs of hundreds of gates take long: give --run with small counts, or a service.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	bazel := flags.String("bazel", "bazel", "the Bazel to run")
	root := flags.String("root", ".", "this project's source tree")
	gates := flags.String("gates", "50,125,250,500", "how many gates, with commas between")
	runs := flags.Bool("run", false, "run the gates, and measure what `bazel test` takes when nothing changed")
	keep := flags.String("keep", "", "a folder for the workspace and Bazel's output base that stays, for another start; default a temporary one")
	repeats := flags.Int("repeats", 3, "how often each time is taken")
	path := flags.String("report", "", "a file for the table as a stored report")
	extra := flags.String("flags", "", "flags for every bazel command, with spaces between, such as --config=remote and what it needs")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *repeats < 1 {
		fmt.Fprintf(stderr, "growth: --repeats: %d is less than 1\n", *repeats)
		return 2
	}
	var counts []int
	for _, word := range strings.Split(*gates, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 100000 {
			fmt.Fprintf(stderr, "growth: --gates: %q is not a number from 1 to 100000\n", word)
			return 2
		}
		counts = append(counts, n)
	}
	w, err := report.Begin(*path, "growth", report.Command("go run ./tools/dev/remote/growth", args, "report", "keep", "root", "bazel"), stdout)
	if err == nil {
		err = measure(*bazel, *root, *keep, counts, *repeats, *runs, strings.Fields(*extra), w)
	}
	if err != nil {
		fmt.Fprintf(stderr, "growth: %v\n", err)
		return 1
	}
	return 0
}
