package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
)

// bench is one workspace with its own output base.
type bench struct {
	bazel, dir, base string
	flags            []string
	repeats          int
}

func measure(bazel, root, keep string, counts []int, repeats int, runs bool, flags []string, w *report.Writer) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(keep)
	if err != nil {
		return err
	}
	if keep == "" {
		if dir, err = os.MkdirTemp("", "growth-"); err != nil {
			return err
		}
		defer func() { _ = outputbase.Remove(dir) }()
	}
	b := &bench{bazel: bazel, dir: filepath.Join(dir, "workspace"), base: filepath.Join(dir, "base"), flags: flags, repeats: repeats}
	defer func() { _, _, _ = b.call("shutdown") }()
	if err := w.Begin("gates", columns(runs)...); err != nil {
		return err
	}
	for _, n := range counts {
		row, err := b.row(root, n, runs)
		if err != nil {
			return fmt.Errorf("%d gates: %w", n, err)
		}
		if err := w.Row(row...); err != nil {
			return err
		}
	}
	_, version, err := b.call("--version")
	if err != nil {
		return err
	}
	return w.End(fmt.Sprintf("%s; medians of %d", strings.TrimSpace(version), repeats))
}

// columns are those of the table; seconds are as a user waits for them.
func columns(runs bool) []report.Column {
	number := func(name, unit string, decimals int) report.Column {
		return report.Column{Name: name, Kind: report.Number, Unit: unit, Decimals: decimals}
	}
	out := []report.Column{number("gates", "", 0), number("load", "s", 1), number("analysis", "s", 1), number("configured targets", "", 0), number("idle", "s", 1), number("heap", "MB", 0)}
	if runs {
		out = append(out, number("no-op", "s", 1))
	}
	return out
}

// row measures one count.
func (b *bench) row(root string, n int, runs bool) ([]report.Cell, error) {
	if err := os.RemoveAll(b.dir); err != nil {
		return nil, err
	}
	if err := write(b.dir, workspace(root, n)); err != nil {
		return nil, err
	}
	// Repositories are fetched once for all counts: that is not an analysis.
	if _, _, err := b.call("build", "--nobuild", "//warm:all"); err != nil {
		return nil, err
	}
	var load, analysis, idle []float64
	targets := ""
	heap := ""
	for range b.repeats {
		if _, _, err := b.call("shutdown"); err != nil {
			return nil, err
		}
		seconds, _, err := b.call("build", "--nobuild", "//warm:all")
		if err != nil {
			return nil, err
		}
		load = append(load, seconds)
		seconds, said, err := b.call("build", "--nobuild", "//...")
		if err != nil {
			return nil, err
		}
		analysis = append(analysis, seconds)
		if m := configured.FindStringSubmatch(said); m != nil {
			targets = m[1]
		}
		seconds, _, err = b.call("build", "--nobuild", "//...")
		if err != nil {
			return nil, err
		}
		idle = append(idle, seconds)
		if _, heap, err = b.call("info", "used-heap-size-after-gc"); err != nil {
			return nil, err
		}
	}
	row := []report.Cell{report.N(float64(n)), report.N(median(load)), report.N(median(analysis)), count(targets), report.N(median(idle)), count(megabytes.FindString(heap))}
	if !runs {
		return row, nil
	}
	everything := []string{"test", "//:sound", "//:release", "--build_tests_only=false"}
	if _, _, err := b.call(everything...); err != nil {
		return nil, err
	}
	var noop []float64
	for range b.repeats {
		seconds, _, err := b.call(everything...)
		if err != nil {
			return nil, err
		}
		noop = append(noop, seconds)
	}
	return append(row, report.N(median(noop))), nil
}

// count is a whole number that Bazel printed; an empty cell where it printed none.
func count(text string) report.Cell {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "MB"))
	if err != nil {
		return report.Cell{}
	}
	return report.N(float64(n))
}

// megabytes is how Bazel says how large its heap is.
var megabytes = regexp.MustCompile(`\d+MB`)

// configured is how Bazel says how large the graph is.
var configured = regexp.MustCompile(`Analyzed .*\(\d+ packages loaded, (\d+) targets configured\)`)

// call runs Bazel and returns how long a user waited and what it said.
func (b *bench) call(args ...string) (float64, string, error) {
	full := []string{"--output_base=" + b.base, args[0]}
	if args[0] == "--version" {
		full = args
	} else if args[0] != "shutdown" {
		full = append(append(full, "--color=no", "--curses=no", "--noshow_progress"), b.flags...)
	}
	cmd := exec.Command(b.bazel, append(full, args[1:]...)...)
	cmd.Dir = b.dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	err := cmd.Run()
	seconds := time.Since(began).Seconds()
	if err != nil {
		text := said.String()
		return seconds, text, fmt.Errorf("bazel %v: %w:\n%s", args, err, text[max(0, len(text)-4000):])
	}
	return seconds, said.String(), nil
}

func median(times []float64) float64 {
	slices.Sort(times)
	return times[len(times)/2]
}
