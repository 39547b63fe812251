package patch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

const (
	before   = "one\nbatch;\ntwo\n"
	after    = "one\nbatch = {};\ntwo\n"
	thePatch = "diff --git a/src/w.cpp b/src/w.cpp\nindex 2a95bdb1..cfe4ce9b 100644\n--- a/src/w.cpp\n+++ b/src/w.cpp\n" +
		"@@ -1,3 +1,3 @@\n one\n-batch;\n+batch = {};\n two\n"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
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

// patched makes a clone whose tree is patched, and the pin of its commit.
func patched(t *testing.T) (*pin.Pin, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/w.cpp": before, "src/x.c": "x\n", "run.sh": "#!/bin/sh\n", ".gitignore": "build/\n",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	write(t, filepath.Join(dir, "src", "w.cpp"), after)
	return &pin.Pin{
		Name:        "test",
		Commit:      git(t, dir, "rev-parse", "HEAD"),
		Tree:        git(t, dir, "rev-parse", "HEAD^{tree}"),
		Patch:       pin.PatchRef{Label: "//patches:p.patch", SHA256: pin.Digest([]byte(thePatch))},
		PatchedFile: pin.FileRef{Path: "src/w.cpp", SHA256: pin.Digest([]byte(after))},
	}, dir
}

func TestVerifyTree(t *testing.T) {
	p, dir := patched(t)
	if err := VerifyTree(p, nil, []byte(thePatch), dir); err != nil {
		t.Errorf("clone: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := VerifyTree(p, nil, []byte(thePatch), dir); err != nil {
		t.Errorf("folder without .git: %v", err)
	}
}

func TestVerifyTreeIsDeafToGit(t *testing.T) {
	p, dir := patched(t)
	for _, setting := range [][]string{
		{"core.abbrev", "40"}, {"core.autocrlf", "true"}, {"core.fileMode", "false"}, {"diff.external", "/bin/false"},
		{"diff.noprefix", "true"}, {"diff.algorithm", "patience"}, {"core.ignoreStat", "true"}, {"core.excludesFile", "/dev/null"},
	} {
		git(t, dir, "config", setting[0], setting[1])
	}
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "* -text diff=none filter=none\n")
	git(t, dir, "update-index", "--assume-unchanged", "src/x.c")
	if err := VerifyTree(p, nil, []byte(thePatch), dir); err != nil {
		t.Errorf("settings changed the answer: %v", err)
	}
	// The index is told not to look; a change is a change all the same.
	write(t, filepath.Join(dir, "src", "x.c"), "y\n")
	expect(t, VerifyTree(p, nil, []byte(thePatch), dir), "TREE_UNVERIFIABLE", "src/x.c (changed)")
}

func expect(t *testing.T, err error, code, text string) {
	t.Helper()
	var r *reason.Error
	if !errors.As(err, &r) || r.Code != code || !strings.Contains(r.Found, text) {
		t.Errorf("error %v, want %s with %q", err, code, text)
	}
}

func TestVerifyTreeRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil      func(t *testing.T, dir string)
		code, text string
	}{
		"unpatched": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "src/w.cpp"), before) }, "TREE_UNPATCHED", "as upstream has it"},
		"staged, committed or not makes no difference": {
			func(t *testing.T, dir string) {
				git(t, dir, "commit", "-qam", "patched")
				write(t, filepath.Join(dir, "n"), "")
			},
			"TREE_UNVERIFIABLE", "n (added)",
		},
		"tracked":   {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "src/x.c"), "y\n") }, "TREE_UNVERIFIABLE", "src/x.c (changed)"},
		"untracked": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "src/new.c"), "") }, "TREE_UNVERIFIABLE", "src/new.c (added)"},
		"ignored":   {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "build/o"), "") }, "TREE_UNVERIFIABLE", "build/o (added)"},
		"a file of any size": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "models/large.bin"), "")
			if err := os.Truncate(filepath.Join(dir, "models/large.bin"), pin.MaxFileBytes+1); err != nil {
				t.Fatal(err)
			}
		}, "TREE_UNVERIFIABLE", "models/large.bin (added)"},
		"removed": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "run.sh")); err != nil {
				t.Fatal(err)
			}
		}, "TREE_UNVERIFIABLE", "run.sh (missing)"},
		"mode": {func(t *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "TREE_UNVERIFIABLE", "run.sh (mode 100755, expected 100644)"},
		"link in place of a file": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, "src/x.c")
			if err := os.Rename(path, dir+".x"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(dir+".x", path); err != nil {
				t.Fatal(err)
			}
		}, "TREE_UNVERIFIABLE", "src/x.c (mode 120000"},
		"patched file is a link": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, "src/w.cpp")
			if err := os.Rename(path, dir+".w"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(dir+".w", path); err != nil {
				t.Fatal(err)
			}
		}, "TREE_UNVERIFIABLE", "none"},
		"more than the patch": {
			func(t *testing.T, dir string) { write(t, filepath.Join(dir, "src/w.cpp"), after+"three\n") },
			"TREE_UNVERIFIABLE", "src/w.cpp (changed otherwise than by the patch)",
		},
		"another fix": {
			func(t *testing.T, dir string) { write(t, filepath.Join(dir, "src/w.cpp"), "one\nbatch{};\ntwo\n") },
			"TREE_UNVERIFIABLE", "does not hold the patch's lines",
		},
		"a repository inside": {
			func(t *testing.T, dir string) { write(t, filepath.Join(dir, "sub/.git/HEAD"), "ref: refs/heads/m\n") },
			"TREE_UNVERIFIABLE", "sub/.git/HEAD (added)",
		},
		"assumed unchanged": {
			func(t *testing.T, dir string) {
				git(t, dir, "update-index", "--assume-unchanged", "src/x.c")
				write(t, filepath.Join(dir, "src/x.c"), "y\n")
			},
			"TREE_UNVERIFIABLE", "src/x.c (changed)",
		},
		"left out of the work tree": {
			func(t *testing.T, dir string) {
				git(t, dir, "update-index", "--skip-worktree", "src/x.c")
				if err := os.Remove(filepath.Join(dir, "src/x.c")); err != nil {
					t.Fatal(err)
				}
			},
			"TREE_UNVERIFIABLE", "src/x.c (missing)",
		},
		"a pipe": {
			func(t *testing.T, dir string) {
				if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
					t.Fatal(err)
				}
			},
			"TREE_UNVERIFIABLE", `"pipe" is p---------`,
		},
		"a name that no tree holds": {
			func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a\nb"), "") },
			"TREE_UNVERIFIABLE", "a name with a line break",
		},
		"line endings": {
			func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "src/w.cpp"), strings.ReplaceAll(after, "\n", "\r\n"))
			},
			"SOURCE_LINE_ENDS", "lines that end with CRLF",
		},
		"line endings without the patch": {
			func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "src/w.cpp"), strings.ReplaceAll(before, "\n", "\r\n"))
			},
			"SOURCE_LINE_ENDS", "lines that end with CRLF",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, dir := patched(t)
			tc.spoil(t, dir)
			expect(t, VerifyTree(p, nil, []byte(thePatch), dir), tc.code, tc.text)
		})
	}
}

