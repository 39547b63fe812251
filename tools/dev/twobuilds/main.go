// Command twobuilds builds targets twice, as differently as one machine allows, and compares the bytes.
//
//	go run ./tools/dev/twobuilds [--bazel=bazel] [--elsewhere=bazel] [--root=.] [--option=OPTION…] TARGET…
//
// The second build has another output base, another source folder (a copy), another compilation mode and another user name
// in its environment; --elsewhere names another Bazel for it, such as one in a root with another compiler. {place} in an
// option stands for a folder that only one of the two builds has. Each output of a target must have the same SHA-256 in both, and none may hold
// the path of either place. It takes as long as two builds from nothing, and so stands in .ci/full.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("twobuilds", flag.ContinueOnError)
	flags.SetOutput(stderr)
	bazel := flags.String("bazel", "bazel", "the Bazel to run")
	elsewhere := flags.String("elsewhere", "", "the Bazel of the second build, if it is another")
	root := flags.String("root", ".", "the workspace")
	var options []string
	flags.Func("option", "an option of bazel build; may be repeated", func(o string) error {
		options = append(options, o)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "twobuilds: name at least one target")
		return 2
	}
	if *elsewhere == "" {
		*elsewhere = *bazel
	}
	differing, err := compare([2]string{*bazel, *elsewhere}, *root, options, flags.Args(), stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "twobuilds: %v\n", err)
		return 2
	}
	if differing > 0 {
		fmt.Fprintf(stdout, "twobuilds: %d outputs differ\n", differing)
		return 1
	}
	return 0
}

// place is one way to build.
type place struct {
	bazel, workspace, outputBase, mode, user string
	options                                  []string
}

func compare(bazels [2]string, root string, options, targets []string, stdout, stderr io.Writer) (int, error) {
	dir, err := os.MkdirTemp("", "twobuilds")
	if err != nil {
		return 0, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = outputbase.Remove(dir) }()
	root, err = filepath.Abs(root)
	if err != nil {
		return 0, err
	}
	elsewhere := filepath.Join(dir, "another", "folder", "of", "another", "length")
	if err := copyTree(root, elsewhere); err != nil {
		return 0, fmt.Errorf("copy the workspace: %w", err)
	}
	places := []place{
		{bazels[0], root, filepath.Join(dir, "a"), "fastbuild", "alice", nil},
		{bazels[1], elsewhere, filepath.Join(dir, "an-output-base-with-a-longer-name"), "dbg", "bob", nil},
	}
	var outputs [2]map[string][]byte
	for i, p := range places {
		for _, o := range options {
			p.options = append(p.options, strings.ReplaceAll(o, "{place}", p.outputBase+"-own"))
		}
		if outputs[i], err = p.build(targets, stderr); err != nil {
			return 0, err
		}
		p.bazelRun(stderr, "shutdown")
	}
	return report(outputs, []string{dir, root}, stdout), nil
}

// report compares outputs by the name that does not depend on the configuration, and counts those that differ.
func report(outputs [2]map[string][]byte, places []string, stdout io.Writer) int {
	var names []string
	for _, o := range outputs {
		for name := range o {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	differing := 0
	for _, name := range slices.Compact(names) {
		first, second := outputs[0][name], outputs[1][name]
		verdict := "same"
		switch {
		case first == nil || second == nil:
			verdict = "built in one place only"
		case !bytes.Equal(first, second):
			verdict = "DIFFERS, " + digest(second) + " elsewhere"
		}
		for _, p := range places {
			if bytes.Contains(first, []byte(p)) || bytes.Contains(second, []byte(p)) {
				verdict = "HOLDS THE PATH " + p
			}
		}
		if verdict != "same" {
			differing++
		}
		fmt.Fprintf(stdout, "%s  %s  %s\n", digest(first), name, verdict)
	}
	return differing
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// build builds the targets and reads their outputs.
func (p place) build(targets []string, stderr io.Writer) (map[string][]byte, error) {
	// A shared cache would hand the second build the first one's bytes.
	options := append([]string{"--compilation_mode=" + p.mode, "--symlink_prefix=/", "--disk_cache=", "--remote_cache="}, p.options...)
	if _, err := p.bazelRun(stderr, append(append([]string{"build"}, options...), targets...)...); err != nil {
		return nil, err
	}
	query := append([]string{"cquery", "--output=files"}, options...)
	listing, err := p.bazelRun(stderr, append(query, strings.Join(targets, " + "))...)
	if err != nil {
		return nil, err
	}
	execroot, err := p.bazelRun(stderr, append([]string{"info"}, append(options, "execution_root")...)...)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, path := range strings.Fields(string(listing)) {
		if err := read(strings.TrimSpace(string(execroot)), path, out); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%v have no outputs", targets)
	}
	return out, nil
}

// read puts a file, or every file of a folder, into out under its name below the configuration's folder.
func read(execroot, path string, out map[string][]byte) error {
	return filepath.WalkDir(filepath.Join(execroot, path), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(execroot, file)
		if err != nil {
			return err
		}
		// bazel-out/<configuration>/bin/<name>
		if parts := strings.SplitN(filepath.ToSlash(rel), "/", 4); len(parts) == 4 && parts[0] == "bazel-out" {
			rel = parts[3]
		}
		out[rel], err = os.ReadFile(file)
		return err
	})
}

func (p place) bazelRun(stderr io.Writer, args ...string) ([]byte, error) {
	cmd := exec.Command(p.bazel, append([]string{"--output_base=" + p.outputBase}, args...)...)
	cmd.Dir = p.workspace
	cmd.Env = append(os.Environ(), "USER="+p.user, "LOGNAME="+p.user)
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("bazel %s in %s: %w", args[0], p.workspace, err)
	}
	return out, nil
}

// copyTree copies what version control would hold: no .git, and no link of Bazel's.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && rel == ".git":
			return filepath.SkipDir
		case e.Type()&fs.ModeSymlink != 0 && strings.HasPrefix(rel, "bazel-"):
			return nil
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, filepath.Join(to, rel))
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, info.Mode().Perm())
	})
}
