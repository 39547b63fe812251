// Command codes checks that every reason code is defined once and emitted somewhere.
//
//	go run ./tools/dev/codes
//
// It reads the Go files of tools and gate, without tests, and exits 1 on a finding.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	sources, err := read("tools", "gate")
	if err != nil {
		fmt.Fprintf(stderr, "codes: %v\n", err)
		return 2
	}
	wrong, err := check(sources)
	if err != nil {
		fmt.Fprintf(stderr, "codes: %v\n", err)
		return 2
	}
	for _, line := range wrong {
		fmt.Fprintln(stdout, line)
	}
	if len(wrong) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "codes: %d files, every reason code defined once and emitted\n", len(sources))
	return 0
}

// read returns the Go files below the folders by slashed path, without tests.
func read(roots ...string) (map[string]string, error) {
	sources := map[string]string{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			sources[filepath.ToSlash(path)] = string(data)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sources, nil
}
