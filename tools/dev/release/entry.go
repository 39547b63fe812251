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
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
)

// repository is where the project's releases lie.
const repository = "github.com/coreml-gate/rules_coreml_gate"

// entry makes the archive's receipt and the module's entry in a registry, by the names of their files.
func entry(files []file, archive []byte) (map[string][]byte, error) {
	at := slices.IndexFunc(files, func(f file) bool { return f.path == "MODULE.bazel" })
	if at < 0 {
		return nil, errors.New("expected MODULE.bazel among the files, found none")
	}
	var contents []modulearchive.File
	for _, f := range files {
		contents = append(contents, modulearchive.File{Path: f.path, SHA256: sum(f.data)})
	}
	canonical, err := modulearchive.Encode(modulearchive.New(module.Name, module.Version, sum(archive), contents))
	if err != nil {
		return nil, fmt.Errorf("write the receipt: %w", err)
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
