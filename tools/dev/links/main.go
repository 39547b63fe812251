// Command links checks that what a document points to is there.
//
//	go run ./tools/dev/links
//
// It reads every text file that git would commit. A relative link of a document must lead to a file or folder under version
// control, and its anchor to a heading. A place in the sources between backticks, such as `tools/x/y_test.go:TestName`, must be there
// and define that name. A file of any other kind that names docs/NAME.md must name one that exists. It exits 1 on a finding,
// and 2 if it could not look or found no document.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"unicode/utf8"
)

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	files, err := read()
	if err != nil {
		fmt.Fprintf(stderr, "links: %v\n", err)
		return 2
	}
	c := check(files)
	for _, line := range c.wrong {
		fmt.Fprintln(stdout, line)
	}
	fmt.Fprintf(stdout, "links: %d links and %d places in %d documents and %d mentions elsewhere, %d wrong\n", c.links, c.places, c.documents, c.mentions, len(c.wrong))
	switch {
	case len(c.wrong) > 0:
		return 1
	case c.documents == 0 || c.links == 0:
		fmt.Fprintln(stderr, "links: expected documents with links, found none: run it in the root of the repository")
		return 2
	}
	return 0
}

// read returns the files that git would commit by slashed path; those that are not text are empty.
func read() (map[string]string, error) {
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		info, err := os.Stat(name)
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			files[name] = "" // a link to a folder
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
