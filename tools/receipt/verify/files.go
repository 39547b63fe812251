package verify

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// Files are what the one who verifies has at hand. All may be empty.
type Files struct {
	// CLI, Model, Encoder (a directory) must be the receipt's subjects.
	CLI, Model, Encoder string
	// Others must each be named by the receipt, as a subject or a material.
	Others []string
	// Release is a directory of which each entry must be named by the receipt.
	Release string
	// Evidence are evidence files of the gate's runs; what they allow to be judged is judged again.
	Evidence []string
	// Reference is the text of the reference words.
	Reference string
}

// subjects are the paths of a receipt's subjects, in their order; "" for what is not at hand.
func (f Files) subjects() []string { return []string{f.CLI, f.Model, f.Encoder} }

// subject adds FILE_MISMATCH and returns true if the file at hand has none of these digests.
func (r *Result) subject(path, name string, want ...string) (differs bool, err error) {
	if path == "" {
		return false, nil
	}
	found, err := digest(path)
	if errors.Is(err, tree.ErrUnsafe) {
		found, err = err.Error(), nil
	}
	if err != nil || slices.Contains(want, found) {
		return false, err
	}
	r.Addf(reason.FileMismatch, name, strings.Join(want, " or "), "%s at %s", found, path)
	return true, nil
}

// files checks what is at hand, and lists what is not.
func (r *Result) files(s *statement.Statement, f Files) error {
	for i, path := range f.subjects() {
		want := s.Subject[i]
		differs, err := r.subject(path, want.Name, want.Digest["sha256"])
		if err != nil {
			return err
		}
		if differs && path == f.Encoder {
			r.explainTree(s.Predicate.EncoderFiles, path)
		}
	}
	seen, err := r.listed(s, f)
	if err != nil {
		return err
	}
	for i, path := range f.subjects() {
		if path == "" && !seen[s.Subject[i].Digest["sha256"]] {
			r.Unchecked = append(r.Unchecked, "the bytes of "+s.Subject[i].Name+", which were not given")
		}
	}
	return r.rejudge(s, f)
}

// explainTree names the files by which a tree differs from the one that the receipt tells of.
func (r *Result) explainTree(want []statement.EncoderFile, root string) {
	found, err := tree.Files(root, tree.RefuseLinks)
	if err != nil {
		return
	}
	sums := map[string]string{}
	for _, f := range found {
		sums[f.Path] = f.SHA256
	}
	for _, w := range want {
		where := statement.SubjectEncoder + "/" + w.Path
		switch sum, ok := sums[w.Path]; {
		case !ok:
			r.Add(reason.FileMismatch, where, w.SHA256, "no such file")
		case sum != w.SHA256:
			r.Addf(reason.FileMismatch, where, w.SHA256, "%s", sum)
		}
		delete(sums, w.Path)
	}
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		r.Addf(reason.FileUnlisted, statement.SubjectEncoder+"/"+path, "no such file", "%s", sums[path])
	}
}

// listed adds FILE_UNLISTED for what the receipt does not name, and returns the digests it saw.
func (r *Result) listed(s *statement.Statement, f Files) (map[string]bool, error) {
	known := map[string]bool{}
	for _, resource := range slices.Concat(s.Subject, s.Predicate.Materials) {
		known[resource.Digest["sha256"]] = true
	}
	for _, e := range s.Predicate.Evidence {
		known[e.SHA256] = true
	}
	seen := map[string]bool{}
	for _, path := range f.Others {
		found, err := digest(path)
		if errors.Is(err, tree.ErrUnsafe) {
			found, err = err.Error(), nil
		}
		if err != nil {
			return nil, err
		}
		r.list(known, seen, path, found)
	}
	if f.Release == "" {
		return seen, nil
	}
	// The contrast run's program is named, as what the gate was contrasted with. It has no Core ML, and
	// nothing would tell a user who gets it instead of the program that was gated.
	contrast := s.Material(statement.MaterialContrastCLI)
	sums, err := r.shipped(f.Release)
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		if sums[path] == contrast && contrast != s.Subject[0].Digest["sha256"] {
			r.Addf(reason.FileUnlisted, filepath.Base(path), "what was gated", "the program of the contrast run, %s", contrast)
			continue
		}
		r.list(known, seen, path, sums[path])
	}
	return seen, err
}

func (r *Result) list(known, seen map[string]bool, path, sum string) {
	if !known[sum] {
		r.Addf(reason.FileUnlisted, filepath.Base(path), "a file that the receipt names", "%s", sum)
	}
	seen[sum] = true
}

// shipped returns the digest of each entry of a release's directory by its path, and adds FILE_UNLISTED
// for what no digest can stand for: links, pipes, sockets, and directories that hold some.
func (r *Result) shipped(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read release: %w", err)
	}
	sums := map[string]string{}
	for _, e := range entries {
		switch mode := e.Type(); {
		case mode.IsDir():
			sum, err := tree.Digest(filepath.Join(dir, e.Name()))
			if errors.Is(err, tree.ErrUnsafe) {
				r.Addf(reason.FileUnlisted, e.Name(), "a directory of plain files that the receipt names", "%v", err)
				continue
			}
			if err != nil {
				return nil, err
			}
			sums[filepath.Join(dir, e.Name())] = sum
		case mode.IsRegular():
			sum, _, err := tree.HashFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			sums[filepath.Join(dir, e.Name())] = sum
		default:
			r.Add(reason.FileUnlisted, e.Name(), "a file that the receipt names", "a link, pipe, socket or device, which ships no bytes")
		}
	}
	return sums, nil
}

// digest is the digest of a file, or the tree digest of a directory.
func digest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return tree.Digest(path)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is neither a file nor a directory", path)
	}
	sum, _, err := tree.HashFile(path)
	return sum, err
}
