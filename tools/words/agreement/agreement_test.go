package agreement

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// person is what someone wrote down: nineteen words, of which the programs hear two others.
const (
	person = "The quarterly figures are up eleven percent, and Dr. Meyer thinks that we should hire four more people soon."
	heard  = " The quarterly figures are up 12%, and Dr. Maier thinks that we should hire four more people soon.\n"
)

var key = Key([]byte("recording"))

func run(t *testing.T, kind evidence.Kind, stdout, reference string, public bool) *evidence.Evidence {
	t.Helper()
	e := evidencetest.Sample(kind)
	e.Public = public
	evidencetest.SetStreams(e, evidencetest.Stderr(kind), stdout)
	if !public {
		words := evidence.CountWords(stdout)
		e.Words, e.Heard = &words, Hear(stdout, reference, "en", key)
	}
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	return e
}

func judged(t *testing.T, coreml, contrast *evidence.Evidence, reference string) *verdict.Judgement {
	t.Helper()
	p, err := policy.Frozen("gate_v2")
	if err != nil {
		t.Fatal(err)
	}
	j, err := Judge(coreml, contrast, reference, p)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestJudge judges the same words as a public and as a private fixture.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name                      string
		coreml, ggml, reference   string
		verdict                   reason.Verdict
		code, publicFound, hidden string
	}{
		{"the reference word for word", person, person, person, reason.Pass, "", "", ""},
		{"two words of a person's text heard otherwise", heard, heard, person, reason.Pass, "", "", ""},
		{"encoders that differ by one word", strings.Replace(heard, "hire", "fire", 1), heard, person, reason.Pass, "", "", ""},
		{"Core ML changed the answer", "The quarterly figures are up", heard, person, reason.Failed, reason.TranscriptDiffers, `"`, "deleted"},
		{"both wrote another recording", "It was the best of times, it was the worst of times", "It was the best of times, it was the worst of times", person, reason.Failed, reason.TranscriptReference, `"the quarterly`, "substitute"},
		{"no word", " \n", heard, person, reason.Failed, reason.TranscriptEmpty, "none", "none"},
		{"exclamation marks", " !!!!!!!!!!\n", heard, person, reason.Failed, reason.TranscriptEmpty, "none", "none"},
		{"dots", "...", heard, person, reason.Failed, reason.TranscriptEmpty, "none", "none"},
		{"blank audio", " [BLANK_AUDIO]\n", heard, person, reason.Failed, reason.TranscriptEmpty, "none", "none"},
		{"ggml wrote nothing", heard, "", person, reason.Failed, reason.TranscriptEmpty, "none", "none"},
		{"one word again and again", strings.Repeat("you ", 200), heard, person, reason.Failed, reason.TranscriptDiffers, `"`, "edits"},
		{"a reference that is not composed", "señor café", "señor café", norm.NFD.String("Señor Café"), reason.Pass, "", "", ""},
	} {
		for _, public := range []bool{true, false} {
			j := judged(t, run(t, evidence.KindCoreML, c.coreml, c.reference, public), run(t, evidence.KindContrast, c.ggml, c.reference, public), c.reference)
			got, found := "", ""
			if len(j.Reasons) > 0 {
				got, found = j.Reasons[0].Code, j.Reasons[0].Found
			}
			want := c.hidden
			if public {
				want = c.publicFound
			}
			if j.Verdict != c.verdict || got != c.code || !strings.Contains(found, want) {
				t.Errorf("%s, public %t: %s %s, found %q; want %s %s with %q", c.name, public, j.Verdict, got, found, c.verdict, c.code, want)
			}
			if !public && strings.Contains(found, `"`) {
				t.Errorf("%s: the finding of a private fixture quotes words: %s", c.name, found)
			}
		}
	}
}

