package pin

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The declaration and its surroundings, as far as the hunk shows them.
const (
	before   = "struct whisper_state {\n    whisper_mel mel;\n\n    whisper_batch batch;\n\n    int n;\n};\n"
	after    = "struct whisper_state {\n    whisper_mel mel;\n\n    whisper_batch batch = {};\n\n    int n;\n};\n"
	thePatch = "diff --git a/src/whisper.cpp b/src/whisper.cpp\n" +
		"index 2a95bdb1..cfe4ce9b 100644\n--- a/src/whisper.cpp\n+++ b/src/whisper.cpp\n" +
		"@@ -1,7 +1,7 @@ struct whisper_state {\n struct whisper_state {\n     whisper_mel mel;\n \n" +
		"-    whisper_batch batch;\n+    whisper_batch batch = {};\n \n     int n;\n };\n"
)

// files of a small upstream, with what makes git's order of tree entries special: a folder `a` beside `a.c` and `a-b`.
var files = map[string]string{
	"CMakeLists.txt": "project(\"whisper.cpp\" VERSION 1.9.1)\n", "a/x.c": "x", "a.c": "dot", "a-b": "dash", "src/whisper.cpp": before, "run.sh": "#!/bin/sh\n",
}

func writeTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.c", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// world is a clone, the same tree as a folder, and the pin of both.
func world(t *testing.T) (*Pin, Manifest, string) {
	t.Helper()
	dir := writeTree(t)
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	m, err := MakeManifest(Dir(dir), []string{"src/whisper.cpp", "a/x.c", "a.c"})
	if err != nil {
		t.Fatal(err)
	}
	commit := git(t, dir, "rev-parse", "HEAD")
	return &Pin{
		Name:        "test",
		Versions:    Versions{Whisper: "1.9.1", GGML: "unknown", GGMLCommit: commit[:9]},
		Commit:      commit,
		Tree:        git(t, dir, "rev-parse", "HEAD^{tree}"),
		Manifest:    ManifestRef{File: "test.manifest", SHA256: m.Digest()},
		Patch:       PatchRef{Label: "//patches:p.patch", SHA256: Digest([]byte(thePatch))},
		PatchedFile: FileRef{Path: "src/whisper.cpp", SHA256: Digest([]byte(after))},
	}, m, dir
}

func open(t *testing.T, dir, commit string) *Clone {
	t.Helper()
	c, err := OpenClone(dir, commit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestVerify(t *testing.T) {
	p, m, dir := world(t)
	if err := Verify(p, m, open(t, dir, p.Commit)); err != nil {
		t.Errorf("clone: %v", err)
	}
	if err := Verify(p, m, Dir(dir)); err != nil {
		t.Errorf("folder: %v", err)
	}
}

func TestVerifyIgnoresTheWorkTreeOfAClone(t *testing.T) {
	p, m, dir := world(t)
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Verify(p, m, open(t, dir, p.Commit)); err != nil {
		t.Errorf("clone: %v", err)
	}
	if err := Verify(p, m, Dir(dir)); err == nil {
		t.Error("folder with an edited file was accepted")
	}
}

func TestVerifyRefuses(t *testing.T) {
	other := strings.Repeat("0", 40)
	for name, tc := range map[string]struct {
		spoil func(p *Pin, m Manifest) Manifest
		want  string
	}{
		"another tree":     {func(p *Pin, m Manifest) Manifest { p.Tree = other; return m }, other},
		"edited manifest":  {func(p *Pin, m Manifest) Manifest { m[0].SHA256 = zeros; return m }, "PIN_MANIFEST"},
		"digest not found": {func(p *Pin, m Manifest) Manifest { m[0].SHA256 = zeros; p.Manifest.SHA256 = m.Digest(); return m }, zeros},
		"path not upstream's": {func(p *Pin, m Manifest) Manifest {
			m = append(m, Entry{"zz.c", zeros})
			p.Manifest.SHA256 = m.Digest()
			return m
		}, "PIN_FILE"},
		"a link": {func(p *Pin, _ Manifest) Manifest {
			m := Manifest{{"link", Digest([]byte("a.c"))}}
			p.Manifest.SHA256 = m.Digest()
			return m
		}, "PIN_FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			p, m, dir := world(t)
			commit := p.Commit
			m = tc.spoil(p, m)
			for _, src := range []Source{open(t, dir, commit), Dir(dir)} {
				if err := Verify(p, m, src); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%T: error %v, want one with %q", src, err, tc.want)
				}
			}
		})
	}
}

