package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// bytesField and numberField write what a test feeds the page with.
func bytesField(number protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), bytes.Join(parts, nil))
}

func text(number protowire.Number, s string) []byte { return bytesField(number, []byte(s)) }

func numberField(number protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), n)
}

// module is one rule, of one attribute.
func module(ruleDoc, attributeDoc string, kind uint64) []byte {
	attribute := bytesField(ruleAttributes, text(entryName, "model"), text(entryDoc, attributeDoc), numberField(attributeType, kind), numberField(attributeMandatory, 1))
	return append(text(moduleDoc, "What it is."), bytesField(moduleRules, text(entryName, "gate"), text(entryDoc, ruleDoc), attribute)...)
}

func TestPage(t *testing.T) {
	got, err := page([]source{{"defs.bzl", module("A gate.", "The model,\n  as | a file.", 3)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# defs.bzl\n\nWhat it is.\n", "## gate\n", `load("@rules_coreml_gate//gate:defs.bzl", "gate")`,
		`gate(<a href="#gate-model">model</a>)`, "A gate.\n",
		`| <a id="gate-model"></a>model | The model, as \| a file. | Label | required |  |`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("expected %q in\n%s", want, got)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a rule without a word":       {module("", "The model.", 3), "defs.bzl: gate: expected documentation"},
		"an attribute without a word": {module("A gate.", "", 3), "attribute model: expected documentation"},
		"a type of another Bazel":     {module("A gate.", "The model.", 99), "attribute model: expected a type"},
		"a message cut short":         {module("A gate.", "The model.", 3)[:20], "defs.bzl"},
	} {
		if _, err := page([]source{{"defs.bzl", c.data}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: expected %q, found %v", name, c.want, err)
		}
	}
}

func TestArguments(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"defs.bzl"}, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "expected NAME.bzl=FILE") {
		t.Errorf("exit %d, %s", code, &stderr)
	}
	file := filepath.Join(t.TempDir(), "defs")
	if err := os.WriteFile(file, module("A gate.", "The model.", 3), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"defs.bzl=" + file}, &stdout, &stderr); code != 0 || !strings.HasPrefix(stdout.String(), header) {
		t.Errorf("exit %d, %s%s", code, &stdout, &stderr)
	}
}
