package verify

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// Files are what the one who verifies has at hand. All may be empty.
type Files struct {
	// CLI, Model, Encoder (a directory) must be the receipt's subjects.
	CLI, Model, Encoder string
	// Others must each be named by the receipt, as a subject or a material.
	Others []string
	// Release is a directory that ships: each of its entries must be a subject of the receipt, and there must be one.
	Release string
	// Evidence are evidence files of the gate's runs; what they allow to be judged is judged again.
	Evidence []string
	// Reference is the text of the reference words.
	Reference string
	// Words is the folder of the runs on recordings, Mel what parity was computed on: the words and, with Model and
	// Encoder, contract and parity are judged again.
	Words, Mel string
	// Plan is the record of the compute plan, and Recording the folder of the recording, that the placement was judged from: it is judged again.
	Plan, Recording string
	// AsSigned takes contract and parity as signed, though Model and Encoder are at hand.
	AsSigned bool
}

// subjects are the paths of what is at hand under a subject's role.
func (f Files) subjects() map[string]string {
	return map[string]string{statement.SubjectCLI: f.CLI, statement.SubjectModel: f.Model, statement.SubjectEncoder: f.Encoder}
}

// files checks what is at hand, and lists what is not.
func (r *Result) files(s *statement.Statement, f Files) error {
	at, err := r.hand(f)
	if err != nil {
		return err
	}
	r.AddAll(at.differ(s.Subject))
	if f.Encoder != "" && at.sums[statement.SubjectEncoder] != s.Digest(statement.SubjectEncoder) {
		r.explainTree(s.Predicate.EncoderFiles, f.Encoder)
	} else if f.Encoder != "" {
		r.sizes(s.Predicate.EncoderFiles, f.Encoder)
	}
	seen, err := r.listed(s, f)
	if err != nil {
		return err
	}
	for name, path := range f.subjects() {
		seen[s.Digest(name)] = seen[s.Digest(name)] || path != ""
	}
	for _, sum := range at.ships {
		seen[sum] = true
	}
	for _, name := range statement.SubjectNames {
		if !seen[s.Digest(name)] {
			r.Unchecked = append(r.Unchecked, "the bytes of "+name+", which were not given")
		}
	}
	return nil
}

// sizes compares the sizes that the receipt lists, which no digest covers.
func (r *Result) sizes(want []statement.EncoderFile, root string) {
	for _, w := range want {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(w.Path)))
		if err == nil && info.Size() != w.Size {
			r.Addf(reason.FileMismatch, statement.SubjectEncoder+"/"+w.Path, fmt.Sprintf("%d bytes", w.Size), "%d", info.Size())
		}
	}
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
		if !known[found] {
			r.Add(reason.FileUnlisted, filepath.Base(path), "a file that the receipt names", found)
		}
		if found == s.Digest(statement.MaterialSources) {
			if err := r.sourcesAgain(s, path); err != nil {
				return nil, err
			}
		}
		seen[found] = true
	}
	return seen, nil
}

// sourcesAgain compares the number of files in the sources check at hand with what the receipt says.
func (r *Result) sourcesAgain(s *statement.Statement, path string) error {
	check, err := pin.ReadCheck(path)
	if err != nil {
		return err
	}
	r.sources = true
	j := s.Predicate.Judgement(statement.Sources)
	if j == nil {
		return nil
	}
	f := verdict.ReadFacts(j)
	f.Count(verdict.FactSourceFiles, check.Files, check.Files)
	r.AddAll(f.Wrong)
	if same := len(check.Mismatches) == 0; same != (j.Verdict == reason.Pass) {
		r.Addf(reason.JudgementDiffers, j.Name, fmt.Sprintf("what %d mismatches give", len(check.Mismatches)), "%s", j.Verdict)
	}
	return nil
}

// shipped returns the digest of each entry of a release's directory by its path, and how many have none: it adds
// FILE_UNLISTED for links, pipes, sockets, and directories that hold some.
func (r *Result) shipped(dir string) (sums map[string]string, unsafe int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("read release: %w", err)
	}
	sums = map[string]string{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.Type().IsDir() && !e.Type().IsRegular() {
			r.Add(reason.FileUnlisted, e.Name(), "a file that was gated", "a link, pipe, socket or device, which ships no bytes")
			unsafe++
			continue
		}
		sum, err := digest(path)
		if errors.Is(err, tree.ErrUnsafe) {
			r.Add(reason.FileUnlisted, e.Name(), "a directory of plain files that was gated", err.Error())
			unsafe++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		sums[path] = sum
	}
	return sums, unsafe, nil
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
