package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	module "github.com/coreml-gate/rules_coreml_gate"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
)

// tree writes files as the repository rule lays them out, and returns their paths.
func tree(t *testing.T, files map[string]string) []string {
	t.Helper()
	var names []string
	for name, text := range files {
		if strings.HasSuffix(name, "BUILD.bazel") {
			name += ".file"
		}
		full := filepath.Join(t.TempDir(), "tree", name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, full)
	}
	return names
}

func good() map[string]string {
	return map[string]string{
		"MODULE.bazel":                          "module()\n\n" + marker + ": none of\n### it\n\nsecret()\n",
		"BUILD.bazel":                           "go_library()\n\n" + marker + ": none of\n",
		"gate/BUILD.bazel":                      "a(\n    name = \"a\",\n)\n\ngo_test(\n    name = \"a_test\",\n    data = glob([\"x\"]),\n)\n\nb(\n    name = \"b\",\n)\n",
		"gate/defs.bzl":                         "x = 1\n",
		"tools/run":                             "#!/bin/sh\n",
		"tools/dev/x.go":                        "package x\n",
		"tools/x/x_test.go":                     "package x\n",
		"gate/private/tests/BUILD.bazel":        "",
		"tools/x/testdata/a":                    "a",
		"testdata/speech/jfk.txt":               "and so",
		"examples/own_model/BUILD.bazel":        "go_test(\n)\n",
		"examples/remote_execution/BUILD.bazel": "",
	}
}

func unpack(t *testing.T, archive []byte) (files map[string]string, order []string) {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for r := tar.NewReader(compressed); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, order
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != 0 || h.Uname != "" {
			t.Errorf("%s says who packed it, or when: %+v", h.Name, h)
		}
		if want := map[bool]int64{true: 0o755, false: 0o644}[strings.HasSuffix(h.Name, "/run")]; h.Mode != want {
			t.Errorf("%s has mode %o, expected %o", h.Name, h.Mode, want)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(data)
		order = append(order, h.Name)
	}
}

func TestArchive(t *testing.T) {
	out := [2]string{t.TempDir(), t.TempDir()}
	for i, dir := range out {
		names := tree(t, good())
		if i == 1 {
			slices.Reverse(names)
		}
		list := filepath.Join(t.TempDir(), "files")
		if err := os.WriteFile(list, []byte(strings.Join(names, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		if code := run([]string{"--files", list, "--out", dir}, &stderr); code != 0 {
			t.Fatalf("exit %d: %s", code, &stderr)
		}
	}
	outputs := map[string][]byte{}
	for _, name := range []string{archiveName, "receipt.json", "metadata.json", "source.json", "presubmit.yml", "MODULE.bazel"} {
		first, err1 := os.ReadFile(filepath.Join(out[0], name))
		second, err2 := os.ReadFile(filepath.Join(out[1], name))
		if err1 != nil || err2 != nil || !bytes.Equal(first, second) {
			t.Errorf("%s is not the same from two places: %v, %v", name, err1, err2)
		}
		outputs[name] = first
	}
	files, order := unpack(t, outputs[archiveName])
	if !slices.IsSorted(order) {
		t.Errorf("not in the order of their paths: %q", order)
	}
	want := map[string]string{
		"BUILD.bazel":                    "go_library()\n",
		"MODULE.bazel":                   "module()\n",
		"examples/own_model/BUILD.bazel": "go_test(\n)\n",
		"gate/BUILD.bazel":               "a(\n    name = \"a\",\n)\n\nb(\n    name = \"b\",\n)\n",
		"gate/defs.bzl":                  "x = 1\n",
		"testdata/speech/jfk.txt":        "and so",
		"tools/run":                      "#!/bin/sh\n",
	}
	for name, text := range want {
		if got, ok := files[folder+"/"+name]; !ok || got != text {
			t.Errorf("%s: expected %q, found %q", name, text, got)
		}
		delete(files, folder+"/"+name)
	}
	if len(files) > 0 {
		t.Errorf("in the archive and for no user: %q", files)
	}

	r, err := modulearchive.Decode(outputs["receipt.json"])
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Compare(outputs[archiveName], archiveName) {
		t.Errorf("the archive beside its receipt: %v", x)
	}
	if got := r.Subject[0].Digest["sha256"]; got != sum(outputs[archiveName]) || len(r.Predicate.Files) != len(want) {
		t.Errorf("the receipt is about %s with %d files", got, len(r.Predicate.Files))
	}
	for _, f := range r.Predicate.Files {
		if f.SHA256 != sum([]byte(want[f.Path])) {
			t.Errorf("receipt: %s has %s", f.Path, f.SHA256)
		}
	}
	if string(outputs["MODULE.bazel"]) != want["MODULE.bazel"] {
		t.Error("the registry's MODULE.bazel is not the archive's")
	}
	for name, part := range map[string]string{
		"source.json":   "/v" + module.Version + "/" + archiveName + `"`,
		"metadata.json": `"` + module.Version + `"`,
		"presubmit.yml": example,
	} {
		if !strings.Contains(string(outputs[name]), part) {
			t.Errorf("%s: expected %s in it, found %s", name, part, outputs[name])
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(map[string]string)
		want string
	}{
		"no marker":  {func(f map[string]string) { f["MODULE.bazel"] = "module()\n" }, "MODULE.bazel: expected the line"},
		"no module":  {func(f map[string]string) { delete(f, "MODULE.bazel") }, "expected MODULE.bazel"},
		"no product": {func(f map[string]string) { clear(f); f["tools/dev/x.go"] = "" }, "no file to pack"},
	} {
		t.Run(name, func(t *testing.T) {
			world := good()
			c.edit(world)
			files, err := read(tree(t, world))
			if err == nil {
				_, err = entry(files, nil)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("expected %q, found %v", c.want, err)
			}
		})
	}
	names := tree(t, good())
	if _, err := read(append(names, names[0], names[1], names[2], names[3], names[4], names[5], names[6], names[7], names[8], names[9])); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a file named twice: %v", err)
	}
	if _, err := read([]string{"/elsewhere/MODULE.bazel"}); err == nil || !strings.Contains(err.Error(), "tree/") {
		t.Errorf("a file outside of the tree: %v", err)
	}
}

// Every file of this repository that a document or a command of the archive needs to be found by is checked by
// tools/dev/registry, which builds from the archive; here, what must never slip in.
func TestPacked(t *testing.T) {
	for name, want := range map[string]bool{
		"gate/tests/main.go":                true,
		"gate/tests/main_test.go":           false,
		"gate/private/tests/stubs.bzl":      false,
		"gate/private/whisper_run.bzl":      true,
		"tools/encoder/ggml/testdata/x.bin": false,
		"testdata/transcripts/base.json":    true,
		"tools/development/x.go":            true,
		"examples/own_model/MODULE.bazel":   true,
		"examples/own_models/MODULE.bazel":  false,
	} {
		if packed(name) != want {
			t.Errorf("packed(%s) = %v", name, !want)
		}
	}
}
