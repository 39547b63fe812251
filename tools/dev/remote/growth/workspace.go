package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// perPackage is how many gates a package has.
const perPackage = 25

// workspace is the text of every file of a monorepo with n gates. "//:sound" are the tests that a made model
// can pass: all but those of its words, which are noise.
func workspace(root string, n int) map[string]string {
	files := map[string]string{
		"MODULE.bazel": fmt.Sprintf(`module(name = "growth")

bazel_dep(name = "rules_coreml_gate")
local_path_override(
    module_name = "rules_coreml_gate",
    path = %q,
)

bazel_dep(name = "bazel_skylib", version = "1.8.2")

whisper = use_extension("@rules_coreml_gate//gate:extensions.bzl", "whisper")
use_repo(whisper, "whisper_cpp")
`, root),
		".bazelrc":         "common --lockfile_mode=off\nbuild --incompatible_strict_action_env\nbuild --nolegacy_external_runfiles\n",
		"rules.bzl":        rules,
		"warm/BUILD.bazel": "load(\"//:rules.bzl\", \"small_gate\")\n\nsmall_gate(name = \"gate\", seed = 0)\n",
	}
	var packages []string
	for first := 0; first < n; first += perPackage {
		name := fmt.Sprintf("models_%03d", first/perPackage)
		packages = append(packages, fmt.Sprintf("        \"//%s:release\",\n", name))
		var b strings.Builder
		b.WriteString("load(\"@rules_coreml_gate//gate:defs.bzl\", \"gate_release\")\nload(\"//:rules.bzl\", \"small_gate\")\n\npackage(default_visibility = [\"//visibility:public\"])\n\n")
		var receipts, sound []string
		for i := first; i < min(first+perPackage, n); i++ {
			fmt.Fprintf(&b, "small_gate(name = \"gate_%04d\", seed = %d)\n", i, i+1)
			receipts = append(receipts, fmt.Sprintf("\":gate_%04d_receipt\"", i))
			sound = append(sound, fmt.Sprintf("\":gate_%04d_sound\"", i))
		}
		fmt.Fprintf(&b, "\ngate_release(\n    name = \"release\",\n    receipts = [%s],\n)\n", strings.Join(receipts, ", "))
		fmt.Fprintf(&b, "\ntest_suite(\n    name = \"sound\",\n    tests = [%s],\n)\n", strings.Join(sound, ", "))
		files[name+"/BUILD.bazel"] = b.String()
	}
	files["BUILD.bazel"] = fmt.Sprintf("load(\"@rules_coreml_gate//gate:defs.bzl\", \"gate_release\")\n\nexports_files([\"words.txt\"])\n\ngate_release(\n    name = \"release\",\n    releases = [\n%s    ],\n)\n\ntest_suite(\n    name = \"sound\",\n    tests = [\n%s    ],\n)\n",
		strings.Join(packages, ""), strings.ReplaceAll(strings.Join(packages, ""), ":release", ":sound"))
	files["words.txt"] = "words\n"
	return files
}

// rules makes a model of one layer and its gate.
const rules = `load("@bazel_skylib//rules:run_binary.bzl", "run_binary")
load("@rules_coreml_gate//gate:defs.bzl", "coreml_encoder_gate")

def small_gate(name, seed):
    run_binary(
        name = name + "_model",
        outs = [name + ".bin"],
        args = [
            "--out=$(location {}.bin)".format(name),
            "--seed={}".format(seed),
            "--layers=1",
            "--text-layers=1",
        ],
        tool = "@rules_coreml_gate//tools/actions/gate_small_model",
    )
    coreml_encoder_gate(
        name = name,
        audio = "@whisper_cpp//:jfk",
        language = "en",
        model = name + ".bin",
        reference = "//:words.txt",
    )
    native.test_suite(
        name = name + "_sound",
        tests = ["{}_{}_test".format(name, judgement) for judgement in ("contract", "parity", "markers", "canary", "contrast")],
    )
`

func write(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
