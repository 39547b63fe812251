package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	frozen "github.com/coreml-gate/rules_coreml_gate/gate/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
)

// TestFrozen holds that every policy file is the one that DIGESTS names, and that none stands outside it.
func TestFrozen(t *testing.T) {
	listed := map[string]bool{}
	for _, name := range policy.Names() {
		listed[name+".json"] = true
		p, err := policy.Frozen(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !p.IsFrozen() || p.Derivation == "" || p.Kind == "" {
			t.Errorf("%s: frozen %v, derivation %q, kind %q", name, p.IsFrozen(), p.Derivation, p.Kind)
		}
	}
	files, err := frozen.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !listed[f.Name()] {
			t.Errorf("%s does not stand in DIGESTS", f.Name())
		}
	}
}

// TestReleasePolicies holds the numbers that users rely on.
func TestReleasePolicies(t *testing.T) {
	p, err := policy.Frozen("fp32_v2")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"snr_db_min": 100, "cosine_min": 0.9999} {
		if got, err := p.Threshold(name); err != nil || got != want {
			t.Errorf("fp32_v2 %s is %v (%v), want %v", name, got, err, want)
		}
	}
	if _, err := p.Threshold("max_abs_error"); err == nil {
		t.Error("a threshold that is not there is taken for one")
	}
}

// TestLoad holds that a policy cannot be edited under its name.
func TestLoad(t *testing.T) {
	good, err := frozen.Files.ReadFile("fp32_v2.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, why string }{
		{"as it is", "", "", ""},
		{"loosened", "100", "60", "is frozen with"},
		{"renamed", `"fp32_v2"`, `"mine"`, ""},
		{"another schema", `"schema": 1`, `"schema": 2`, "schema is 2"},
		{"unknown member", `"schema": 1`, `"schema": 1, "waive": true`, "unknown field"},
		{"a threshold twice", `"cosine_min": 0.9999`, `"cosine_min": 0.9999, "cosine_min": 0`, "duplicate key"},
		{"no name", `"fp32_v2"`, `""`, "expected a word"},
	} {
		text := string(good)
		if c.from != "" {
			text = strings.Replace(text, c.from, c.to, 1)
			if text == string(good) {
				t.Fatalf("%s: %q does not stand in the policy", c.name, c.from)
			}
		}
		path := filepath.Join(t.TempDir(), "p.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := policy.Load(path)
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.why)
		}
		if c.name == "renamed" && p.IsFrozen() {
			t.Error("a policy under a new name counts as frozen")
		}
	}
}
