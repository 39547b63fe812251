package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// dependency is one bazel_dep.
type dependency struct{ name, version string }

var (
	call   = regexp.MustCompile(`(?s)bazel_dep\((.*?)\)`)
	quoted = map[string]*regexp.Regexp{
		"name":    regexp.MustCompile(`\bname\s*=\s*"([^"]+)"`),
		"version": regexp.MustCompile(`\bversion\s*=\s*"([^"]+)"`),
	}
	devOnly = regexp.MustCompile(`dev_dependency\s*=\s*True`)
)

// dependencies are those of a MODULE.bazel; those for its own work alone only if dev is true.
func dependencies(text string, dev bool) []dependency {
	var out []dependency
	for _, m := range call.FindAllStringSubmatch(text, -1) {
		var d dependency
		if name := quoted["name"].FindStringSubmatch(m[1]); name != nil {
			d.name = name[1]
		}
		if version := quoted["version"].FindStringSubmatch(m[1]); version != nil {
			d.version = version[1]
		}
		if d.name != "" && (dev || !devOnly.MatchString(m[1])) {
			out = append(out, d)
		}
	}
	return out
}

// reach lists the modules that are reached from some, where read gives a module's MODULE.bazel.
func reach(from []dependency, read func(dependency) (string, error)) ([]string, error) {
	seen := map[dependency]bool{}
	names := map[string]bool{}
	for todo := slices.Clone(from); len(todo) > 0; {
		d := todo[0]
		todo = todo[1:]
		if seen[d] {
			continue
		}
		seen[d], names[d.name] = true, true
		text, err := read(d)
		if err != nil {
			return nil, err
		}
		todo = append(todo, dependencies(text, false)...)
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// overrides makes an empty module for each one of the graph whose source is not there, and returns the options that lead Bazel to
// the ones and the others. builtin are the dependencies of bazel_tools.
func (c *check) overrides(builtin []dependency) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.root, "MODULE.bazel"))
	if err != nil {
		return nil, fmt.Errorf("read the root module: %w", err)
	}
	known := func(name string) string {
		for _, dir := range []string{c.patched, c.modules} {
			if _, err := os.Stat(filepath.Join(dir, name, "MODULE.bazel")); err == nil {
				return filepath.Join(dir, name)
			}
		}
		return ""
	}
	// An override stands for every version, and an empty module has no dependencies.
	names, err := reach(append(dependencies(string(text), true), builtin...), func(d dependency) (string, error) {
		dir := known(d.name)
		if dir == "" {
			return "", nil
		}
		module, err := os.ReadFile(filepath.Join(dir, "MODULE.bazel"))
		return string(module), err
	})
	if err != nil {
		return nil, fmt.Errorf("follow the graph: %w", err)
	}
	var options []string
	for _, name := range names {
		dir := known(name)
		if dir == "" && name == "hermetic_cc_toolchain" {
			// Only for this repository's own work, and only where --config=hermetic asks for it.
			continue
		}
		if dir == "" {
			dir = filepath.Join(c.scratch, "empty", name)
			if err := write(dir, map[string]string{"MODULE.bazel": fmt.Sprintf("module(name = %q)\n", name), "BUILD.bazel": ""}); err != nil {
				return nil, err
			}
			c.empty = append(c.empty, name)
		}
		options = append(options, "--override_module="+name+"="+dir)
	}
	return options, nil
}

// patch copies bazel_features and tells it Bazel's version: a Bazel without a build label, such as a distribution's, is taken for the
// newest there is.
func (c *check) patch() error {
	version, err := os.ReadFile(filepath.Join(c.root, ".bazelversion"))
	if err != nil {
		return fmt.Errorf("read Bazel's version: %w", err)
	}
	c.patched = filepath.Join(c.scratch, "patched")
	to := filepath.Join(c.patched, "bazel_features")
	if err := os.CopyFS(to, os.DirFS(filepath.Join(c.modules, "bazel_features"))); err != nil {
		return fmt.Errorf("copy bazel_features: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(to, "private", "*.bzl"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		told := strings.ReplaceAll(string(text), "native.bazel_version", fmt.Sprintf("%q", strings.TrimSpace(string(version))))
		if err := os.WriteFile(file, []byte(told), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// write writes files into a folder.
func write(dir string, files map[string]string) error {
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", full, err)
		}
	}
	return nil
}
