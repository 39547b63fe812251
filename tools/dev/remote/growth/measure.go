package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
)

// bench is one workspace with its own output base.
type bench struct {
	bazel, dir, base string
	flags            []string
	repeats          int
}

func measure(bazel, root, keep string, counts []int, repeats int, runs bool, flags []string, stdout io.Writer) error {
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
	header := "| gates | load | analysis | configured targets | idle | heap |"
	if runs {
		header += " no-op |"
	}
	fmt.Fprintf(stdout, "%s\n|%s\n", header, strings.Repeat("---:|", strings.Count(header, "|")-1))
	for _, n := range counts {
		row, err := b.row(root, n, runs)
		if err != nil {
			return fmt.Errorf("%d gates: %w", n, err)
		}
		fmt.Fprintln(stdout, row)
	}
	return nil
}

// row measures one count.
func (b *bench) row(root string, n int, runs bool) (string, error) {
	if err := os.RemoveAll(b.dir); err != nil {
		return "", err
	}
	if err := write(b.dir, workspace(root, n)); err != nil {
		return "", err
	}
	// Repositories are fetched once for all counts: that is not an analysis.
	if _, _, err := b.call("build", "--nobuild", "//warm:all"); err != nil {
		return "", err
	}
	var load, analysis, idle []float64
	targets := ""
	heap := ""
	for range b.repeats {
		if _, _, err := b.call("shutdown"); err != nil {
			return "", err
		}
		seconds, _, err := b.call("build", "--nobuild", "//warm:all")
		if err != nil {
			return "", err
		}
		load = append(load, seconds)
		seconds, said, err := b.call("build", "--nobuild", "//...")
		if err != nil {
			return "", err
		}
		analysis = append(analysis, seconds)
		if m := configured.FindStringSubmatch(said); m != nil {
			targets = m[1]
		}
		seconds, _, err = b.call("build", "--nobuild", "//...")
		if err != nil {
			return "", err
		}
		idle = append(idle, seconds)
		if _, heap, err = b.call("info", "used-heap-size-after-gc"); err != nil {
			return "", err
		}
	}
	row := fmt.Sprintf("| %d | %.1f | %.1f | %s | %.1f | %s |", n, median(load), median(analysis), targets, median(idle), megabytes.FindString(heap))
	if !runs {
		return row, nil
	}
	everything := []string{"test", "//:sound", "//:release", "--build_tests_only=false"}
	if _, _, err := b.call(everything...); err != nil {
		return "", err
	}
	var noop []float64
	for range b.repeats {
		seconds, _, err := b.call(everything...)
		if err != nil {
			return "", err
		}
		noop = append(noop, seconds)
	}
	return row + fmt.Sprintf(" %.1f |", median(noop)), nil
}

// megabytes is how Bazel says how large its heap is.
var megabytes = regexp.MustCompile(`\d+MB`)

// configured is how Bazel says how large the graph is.
var configured = regexp.MustCompile(`Analyzed .*\(\d+ packages loaded, (\d+) targets configured\)`)

// call runs Bazel and returns how long a user waited and what it said.
func (b *bench) call(args ...string) (float64, string, error) {
	full := []string{"--output_base=" + b.base, args[0]}
	if args[0] != "shutdown" {
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
