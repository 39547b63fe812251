package module

import (
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
