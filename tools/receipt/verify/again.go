package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/accuracy"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/recordings"
)

// again makes the judgements over contract, numbers and words again where the evidence is complete, as far as what they
// were made from is at hand: the model and the encoder, and the folder of the runs on recordings.
func (r *Result) again(ctx context.Context, s *statement.Statement, f Files, complete bool, redone map[string]bool) error {
	if r.Verdict == reason.Failed {
		return nil // refused as it is, whatever else would come of it
	}
	p := &s.Predicate
	whole := complete && f.Model != "" && f.Encoder != "" && !f.AsSigned
	if j := p.Judgement(artifact.JudgementName); j != nil && whole {
		minimum, _ := j.Facts[artifact.FactHeldToMacOS].(string)
		report, err := artifact.Inspect(f.Model, f.Encoder, artifact.Options{ContentsOnly: true, MinimumMacOS: minimum})
		if err != nil {
			return fmt.Errorf("inspect again: %w", err)
		}
		// Names and places are judged as the pair ships, which is not where it lies here.
		r.agree(j, report.Judgement(), redone, artifact.FactShippable, artifact.FactDerived, artifact.FactHeldToMacOS)
	}
	if j := p.Judgement(parity.Name); j != nil && whole && j.Policy != nil && p.Lane == evidence.LaneEmulated {
		if err := r.numbers(ctx, j, f, redone); err != nil {
			return err
		}
	}
	if err := r.placementAgain(s, f, redone); err != nil {
		return err
	}
	if j := p.Judgement(accuracy.Name); j != nil && f.Words != "" && j.Policy != nil {
		o, err := recordings.Read(f.Words)
		if err != nil {
			return fmt.Errorf("read the runs on recordings: %w", err)
		}
		again, err := accuracy.Judge(o, j.Policy.Name)
		if err != nil {
			return fmt.Errorf("judge words again: %w", err)
		}
		r.compare(s, again, redone)
	}
	return nil
}

// numbers evaluates the encoder again. The evaluator computes the same bytes by every code path that it has, so the
// numbers are equal or the receipt's are not this encoder's.
func (r *Result) numbers(ctx context.Context, j *verdict.Judgement, f Files, redone map[string]bool) error {
	if sum, ok := j.Facts[judgements.FactSourceTensor]; ok {
		r.Unchecked = append(r.Unchecked, fmt.Sprintf("the numbers of parity, which need the reference that they were compared with (%v)", sum))
		return nil
	}
	result, err := evaluation.Run(ctx, evaluation.Request{Model: f.Model, Encoder: f.Encoder, Mel: f.Mel, Policy: j.Policy.Name})
	if err != nil {
		return fmt.Errorf("evaluate again: %w", err)
	}
	again := result.Record()
	switch {
	case f.Mel != "":
		// The mel at hand may have another name.
		r.agree(j, again, redone, verdict.FactEvaluator, evaluation.FactMelSource)
	case again.Facts[parity.FactMel] != j.Facts[parity.FactMel] && j.Facts[evaluation.FactMelSource] != evaluation.BuiltInMel:
		r.Unchecked = append(r.Unchecked, fmt.Sprintf("the numbers of parity, which need the mel that they were computed on (%v)", j.Facts[evaluation.FactMelSource]))
	default:
		r.agree(j, again, redone, verdict.FactEvaluator)
	}
	return nil
}

// agree compares a judgement with one made again elsewhere: verdict, policy, reasons by code, and facts but for those that
// tell of the place.
func (r *Result) agree(signed, again *verdict.Judgement, redone map[string]bool, but ...string) {
	redone[signed.Name] = true
	differs := func(what string, expected, found any) {
		r.Add(reason.JudgementDiffers, signed.Name+what, fmt.Sprint(expected), fmt.Sprint(found))
	}
	// Notes name the code path that computed, and files by where they lie.
	path, _ := again.Facts[verdict.FactEvaluator].(string)
	signedPath, _ := signed.Facts[verdict.FactEvaluator].(string)
	if signed.Verdict != again.Verdict || codes(signed.Reasons) != codes(again.Reasons) || texts(signed.Notes, signedPath) != texts(again.Notes, path) {
		// Its facts differ with it.
		differs("", fmt.Sprintf("%s %v %v", again.Verdict, again.Reasons, again.Notes), fmt.Sprintf("%s %v %v", signed.Verdict, signed.Reasons, signed.Notes))
		return
	}
	// What was just computed is read back as the receipt's was: a number has one type then.
	fresh := map[string]any{}
	if data, err := json.Marshal(again.Facts); err != nil || json.Unmarshal(data, &fresh) != nil {
		differs("", "facts that JSON can hold", again.Facts)
		return
	}
	keys := map[string]bool{}
	for _, facts := range []map[string]any{signed.Facts, fresh} {
		for key := range facts {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(but, key) {
			continue
		}
		a, inSigned := signed.Facts[key]
		b, inAgain := fresh[key]
		if inSigned != inAgain || a != b {
			differs("."+key, b, a)
		}
	}
}

func codes(reasons []reason.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Code)
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}

// texts are notes without what differs from machine to machine.
func texts(notes []reason.Reason, path string) string {
	var out []string
	for _, n := range notes {
		found := n.Found
		if path != "" {
			found = strings.ReplaceAll(found, path, "this machine")
		}
		out = append(out, n.Code+"\x00"+n.Expected+"\x00"+found+"\x00"+filepath.Base(n.Where))
	}
	slices.Sort(out)
	return strings.Join(out, "\x01")
}
