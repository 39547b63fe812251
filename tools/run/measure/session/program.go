package session

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/binary"
)

// Describe reads how a whisper-cli was made: its own stamps, and the definitions that its compile actions carried (a JSON
// array, as the rule whisper_cli writes it; "" where nothing tells). A program that a compiler optimised has no assertions:
// NDEBUG is defined in a release build, and in no other.
func Describe(cli, defines, flavour string) (environment.Program, error) {
	p := environment.Program{Flavour: flavour, BuildMode: environment.Unknown, Compiler: environment.Unknown, SDK: environment.Unknown, Xcode: environment.Unknown}
	id, err := binary.Inspect(cli)
	if err != nil {
		return p, err
	}
	p.SHA256 = id.SHA256
	if id.SDK != "" {
		p.SDK = fmt.Sprintf("%s, runs on %s and newer", id.SDK, id.MinOS)
	}
	p.Compiler = compilerOf(cli)
	if defines == "" {
		return p, nil
	}
	data, err := regular.ReadFile(defines)
	if err != nil {
		return p, fmt.Errorf("definitions of the compile actions: %w", err)
	}
	var list []string
	if err := strictjson.Decode(data, &list); err != nil {
		return p, fmt.Errorf("definitions of the compile actions, %s: %w", defines, err)
	}
	p.BuildMode = "debug"
	if slices.ContainsFunc(list, func(d string) bool { return d == "NDEBUG" || strings.HasPrefix(d, "NDEBUG=") }) {
		p.BuildMode = "release"
	}
	return p, nil
}

// compilerOf reads the section in which compilers leave their names.
func compilerOf(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return environment.Unknown
	}
	defer f.Close()
	s := f.Section(".comment")
	if s == nil || s.Size > 1<<16 {
		return environment.Unknown
	}
	data, err := s.Data()
	if err != nil {
		return environment.Unknown
	}
	names := []string{}
	for _, n := range strings.Split(string(data), "\x00") {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return environment.Unknown
	}
	slices.Sort(names)
	return strings.Join(names, "; ")
}

// Digest is the digest of the file at path, or "" for no path.
func Digest(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	sum, _, err := tree.HashFile(path)
	return sum, err
}
