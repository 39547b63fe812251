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
	coreml := f.Count(wordsFact("coreml"), 1, manyWords)
	ggml := f.Count(wordsFact("contrast"), 1, manyWords)
	edits := f.Count(editsFact("coreml"), 0, manyWords)
	contrast := f.Count(editsFact("contrast"), 0, manyWords)
	encoders := f.Count(factEncodersEdits, 0, l.EncodersEditsMax(ggml))
	// An edit changes the number of words by one at most.
	for _, d := range []struct {
		key         string
		edits, a, b int
	}{{editsFact("coreml"), edits, coreml, want}, {editsFact("contrast"), contrast, ggml, want}, {factEncodersEdits, encoders, coreml, ggml}} {
		if least := max(d.a-d.b, d.b-d.a); d.edits >= 0 && d.edits < least {
			f.Fail(d.key, fmt.Sprintf("at least %d between %d and %d words", least, d.a, d.b), fmt.Sprint(d.edits))
		}
	}
	given := f.Number(factReferenceRate, 0, l.ReferenceRateMax)
	if want > 0 {
		if rate, _ := l.ReferenceRate(edits, want); !(math.Abs(rate-given) < 1e-12) {
			f.Fail(factReferenceRate, fmt.Sprintf("%g, its edits over its words", rate), fmt.Sprint(given))
		}
	}
	return f.Wrong
}
