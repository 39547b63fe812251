// Package modulearchive is the receipt of the archive of a Bazel module: an in-toto statement whose one subject is the archive,
// and which lists every file in it. docs/release.md describes it.
package modulearchive

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// PredicateType is the type of the predicate.
const PredicateType = "https://github.com/coreml-gate/rules_coreml_gate/module-archive/v1"

// Statement is the receipt.
type Statement struct {
	Type          string               `json:"_type"`
	Subject       []statement.Resource `json:"subject"`
	PredicateType string               `json:"predicateType"`
	Predicate     Contents             `json:"predicate"`
}

// Contents is the predicate.
type Contents struct {
	// Schema is 1.
	Schema  int    `json:"schema"`
	Module  string `json:"module"`
	Version string `json:"version"`
	// StripPrefix is the folder in which the archive holds the files: MODULE-VERSION.
	StripPrefix string `json:"strip_prefix"`
	// Files are all of the archive, in the order of their paths, which begin below that folder.
	Files []File `json:"files"`
}

// File is one file of an archive.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// New makes the receipt of an archive with these files, sorted by path.
func New(module, version, digest string, files []File) *Statement {
	folder := module + "-" + version
	return &Statement{
		Type: statement.StatementType, PredicateType: PredicateType,
		Subject:   []statement.Resource{{Name: folder + ".tar.gz", Digest: map[string]string{"sha256": digest}}},
		Predicate: Contents{Schema: 1, Module: module, Version: version, StripPrefix: folder, Files: files},
	}
}

// Encode writes a receipt in its canonical form.
func Encode(s *Statement) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return strictjson.Canonical(s)
}

// Decode reads a receipt in its canonical form.
func Decode(data []byte) (*Statement, error) {
	s := &Statement{}
	if err := strictjson.DecodeCanonical(data, s); err != nil {
		return nil, fmt.Errorf("archive's receipt: %w", err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// maxFiles bounds the files of an archive.
const maxFiles = 100_000

var (
	moduleName    = regexp.MustCompile(`^[a-z](?:[a-z0-9._-]*[a-z0-9])?$`)
	moduleVersion = regexp.MustCompile(`^[0-9][0-9A-Za-z.+-]{0,80}$`)
	digestForm    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Check says whether a receipt is well formed and agrees with itself.
func (s *Statement) Check() error {
	p := &s.Predicate
	switch {
	case s.Type != statement.StatementType || s.PredicateType != PredicateType:
		return fmt.Errorf("archive's receipt: type %q and predicate type %q, expected %q and %q", s.Type, s.PredicateType, statement.StatementType, PredicateType)
	case p.Schema != 1:
		return fmt.Errorf("archive's receipt: schema is %d, expected 1", p.Schema)
	case !moduleName.MatchString(p.Module):
		return fmt.Errorf("archive's receipt: module is %q, expected the name of a module", p.Module)
	case !moduleVersion.MatchString(p.Version):
		return fmt.Errorf("archive's receipt: version is %q, expected one such as 1.2.3", p.Version)
	case p.StripPrefix != p.Module+"-"+p.Version:
		return fmt.Errorf("archive's receipt: strip_prefix is %q, expected %q", p.StripPrefix, p.Module+"-"+p.Version)
	case len(s.Subject) != 1 || s.Subject[0].Name != p.StripPrefix+".tar.gz" || len(s.Subject[0].Annotations) > 0:
		return fmt.Errorf("archive's receipt: subjects %v, expected %q alone, without annotations", s.Subject, p.StripPrefix+".tar.gz")
	case len(s.Subject[0].Digest) != 1 || !digestForm.MatchString(s.Digest()):
		return fmt.Errorf("archive's receipt: digests %v, expected one sha256 of 64 hexadecimal digits in lower case", s.Subject[0].Digest)
	case len(p.Files) == 0 || len(p.Files) > maxFiles:
		return fmt.Errorf("archive's receipt: %d files, expected 1 to %d", len(p.Files), maxFiles)
	}
	if err := checkFiles(p.Files); err != nil {
		return err
	}
	if err := statement.CheckVisible(s); err != nil {
		return fmt.Errorf("archive's receipt: %w", err)
	}
	return nil
}

// Digest is the archive's SHA-256.
func (s *Statement) Digest() string { return s.Subject[0].Digest["sha256"] }

func checkFiles(files []File) error {
	folded := map[string]string{}
	for i, f := range files {
		if why := unsafe(f.Path); why != "" {
			return fmt.Errorf("archive's receipt: file %q: %s", f.Path, why)
		}
		if !digestForm.MatchString(f.SHA256) {
			return fmt.Errorf("archive's receipt: file %q has sha256 %q, expected 64 hexadecimal digits in lower case", f.Path, f.SHA256)
		}
		if i > 0 && files[i-1].Path >= f.Path {
			return fmt.Errorf("archive's receipt: file %q behind %q, expected each once, in the order of their paths", f.Path, files[i-1].Path)
		}
		fold := strings.ToLower(f.Path)
		if other, ok := folded[fold]; ok {
			return fmt.Errorf("archive's receipt: files %q and %q, which some disks take for one", other, f.Path)
		}
		folded[fold] = f.Path
	}
	if !slices.ContainsFunc(files, func(f File) bool { return f.Path == "MODULE.bazel" }) {
		return fmt.Errorf("archive's receipt: no MODULE.bazel among the files")
	}
	// A file cannot be a folder too: such an archive unpacks to whichever came last.
	for _, f := range files {
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if _, ok := slices.BinarySearchFunc(files, dir, func(f File, dir string) int { return cmp.Compare(f.Path, dir) }); ok {
				return fmt.Errorf("archive's receipt: %q is a file, and the folder of %q", dir, f.Path)
			}
		}
	}
	return nil
}

// unsafe says why a path may leave the folder that it is unpacked into, or be another on another system; "" for one that is safe.
func unsafe(name string) string {
	switch {
	case name == "" || path.IsAbs(name):
		return "expected a path below the module's folder"
	case path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../") || name == ".":
		return "expected a path without empty parts, . and .."
	case strings.ContainsAny(name, "\\:"):
		return "expected a path without \\ and :, which are more than characters on Windows"
	}
	return ""
}
