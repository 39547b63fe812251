package accuracy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements/factstest"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/recordings"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// outcome is one public recording on which both sides heard the same; edit bends evidence before it is compared.
func outcome(t *testing.T, edit func(*recordings.Pair)) *recordings.Outcome {
	t.Helper()
	o := &recordings.Outcome{Report: &transcript.Report{Schema: 1}}
	for i := range 2 {
		pair := recordings.Pair{CoreML: evidencetest.Sample(evidence.KindCoreML), GGML: evidencetest.Sample(evidence.KindContrast)}
		audio := strings.Repeat(fmt.Sprint(i+1), 64)
		pair.CoreML.Digests.Audio, pair.GGML.Digests.Audio = audio, audio
		if i == 1 && edit != nil {
			edit(&pair)
		}
		f := transcript.Fixture{Name: "jfk", Public: true, Language: "en", Probe: i == 0}
		for _, side := range []struct {
			e  *evidence.Evidence
			to **transcript.Heard
		}{{pair.CoreML, &f.CoreML}, {pair.GGML, &f.GGML}} {
			h, err := recordings.HeardIn(side.e, strings.Join(side.e.Stdout.Lines, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			*side.to = h
		}
		o.Report.Comparisons = append(o.Report.Comparisons, transcript.Compare(f))
		o.Runs = append(o.Runs, pair)
	}
	return o
}

func say(e *evidence.Evidence, text string) {
	e.Stdout = evidence.Normaliser{}.Stream([]byte(text), false, true, nil)
}

func TestJudge(t *testing.T) {
	other := strings.Repeat("9", 64)
	tests := []struct {
		name    string
		edit    func(*recordings.Pair)
		verdict reason.Verdict
		code    string
	}{
		{"as it should be", nil, reason.Pass, ""},
		{"Core ML was not loaded", func(p *recordings.Pair) {
			lines := slices.DeleteFunc(p.CoreML.Stderr.Lines, func(l string) bool { return strings.HasSuffix(l, "Core ML model loaded") })
			p.CoreML.Stderr = evidence.Normaliser{}.Stream([]byte(strings.Join(lines, "\n")+"\n"), false, true, nil)
		}, reason.Failed, "LOAD_MARKER_ABSENT"},
		{"other words", func(p *recordings.Pair) { say(p.CoreML, "Something else entirely\n") }, reason.Failed, "WORDS_COREML_CHANGED"},
		{"no words", func(p *recordings.Pair) { say(p.CoreML, "") }, reason.Failed, "WORDS_COREML_EMPTY"},
		{"the same recording again", func(p *recordings.Pair) {
			p.CoreML.Digests.Audio, p.GGML.Digests.Audio = strings.Repeat("1", 64), strings.Repeat("1", 64)
		}, reason.Failed, "WORDS_DUPLICATE"},
		{"decoding that may fall back to sampling", func(p *recordings.Pair) {
			for _, e := range []*evidence.Evidence{p.CoreML, p.GGML} {
				i := slices.Index(e.Argv, "--temperature-inc")
				e.Argv = slices.Delete(slices.Clone(e.Argv), i, i+2)
			}
		}, reason.Unknown, "WORDS_NONDETERMINISTIC"},
		{"another encoder", func(p *recordings.Pair) { p.CoreML.Digests.Encoder = &other }, reason.Failed, "WORDS_SIDES_UNLIKE"},
		{"another model on both sides", func(p *recordings.Pair) { p.CoreML.Digests.Model, p.GGML.Digests.Model = other, other }, reason.Failed, "WORDS_SIDES_UNLIKE"},
		{"a run that a deadline ended", func(p *recordings.Pair) { p.CoreML.Exit = evidence.Exit{Kind: evidence.ExitTimeout} }, reason.Unknown, "WORDS_TRUNCATED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, err := Judge(outcome(t, tt.edit), DefaultPolicy)
			if err != nil {
				t.Fatal(err)
			}
			factstest.Check(t, j, "emulated")
			has := tt.code == "" || slices.ContainsFunc(j.Reasons, func(r reason.Reason) bool { return r.Code == tt.code })
			if j.Verdict != tt.verdict || !has {
				t.Errorf("verdict %s for %v, want %s for %s", j.Verdict, j.Reasons, tt.verdict, tt.code)
			}
			if named := j.Facts["nondeterminism"].(string); strings.HasPrefix(named, "none") == (tt.code == "WORDS_NONDETERMINISTIC") {
				t.Errorf("nondeterminism is %q for %s", named, tt.code)
			}
			if j.Policy.Name != DefaultPolicy || j.Facts["model_sha256"] == "" || j.Facts["provisional"] != true {
				t.Errorf("policy %+v, facts %v", j.Policy, j.Facts)
			}
		})
	}
}

// TestBudget holds that the longest window of either side is compared with upstream's limit, by its mean where there are several.
func TestBudget(t *testing.T) {
	decoded := func(e *evidence.Evidence, windows, tokens int) {
		var lines []string
		for _, l := range e.Stderr.Lines {
			switch {
			case strings.Contains(l, "encode time"):
				l = fmt.Sprintf("whisper_print_timings:   encode time = <ms> / %5d runs ( <ms> per run)", windows)
			case strings.Contains(l, "decode time"):
				l = fmt.Sprintf("whisper_print_timings:   decode time = <ms> / %5d runs ( <ms> per run)", tokens)
			}
			lines = append(lines, l)
		}
		e.Stderr = evidence.Normaliser{}.Stream([]byte(strings.Join(lines, "\n")+"\n"), false, true, nil)
	}
	for name, c := range map[string]struct {
		windows, tokens int
		ggml            bool
		found           string
	}{
		"half of the limit":                  {1, 110, false, ""},
		"one token more":                     {1, 111, false, "111"},
		"on the other side":                  {1, 190, true, "190"},
		"several windows":                    {4, 447, false, "111 on average of 4 windows"},
		"several windows, the mean is short": {4, 443, false, ""},
		"nothing decoded":                    {1, 0, false, ""},
	} {
		j, err := Judge(outcome(t, func(p *recordings.Pair) {
			e := p.CoreML
			if c.ggml {
				e = p.GGML
			}
			decoded(e, c.windows, c.tokens)
		}), DefaultPolicy)
		if err != nil {
			t.Fatal(err)
		}
		factstest.Check(t, j, "emulated")
		found := ""
		for _, n := range j.Notes {
			if n.Code == reason.WordsBudgetNarrow {
				found = n.Found
			}
		}
		if found != c.found {
			t.Errorf("%s: found %q, want %q", name, found, c.found)
		}
	}
}

func TestPolicyOfAnotherKind(t *testing.T) {
	if _, err := Judge(outcome(t, nil), "fp32_v2"); err == nil || !strings.Contains(err.Error(), "kind") {
		t.Errorf("error %v, want one about the policy's kind", err)
	}
}
