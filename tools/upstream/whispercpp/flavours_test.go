package whispercpp_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// TestFlavours holds that the rule whisper_cli knows the same flavours, and what each is compiled with.
func TestFlavours(t *testing.T) {
	text, err := os.ReadFile("../../../gate/private/whisper_cli.bzl")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)"flavour": attr\.string\(.*?values = \[(.*?)\]`).FindSubmatch(text)
	if list == nil {
		t.Fatal("whisper_cli.bzl has no attribute flavour with a list of values")
	}
	var known []string
	for _, m := range regexp.MustCompile(`"([a-z_]+)"`).FindAllSubmatch(list[1], -1) {
		known = append(known, string(m[1]))
	}
	if !slices.Equal(known, whispercpp.Flavours) {
		t.Errorf("whisper_cli.bzl knows %v, package whispercpp %v", known, whispercpp.Flavours)
	}
	for flavour, want := range map[string][2]bool{
		"ggml": {}, "coreml": {true, false}, "coreml_allow_fallback": {true, true}, "coreml_unpatched": {true, false}, "coreml_allow_fallback_unpatched": {true, true},
	} {
		if got := [2]bool{whispercpp.HasCoreML(flavour), whispercpp.AllowsFallback(flavour)}; got != want {
			t.Errorf("%s: Core ML and fallback are %v, want %v", flavour, got, want)
		}
	}
}
