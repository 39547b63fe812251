// Command shells tries what coregate prints for shells and for man, in the real programs.
//
//	go run ./tools/dev/shells
//
// Completions are asked for in bash, zsh and fish, as a person asks for them; manual pages are read by mandoc; colours, progress
// and Ctrl-C are looked at on a real terminal (util-linux's script makes one). A program that is missing is a failure: .ci/run
// installs bash-completion, zsh, fish and mandoc. It exits 1 on a finding and 2 if it could not look.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() { os.Exit(run(context.Background(), os.Stdout, os.Stderr)) }

// needs are the programs and files that are tried, and the Debian packages that have them.
var needs = map[string]string{
	"bash": "bash", "zsh": "zsh", "fish": "fish", "mandoc": "mandoc", "script": "bsdutils",
	bashCompletion: "bash-completion",
}

const bashCompletion = "/usr/share/bash-completion/bash_completion"

func run(ctx context.Context, stdout, stderr io.Writer) int {
	for name, debian := range needs {
		_, err := exec.LookPath(name)
		if strings.HasPrefix(name, "/") {
			_, err = os.Stat(name)
		}
		if err != nil {
			fmt.Fprintf(stderr, "shells: expected %s, found none: install the package %s\n", name, debian)
			return 2
		}
	}
	dir, err := os.MkdirTemp("", "shells-")
	if err != nil {
		fmt.Fprintf(stderr, "shells: %v\n", err)
		return 2
	}
	defer os.RemoveAll(dir)
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "coregate"), "./tools/coregate").CombinedOutput(); err != nil {
		fmt.Fprintf(stderr, "shells: build coregate: %v\n%s", err, out)
		return 2
	}
	t := &trial{dir: dir, out: stdout}
	t.completions(ctx)
	t.manual(ctx)
	t.terminal(ctx)
	fmt.Fprintf(stdout, "shells: %d tried, %d wrong\n", t.tried, t.wrong)
	if t.wrong > 0 {
		return 1
	}
	return 0
}

// trial counts what was tried.
type trial struct {
	dir          string // has coregate, and is first in PATH
	out          io.Writer
	tried, wrong int
}

func (t *trial) check(ok bool, format string, args ...any) {
	t.tried++
	if !ok {
		t.wrong++
		fmt.Fprintf(t.out, format+"\n", args...)
	}
}

// call runs a program in the trial's folder and returns both its streams and its exit code.
func (t *trial) call(ctx context.Context, env []string, name string, args ...string) (string, int) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.dir
	cmd.Env = append(append(os.Environ(), "PATH="+t.dir+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+t.dir, "TERM=xterm", "NO_COLOR="), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return err.Error(), -1
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// manual reads every manual page with mandoc, which has to find nothing wrong but that no page has a date.
func (t *trial) manual(ctx context.Context) {
	folder := filepath.Join(t.dir, "man1")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.check(false, "man: %v", err)
		return
	}
	if out, code := t.call(ctx, nil, filepath.Join(t.dir, "coregate"), "man", "--out", folder); code != 0 {
		t.check(false, "coregate man: exit %d: %s", code, out)
		return
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	t.check(err == nil && len(pages) > 20, "man: expected a page for each command, found %d", len(pages))
	for _, page := range pages {
		out, _ := t.call(ctx, nil, "mandoc", "-T", "lint", "-W", "warning", page)
		for line := range strings.Lines(out) {
			t.check(strings.Contains(line, "missing date"), "man: %s", strings.TrimSpace(line))
		}
		out, code := t.call(ctx, nil, "mandoc", "-T", "utf8", page)
		// Bold is a character typed twice.
		out = regexp.MustCompile(".\x08").ReplaceAllString(out, "")
		t.check(code == 0 && strings.Contains(out, "NAME\n") && strings.Contains(out, "DESCRIPTION\n"), "man: %s: exit %d: %.200s", page, code, out)
	}
}
