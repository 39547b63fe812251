package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/remote/spawnlog"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
)

// limit bounds one call of Bazel: a fault that makes it wait for ever must end as a finding.
const limit = 30 * time.Minute

// stand is a place where Bazel and the service can be tried.
type stand struct {
	bazel, root, dir string
	keep             bool
	// state is the service's folder.
	state          string
	stdout, stderr io.Writer
	places         []*place
}

// place is a workspace with an output base of its own, or Bazel's default one if base is empty.
type place struct {
	stand           *stand
	workspace, base string
	// flags are given to every command.
	flags []string
	calls int
}

// outcome is what one call of Bazel left.
type outcome struct {
	code   int
	text   string
	spawns []spawnlog.Spawn
	events *events
}

func withStand(bazel, root, keep string, stdout, stderr io.Writer, do func(*stand) error) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return broken(err)
	}
	if _, err := os.Stat(filepath.Join(root, "tools", "remote", "service")); err != nil {
		return broken(fmt.Errorf("%s is not this project's source tree: %w", root, err))
	}
	dir := keep
	if keep == "" {
		if dir, err = os.MkdirTemp("", "remote-check-"); err != nil {
			return broken(err)
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return broken(err)
	}
	s := &stand{bazel: bazel, root: root, dir: dir, keep: keep != "", state: os.Getenv("REMOTE_STATE"), stdout: stdout, stderr: stderr}
	if s.state == "" {
		s.state = "/opt/coreml-gate-remote"
	}
	defer s.close()
	return do(s)
}

func (s *stand) close() {
	for _, p := range s.places {
		cmd := exec.Command(s.bazel, "--output_base="+p.base, "shutdown")
		cmd.Dir = p.workspace
		_ = cmd.Run()
	}
	if s.keep {
		return
	}
	_ = outputbase.Remove(s.dir)
}

func (s *stand) say(format string, args ...any) { fmt.Fprintf(s.stdout, format+"\n", args...) }

// service runs a command of tools/dev/remote/service.
func (s *stand) service(command string) error {
	cmd := exec.Command(filepath.Join(s.root, "tools", "remote", "service"), command)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, io.MultiWriter(s.stderr, &said)
	if err := cmd.Run(); err != nil {
		return broken(fmt.Errorf("tools/dev/remote/service %s: %w: %s", command, err, tail(said.String())))
	}
	return nil
}

// place makes a workspace's output base called name.
func (s *stand) place(workspace, name string, flags ...string) *place {
	p := &place{stand: s, workspace: workspace, base: filepath.Join(s.dir, name), flags: flags}
	s.places = append(s.places, p)
	return p
}

// remote are the flags that lead to the service.
func (s *stand) remote() []string { return []string{"--bazelrc=" + filepath.Join(s.state, "bazelrc")} }

// run calls Bazel with startup flags, command and arguments; the logs are read whatever its exit code.
func (p *place) run(command string, args ...string) (*outcome, error) {
	p.calls++
	log := filepath.Join(p.stand.dir, fmt.Sprintf("%s-%d", filepath.Base(p.base), p.calls))
	execution, event := log+".exec.json", log+".events.json"
	var full []string
	if p.base != "" {
		full = append(full, "--output_base="+p.base)
	}
	full = append(append(full, p.flags...), command)
	logged := command == "build" || command == "test"
	if logged {
		full = append(full, "--execution_log_json_file="+execution, "--build_event_json_file="+event, "--color=no", "--curses=no")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.stand.bazel, append(full, args...)...)
	cmd.Dir = p.workspace
	cmd.WaitDelay = 10 * time.Second
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	out := &outcome{text: text.String()}
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, fmt.Errorf("bazel %s %v did not end in %v:\n%s", command, args, limit, tail(out.text))
	case errors.As(err, &failed):
		out.code = failed.ExitCode()
	case err != nil:
		return nil, broken(err)
	}
	if !logged {
		return out, nil
	}
	if out.spawns, err = readSpawns(execution); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	if out.events, err = readEventFile(event); err != nil && out.code == 0 {
		return out, err
	}
	_ = os.Remove(execution)
	_ = os.Remove(event)
	return out, nil
}

// must is run for a call that has to succeed.
func (p *place) must(command string, args ...string) (*outcome, error) {
	out, err := p.run(command, args...)
	if err == nil && out.code != 0 {
		err = fmt.Errorf("bazel %s %v ended with %d:\n%s", command, args, out.code, tail(out.text))
	}
	return out, err
}

// outputs reads the files that targets give, by their path below the configuration's folder.
func (p *place) outputs(targets []string, flags ...string) (map[string][]byte, error) {
	listing, err := p.must("cquery", append(append([]string{"--output=files"}, flags...), strings.Join(targets, " + "))...)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, line := range strings.Fields(listing.text) {
		parts := strings.SplitN(line, "/", 4)
		if len(parts) != 4 || parts[0] != "bazel-out" {
			continue // Bazel's own words
		}
		data, err := os.ReadFile(filepath.Join(p.base, "execroot", "_main", line))
		if err != nil {
			return nil, fmt.Errorf("read output: %w", err)
		}
		out[parts[3]] = data
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%v have no outputs", targets)
	}
	return out, nil
}

// checkout copies what version control knows of the source tree.
func (s *stand) checkout(to string) error {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = s.root
	names, err := list.Output()
	if err != nil {
		return broken(fmt.Errorf("list the source tree: %w", err))
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		from := filepath.Join(s.root, name)
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			return broken(err)
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return broken(err)
		}
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(name)), 0o755); err != nil {
			return broken(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm()); err != nil {
			return broken(err)
		}
	}
	return nil
}

// tail is the end of a long text.
func tail(text string) string {
	if len(text) > 4000 {
		return "…" + text[len(text)-4000:]
	}
	return text
}
