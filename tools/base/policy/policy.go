// Package policy reads frozen policies: files of thresholds that were chosen before the measurement.
//
// A policy is a JSON object:
//
//	schema      1
//	name        what a receipt calls it, e.g. "fp32_v2"; a changed policy gets a new name
//	kind        which judgement it is for: "gate", "parity", "transcript", …
//	applies_to  what it may be used on, e.g. the precision "float32"; "" for everything
//	derivation  why the thresholds are what they are
//	thresholds  an object of numbers, by name with unit: "snr_db_min", "cosine_min", …
//	required    the judgements that a receipt under it must have; empty where it binds none
//
// Its digest is the SHA-256 of the file's bytes, and a receipt binds it. The digests of the policies
// of this project stand in gate/policy/DIGESTS (sha256sum's form), and a file that does not match is
// refused under its name: a policy that was edited after a measurement is another policy.
package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	frozen "github.com/coreml-gate/rules_coreml_gate/gate/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// Policy is the content of a policy file.
type Policy struct {
	Schema     int                `json:"schema"`
	Name       string             `json:"name"`
	Kind       string             `json:"kind"`
	AppliesTo  string             `json:"applies_to"`
	Derivation string             `json:"derivation"`
	Thresholds map[string]float64 `json:"thresholds"`
	Required   []string           `json:"required"`
	// SHA256 of the file's bytes.
	SHA256 string `json:"-"`
}

// Parse reads the bytes of a policy file.
func Parse(data []byte) (*Policy, error) {
	p := &Policy{}
	if err := strictjson.Decode(data, p); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if p.Schema != 1 {
		return nil, fmt.Errorf("policy %q: schema is %d, expected 1", p.Name, p.Schema)
	}
	if p.Name == "" || strings.ContainsAny(p.Name, "/\\ ") {
		return nil, fmt.Errorf("policy name %q: expected a word", p.Name)
	}
	sum := sha256.Sum256(data)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p, nil
}

// Load reads a policy file. A file that bears the name of a frozen policy must be that policy.
func Load(path string) (*Policy, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	p, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if want, ok := frozenDigest(p.Name); ok && want != p.SHA256 {
		return nil, fmt.Errorf("%s: policy %s is frozen with SHA-256 %s, but this file has %s: give a changed policy a new name", path, p.Name, want, p.SHA256)
	}
	return p, nil
}

// Frozen returns a policy of this project by name.
func Frozen(name string) (*Policy, error) {
	data, err := frozen.Files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no frozen policy is called %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	p, err := Parse(data)
	if err != nil {
		return nil, err
	}
	if want, ok := frozenDigest(name); !ok || want != p.SHA256 || p.Name != name {
		return nil, fmt.Errorf("policy %s: SHA-256 %s does not stand in gate/policy/DIGESTS: freeze it there under a new name", name, p.SHA256)
	}
	return p, nil
}

// Names lists the frozen policies.
func Names() []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(frozen.Digests), "\n") {
		if _, file, ok := strings.Cut(line, "  "); ok {
			out = append(out, strings.TrimSuffix(file, ".json"))
		}
	}
	return out
}

// IsFrozen says whether the policy is one of this project's, byte for byte.
func (p *Policy) IsFrozen() bool {
	want, ok := frozenDigest(p.Name)
	return ok && want == p.SHA256
}

func frozenDigest(name string) (string, bool) {
	for _, line := range strings.Split(frozen.Digests, "\n") {
		if sum, file, ok := strings.Cut(line, "  "); ok && file == name+".json" {
			return sum, true
		}
	}
	return "", false
}

// Threshold returns a threshold, which the policy must have: a limit that is not there is no limit.
func (p *Policy) Threshold(name string) (float64, error) {
	v, ok := p.Thresholds[name]
	if !ok {
		return 0, fmt.Errorf("policy %s has no threshold %q", p.Name, name)
	}
	return v, nil
}

// Known returns the frozen policy of that name and digest; false where this program has none.
func Known(name, sha256 string) (*Policy, bool) {
	p, err := Frozen(name)
	if err != nil || p.SHA256 != sha256 {
		return nil, false
	}
	return p, true
}