// TestJudgeRefuses bends evidence and policy.
func TestJudgeRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(coreml, contrast *evidence.Evidence)
		code string
	}{
		{"nothing compared in the run", func(c, _ *evidence.Evidence) { c.Heard = nil }, reason.TranscriptWithheld},
		{"compared with another reference", func(_, g *evidence.Evidence) { g.Heard.ReferenceSHA256 = strings.Repeat("0", 64) }, reason.TranscriptWithheld},
		{"compared by other rules", func(_, g *evidence.Evidence) { g.Heard.Profile = "basic/2" }, reason.TranscriptWithheld},
		{"more edits than are kept", func(c, _ *evidence.Evidence) { c.Heard.TooMany, c.Heard.Edits = true, nil }, reason.TranscriptReference},
		{"a temperature", func(c, _ *evidence.Evidence) { c.Argv = append(c.Argv, "--temperature", "0.8") }, reason.NondeterministicDecode},
		{"a guessed language", func(_, g *evidence.Evidence) { g.Argv = append(g.Argv, "-l", "auto") }, reason.NondeterministicDecode},
		{"a cut stream", func(c, _ *evidence.Evidence) { c.Stdout.Truncated = true }, reason.LogTruncated},
	} {
		coreml, contrast := run(t, evidence.KindCoreML, heard, person, false), run(t, evidence.KindContrast, heard, person, false)
		c.bend(coreml, contrast)
		if j := judged(t, coreml, contrast, person); j.Verdict == reason.Pass || j.Reasons[0].Code != c.code {
			t.Errorf("%s: %s %v, want %s", c.name, j.Verdict, j.Reasons, c.code)
		}
	}
	if j := judged(t, run(t, evidence.KindCoreML, heard, "…", true), nil, "…"); j.Verdict != reason.Failed || !j.Has(reason.EvidenceMissing) {
		t.Errorf("no contrast run and no reference words: %s %v", j.Verdict, j.Reasons)
	}
	for _, name := range []string{"gate_v1", "words_v1"} {
		p, err := policy.Frozen(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Judge(nil, nil, person, p); err == nil {
			t.Errorf("policy %s, which lacks these thresholds, is taken", name)
		}
	}
}

// TestCheckFacts changes single facts of a judgement that passed.
func TestCheckFacts(t *testing.T) {
	p, err := policy.Frozen("gate_v2")
	if err != nil {
		t.Fatal(err)
	}
	good := func() *verdict.Judgement {
		return judged(t, run(t, evidence.KindCoreML, heard, person, true), run(t, evidence.KindContrast, heard, person, true), person)
	}
	if wrong := CheckFacts(good(), p); len(wrong) > 0 {
		t.Fatalf("a judgement as it was made: %v", wrong)
	}
	for fact, value := range map[string]any{
		"reference_words": 0, "coreml_words": 0, "contrast_words": 0, "coreml_edits": 18, "encoders_edits": 9, "reference_rate": 0.01, "contrast_edits": -1,
	} {
		j := good()
		j.Facts[fact] = value
		if len(CheckFacts(j, p)) == 0 {
			t.Errorf("%s = %v is taken", fact, value)
		}
		delete(j.Facts, fact)
		if len(CheckFacts(j, p)) == 0 {
			t.Errorf("a judgement without %s is taken", fact)
		}
	}
}

// TestPrivateCountsAsPublic holds that digests give the counts that the words give, or more between the encoders, where a
// word that one of them added is elsewhere in the reference.
func TestPrivateCountsAsPublic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(strings.ToLower(strings.NewReplacer(".", "", ",", "").Replace(person)))
	bent := func() string {
		list := append([]string{}, words...)
		for range random.IntN(6) {
			at := random.IntN(len(list))
			switch random.IntN(3) {
			case 0:
				list[at] = fmt.Sprintf("other%d", random.IntN(3))
			case 1:
				list = append(list[:at], list[at+1:]...)
			default:
				list = append(list[:at], append([]string{fmt.Sprintf("other%d", random.IntN(3))}, list[at:]...)...)
			}
		}
		return strings.Join(list, " ")
	}
	for range 500 {
		a, b := bent(), bent()
		public := judged(t, run(t, evidence.KindCoreML, a, person, true), run(t, evidence.KindContrast, b, person, true), person)
		private := judged(t, run(t, evidence.KindCoreML, a, person, false), run(t, evidence.KindContrast, b, person, false), person)
		less := private.Facts["encoders_edits"].(int) < public.Facts["encoders_edits"].(int)
		public.Facts["encoders_edits"] = private.Facts["encoders_edits"]
		if less || public.Verdict == reason.Failed && private.Verdict != reason.Failed || fmt.Sprint(public.Facts) != fmt.Sprint(private.Facts) {
			t.Fatalf("%q against %q: public %s %v, private %s %v", a, b, public.Verdict, public.Facts, private.Verdict, private.Facts)
		}
	}
}

// TestHeardKeepsNoWord looks for words, and for digests that anyone could make, in what a private run keeps.
func TestHeardKeepsNoWord(t *testing.T) {
	h := Hear("the launch is in Maier's garage", "the lunch is in her garage", "en", key)
	text := fmt.Sprintf("%+v", h)
	for _, word := range []string{"launch", "maier", "garage", evidence.SHA256([]byte("launch"))[:16]} {
		if strings.Contains(strings.ToLower(text), word) {
			t.Errorf("%q is in %s", word, text)
		}
	}
	other := Hear("the launch is in Maier's garage", "the lunch is in her garage", "en", Key([]byte("another recording")))
	if fmt.Sprint(h.Edits) == fmt.Sprint(other.Edits) {
		t.Error("two recordings give the same digests")
	}
}
