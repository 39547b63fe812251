package transcript

import (
	"fmt"
	"math"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// JudgementName is the name of the judgement over words in gates and receipts, PolicyKind the kind of the policies that it
// goes by.
const (
	JudgementName = "words"
	PolicyKind    = "transcript"
)

// Facts of the judgement.
const (
	FactEvidence          = "evidence_digest"
	FactRecordings        = "recordings"
	FactUnits             = "units"
	FactCoreMLSourceEdits = "coreml_source_edits"
	FactGGMLSourceEdits   = "ggml_source_edits"
	FactCoreMLGGMLEdits   = "coreml_ggml_edits"
	FactCoreMLSourceRate  = "coreml_source_rate"
	FactGGMLSourceRate    = "ggml_source_rate"
	FactCoreMLGGMLRate    = "coreml_ggml_rate"
	// Of the strict form, where the policy has limits on it.
	FactStrictCoreMLSourceRate = "coreml_source_strict_rate"
	FactStrictCoreMLGGMLRate   = "coreml_ggml_strict_rate"
)

// CheckFacts computes a judgement that passes again, from its own facts and its policy, and returns what does not allow
// the pass.
func CheckFacts(j *verdict.Judgement, p *policy.Policy) []reason.Reason {
	f := verdict.ReadFacts(j)
	thresholds, err := PolicyFrom(p.Thresholds)
	if err != nil {
		f.Fail("policy", "a policy of words", err.Error())
		return f.Wrong
	}
	f.Digest(FactEvidence)
	c := Corpus{Recordings: f.Count(FactRecordings, 1, 1<<20), Units: f.Count(FactUnits, 1, 1<<40)}
	rate := func(rateKey, editsKey string) float64 {
		// An insertion counts too, so a text may have more edits than the reference has units.
		edits, r := f.Count(editsKey, 0, 1<<40), f.Number(rateKey, 0, 1<<40)
		if (edits == 0) != (r == 0) {
			f.Fail(rateKey, fmt.Sprintf("the rate of %d edits", edits), fmt.Sprint(r))
		}
		return r
	}
	c.CoreMLSource, c.GGMLSource = rate(FactCoreMLSourceRate, FactCoreMLSourceEdits), rate(FactGGMLSourceRate, FactGGMLSourceEdits)
	c.CoreMLGGML = rate(FactCoreMLGGMLRate, FactCoreMLGGMLEdits)
	f.Wrong = append(f.Wrong, checkSourceRates(j)...)
	for _, key := range []string{FactStrictCoreMLSourceRate, FactStrictCoreMLGGMLRate} {
		if found, ok := j.Facts[key]; ok && thresholds.Strict == nil {
			f.Fail(key, "no such fact: "+p.Name+" has no limits on the strict form", fmt.Sprint(found))
		}
	}
	if thresholds.Strict != nil {
		c.StrictCoreMLSource, c.StrictCoreMLGGML = f.Number(FactStrictCoreMLSourceRate, 0, 1<<40), f.Number(FactStrictCoreMLGGMLRate, 0, 1<<40)
	}
	edits, _ := verdict.Number(j.Facts[FactCoreMLGGMLEdits])
	if want := edits / float64(c.Units); !(math.Abs(c.CoreMLGGML-want) < 1e-12) {
		f.Fail(FactCoreMLGGMLRate, fmt.Sprintf("%g, its edits over its units", want), fmt.Sprint(c.CoreMLGGML))
	}
	provisional := c.Thin(thresholds)
	for _, r := range c.Judge(thresholds) {
		if !reason.IsNote(r.Code) {
			f.Fail(rateOf[r.Code], r.Expected+" under "+p.Name, r.Found)
		}
	}
	for _, n := range j.Notes {
		provisional = provisional || strings.HasPrefix(n.Code, "WORDS_PROVISIONAL")
	}
	f.Is(verdict.FactProvisional, provisional)
	return f.Wrong
}

// checkSourceRates demands that both rates against the source model's words are of one number of words: it is not among the
// facts, but edits over a rate give it.
func checkSourceRates(j *verdict.Judgement) []reason.Reason {
	f := verdict.ReadFacts(j)
	words := math.NaN()
	for _, side := range []struct{ rate, edits string }{{FactCoreMLSourceRate, FactCoreMLSourceEdits}, {FactGGMLSourceRate, FactGGMLSourceEdits}} {
		edits, _ := verdict.Number(j.Facts[side.edits])
		rate, _ := verdict.Number(j.Facts[side.rate])
		if edits == 0 || rate == 0 {
			continue
		}
		n := math.Round(edits / rate)
		if n < 1 || math.Abs(rate-edits/n) > 1e-12 {
			f.Fail(side.rate, fmt.Sprintf("%g over a whole number of words", edits), fmt.Sprint(rate))
			continue
		}
		if words == words && n != words {
			f.Fail(side.rate, fmt.Sprintf("%g, its edits over the %g words of the other rate", edits/words, words), fmt.Sprint(rate))
		}
		words = n
	}
	return f.Wrong
}

// rateOf is the fact that each of a corpus's reasons is about.
var rateOf = map[string]string{
	reason.WordsCorpusRate: FactCoreMLSourceRate, reason.WordsWorseThanGGML: FactCoreMLSourceRate, reason.WordsCoreMLChangedCorpus: FactCoreMLGGMLRate,
	reason.WordsStrictRate: FactStrictCoreMLSourceRate, reason.WordsStrictChanged: FactStrictCoreMLGGMLRate,
}
