package verify

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

// rejudge judges the evidence at hand again and compares with what the receipt says.
func (r *Result) rejudge(ctx context.Context, s *statement.Statement, f Files) error {
	runs, err := r.runs(s, f)
	if err != nil {
		return err
	}
	reference := ""
	if f.Reference != "" {
		text, err := read(f.Reference)
		if err != nil {
			return fmt.Errorf("read reference: %w", err)
		}
		if sum := evidence.SHA256(text); sum != s.Digest(statement.MaterialReference) {
			r.Add(reason.FileUnlisted, f.Reference, "the reference words that the receipt names", sum)
		}
		reference = string(text)
	}
	// That the evidence is of what the receipt binds was compared above, the rest of binding when the receipt was read.
	redone := map[string]bool{statement.Sources: r.sources}
	complete := runs.CoreML != nil && runs.Canary != nil && runs.Contrast != nil
	if !complete {
		r.Unchecked = append(r.Unchecked, "the judgements of the runs, which need the evidence of all three")
	} else {
		redone[statement.Binding] = true
		all, err := r.judgeRuns(s, runs, reference)
		if err != nil {
			return err
		}
		for _, j := range all {
			if j.Name != judge.Transcript || reference != "" {
				r.compare(s, j, redone)
			}
		}
	}
	if err := r.again(ctx, s, f, complete, redone); err != nil {
		return err
	}
	r.taken(s, redone)
	return nil
}

// judgeRuns judges the evidence at hand again, the words by the policy that the receipt names for its gate. Of a policy that
// this program does not know, the words stay unchecked.
func (r *Result) judgeRuns(s *statement.Statement, runs judge.Runs, reference string) ([]*verdict.Judgement, error) {
	for _, ref := range s.Predicate.Policies {
		if p, known := policy.Known(ref.Name, ref.SHA256); known && p.Kind == judge.PolicyKind {
			return agreement.JudgeRuns(runs, reference, p)
		}
	}
	r.Unchecked = append(r.Unchecked, "the judgement "+judge.Transcript+", whose policy this program does not know")
	all := judge.JudgeRuns(runs, verdict.NewJudgement(judge.Transcript), reference)
	return slices.DeleteFunc(all, func(j *verdict.Judgement) bool { return j.Name == judge.Transcript }), nil
}

// runs reads the evidence at hand.
func (r *Result) runs(s *statement.Statement, f Files) (judge.Runs, error) {
	var runs judge.Runs
	for _, path := range f.Evidence {
		data, err := read(path)
		if err != nil {
			return runs, fmt.Errorf("read evidence: %w", err)
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
	return runs, nil
}

// evidence reads evidence that the receipt names, by the digest of its bytes, or adds
// EVIDENCE_UNLISTED and returns nil.
func (r *Result) evidence(s *statement.Statement, path string, data []byte) *evidence.Evidence {
	sum := evidence.SHA256(data)
	i := slices.IndexFunc(s.Predicate.Evidence, func(ref statement.EvidenceRef) bool { return ref.SHA256 == sum })
	if i < 0 {
		r.Add(reason.EvidenceUnlisted, path, "evidence that the receipt names", sum)
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
	for _, d := range s.Differences(e) {
		r.Add(reason.EvidenceDiffers, d.Where, d.Receipt, d.Evidence)
	}
	return e
}

// compare compares a judgement made again with the receipt's.
func (r *Result) compare(s *statement.Statement, again *verdict.Judgement, redone map[string]bool) {
	redone[again.Name] = true
	got := s.Predicate.Judgement(again.Name)
	switch {
	case got == nil:
		r.Add(reason.JudgementDiffers, again.Name, string(again.Verdict), "no such judgement in the receipt")
	case !statement.Same(again, got):
		r.Addf(reason.JudgementDiffers, again.Name, fmt.Sprintf("%s %v", again.Verdict, again.Reasons), "%s %v", got.Verdict, got.Reasons)
	}
}

// taken lists the judgements that were not made again.
func (r *Result) taken(s *statement.Statement, redone map[string]bool) {
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

// read reads evidence, a receipt or reference words, and no more than such a file can have.
func read(path string) ([]byte, error) {
	f, err := regular.Open(path)
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
