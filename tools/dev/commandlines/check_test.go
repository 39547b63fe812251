package main

import (
	"reflect"
	"strings"
	"testing"
)

var repository = map[string]string{
	"docs/commands/README.md":     "# coregate\n",
	"docs/commands/verify.md":     "# coregate verify\n\n| flag | | default |\n|---|---|---|\n| `--key string` | the key |  |\n| `--json` | print |  |\n",
	"docs/commands/pin.md":        "# coregate pin\n",
	"docs/commands/pin-verify.md": "# coregate pin verify\n\n| `--source string` | a clone |  |\n",
	"gate/BUILD.bazel":            `coreml_encoder_gate(name = "gate")` + "\n[x(name = \"cli_\" + f) for f in F]",
	"tools/coregate/BUILD.bazel":  `go_binary(name = "coregate")`,
	"tools/coregate/main.go":      "package main",
	"tools/dev/lint/run":          "#!/bin/sh",
	".bazelrc":                    "build:ci --x\n",
	"examples/a/BUILD.bazel":      `coreml_encoder_gate(name = "talk")`,
}

// TestCheck holds that what is there passes, and that what is not is named.
func TestCheck(t *testing.T) {
	sh := func(text string) string { return "```sh\n" + text + "\n```\n" }
	for _, c := range []struct{ name, text, wrong string }{
		{"a command", sh("coregate verify --key P.pem SIGNED"), ""},
		{"in a text", "see `coregate pin verify --source DIR`", ""},
		{"indented", "text\n\n    coregate verify --kye P.pem S\n", "coregate verify has no flag --kye"},
		{"no flag", sh("coregate verify --kye P.pem SIGNED"), "coregate verify has no flag --kye"},
		{"a flag of another command", sh("coregate pin verify --key K"), "coregate pin verify has no flag --key"},
		{"no flag, with a value", "`coregate verify --kye=K`", "has no flag --kye"},
		{"a value like a flag", sh("coregate verify --key --kye S"), ""},
		{"no command", sh("coregate verfy S"), "coregate has no command verfy"},
		{"behind a pipe", sh("cat S | coregate verify --kye P -"), "has no flag --kye"},
		{"behind another", sh("cd x && coregate verify --kye P s"), "has no flag --kye"},
		{"a variable before it", sh("NO_COLOR=1 coregate verify --kye P s"), "has no flag --kye"},
		{"a file that is written", sh("coregate verify --json > --kye"), ""},
		{"a comment", sh("coregate verify --json # not --kye"), ""},
		{"over two lines", sh("coregate verify \\\n  --kye P s"), "docs/a.md:2: "},
		{"a placeholder", "`coregate verify [--kye K]`, `coregate COMMAND`, `coregate … --kye`", ""},
		{"console", "```console\n$ coregate verify --kye s\n--other\n```\n", "has no flag --kye"},
		{"Starlark", "```starlark\ncoregate verify --kye\n```\n", ""},
		{"by Bazel", sh("bazel run //tools/coregate -- verify --kye P"), "has no flag --kye"},
		{"of another program", sh("bazel run //tools/coregate -- verify -- --kye"), ""},
		{"a target", sh("bazel test //gate:all //gate:markers_test //gate:gate //gate:cli_coreml //..."), ""},
		{"no target", sh("bazel test //gate:mark"), "gate/BUILD.bazel has no target mark"},
		{"no package", sh("bazel test //gates:all"), `no package "gates"`},
		{"a reader's target", sh("bazel test //models:talk_receipt"), ""},
		{"no configuration", sh("bazel test //gate:all --config=ic"), ".bazelrc has no configuration ic"},
		{"a configuration", sh("bazel test //gate:all --config=ci"), ""},
		{"no flag of Bazel's", sh("bazel test //gate:all --//gate:nothing=1"), "gate/BUILD.bazel has no target nothing"},
		{"no command of Bazel's", sh("bazel biuld //gate:all"), "bazel has no command biuld"},
		{"a folder", sh("go run ./tools/coregate --x"), ""},
		{"no folder", sh("go run ./tools/coregates"), "there is no folder tools/coregates"},
		{"a script", sh("tools/dev/lint/run --fix"), ""},
		{"a name in a source", sh("tools/x/y_test.go:TestY"), ""},
		{"no script", sh("tools/dev/lint/rum"), "there is no tools/dev/lint/rum"},
	} {
		files := map[string]string{"docs/a.md": c.text}
		for name, text := range repository {
			files[name] = text
		}
		got := check(files)
		if all := strings.Join(got.wrong, "\n"); (c.wrong == "") != (all == "") || !strings.Contains(all, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, all, c.wrong)
		}
	}
	if got := check(map[string]string{"a.md": "`coregate x`"}); len(got.wrong) == 0 {
		t.Error("without pages of commands nothing was found wrong")
	}
}

func TestCommands(t *testing.T) {
	got := commands(`A=1 coregate sign --key 'K 1.pem' "R|x" > S && (cd x; y) # z`)
	want := [][]string{{"A=1", "coregate", "sign", "--key", "K 1.pem", "R|x"}, {"cd", "x"}, {"y"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
