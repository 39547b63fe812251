// Package accuracy judges what package words ran: the words under a frozen policy, and every run by its markers, since
// words say nothing about an encoder that did not run.
package accuracy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/recordings"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// Name of the judgement.
const Name = transcript.JudgementName

// DefaultPolicy is the frozen policy that a release goes by.
const DefaultPolicy = "words_v2"

// Judge judges an outcome under the frozen policy of that name. Facts are the totals, the digest of the
// outcome's folder, and those of what ran, which are the same in every run or the judgement fails.
func Judge(o *recordings.Outcome, policyName string) (*verdict.Judgement, error) {
	frozen, err := policy.Frozen(policyName)
	if err != nil {
		return nil, err
	}
	if frozen.Kind != transcript.PolicyKind {
		return nil, fmt.Errorf("policy %s is of kind %s, expected %s", frozen.Name, frozen.Kind, transcript.PolicyKind)
	}
	thresholds, err := transcript.PolicyFrom(frozen.Thresholds)
	if err != nil {
		return nil, err
	}
	w := transcript.Judge(o.Report.Comparisons, thresholds)
	t := w.Totals
	evidenceDigest, err := o.Digest()
	if err != nil {
		return nil, err
	}
	j := &verdict.Judgement{
		Name: Name, Findings: w.Findings, Policy: &verdict.PolicyRef{Name: frozen.Name, SHA256: frozen.SHA256},
		Facts: map[string]any{
			"nondeterminism": nondeterminism(o.Report.Comparisons), transcript.FactEvidence: evidenceDigest, verdict.FactProvisional: w.Provisional,
			transcript.FactRecordings: t.Fixtures, transcript.FactUnits: t.CoreMLGGML.Reference(),
			transcript.FactCoreMLSourceEdits: t.CoreMLSource.Edits(), transcript.FactGGMLSourceEdits: t.GGMLSource.Edits(), transcript.FactCoreMLGGMLEdits: t.CoreMLGGML.Edits(),
			transcript.FactCoreMLSourceRate: t.CoreMLSource.Rate(), transcript.FactGGMLSourceRate: t.GGMLSource.Rate(), transcript.FactCoreMLGGMLRate: t.CoreMLGGML.Rate(),
		},
	}
	if thresholds.Strict != nil {
		j.Facts[transcript.FactStrictCoreMLSourceRate], j.Facts[transcript.FactStrictCoreMLGGMLRate] = t.StrictCoreMLSource.Rate(), t.StrictCoreMLGGML.Rate()
	}
	for i, pair := range o.Runs {
		fixture := o.Report.Comparisons[i].Fixture
		for _, side := range []struct {
			name string
			e    *evidence.Evidence
		}{{"coreml", pair.CoreML}, {"ggml", pair.GGML}} {
			m := judge.Judge(judge.FromEvidence(side.e))
			for _, r := range m.Reasons {
				r.Where = fmt.Sprintf("%s, %s: %s", fixture, side.name, r.Where)
				j.AddReason(r)
			}
		}
	}
	budget(j, o)
	bind(j, o)
	return j, nil
}

// budget notes where upstream's limit of tokens is less than twice the longest window that was seen: the next recording of the kind may
// be cut, and a cut text is an error rate of the cut.
func budget(j *verdict.Judgement, o *recordings.Outcome) {
	most, of, where := 0, 0, ""
	for i, pair := range o.Runs {
		for _, e := range []*evidence.Evidence{pair.CoreML, pair.GGML} {
			if tokens, windows := recordings.WindowTokens(e); tokens > most {
				most, of, where = tokens, windows, o.Report.Comparisons[i].Fixture
			}
		}
	}
	if 2*most <= whispercpp.WindowTokens {
		return
	}
	found := fmt.Sprintf("%d", most)
	if of > 1 {
		found += fmt.Sprintf(" on average of %d windows", of)
	}
	j.Add(reason.WordsBudgetNarrow, where, fmt.Sprintf("at most %d tokens in a window, half of upstream's limit", whispercpp.WindowTokens/2), found)
}

// nondeterminism says where upstream itself may write another text next time.
func nondeterminism(comparisons []transcript.Comparison) string {
	var causes []string
	for _, c := range comparisons {
		causes = append(causes, c.Nondeterminism...)
	}
	if len(causes) == 0 {
		return "none in the decoding; a near tie of two tokens falls either way where kernels or thread counts differ"
	}
	slices.Sort(causes)
	return strings.Join(slices.Compact(causes), "; ")
}

// bind puts the digests of what ran into the facts and adds a reason for each run that ran something else.
func bind(j *verdict.Judgement, o *recordings.Outcome) {
	for i, pair := range o.Runs {
		for _, f := range []struct{ name, value string }{
			{verdict.FactModel, pair.CoreML.Digests.Model}, {verdict.FactEncoder, orEmpty(pair.CoreML.Digests.Encoder)},
			{verdict.FactCLI, pair.CoreML.Digests.CLI}, {verdict.FactContrastCLI, pair.GGML.Digests.CLI}, {verdict.FactLane, string(pair.CoreML.Lane)},
		} {
			first, seen := j.Facts[f.name]
			if !seen {
				j.Facts[f.name] = f.value
			} else if first != f.value {
				j.Add(reason.WordsSidesUnlike, o.Report.Comparisons[i].Fixture, fmt.Sprintf("%s %v, as in the first run", f.name, first), f.value)
			}
		}
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
