package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	module "github.com/coreml-gate/rules_coreml_gate"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// predicateType is the type of the archive's receipt; docs/release.md describes it.
const predicateType = "https://github.com/coreml-gate/rules_coreml_gate/module-archive/v1"

// repository is where the project's releases lie.
const repository = "github.com/coreml-gate/rules_coreml_gate"

// receipt is an in-toto Statement v1 about the archive.
type receipt struct {
	Type          string               `json:"_type"`
	Subject       []statement.Resource `json:"subject"`
	PredicateType string               `json:"predicateType"`
	Predicate     contents             `json:"predicate"`
}

// contents says what is in the archive.
type contents struct {
	Schema  int    `json:"schema"`
	Module  string `json:"module"`
	Version string `json:"version"`
	// StripPrefix is the folder in which the archive holds the files.
	StripPrefix string `json:"strip_prefix"`
	// Files are all of the archive, in the order of their paths.
	Files []content `json:"files"`
}

type content struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// entry makes the archive's receipt and the module's entry in a registry, by the names of their files.
func entry(files []file, archive []byte) (map[string][]byte, error) {
	statements := receipt{
		Type:          statement.StatementType,
		Subject:       []statement.Resource{{Name: archiveName, Digest: map[string]string{"sha256": sum(archive)}}},
		PredicateType: predicateType,
		Predicate:     contents{Schema: 1, Module: module.Name, Version: module.Version, StripPrefix: folder},
	}
	for _, f := range files {
		statements.Predicate.Files = append(statements.Predicate.Files, content{f.path, sum(f.data)})
	}
	canonical, err := strictjson.Canonical(statements)
	if err != nil {
		return nil, fmt.Errorf("write the receipt: %w", err)
	}
	at := slices.IndexFunc(files, func(f file) bool { return f.path == "MODULE.bazel" })
	if at < 0 {
		return nil, errors.New("expected MODULE.bazel among the files, found none")
	}
	whole := sha256.Sum256(archive)
	source, err := indented(map[string]any{
		"integrity":    "sha256-" + base64.StdEncoding.EncodeToString(whole[:]),
		"strip_prefix": folder,
		"url":          fmt.Sprintf("https://%s/releases/download/v%s/%s", repository, module.Version, archiveName),
	})
	if err != nil {
		return nil, err
	}
	metadata, err := indented(map[string]any{
		"homepage":        "https://" + repository,
		"maintainers":     []map[string]string{{"name": "The rules_coreml_gate Authors"}},
		"repository":      []string{"github:" + repository[len("github.com/"):]},
		"versions":        []string{module.Version},
		"yanked_versions": map[string]string{},
	})
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"receipt.json":  canonical,
		"MODULE.bazel":  files[at].data,
		"source.json":   source,
		"metadata.json": metadata,
		"presubmit.yml": []byte(presubmit),
	}, nil
}

// presubmit tells a registry how to try a version: the example is built and its gates are run. Linux runs the emulated lane, a Mac
// with Apple silicon the physical one.
const presubmit = `bcr_test_module:
  module_path: ` + example + `
  matrix:
    platform: ["debian12", "ubuntu2404", "macos_arm64"]
    bazel: ["7.x"]
  tasks:
    run_test_module:
      name: Run the example's gates
      platform: ${{ platform }}
      bazel: ${{ bazel }}
      test_targets:
        - "//..."
`

func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("write the registry's entry: %w", err)
	}
	return out.Bytes(), nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
