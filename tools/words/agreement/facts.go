package agreement

import (
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// manyWords bounds counts of words: no transcript that is kept has more.
const manyWords = 1 << 24

// CheckFacts computes a judgement that passes again, from its own facts and the thresholds of the gate's policy, and
// returns what does not allow the pass.
func CheckFacts(j *verdict.Judgement, p *policy.Policy) []reason.Reason {
	f := verdict.ReadFacts(j)
	l, err := LimitsOf(p)
	if err != nil {
		f.Fail("policy", "a policy of words", err.Error())
		return f.Wrong
	}
	want := f.Count(factReferenceWords, 1, manyWords)
	f.Count(wordsFact("coreml"), 1, manyWords)
	ggml := f.Count(wordsFact("contrast"), 1, manyWords)
	edits := f.Count(editsFact("coreml"), 0, manyWords)
	f.Count(editsFact("contrast"), 0, manyWords)
	f.Count(factEncodersEdits, 0, l.EncodersEditsMax(ggml))
	given := f.Number(factReferenceRate, 0, l.ReferenceRateMax)
	if want > 0 {
		if rate, _ := l.ReferenceRate(edits, want); !(math.Abs(rate-given) < 1e-12) {
			f.Fail(factReferenceRate, fmt.Sprintf("%g, its edits over its words", rate), fmt.Sprint(given))
		}
	}
	return f.Wrong
}
