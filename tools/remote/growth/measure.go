package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// repeats is how often a time is taken.
const repeats = 3

// bench is one workspace with its own output base.
type bench struct {
	bazel, dir, base string
	flags            []string
	stderr           io.Writer
}

func measure(bazel, root string, counts []int, runs bool, flags []string, stdout, stderr io.Writer) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "growth-")
	if err != nil {
		return err
	}
	defer removeAll(dir)
	b := &bench{bazel: bazel, dir: filepath.Join(dir, "workspace"), base: filepath.Join(dir, "base"), flags: flags, stderr: stderr}
	defer func() { _, _, _ = b.call("shutdown") }()
	header := "| gates | load | analysis | configured targets | idle |"
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
	// Repositories are fetched once for all counts: that is no analysis.
	if _, _, err := b.call("build", "--nobuild", "//warm:all"); err != nil {
		return "", err
	}
	var load, analysis, idle []float64
	targets := ""
	for range repeats {
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
	}
	row := fmt.Sprintf("| %d | %.1f | %.1f | %s | %.1f |", n, median(load), median(analysis), targets, median(idle))
	if !runs {
		return row, nil
	}
	// A made model says nothing, so its words are not judged.
	everything := []string{"test", "//...", "--test_tag_filters=-words", "--build_tests_only=false"}
	if _, _, err := b.call(append(everything, "--keep_going")...); err != nil {
		return "", err
	}
	var noop []float64
	for range repeats {
		seconds, _, err := b.call(everything...)
		if err != nil {
			return "", err
		}
		noop = append(noop, seconds)
	}
	return row + fmt.Sprintf(" %.1f |", median(noop)), nil
}

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

// removeAll removes Bazel's folders, which are read-only here and there.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