func TestVerifyRefusesAnotherTree(t *testing.T) {
	p, m, dir := world(t)
	p.Tree = strings.Repeat("0", 40)
	if err := Verify(p, m, Dir(dir)); err == nil || !strings.Contains(err.Error(), "PIN_TREE at ") {
		t.Errorf("error %v, want one about the tree", err)
	}
}

func TestVerifyRefusesAnotherCommitOfTheSameTree(t *testing.T) {
	p, m, dir := world(t)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "two")
	head := git(t, dir, "rev-parse", "HEAD")
	if err := Verify(p, m, open(t, dir, head)); err == nil || !strings.Contains(err.Error(), "PIN_COMMIT at commit of pin") {
		t.Errorf("error %v, want one about the commit", err)
	}
}

func TestOpenCloneRefusesATagForACommitID(t *testing.T) {
	p, _, dir := world(t)
	if _, err := OpenClone(dir, strings.Repeat("0", 40)); err == nil {
		t.Error("an absent commit was opened")
	}
	if _, err := OpenClone(dir, p.Tree); err == nil {
		t.Error("a tree was opened as a commit")
	}
}

func TestVerifyPatch(t *testing.T) {
	p, _, dir := world(t)
	if err := VerifyPatch(p, []byte(thePatch), Dir(dir)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ patch, want string }{
		"one more byte": {thePatch + "\n", "expected SHA-256"},
		"other names":   {strings.Replace(thePatch, "2a95bdb1..cfe4ce9b", "2a95bdb..cfe4ce9", 1), "expected SHA-256"},
	} {
		if err := VerifyPatch(p, []byte(tc.patch), Dir(dir)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tc.want)
		}
	}
}

func TestVerifyPatchRefusesWhatItsDigestCovers(t *testing.T) {
	second := strings.ReplaceAll(thePatch, "src/whisper.cpp", "src/other.cpp")
	for name, tc := range map[string]struct{ patch, want string }{
		"two files":  {thePatch + second, "exactly one file"},
		"other file": {second, "a change of src/whisper.cpp"},
		"empty":      {"", "exactly one file"},
		"new file": {"diff --git a/n b/n\nnew file mode 100644\nindex 0000000..e69de29\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
			"in place"},
		"rename":         {"diff --git a/n b/m\nsimilarity index 100%\nrename from n\nrename to m\n", "in place"},
		"mode":           {"diff --git a/n b/n\nold mode 100644\nnew mode 100755\n", "mode"},
		"does not apply": {strings.Replace(thePatch, "     int n;", "     int m;", 1), "PATCH_APPLY"},
		"shifted":        {strings.Replace(thePatch, "@@ -1,7 +1,7 @@", "@@ -2,7 +2,7 @@", 1), "PATCH_APPLY"},
		"another result": {strings.Replace(thePatch, "batch = {};", "batch{};", 1), "PATCHED_FILE"},
		"preamble":       {"Subject: hello\n\n" + thePatch, "PATCH_FORM"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, dir := world(t)
			p.Patch.SHA256 = Digest([]byte(tc.patch))
			if err := VerifyPatch(p, []byte(tc.patch), Dir(dir)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestRevertUndoesApply(t *testing.T) {
	p, err := ParsePatch([]byte(thePatch))
	if err != nil {
		t.Fatal(err)
	}
	patched, err := p.Apply([]byte(before))
	if err != nil || string(patched) != after {
		t.Fatalf("Apply: %q, %v", patched, err)
	}
	original, err := p.Revert(patched)
	if err != nil || string(original) != before {
		t.Errorf("Revert: %q, %v", original, err)
	}
	if _, err := p.Revert([]byte(before)); err == nil {
		t.Error("Revert took a file that is not patched")
	}
}

func FuzzParsePatch(f *testing.F) {
	f.Add([]byte(thePatch), []byte(before))
	f.Fuzz(func(t *testing.T, patch, content []byte) {
		p, err := ParsePatch(patch)
		if err != nil {
			return
		}
		if err := checkPath(p.Path); err != nil {
			t.Errorf("accepted path %q", p.Path)
		}
		if patched, err := p.Apply(content); err == nil {
			if back, err := p.Revert(patched); err != nil || !bytes.Equal(back, content) {
				t.Errorf("Revert(Apply(%q)) = %q, %v", content, back, err)
			}
		}
	})
}
