package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

const (
	firstPatch  = "diff --git a/src/w.cpp b/src/w.cpp\n--- a/src/w.cpp\n+++ b/src/w.cpp\n@@ -1,2 +1,2 @@\n-one\n+one{}\n two\n"
	secondPatch = "diff --git a/src/w.cpp b/src/w.cpp\n--- a/src/w.cpp\n+++ b/src/w.cpp\n@@ -1,2 +1,2 @@\n one{}\n-two\n+2\n" +
		"diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-dot\n+DOT\n"
	thirdPatch = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-DOT\n+DOTS\n"
)

// forkWorld is a folder with a source (up), and a workspace (ws) with a pin of it and three patches.
func forkWorld(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"up/src/w.cpp": "one\ntwo\n", "up/a.c": "dot\n", "up/CMakeLists.txt": "project(\"whisper.cpp\" VERSION 1.2.3)\n",
		"up/ggml/CMakeLists.txt": "set(GGML_VERSION_MAJOR 0)\nset(GGML_VERSION_MINOR 9)\nset(GGML_VERSION_PATCH 1)\n",
		"ws/MODULE.bazel":        "", "ws/whisper/first.patch": firstPatch, "ws/whisper/second.patch": secondPatch, "ws/third.patch": thirdPatch,
	} {
		writeText(t, filepath.Join(root, filepath.FromSlash(name)), text)
	}
	p, m, err := pin.Make(pin.Recipe{
		Name: "mine", Commit: strings.Repeat("c", 40), Source: pin.Dir(filepath.Join(root, "up")), Paths: []string{"src/w.cpp", "a.c"},
		Patch:   pin.LabelledPatch{Label: "//whisper:first.patch", Data: []byte(firstPatch)},
		Patches: []pin.LabelledPatch{{Label: "//whisper:second.patch", Data: []byte(secondPatch)}, {Label: "//:third.patch", Data: []byte(thirdPatch)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	writePin(t, root, p)
	writeText(t, filepath.Join(root, "ws", "whisper", p.Manifest.File), string(m.Format()))
	return root
}

func writePin(t *testing.T, root string, p *pin.Pin) {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, minePin(root), string(data))
}

func minePin(root string) string { return filepath.Join(root, "ws", "whisper", "mine.json") }

// repin edits the pin of a world.
func repin(edit func(p *pin.Pin)) func(t *testing.T, root string) {
	return func(t *testing.T, root string) {
		t.Helper()
		p, err := pin.ReadPin(minePin(root))
		if err != nil {
			t.Fatal(err)
		}
		edit(p)
		writePin(t, root, p)
	}
}

// secondAs puts another second patch in the place of the pinned one, and pins its bytes.
func secondAs(text string) func(t *testing.T, root string) {
	return func(t *testing.T, root string) {
		t.Helper()
		writeText(t, filepath.Join(root, "ws", "whisper", "second.patch"), text)
		repin(func(p *pin.Pin) { p.Patches[0].SHA256 = pin.Digest([]byte(text)) })(t, root)
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A pin is verified with every patch that it names, and each fault of one has its code and names the patch.
func TestPinVerifyChecksEveryPatch(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(t *testing.T, root string)
		code int
		says []string
	}{
		"as made":                 {nil, 0, []string{"pass", "further_patches        2"}},
		"first of other bytes":    {put("whisper/first.patch", firstPatch+"\n"), 1, []string{"PATCH_BYTES", "//whisper:first.patch"}},
		"second of other bytes":   {put("whisper/second.patch", strings.Replace(secondPatch, "DOT", "DOR", 1)), 1, []string{"PATCH_BYTES", "//whisper:second.patch"}},
		"third of other bytes":    {put("third.patch", secondPatch), 1, []string{"PATCH_BYTES", "//:third.patch"}},
		"second does not fit":     {secondAs(strings.Replace(secondPatch, " one{}", " one", 1)), 1, []string{"PATCH_APPLY", "src/w.cpp"}},
		"second leaves other":     {secondAs(strings.Replace(secondPatch, "+2", "+3", 1)), 1, []string{"PATCHED_FILE", "//whisper:second.patch"}},
		"second touches one less": {secondAs(secondPatch[:strings.Index(secondPatch, "diff --git a/a.c")]), 1, []string{"PATCHED_FILE", "//whisper:second.patch"}},
		"second names one twice":  {secondAs(secondPatch + secondPatch[strings.Index(secondPatch, "diff --git a/a.c"):]), 1, []string{"PATCH_FORM", "a.c twice"}},
		"second touches unlisted": {secondAs(strings.ReplaceAll(secondPatch, "a.c", "b.c")), 1, []string{"PATCH_FORM", "b.c", "manifest"}},
		"second is empty":         {secondAs("\n"), 1, []string{"PATCH_FORM", "//whisper:second.patch"}},
		"the other order":         {repin(func(p *pin.Pin) { p.Patches[0], p.Patches[1] = p.Patches[1], p.Patches[0] }), 1, []string{"PATCH_APPLY", "a.c"}},
		"second is not there": {func(t *testing.T, root string) {
			if err := os.Remove(filepath.Join(root, "ws", "whisper", "second.patch")); err != nil {
				t.Fatal(err)
			}
		}, 2, []string{"second.patch", "--further //whisper:second.patch=FILE"}},
		"a label of another repository": {repin(func(p *pin.Pin) { p.Patches[1].Label = "@other//:third.patch" }), 2, []string{"@other//:third.patch", "--further"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := forkWorld(t)
			if tc.edit != nil {
				tc.edit(t, root)
			}
			expectVerify(t, root, tc.code, tc.says)
		})
	}
}

// Patches may be kept elsewhere than their labels say.
func TestPinVerifyTakesPatchesByLabel(t *testing.T) {
	root := forkWorld(t)
	moved := filepath.Join(root, "moved.patch")
	if err := os.Rename(filepath.Join(root, "ws", "third.patch"), moved); err != nil {
		t.Fatal(err)
	}
	expectVerify(t, root, 2, []string{"third.patch"})
	expectVerify(t, root, 0, []string{"pass"}, "--further", "//:third.patch="+moved)
	expectVerify(t, root, 1, []string{"PATCH_BYTES"}, "--further", "//:third.patch="+filepath.Join(root, "ws", "whisper", "first.patch"))
	expectVerify(t, root, 2, []string{"//:fourth.patch"}, "--further", "//:third.patch="+moved, "--further", "//:fourth.patch="+moved)
	expectVerify(t, root, 2, []string{"at most once"}, "--further", "//:third.patch="+moved, "--further", "//:third.patch="+moved)
	if code, _, stderr := call(t, "", "patch", "verify", "--source", filepath.Join(root, "up"), "--pin", minePin(root)); code != 2 || !strings.Contains(stderr, "pin verify") {
		t.Errorf("patch verify of a pin with patches of its owner: exit %d, %q", code, stderr)
	}
}

func put(name, text string) func(t *testing.T, root string) {
	return func(t *testing.T, root string) {
		t.Helper()
		writeText(t, filepath.Join(root, "ws", filepath.FromSlash(name)), text)
	}
}

func expectVerify(t *testing.T, root string, want int, says []string, more ...string) {
	t.Helper()
	code, stdout, stderr := call(t, "", append([]string{"pin", "verify", "--source", filepath.Join(root, "up"), "--pin", minePin(root)}, more...)...)
	if code != want {
		t.Errorf("exit %d, want %d: %s%s", code, want, stdout, stderr)
	}
	for _, s := range says {
		if !strings.Contains(stdout+stderr, s) {
			t.Errorf("expected %q in %s%s", s, stdout, stderr)
		}
	}
}
