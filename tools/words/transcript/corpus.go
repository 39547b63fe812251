package transcript

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Corpus is what a policy's corpus limits are about: how much was compared, and the error rates over all of it.
type Corpus struct {
	Recordings, Units                    int
	CoreMLSource, GGMLSource, CoreMLGGML float64
	// The same of the strict form.
	StrictCoreMLSource, StrictCoreMLGGML float64
}

// Judge compares a corpus with a policy.
func (c Corpus) Judge(p Policy) []reason.Reason {
	var out []reason.Reason
	add := func(code, where, expected, found string) {
		out = append(out, reason.Reason{Code: code, Where: where, Expected: expected, Found: found})
	}
	if c.Thin(p) {
		add(reason.WordsProvisionalFew, "fixtures", fmt.Sprintf("%s with %s", plural(p.FixturesMin, "fixture"), plural(p.UnitsMin, "unit")), fmt.Sprintf("%d with %d", c.Recordings, c.Units))
	}
	if !(c.CoreMLSource <= p.CorpusRateMax) {
		add(reason.WordsCorpusRate, "all fixtures", fmt.Sprintf("a rate of at most %g", p.CorpusRateMax), fmt.Sprintf("%.4f", c.CoreMLSource))
	}
	if p.Strict != nil && !(c.StrictCoreMLSource <= p.Strict.CorpusRateMax) {
		add(reason.WordsStrictRate, "all fixtures", fmt.Sprintf("a rate of at most %g in the strict form", p.Strict.CorpusRateMax), fmt.Sprintf("%.4f", c.StrictCoreMLSource))
	}
	if p.Strict != nil && !(c.StrictCoreMLGGML <= p.Strict.CorpusVsGGMLMax) {
		add(reason.WordsStrictChanged, "all fixtures", fmt.Sprintf("a rate of at most %g in the strict form", p.Strict.CorpusVsGGMLMax), fmt.Sprintf("%.4f", c.StrictCoreMLGGML))
	}
	if worse := c.CoreMLSource - c.GGMLSource; !(worse <= p.WorseThanGGMLMax) {
		add(reason.WordsWorseThanGGML, "all fixtures", fmt.Sprintf("a rate at most %g above ggml's", p.WorseThanGGMLMax), fmt.Sprintf("%.4f above", worse))
	}
	if !(c.CoreMLGGML <= p.CorpusVsGGMLMax) {
		add(reason.WordsCoreMLChangedCorpus, "all fixtures", fmt.Sprintf("a rate of at most %g", p.CorpusVsGGMLMax), fmt.Sprintf("%.4f", c.CoreMLGGML))
	}
	return out
}

// Thin says that a corpus is smaller than the policy wants, so that a judgement of it is provisional.
func (c Corpus) Thin(p Policy) bool { return c.Recordings < p.FixturesMin || c.Units < p.UnitsMin }
