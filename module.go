// Package module says which version of rules_coreml_gate this is. MODULE.bazel is the one place that holds it.
package module

import (
	_ "embed"
	"regexp"
)

//go:embed MODULE.bazel
var file string

// declaration is the call of module in MODULE.bazel, as buildifier writes it.
var declaration = regexp.MustCompile(`(?m)^module\(\n    name = "([a-z_]+)",\n    version = "([0-9]+\.[0-9]+\.[0-9]+(?:[.-][0-9A-Za-z.-]+)?)",$`)

// Name and Version are the module's, as a bazel_dep writes them.
var Name, Version = read(file)

func read(text string) (name, version string) {
	found := declaration.FindStringSubmatch(text)
	if found == nil {
		panic("MODULE.bazel: expected `module(`, `name` and `version` on the first lines of the call, found no such call")
	}
	return found[1], found[2]
}
