package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type check struct {
	bazel, registry, modules string
	startup, options         []string
	stdout, stderr           io.Writer
	// root is this repository, scratch what is removed at the end, patched the modules that are told Bazel's version.
	root, scratch, patched string
	// real are the options that lead to the modules, and empty the names of those that are empty.
	real, empty []string
	host        macHost
}

// builtin are the dependencies of bazel_tools at the supported Bazel, whose MODULE.bazel no registry has.
var builtin = []dependency{
	{"apple_support", ""}, {"buildozer", ""}, {"platforms", ""}, {"protobuf", ""}, {"rules_cc", ""}, {"rules_java", ""},
	{"rules_license", ""}, {"rules_proto", ""}, {"rules_python", ""}, {"zlib", ""},
}

func (c *check) prepare() error {
	if err := c.patch(); err != nil {
		return err
	}
	var err error
	if c.real, err = c.overrides(builtin); err != nil {
		return err
	}
	c.host, err = makeMac(filepath.Join(c.scratch, "mac"))
	return err
}

// resolve lets Bazel select versions by the registry's own MODULE files. No source is read.
func (c *check) resolve() error {
	_, err := c.run(c.root, nil, "mod", "dump_repo_mapping", "", "--check_direct_dependencies=error")
	return err
}

// analyse analyses targets with the modules' sources.
func (c *check) analyse(dir string, on []string, options []string, targets ...string) error {
	args := append([]string{"--nobuild", "--keep_going", "--check_direct_dependencies=off", "--symlink_prefix=/"}, c.real...)
	_, err := c.run(dir, on, "build", append(append(args, options...), append([]string{"--"}, targets...)...)...)
	return err
}

func (c *check) linux() error {
	// This repository's own bazelrc gives no other answer; what needs the sources of other modules is left out.
	if err := c.analyse(c.root, nil, nil, "//..."); err != nil {
		return err
	}
	return c.analyse(filepath.Join(c.root, consumer), nil, nil, "//...")
}

// physical are the targets of the physical lane.
var physical = []string{
	"//gate/toolchains/physical/...", "//third_party/whisper_cpp/bridge:bridge", "//tools/encoder/coremlprobe:coremlprobe",
	"//third_party/whisper_cpp:cli_coreml", "//third_party/whisper_cpp:cli_ggml", "//gate:all",
}

func (c *check) mac() error {
	if err := c.analyse(c.root, c.host.startup(), c.host.options("_main"), physical...); err != nil {
		return fmt.Errorf("as the root module: %w", err)
	}
	if err := c.analyse(filepath.Join(c.root, consumer), c.host.startup(), c.host.options("rules_coreml_gate~"), "//..."); err != nil {
		return fmt.Errorf("from a module that depends on it: %w", err)
	}
	return nil
}

// actions reads the commands that would make whisper-cli on the Mac.
func (c *check) actions() error {
	query := `mnemonic("CppCompile|ObjcCompile|CppLink", deps(//third_party/whisper_cpp:cli_coreml))`
	args := append([]string{"--output=jsonproto", "--include_artifacts=false", "--check_direct_dependencies=off"}, c.real...)
	out, err := c.run(c.root, c.host.startup(), "aquery", append(append(args, c.host.options("_main")...), query)...)
	if err != nil {
		return err
	}
	commands, err := read(out)
	if err != nil {
		return err
	}
	if wrong := judge(commands); len(wrong) > 0 {
		return fmt.Errorf("whisper-cli for macOS arm64:\n  %s", strings.Join(wrong, "\n  "))
	}
	fmt.Fprint(c.stdout, table(commands))
	return nil
}

// run runs Bazel in an output base of the host's own, and returns what it wrote to standard output.
func (c *check) run(dir string, on []string, verb string, args ...string) ([]byte, error) {
	base := filepath.Join(c.scratch, map[bool]string{true: "linux", false: "on-mac"}[on == nil])
	command := slices.Concat([]string{"--nosystem_rc", "--nohome_rc", "--output_base=" + base}, c.startup, on, []string{
		verb, "--registry=file://" + c.registry, "--lockfile_mode=off", "--noenable_workspace",
	}, c.options, args)
	cmd := exec.Command(c.bazel, command...)
	cmd.Dir = dir
	cmd.Stderr = c.stderr
	if on != nil {
		cmd.Env = append(os.Environ(), "PATH="+c.host.path())
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("bazel %s in %s: %w", verb, dir, err)
	}
	return out.Bytes(), nil
}

func (c *check) shutdown() {
	for _, base := range []string{"linux", "on-mac"} {
		base = filepath.Join(c.scratch, base)
		if _, err := os.Stat(base); err != nil {
			continue
		}
		cmd := exec.Command(c.bazel, slices.Concat([]string{"--nosystem_rc", "--nohome_rc", "--output_base=" + base}, c.startup, []string{"shutdown"})...)
		cmd.Dir = c.root
		_ = cmd.Run()
	}
}
