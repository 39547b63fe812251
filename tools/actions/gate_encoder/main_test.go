package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
)

func writeModel(t *testing.T, o synthetic.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ggml-small.bin")
	var b bytes.Buffer
	if err := synthetic.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// From a model's file to the compiled encoder, twice: sound, with the
// interface of the model's own header, and the same bytes.
func TestPackageAndCompile(t *testing.T) {
	o := synthetic.Default()
	model := writeModel(t, o)
	for _, precision := range []string{"float32", "float16"} {
		var first string
		for range 2 {
			dir := t.TempDir()
			pkg, out := filepath.Join(dir, "e.mlpackage"), filepath.Join(dir, "e.mlmodelc")
			var stderr bytes.Buffer
			if code := run([]string{"package", "--model=" + model, "--precision=" + precision, "--out=" + pkg}, &stderr); code != 0 {
				t.Fatalf("package: exit %d: %s", code, stderr.String())
			}
			if code := run([]string{"compile", "--package=" + pkg, "--out=" + out}, &stderr); code != 0 {
				t.Fatalf("compile: exit %d: %s", code, stderr.String())
			}
			a, err := bundle.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Check(); err != nil {
				t.Error(err)
			}
			in := a.Description.Inputs[0].Array.Shape
			if in[1] != int64(o.Mels) || in[2] != 2*int64(o.AudioCtx) {
				t.Errorf("input of shape %v for %d mels and %d positions", in, o.Mels, o.AudioCtx)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			all := contents(t, dir)
			if first == "" {
				first = all
			} else if all != first {
				t.Errorf("%s: two runs differ", precision)
			}
		}
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		b.WriteString(strings.TrimPrefix(p, dir) + "\x00" + string(data) + "\x00")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRefusals(t *testing.T) {
	model := writeModel(t, synthetic.Default())
	out := filepath.Join(t.TempDir(), "e.mlpackage")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "usage:"},
		{[]string{"help"}, 2, "usage:"},
		{[]string{"package", "--model=" + model, "--out=" + out}, 2, "usage:"},
		{[]string{"package", "--model=" + model, "--precision=float32", "--out=" + out, "more"}, 2, "usage:"},
		{[]string{"compile", "--bogus"}, 2, "usage:"},
		{[]string{"package", "--model=" + model, "--precision=int8", "--out=" + out}, 1, "expected float32 or float16"},
		{[]string{"package", "--model=" + out, "--precision=float32", "--out=" + out}, 1, "no such file"},
		{[]string{"package", "--model=" + os.DevNull, "--precision=float32", "--out=" + out}, 1, "expected a regular file"},
		{[]string{"compile", "--package=" + model, "--out=" + out}, 1, "model file of"},
	} {
		var stderr bytes.Buffer
		if code := run(c.args, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q: want exit %d and %q, got %d and %q", c.args, c.code, c.want, code, stderr.String())
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused run left an output")
	}
}
