package pin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// CheckSchema names the format of [Check].
const CheckSchema = "coreml-gate/sources-check/v1"

// UnpatchedDir is where the repository rule keeps upstream's own version of the patched file, for experiments.
const UnpatchedDir = "unpatched"

// Check is what gate_sources found when it hashed the files that the compile actions read.
type Check struct {
	Schema string `json:"schema"`
	// Verdict is "pass" or "fail".
	Verdict string `json:"verdict"`
	// Pin and ManifestSHA256 say what the files were held against.
	Pin            string `json:"pin"`
	ManifestSHA256 string `json:"manifest_sha256"`
	// Files is the number of files that were hashed.
	Files int `json:"files"`
	// Mismatches are sorted by path; empty exactly if the verdict is "pass".
	Mismatches []Mismatch `json:"mismatches"`
}

// Mismatch is one difference. Expected and Found are SHA-256 digests, or "absent".
type Mismatch struct {
	Path     string `json:"path"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

const absent = "absent"

// ReadCheck reads what gate_sources wrote and refuses a verdict that its own mismatches contradict.
func ReadCheck(path string) (*Check, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read sources check: %w", err)
	}
	c := &Check{}
	if err := strictjson.Decode(data, c); err != nil {
		return nil, fmt.Errorf("sources check %s: %w", path, err)
	}
	if c.Schema != CheckSchema {
		return nil, fmt.Errorf("sources check %s: schema is %q, expected %q", path, c.Schema, CheckSchema)
	}
	if c.Verdict != verdict(c.Mismatches) || c.Files <= 0 {
		return nil, fmt.Errorf("sources check %s: verdict %q does not follow from %d files and %d mismatches", path, c.Verdict, c.Files, len(c.Mismatches))
	}
	return c, nil
}

// Rehash hashes files below root and holds them against the manifest and the pin's identity.
//
// Every file of the manifest must be among them and no other; the patched file must be as patched, and
// its copy below [UnpatchedDir], if it is given, as upstream has it. Files are read through links, since
// a build stages its inputs as links.
func Rehash(id *Identity, m Manifest, root string, files []string) (*Check, error) {
	c := &Check{Schema: CheckSchema, Pin: id.Name, ManifestSHA256: m.Digest(), Files: len(files), Mismatches: []Mismatch{}}
	if c.ManifestSHA256 != id.ManifestSHA256 {
		c.Mismatches = append(c.Mismatches, Mismatch{Path: "(content manifest)", Expected: id.ManifestSHA256, Found: c.ManifestSHA256})
	}
	seen := map[string]bool{}
	for _, file := range files {
		path, err := relative(root, file)
		if err != nil {
			return nil, err
		}
		found, err := hashFile(file)
		if err != nil {
			return nil, err
		}
		seen[path] = true
		if expected := expectedDigest(id, m, path); found != expected {
			c.Mismatches = append(c.Mismatches, Mismatch{Path: path, Expected: expected, Found: found})
		}
	}
	for _, e := range m {
		if !seen[e.Path] {
			c.Mismatches = append(c.Mismatches, Mismatch{Path: e.Path, Expected: expectedDigest(id, m, e.Path), Found: absent})
		}
	}
	slices.SortFunc(c.Mismatches, func(a, b Mismatch) int { return strings.Compare(a.Path, b.Path) })
	c.Verdict = verdict(c.Mismatches)
	return c, nil
}

// expectedDigest says what a file of the repository must hash to; a file that has no business there is "absent".
func expectedDigest(id *Identity, m Manifest, path string) string {
	if sha256, ok := id.Patched(path); ok {
		return sha256
	}
	if path == UnpatchedDir+"/"+id.PatchedFile.Path {
		path = id.PatchedFile.Path
	}
	if d, ok := m.Find(path); ok {
		return d
	}
	return absent
}

func verdict(mismatches []Mismatch) string {
	if len(mismatches) == 0 {
		return "pass"
	}
	return "fail"
}

func relative(root, file string) (string, error) {
	rel, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("file %s does not stand below %s", file, root)
	}
	return filepath.ToSlash(rel), nil
}

func hashFile(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("hash source: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFileBytes {
		return "", fmt.Errorf("hash source %s: expected a regular file of at most %d bytes, found %s of %d", name, MaxFileBytes, info.Mode().Type(), info.Size())
	}
	data, err := regular.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("hash source: %w", err)
	}
	return Digest(data), nil
}
