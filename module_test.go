package module

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	if Name != "rules_coreml_gate" || strings.Count(Version, ".") < 2 {
		t.Errorf("name %q, version %q", Name, Version)
	}
	if _, version := read(strings.Replace(file, `"`+Version+`"`, `"12.0.1-rc1"`, 1)); version != "12.0.1-rc1" {
		t.Errorf("after a change of MODULE.bazel: version %q", version)
	}
	for _, wrong := range []string{"", strings.Replace(file, `"`+Version+`"`, `"1.0"`, 1), strings.Replace(file, "module(", "modules(", 1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a MODULE.bazel without a version was taken: %.60q", wrong)
				}
			}()
			read(wrong)
		}()
	}
}

// TestDocuments holds the versions that documents tell a user to write against the module's.
func TestDocuments(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range otherVersions(string(text), Version) {
		t.Errorf("README.md: expected version %s, found %s", Version, wrong)
	}
	const dep = `bazel_dep(name = "rules_coreml_gate", version = `
	if got := otherVersions(dep+`"1.2.3") `+dep+`"1.2.4")`, "1.2.3"); !slices.Equal(got, []string{"1.2.4"}) {
		t.Errorf("found %q", got)
	}
}

// otherVersions are the versions of bazel_deps on this module that are not the right one.
func otherVersions(text, right string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`bazel_dep\(name = "rules_coreml_gate", version = "([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if m[1] != right {
			out = append(out, m[1])
		}
	}
	return out
}