// Neither the way to the tree nor anything that git can be told changes the answer.
func TestVerifyTreeHearsNoSettings(t *testing.T) {
	p, dir := patched(t)
	git(t, dir, "config", "core.autocrlf", "true")
	git(t, dir, "config", "core.abbrev", "40")
	git(t, dir, "config", "diff.external", "/bin/false")
	write(t, filepath.Join(dir, ".git/info/attributes"), "* text eol=crlf\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "/nowhere")
	t.Setenv("GIT_EXTERNAL_DIFF", "/bin/false")
	for _, way := range []string{dir, dir + "/", dir + "/.", link} {
		if err := VerifyTree(p, nil, []byte(thePatch), way); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// What is not a folder is not a tree at all: nothing was judged.
func TestVerifyTreeOfAFile(t *testing.T) {
	p, dir := patched(t)
	for _, path := range []string{filepath.Join(dir, "src/w.cpp"), filepath.Join(dir, "nowhere")} {
		err := VerifyTree(p, nil, []byte(thePatch), path)
		var r *reason.Error
		if err == nil || errors.As(err, &r) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that names it, and no verdict", path, err)
		}
	}
}

func TestVerifyTreeChecksThePatchFirst(t *testing.T) {
	p, dir := patched(t)
	sevenDigits := strings.Replace(thePatch, "2a95bdb1..cfe4ce9b", "2a95bdb..cfe4ce9", 1)
	expect(t, VerifyTree(p, nil, []byte(sevenDigits), dir), "PATCH_BYTES", "")
	p.PatchedFile.SHA256 = strings.Repeat("0", 64)
	expect(t, VerifyTree(p, nil, []byte(thePatch), dir), "PATCHED_FILE", pin.Digest([]byte(after)))
}

// An unpacked archive has no commit to compare with; the manifest names the file, and what changed it.
func TestVerifyTreeNamesByTheManifest(t *testing.T) {
	p, dir := patched(t)
	m := pin.Manifest{{Path: "src/w.cpp", SHA256: pin.Digest([]byte(before))}, {Path: "src/x.c", SHA256: pin.Digest([]byte("x\n"))}}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := VerifyTree(p, m, []byte(thePatch), dir); err != nil {
		t.Errorf("the patched tree: %v", err)
	}
	write(t, filepath.Join(dir, "src", "x.c"), "x\r\n")
	expect(t, VerifyTree(p, m, []byte(thePatch), dir), "TREE_UNVERIFIABLE", "src/x.c (whose lines end with CRLF")
	write(t, filepath.Join(dir, "src", "x.c"), "x\n")
	write(t, filepath.Join(dir, "build", "w.o"), "o")
	expect(t, VerifyTree(p, m, []byte(thePatch), dir), "TREE_UNVERIFIABLE", "no clone of the pin's commit")
	expect(t, VerifyTree(p, m, []byte(strings.ReplaceAll(thePatch, "\n", "\r\n")), dir), "PATCH_BYTES", "whose lines end with CRLF")
}
