package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	list := flags.String("files", "", "a file that lists the source files, a line each; what follows tree/ is a file's path")
	out := flags.String("out", "", "the folder to write into")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := write(*list, *out); err != nil {
		fmt.Fprintf(stderr, "release: %v\n", err)
		return 2
	}
	return 0
}

func write(list, out string) error {
	if list == "" || out == "" {
		return errors.New("expected --files and --out, found one or none of them")
	}
	names, err := os.ReadFile(list)
	if err != nil {
		return fmt.Errorf("read the list of files: %w", err)
	}
	files, err := read(strings.Fields(string(names)))
	if err != nil {
		return err
	}
	archive, err := pack(files)
	if err != nil {
		return err
	}
	outputs, err := entry(files, archive)
	if err != nil {
		return err
	}
	outputs[archiveName] = archive
	for name, data := range outputs {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
