package verify

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// rejudge judges the evidence at hand again and compares with what the receipt says.
func (r *Result) rejudge(s *statement.Statement, f Files) error {
	var runs judge.Runs
	complete := true
	for _, path := range f.Evidence {
		data, err := read(path)
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
		text, err := read(f.Reference)
		if err != nil {
			return fmt.Errorf("read reference: %w", err)
		}
		if sum := evidence.SHA256(text); sum != s.Material(statement.MaterialReference) {
			r.Addf(reason.FileUnlisted, f.Reference, "the reference words that the receipt names", "%s", sum)
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
func (r *Result) evidence(s *statement.Statement, path string, data []byte) *evidence.Evidence {
	sum := evidence.SHA256(data)
	i := slices.IndexFunc(s.Predicate.Evidence, func(ref statement.EvidenceRef) bool { return ref.SHA256 == sum })
	if i < 0 {
		r.Addf(reason.EvidenceUnlisted, path, "evidence that the receipt names", "%s", sum)
		return nil
	}
	want := s.Predicate.Evidence[i].Kind
	e, err := evidence.Decode(data)
	if err != nil {
		r.Addf(reason.EvidenceUnlisted, path, "evidence of a "+string(want)+" run", "%v", err)
		return nil
	}
	if e.Kind != want {
		r.Addf(reason.EvidenceUnlisted, path, "evidence of a "+string(want)+" run", "of a %s run", e.Kind)
		return nil
	}
	r.bound(s, e)
	return e
}

// bound holds what ran, as the evidence tells, against what the receipt says ran.
func (r *Result) bound(s *statement.Statement, e *evidence.Evidence) {
	p := &s.Predicate
	equal := func(what, expected, found string) {
		if expected != found {
			r.Addf(reason.EvidenceDiffers, what+" of the "+string(e.Kind)+" run", expected, "%s", found)
		}
	}
	equal("lane", string(p.Lane), string(e.Lane))
	equal("lane identity", fmt.Sprint(p.LaneIdentity), fmt.Sprint(e.LaneIdentity))
	equal("pin", fmt.Sprint(p.Pin.Identity), fmt.Sprint(e.Pin))
	equal("model", s.Subject[1].Digest["sha256"], e.Digests.Model)
	equal("audio", s.Material(statement.MaterialAudio), e.Digests.Audio)
	if e.Kind == evidence.KindContrast {
		equal("whisper-cli", s.Material(statement.MaterialContrastCLI), e.Digests.CLI)
		return
	}
	equal("whisper-cli", s.Subject[0].Digest["sha256"], e.Digests.CLI)
	equal("flavour", p.Flavour, e.Flavour)
	if e.Digests.Encoder != nil {
		equal("encoder", s.Subject[2].Digest["sha256"], *e.Digests.Encoder)
	}
	if e.Digests.Evaluator != nil && e.Kind == evidence.KindCoreML {
		equal("evaluator", s.Material(statement.MaterialEvaluator), *e.Digests.Evaluator)
	}
}

// compare holds recomputed judgements against the receipt's.
func (r *Result) compare(s *statement.Statement, again []*verdict.Judgement, words bool) {
	redone := map[string]bool{}
	for _, want := range again {
		if want.Name == judge.Transcript && !words {
			continue
		}
		redone[want.Name] = true
		i := slices.IndexFunc(s.Predicate.Judgements, func(j *verdict.Judgement) bool { return j.Name == want.Name })
		if i < 0 {
			r.Add(reason.JudgementDiffers, want.Name, string(want.Verdict), "no such judgement in the receipt")
			continue
		}
		if got := s.Predicate.Judgements[i]; !same(want, got) {
			r.Addf(reason.JudgementDiffers, want.Name, fmt.Sprintf("%s %v", want.Verdict, want.Reasons), "%s %v", got.Verdict, got.Reasons)
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
func same(a, b *verdict.Judgement) bool {
	left, err1 := statement.JudgementBytes(a)
	right, err2 := statement.JudgementBytes(b)
	return err1 == nil && err2 == nil && bytes.Equal(left, right)
}

// read reads evidence, a receipt or reference words, and no more than such a file can have.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, strictjson.MaxBytes+1))
	if err == nil && len(data) > strictjson.MaxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, strictjson.MaxBytes)
	}
	return data, err
}
