package trial

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		name := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// fakeBazel keeps a copy of the folder that takes the repository's place, and has outputs.
const fakeBazel = `#!/bin/sh
case $1 in
mod) echo '{"": "", "whisper_cpp": "_main~whisper~whisper_cpp"}';;
build)
  [ ! -e broken ] || exit 1
  for a in "$@"; do case $a in --override_repository=_main~whisper~whisper_cpp=*) cp -r "${a#*whisper_cpp=}" kept;; esac; done;;
info) pwd;;
cquery) printf 'out/coreml_run.evidence.json\nout/contrast_run.evidence.json\nout/patch_ab_report.txt\nout/patch_ab_report.json\n';;
esac
`

func config(t *testing.T) Config {
	t.Helper()
	workspace, source := t.TempDir(), t.TempDir()
	write(t, workspace, map[string]string{
		"bazel": fakeBazel,
		overlay: "root %{root} whisper %{whisper_version} ggml %{ggml_version} %{ggml_commit} file %{patched_file}\n",
		"out/patch_ab_report.json": `{"rows": [{"arm": "unpatched", "heap": "as is", "n": 100, "clean": 99, "outcomes": {"exit 3": 99, "signal 6": 1}},
			{"arm": "patched", "heap": "as is", "n": 100, "clean": 100, "outcomes": {"exit 3": 100}}]}`,
	})
	write(t, source, map[string]string{
		"src/whisper.cpp": "upstream's\n", "src/new.h": "", "src/notes.md": "", "other/x.c": "",
		"CMakeLists.txt":      "project(\"whisper.cpp\" VERSION 1.10.2)\n",
		"ggml/CMakeLists.txt": "set(GGML_VERSION_MAJOR 0)\nset(GGML_VERSION_MINOR 17)\nset(GGML_VERSION_PATCH 3)\n",
	})
	return Config{
		Source: pin.Dir(source), Commit: strings.Repeat("ab", 20), Workspace: workspace, Bazel: filepath.Join(workspace, "bazel"), Log: &bytes.Buffer{},
		Supported:         &pin.Pin{Name: "s", PatchedFile: pin.FileRef{Path: "src/whisper.cpp"}, Patch: pin.PatchRef{Label: "//p:p", SHA256: strings.Repeat("0", 64)}},
		SupportedManifest: pin.Manifest{{Path: "src/whisper.cpp"}},
	}
}

func TestRun(t *testing.T) {
	c := config(t)
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Control) != 1 || r.Control[0].Clean != 99 || len(r.Evidence) != 2 {
		t.Errorf("result %+v, want the unpatched arm and two runs", r)
	}
	kept := func(path string) string {
		data, err := os.ReadFile(filepath.Join(c.Workspace, "kept", path))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	// Upstream's own file stands where the patched one would.
	for _, path := range []string{"src/whisper.cpp", "unpatched/src/whisper.cpp"} {
		if got := kept(path); got != "upstream's\n" {
			t.Errorf("%s holds %q", path, got)
		}
	}
	if got, want := kept("BUILD.bazel"), "root external/_main~whisper~whisper_cpp whisper 1.10.2 ggml 0.17.3 ababababa file src/whisper.cpp\n"; got != want {
		t.Errorf("BUILD file %q, want %q", got, want)
	}
	m, err := pin.ParseManifest([]byte(kept("upstream.manifest")))
	if err != nil {
		t.Fatal(err)
	}
	// Headers beside a named file come along; nothing else does.
	if got := strings.Join(m.Paths(), " "); got != "src/new.h src/whisper.cpp" {
		t.Errorf("manifest names %q", got)
	}
	if id := kept("pin.json"); !strings.Contains(id, c.Commit) || !strings.Contains(id, `"supported": false`) || !strings.Contains(id, m.Digest()) {
		t.Errorf("pin.json lacks commit, manifest or its being unsupported: %s", id)
	}
}

func TestNotBuilt(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(c *Config)
		says string
	}{
		"a file is missing": {func(c *Config) {
			c.SupportedManifest = append(c.SupportedManifest, pin.Entry{Path: "ggml/src/gone.cpp"})
		}, "lacks 1 of the files that the build of pin s names, such as ggml/src/gone.cpp"},
		"does not compile": {func(c *Config) { write(t, c.Workspace, map[string]string{"broken": ""}) }, "Bazel does not build it"},
	} {
		c := config(t)
		tc.edit(&c)
		_, err := Run(context.Background(), c)
		var not *NotBuilt
		if !errors.As(err, &not) || !strings.Contains(not.Why, tc.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tc.says)
		}
	}
	c := config(t)
	c.Workspace = t.TempDir()
	var not *NotBuilt
	if _, err := Run(context.Background(), c); err == nil || errors.As(err, &not) {
		t.Errorf("no checkout: error %v, want one that is not an answer about the candidate", err)
	}
}
