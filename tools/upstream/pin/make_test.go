package pin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

const (
	compatibility = "diff --git a/src/w.cpp b/src/w.cpp\n--- a/src/w.cpp\n+++ b/src/w.cpp\n@@ -1,2 +1,2 @@\n-one\n+one{}\n two\n"
	ofTwoFiles    = "diff --git a/src/w.cpp b/src/w.cpp\n--- a/src/w.cpp\n+++ b/src/w.cpp\n@@ -1,2 +1,2 @@\n one{}\n-two\n+2\n" +
		"diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-dot\n+DOT\n"
)

func recipe(t *testing.T, further ...string) Recipe {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/w.cpp": "one\ntwo\n", "a.c": "dot\n", "not-built.c": "x\n",
		"CMakeLists.txt":      "project(\"whisper.cpp\" VERSION 1.2.3)\n",
		"ggml/CMakeLists.txt": "set(GGML_VERSION_MAJOR 0)\nset(GGML_VERSION_MINOR 9)\nset(GGML_VERSION_PATCH 1)\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := Recipe{
		Name: "mine", Commit: strings.Repeat("c", 40), Source: Dir(dir), Paths: []string{"src/w.cpp", "a.c"},
		Patch: LabelledPatch{"//patches:first.patch", []byte(compatibility)},
	}
	for _, text := range further {
		r.Patches = append(r.Patches, LabelledPatch{"//whisper:mine.patch", []byte(text)})
	}
	return r
}

func TestMakeAppliesPatchesOnTopOfEachOther(t *testing.T) {
	r := recipe(t, ofTwoFiles)
	p, m, err := Make(r)
	if err != nil {
		t.Fatal(err)
	}
	if p.Supported || p.Manifest.SHA256 != m.Digest() || p.Versions != (Versions{"0.9.1", "ccccccccc", "1.2.3"}) {
		t.Errorf("%+v", p)
	}
	if want := Digest([]byte("one{}\ntwo\n")); p.PatchedFile != (FileRef{"src/w.cpp", want}) {
		t.Errorf("after the compatibility patch: %+v, want %s", p.PatchedFile, want)
	}
	want := []FurtherPatch{{PatchRef{"//whisper:mine.patch", Digest([]byte(ofTwoFiles))}, []FileRef{
		{"a.c", Digest([]byte("DOT\n"))}, {"src/w.cpp", Digest([]byte("one{}\n2\n"))},
	}}}
	if diff := cmp.Diff(want, p.Patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
	id := p.Identity()
	for path, text := range map[string]string{"src/w.cpp": "one{}\n2\n", "a.c": "DOT\n"} {
		if got, ok := id.Patched(path); !ok || got != Digest([]byte(text)) {
			t.Errorf("%s after all patches: %s, %v", path, got, ok)
		}
	}
	if err := VerifyPatches(p, m, r.Patch.Data, [][]byte{[]byte(ofTwoFiles)}, r.Source); err != nil {
		t.Error(err)
	}
	if err := VerifyPatches(p, m, r.Patch.Data, nil, r.Source); err == nil {
		t.Error("a pin was verified without the patch that it names")
	}
	if err := VerifyPatches(p, m, r.Patch.Data, [][]byte{[]byte(strings.Replace(ofTwoFiles, "DOT", "DOR", 1))}, r.Source); err == nil {
		t.Error("a pin was verified with another patch")
	}
	data, err := strictjson.Canonical(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParsePin("mine.json", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestMakeRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(r *Recipe)
		want   string
	}{
		"a file that is not built": {func(r *Recipe) {
			r.Patches = []LabelledPatch{{"//:m.patch", []byte(strings.ReplaceAll(strings.ReplaceAll(ofTwoFiles, "a/a.c", "a/not-built.c"), "b/a.c", "b/not-built.c"))}}
		}, "files that the build reads"},
		"a patch that does not fit":    {func(r *Recipe) { r.Patches[0].Data = []byte(compatibility) }, "each hunk exactly"},
		"a compatibility patch of two": {func(r *Recipe) { r.Patch.Data = []byte(strings.ReplaceAll(ofTwoFiles, "one{}", "one")) }, "one file"},
		"a path that is not there":     {func(r *Recipe) { r.Paths = append(r.Paths, "absent.c") }, "absent.c"},
		"a commit that is none":        {func(r *Recipe) { r.Commit = "main" }, "git object id"},
		"a patch that adds a file": {func(r *Recipe) {
			r.Patches[0].Data = []byte("diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n")
		}, "in place"},
		"a patch with words before it": {func(r *Recipe) { r.Patches[0].Data = []byte("Hello\n" + ofTwoFiles) }, "nothing before the diff"},
		"a patch that names a file twice": {func(r *Recipe) {
			r.Patches[0].Data = []byte(ofTwoFiles + ofTwoFiles[strings.Index(ofTwoFiles, "diff --git a/a.c"):])
		}, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			r := recipe(t, ofTwoFiles)
			tc.change(&r)
			if _, _, err := Make(r); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestAPinWithPatchesOfItsOwnerIsNotSupported(t *testing.T) {
	p, _, err := Make(recipe(t, ofTwoFiles))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *Pin){
		"supported":             func(p *Pin) { p.Supported = true },
		"no label":              func(p *Pin) { p.Patches[0].Label = "" },
		"no digest":             func(p *Pin) { p.Patches[0].SHA256 = "" },
		"no files":              func(p *Pin) { p.Patches[0].PatchedFiles = []FileRef{} },
		"a path that escapes":   func(p *Pin) { p.Patches[0].PatchedFiles[0].Path = "../a.c" },
		"a file with no digest": func(p *Pin) { p.Patches[0].PatchedFiles[0].SHA256 = "x" },
	} {
		q := *p
		q.Patches = []FurtherPatch{{p.Patches[0].PatchRef, append([]FileRef{}, p.Patches[0].PatchedFiles...)}}
		change(&q)
		data, err := strictjson.Canonical(&q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParsePin("mine.json", data); err == nil {
			t.Errorf("%s: the pin was taken", name)
		}
	}
}
