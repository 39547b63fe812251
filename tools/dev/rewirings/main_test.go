package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

func TestFigure(t *testing.T) {
	dir := t.TempDir()
	model, pkg := filepath.Join(dir, "ggml-x.bin"), filepath.Join(dir, "x.mlpackage")
	var b bytes.Buffer
	if err := synthetic.Write(&b, synthetic.Options{Layers: 2, State: 16, Heads: 2, AudioCtx: 16, TextCtx: 4}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(model, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ggml.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := encoder.WritePackage(pkg, ggmlsource.Of(m), encoder.Float32); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run([]string{"-break=5", "-keep=3", model, pkg}, &out, &errs)
	if code != 0 || !strings.Contains(out.String(), "0 of those pass; 0 of 3 rewritings are refused") {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
	for _, args := range [][]string{nil, {model}, {"-x", model, pkg}} {
		if code := run(args, &out, &errs); code != 2 {
			t.Errorf("%q: exit %d, want 2", args, code)
		}
	}
	if code := run([]string{model, dir}, &out, &errs); code != 1 {
		t.Errorf("no package: exit %d, want 1", code)
	}
}
