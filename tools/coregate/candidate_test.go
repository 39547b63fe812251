package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Sources that cannot be asked about end with a message that names the cause.
func TestOpenCandidate(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	for _, name := range []string{"clone", "folder", "clone/inner/.git"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "clone", "file"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "clone")
	git("-C", "clone", "add", "file")
	git("-C", "clone", "commit", "-q", "-m", "m")
	git("-C", "clone", "tag", "-a", "v1", "-m", "m")
	git("clone", "-q", "--bare", "clone", "bare")
	git("init", "-q", "new")
	git("-C", "clone", "worktree", "add", "-q", filepath.Join(dir, "linked"))
	// An environment that points elsewhere must not be heard.
	t.Setenv("GIT_DIR", filepath.Join(dir, "new", ".git"))
	t.Setenv("GIT_WORK_TREE", filepath.Join(dir, "new"))
	for name, tc := range map[string]struct{ source, commit, says string }{
		"clone":                        {"clone", "", ""},
		"a tag":                        {"clone", "v1", ""},
		"bare":                         {"bare", "v1", ""},
		"bare, its own commit":         {"bare", "", ""},
		"linked work tree":             {"linked", "", ""},
		"folder":                       {"folder", "", ""},
		"folder with a commit":         {"folder", "v1", "is not a git repository"},
		"unknown commit":               {"clone", "deadbeef", `has no commit "deadbeef"`},
		"an option for a commit":       {"clone", "--all", `has no commit "--all"`},
		"a blob for a commit":          {"clone", "HEAD:file", `has no commit "HEAD:file"`},
		"no commit yet":                {"new", "", "has no commit checked out"},
		"nowhere":                      {"nowhere", "", "no such file"},
		"a file":                       {"clone/file", "", "unpack it and name the folder"},
		"an empty .git, inside a work": {"clone/inner", "", "none that git can read"},
	} {
		_, commit, err := openCandidate(filepath.Join(dir, tc.source), tc.commit)
		switch {
		case tc.says == "" && (err != nil || tc.source != "folder" && len(commit) != 40):
			t.Errorf("%s: commit %q, error %v", name, commit, err)
		case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
			t.Errorf("%s: error %v, want one that says %q", name, err, tc.says)
		}
	}
}
