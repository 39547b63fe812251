package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	module "github.com/coreml-gate/rules_coreml_gate"
)

// folder is the one folder at the root of the archive, and archiveName the archive's name.
var (
	folder      = module.Name + "-" + module.Version
	archiveName = folder + ".tar.gz"
)

// example is the workspace that a registry tries a version with.
const example = "examples/own_model"

// marker begins what is for work on this repository alone.
const marker = "### Below this line everything is for work on rules_coreml_gate itself"

// file is one file of the archive.
type file struct {
	// path is relative to the module's root, with slashes.
	path string
	data []byte
}

// mode is 0755 for a script.
func (f file) mode() int64 {
	if bytes.HasPrefix(f.data, []byte("#!")) {
		return 0o755
	}
	return 0o644
}

// packed says whether a file is one that a user needs.
func packed(name string) bool {
	for _, part := range strings.Split(path.Dir(name), "/") {
		if part == "testdata" && !strings.HasPrefix(name, "testdata/speech/") && !strings.HasPrefix(name, "testdata/transcripts/") {
			return false
		}
	}
	for _, dir := range []string{"tools/dev/", "gate/private/tests/"} {
		if strings.HasPrefix(name, dir) {
			return false
		}
	}
	if strings.HasPrefix(name, "examples/") && !strings.HasPrefix(name, example+"/") {
		return false
	}
	return !strings.HasSuffix(name, "_test.go")
}

// read reads the files that are packed, as they are packed, in the order of their paths.
func read(names []string) ([]file, error) {
	var files []file
	for _, name := range names {
		_, rel, ok := strings.Cut(name, "/tree/")
		if !ok {
			return nil, fmt.Errorf("expected tree/ in the path of each file, found %s", name)
		}
		if strings.HasSuffix(rel, "BUILD.bazel.file") {
			rel = strings.TrimSuffix(rel, ".file")
		}
		if !packed(rel) {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read a source file: %w", err)
		}
		f := file{rel, data}
		if f.data, err = product(f); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for i := 1; i < len(files); i++ {
		if files[i].path == files[i-1].path {
			return nil, fmt.Errorf("expected each file once, found %s twice", files[i].path)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("found no file to pack")
	}
	return files, nil
}

// testRule is a call of a test rule in a BUILD file as buildifier writes it: on lines of its own, closed in the first column.
var testRule = regexp.MustCompile(`(?ms)^[a-z_]+_test\(\n.*?^\)\n\n?`)

// product cuts from a file what is not for a user.
func product(f file) ([]byte, error) {
	text := f.data
	if f.path == "MODULE.bazel" || f.path == "BUILD.bazel" {
		at := bytes.Index(text, []byte(marker))
		if at < 0 {
			return nil, fmt.Errorf("%s: expected the line that begins with %q, found none", f.path, marker)
		}
		text = append(bytes.TrimRight(text[:at:at], "\n"), '\n')
	}
	if path.Base(f.path) == "BUILD.bazel" && !strings.HasPrefix(f.path, example+"/") {
		text = testRule.ReplaceAll(text, nil)
		text = append(bytes.TrimRight(text, "\n"), '\n')
	}
	return text, nil
}

// pack makes the archive.
func pack(files []file) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.path, Size: int64(len(f.data)), Mode: f.mode(), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.path, err)
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.path, err)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, fmt.Errorf("end the archive: %w", err)
	}
	return out.Bytes(), nil
}
