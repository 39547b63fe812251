package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPages compares docs/commands with what the commands say of themselves.
func TestPages(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "commands")
	want := commandPages(newRoot(), "markdown", markdownPage)
	if *update {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, page := range want {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	got := map[string]string{}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = string(data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/commands is stale: go test ./tools/coregate -run Pages -update writes it (-want +got):\n%s", diff)
	}
}

// TestMan holds that every command has a manual page with all that help says, and that no line of text is an instruction.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := call(t, "", "man", "--out", dir); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	known := map[string]bool{".TH": true, ".SH": true, ".PP": true, ".TP": true, ".nf": true, ".fi": true, ".RS": true, ".RE": true, ".nh": true, ".ad": true}
	for _, cmd := range documented(newRoot()) {
		data, err := os.ReadFile(filepath.Join(dir, pageName(cmd)+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if word, _, _ := strings.Cut(line, " "); (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) && !known[word] {
				t.Errorf("%s: the line %q is taken for an instruction", cmd.CommandPath(), line)
			}
		}
		for _, x := range entryOf(cmd).exits {
			if !strings.Contains(string(data), ".TP\n"+x.code+"\n"+roff(x.means)) {
				t.Errorf("%s: the page does not say what exit code %s means", cmd.CommandPath(), x.code)
			}
		}
		_, one, _ := call(t, "", append([]string{"man"}, strings.Fields(pathOf(cmd))...)...)
		if one != string(data) {
			t.Errorf("coregate man %s prints another page than it writes", pathOf(cmd))
		}
	}
	if got, want := roff(".PP\n'x\\y -a"), "\\&.PP\n\\&'x\\ey \\-a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBash completes in a real bash, as its package bash-completion has it called. tools/dev/shells tries the other shells.
func TestBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("bash is needed: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "coregate")); err != nil {
		t.Fatal(err)
	}
	// What the package gives, for words that none of its separators parts.
	const script = `
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; }
source <(coregate completion bash)
complete -p coregate >/dev/null || exit 1
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_coregate 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
`
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"coregate", "ver"}, "verify version"},
		{[]string{"coregate", "pin", ""}, "verify make manifest candidate"},
		{[]string{"coregate", "verify", "--la"}, "--lane"},
		{[]string{"coregate", "verify", "--lane", ""}, "physical emulated"},
		{[]string{"coregate", "completion", ""}, "bash zsh fish"},
		{[]string{"coregate", "explain", "CANARY_SIG"}, "CANARY_SIGNAL"},
		{[]string{"coregate", "report", "--format", "j"}, "junit"},
		{[]string{"coregate", "man", "pin", "v"}, "verify"},
	} {
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"--norc", "-c", script, "bash"}, c.words...)...)
		cmd.Env = append(os.Environ(), asProgram+"=1", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var got []string
		for line := range strings.Lines(string(out)) {
			got = append(got, strings.Fields(line)[0]) // a description follows
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v, %q, %s, want %q", c.words, err, got, stderr.String(), c.want)
		}
	}
}
