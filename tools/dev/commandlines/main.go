// Command commandlines checks the command lines of documents: none names a command, a flag, a target, a configuration or a
// program that is not there.
//
//	go run ./tools/dev/commandlines
//
// It reads every document that git would commit. Lines of coregate are compared with docs/commands, which a test keeps equal to
// the program's table of commands; those of Bazel with BUILD files and .bazelrc; those of go with folders. It exits 1 on a
// finding, and 2 if it could not look or found no command line.
package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode/utf8"
)

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	files, err := read()
	if err != nil {
		fmt.Fprintf(stderr, "commandlines: %v\n", err)
		return 2
	}
	c := check(files)
	for _, line := range c.wrong {
		fmt.Fprintln(stdout, line)
	}
	var counts []string
	for _, program := range slices.Sorted(maps.Keys(c.lines)) {
		counts = append(counts, fmt.Sprintf("%d of %s", c.lines[program], program))
	}
	fmt.Fprintf(stdout, "commandlines: %s; %d wrong\n", strings.Join(counts, ", "), len(c.wrong))
	switch {
	case len(c.wrong) > 0:
		return 1
	case c.lines["coregate"] == 0 || c.lines["bazel"] == 0:
		fmt.Fprintln(stderr, "commandlines: expected documents with command lines, found none: run it in the root of the repository")
		return 2
	}
	return 0
}

// read returns the text files that git would commit, by slashed path.
func read() (map[string]string, error) {
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		info, err := os.Stat(name)
		if os.IsNotExist(err) || err == nil && info.IsDir() {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if !utf8.Valid(data) {
			data = nil
		}
		files[name] = string(data)
	}
	return files, nil
}
