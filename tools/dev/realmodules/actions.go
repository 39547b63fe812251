package main

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// command is one action that compiles or links.
type command struct {
	// target is the name of the target in the repository of whisper.cpp, such as ggml_cpu.
	target, mnemonic string
	arguments        []string
}

// read reads what `bazel aquery --output=jsonproto` printed.
func read(data []byte) ([]command, error) {
	var graph struct {
		Targets []struct {
			ID    uint32
			Label string
		}
		Actions []struct {
			TargetID  uint32
			Mnemonic  string
			Arguments []string
		}
	}
	if err := json.Unmarshal(data, &graph); err != nil {
		return nil, fmt.Errorf("read the actions: %w", err)
	}
	names := map[uint32]string{}
	for _, t := range graph.Targets {
		_, names[t.ID], _ = strings.Cut(t.Label, ":")
	}
	var out []command
	for _, a := range graph.Actions {
		out = append(out, command{names[a.TargetID], a.Mnemonic, a.Arguments})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("found no action")
	}
	return out, nil
}

// source is the file that a command compiles.
func (c command) source() string {
	if i := slices.Index(c.arguments, "-c"); i >= 0 && i+1 < len(c.arguments) {
		return c.arguments[i+1]
	}
	return ""
}

// last is the last argument that begins so: of options that contradict each other the last one counts.
func (c command) last(prefix string) string {
	for _, a := range slices.Backward(c.arguments) {
		if strings.HasPrefix(a, prefix) {
			return a
		}
	}
	return ""
}

// after are the arguments that follow one.
func (c command) after(flag string) []string {
	var out []string
	for i, a := range c.arguments[:max(0, len(c.arguments)-1)] {
		if a == flag {
			out = append(out, c.arguments[i+1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What the program that ships has to be.
const (
	machine = "arm64-apple-macosx13.3"
	// Upstream's CMake compiles as many files for macOS arm64 with Core ML, Metal and whisper-cli, static.
	sources = 41
)

var frameworks = []string{"Accelerate", "CoreML", "Foundation", "Metal", "MetalKit"}

// judge says what is wrong with the commands.
func judge(commands []command) []string {
	var wrong []string
	compiled, linked := 0, 0
	say := func(c command, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s (%s %s): ", c.target, c.mnemonic, path.Base(c.source()))+fmt.Sprintf(format, args...))
	}
	for _, c := range commands {
		if got := c.after("-target"); !slices.Equal(got, []string{machine}) {
			say(c, "expected -target %s, found %q", machine, got)
		}
		if c.mnemonic == "CppLink" {
			linked++
			if got := c.after("-framework"); !slices.Equal(got, frameworks) {
				say(c, "expected the frameworks %q, found %q", frameworks, got)
			}
			if slices.ContainsFunc(c.arguments, func(a string) bool { return strings.Contains(a, "no_adhoc_codesign") }) {
				say(c, "expected the linker's own signature, found -no_adhoc_codesign")
			}
			continue
		}
		compiled++
		if c.last("-DDEBUG") != "" {
			say(c, "expected a program that ships, found -DDEBUG")
		}
		if c.last("-DNDEBUG") == "" {
			say(c, "expected -DNDEBUG, found none")
		}
		if c.mnemonic == "CppCompile" && c.last("-O") != "-O3" {
			say(c, "expected -O3, found %s", c.last("-O"))
		}
		if want := map[string]string{"coreml_bridge": "-fobjc-arc", "ggml_metal_objc": "-fno-objc-arc"}[c.target]; c.mnemonic == "ObjcCompile" {
			if !slices.Contains(c.arguments, want) || want == "" {
				say(c, "expected %s, found none", want)
			}
		}
	}
	// The Metal library is text that a rule of ours writes, and no file of CMake's.
	compiled -= count(commands, "ggml_metal_library")
	if compiled != sources || linked != 1 {
		wrong = append(wrong, fmt.Sprintf("expected %d files compiled and 1 program linked, found %d and %d", sources, compiled, linked))
	}
	return wrong
}

// count counts commands that compile a file whose name begins so.
func count(commands []command, name string) int {
	n := 0
	for _, c := range commands {
		if strings.HasPrefix(path.Base(c.source()), name) {
			n++
		}
	}
	return n
}
