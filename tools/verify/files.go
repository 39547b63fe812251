package verify

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt"
	"github.com/coreml-gate/rules_coreml_gate/tools/tree"
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

// files checks what is at hand, and lists what is not.
func (r *Result) files(s *receipt.Statement, f Files) error {
	for i, subject := range []struct{ name, path string }{{receipt.SubjectCLI, f.CLI}, {receipt.SubjectModel, f.Model}, {receipt.SubjectEncoder, f.Encoder}} {
		if subject.path == "" {
			continue
		}
		found, err := digest(subject.path)
		if err != nil {
			return err
		}
		if want := s.Subject[i].Digest["sha256"]; found != want {
			r.Add("FILE_MISMATCH", subject.name, want, "%s at %s", found, subject.path)
			if subject.path == f.Encoder {
				r.explainTree(s.Predicate.EncoderFiles, subject.path)
			}
		}
	}
	others := slices.Clone(f.Others)
	if f.Release != "" {
		entries, err := os.ReadDir(f.Release)
		if err != nil {
			return fmt.Errorf("read release: %w", err)
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink != 0 {
				r.Add("FILE_UNLISTED", e.Name(), "a file that the receipt names", "a symbolic link, which ships no bytes")
				continue
			}
			others = append(others, filepath.Join(f.Release, e.Name()))
		}
	}
	seen, err := r.listed(s, others)
	if err != nil {
		return err
	}
	for i, path := range []string{f.CLI, f.Model, f.Encoder} {
		if path == "" && !seen[s.Subject[i].Digest["sha256"]] {
			r.Unchecked = append(r.Unchecked, "the bytes of "+s.Subject[i].Name+", which were not given")
		}
	}
	return r.rejudge(s, f)
}

// explainTree names the files by which a tree differs from the one that the receipt tells of.
func (r *Result) explainTree(want []receipt.EncoderFile, root string) {
	found, err := tree.Files(root, tree.RefuseLinks)
	if err != nil {
		return
	}
	sums := map[string]string{}
	for _, f := range found {
		sums[f.Path] = f.SHA256
	}
	for _, w := range want {
		where := receipt.SubjectEncoder + "/" + w.Path
		switch sum, ok := sums[w.Path]; {
		case !ok:
			r.Add("FILE_MISMATCH", where, w.SHA256, "no such file")
		case sum != w.SHA256:
			r.Add("FILE_MISMATCH", where, w.SHA256, "%s", sum)
		}
		delete(sums, w.Path)
	}
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		r.Add("FILE_UNLISTED", receipt.SubjectEncoder+"/"+path, "no such file", "%s", sums[path])
	}
}

// listed adds FILE_UNLISTED for what the receipt does not name, and returns the digests it saw.
func (r *Result) listed(s *receipt.Statement, paths []string) (map[string]bool, error) {
	known := map[string]bool{}
	for _, resource := range slices.Concat(s.Subject, s.Predicate.Materials) {
		known[resource.Digest["sha256"]] = true
	}
	for _, e := range s.Predicate.Evidence {
		known[e.SHA256] = true
	}
	seen := map[string]bool{}
	for _, path := range paths {
		found, err := digest(path)
		if err != nil {
			return nil, err
		}
		if !known[found] {
			r.Add("FILE_UNLISTED", filepath.Base(path), "a file that the receipt names", "%s", found)
		}
		seen[found] = true
	}
	return seen, nil
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

// rejudge judges the evidence at hand again and compares with what the receipt says.
func (r *Result) rejudge(s *receipt.Statement, f Files) error {
	var runs judge.Runs
	complete := true
	for _, path := range f.Evidence {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read evidence: %w", err)
		}
		e := r.evidence(s, path, data)
		if e == nil {
			continue
		}
		switch e.Kind {
		case evidence.KindCoreML:
			runs.CoreML = e
		case evidence.KindCanary:
			runs.Canary = e
		case evidence.KindContrast:
			runs.Contrast = e
		}
	}
	if runs.CoreML == nil || runs.Canary == nil || runs.Contrast == nil {
		complete = false
	}
	reference := ""
	if f.Reference != "" {
		sum, _, err := tree.HashFile(f.Reference)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(s.Predicate.Materials, func(m receipt.Resource) bool { return m.Digest["sha256"] == sum }) {
			r.Add("FILE_UNLISTED", f.Reference, "the reference words that the receipt names", "%s", sum)
		}
		text, err := os.ReadFile(f.Reference)
		if err != nil {
			return err
		}
		reference = string(text)
	}
	if !complete {
		r.Unchecked = append(r.Unchecked, "the judgements of the runs, which need the evidence of all three")
		return nil
	}
	r.compare(s, judge.JudgeRuns(runs, reference), reference != "")
	return nil
}

// evidence reads evidence that the receipt names, by the digest of its bytes, or adds
// EVIDENCE_UNLISTED and returns nil.
func (r *Result) evidence(s *receipt.Statement, path string, data []byte) *evidence.Evidence {
	sum := evidence.SHA256(data)
	i := slices.IndexFunc(s.Predicate.Evidence, func(ref receipt.EvidenceRef) bool { return ref.SHA256 == sum })
	if i < 0 {
		r.Add("EVIDENCE_UNLISTED", path, "evidence that the receipt names", "%s", sum)
		return nil
	}
	e, err := evidence.Decode(data)
	if err != nil || e.Kind != s.Predicate.Evidence[i].Kind {
		r.Add("EVIDENCE_UNLISTED", path, "evidence of a "+string(s.Predicate.Evidence[i].Kind)+" run", "%v", err)
		return nil
	}
	return e
}

// compare holds recomputed judgements against the receipt's.
func (r *Result) compare(s *receipt.Statement, again []*judge.Judgement, words bool) {
	redone := map[string]bool{}
	for _, want := range again {
		if want.Name == judge.Transcript && !words {
			continue
		}
		redone[want.Name] = true
		i := slices.IndexFunc(s.Predicate.Judgements, func(j *judge.Judgement) bool { return j.Name == want.Name })
		if i < 0 {
			r.Add("JUDGEMENT_DIFFERS", want.Name, string(want.Verdict), "no such judgement in the receipt")
			continue
		}
		if got := s.Predicate.Judgements[i]; !same(want, got) {
			r.Add("JUDGEMENT_DIFFERS", want.Name, fmt.Sprintf("%s %v", want.Verdict, want.Reasons), "%s %v", got.Verdict, got.Reasons)
		}
	}
	var rest []string
	for _, j := range s.Predicate.Judgements {
		if !redone[j.Name] {
			rest = append(rest, j.Name)
		}
	}
	if len(rest) > 0 {
		r.Unchecked = append(r.Unchecked, "judgements taken from the receipt as signed: "+strings.Join(rest, ", "))
	}
}

// same compares two judgements in their canonical bytes, so that numbers read back compare as written.
func same(a, b *judge.Judgement) bool {
	left, err1 := receipt.JudgementBytes(a)
	right, err2 := receipt.JudgementBytes(b)
	return err1 == nil && err2 == nil && bytes.Equal(left, right)
}
