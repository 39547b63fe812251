package reason_test

import (
	"regexp"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// TestDefinitions holds that every code is defined once, in capitals, with a known class, a meaning and advice.
func TestDefinitions(t *testing.T) {
	spelling := regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	classes := map[reason.Class]bool{reason.Fail: true, reason.Refuse: true, reason.Inconclusive: true, reason.Note: true}
	seen := map[string]string{}
	for _, s := range reason.Sections {
		for _, d := range s.Table {
			if !spelling.MatchString(d.Code) || !classes[d.Class] || d.Means == "" || d.Do == "" {
				t.Errorf("%s: code in capitals, class, meaning and advice are wanted: %+v", s.Title, d)
			}
			if other, ok := seen[d.Code]; ok {
				t.Errorf("%s is defined under %s and under %s", d.Code, other, s.Title)
			}
			seen[d.Code] = s.Title
		}
	}
}

func TestVerdictOf(t *testing.T) {
	for _, c := range []struct {
		codes []string
		want  reason.Verdict
	}{
		{nil, reason.Pass},
		{[]string{reason.TorchUntested}, reason.Pass},
		{[]string{reason.LogSilenced}, reason.Unknown},
		{[]string{reason.LogSilenced, reason.CanaryExit}, reason.Failed},
		{[]string{reason.ModelName}, reason.Failed},
		{[]string{"NO_SUCH_CODE"}, reason.Failed},
		{[]string{""}, reason.Failed},
	} {
		var reasons []reason.Reason
		for _, code := range c.codes {
			reasons = append(reasons, reason.Reason{Code: code})
		}
		if got := reason.VerdictOf(reasons); got != c.want {
			t.Errorf("%q: %s, want %s", c.codes, got, c.want)
		}
	}
}
