package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	module "github.com/coreml-gate/rules_coreml_gate"
)

// copyConsumer copies an example as its reader would write it: with a version, and without the override that leads to this
// repository.
func copyConsumer(from, to, version string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("copy the consumer: %w", err)
	}
	// Bazel's links into the example's own output base.
	links, err := filepath.Glob(filepath.Join(to, "bazel-*"))
	if err != nil {
		return err
	}
	for _, link := range links {
		if err := os.Remove(link); err != nil {
			return fmt.Errorf("copy the consumer: %w", err)
		}
	}
	name := filepath.Join(to, "MODULE.bazel")
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read the consumer's module: %w", err)
	}
	released, err := fromRegistry(string(text), version)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(released), 0o644)
}

// fromRegistry takes the override out of a MODULE.bazel and the version in.
func fromRegistry(text, version string) (string, error) {
	dep := fmt.Sprintf("bazel_dep(name = %q)", module.Name)
	if strings.Count(text, dep) != 1 {
		return "", fmt.Errorf("MODULE.bazel of the consumer: expected one line %s, found %d", dep, strings.Count(text, dep))
	}
	text = strings.Replace(text, dep, fmt.Sprintf("bazel_dep(name = %q, version = %q)", module.Name, version), 1)
	const override = "local_path_override("
	start := strings.Index(text, override)
	if start < 0 {
		return "", fmt.Errorf("MODULE.bazel of the consumer: expected %s, found none", override)
	}
	length := strings.Index(text[start:], "\n)\n")
	if length < 0 {
		return "", fmt.Errorf("MODULE.bazel of the consumer: the call %s has no end", override)
	}
	text = text[:start] + text[start+length+len("\n)\n"):]
	if strings.Contains(text, "_override(") {
		return "", fmt.Errorf("MODULE.bazel of the consumer: expected one override, found another")
	}
	return text, nil
}
