package transcript

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// strictPolicy is testPolicy with limits on the strict form.
func strictPolicy() Policy {
	p := testPolicy
	p.Strict = &StrictPolicy{CorpusRateMax: 0.05, FileRateMax: 0.1, CorpusVsGGMLMax: 0.05, FileVsGGMLMax: 0.1}
	return p
}

// inLanguage is a fixture whose three sides wrote these texts.
func inLanguage(language, source, ggml, coreml string) Fixture {
	return fixture(func(f *Fixture) {
		f.Language, f.Probe = language, false
		f.Source.Text, f.GGML.Text, f.CoreML.Text = source, ggml, coreml
		for _, d := range []*Decoding{&f.Source.Decoding, &f.GGML.Decoding, &f.CoreML.Decoding} {
			d.Language = language
		}
	})
}

// TestStrictWords judges texts that the published rules merge: their own limits pass, those of the strict form do not.
func TestStrictWords(t *testing.T) {
	for _, c := range []struct{ name, language, source, coreml string }{
		{"Hindi vowel signs", "hi", "कि दिन मिल", "की दीन मील"},
		{"Thai tones", "th", "ไม่ใกล้", "ไม้ใกล่"},
		{"Yoruba tones", "yo", norm.NFD.String("ọ̀rọ̀ mi"), norm.NFD.String("ọ́rọ́ mi")},
		{"pointed Arabic", "ar", "عِلْم كَتَبَ", "عَلَم كُتِبَ"},
		{"pointed Hebrew", "he", "סֵפֶר דָּבָר", "סָפַר דֶּבֶר"},
		{"currency", "de", "$5 und $6", "€5 und €6"},
		{"signs", "de", "-5 bis -6 Grad", "5 bis 6 Grad"},
		{"per cent", "de", "5% und 6%", "5 und 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := inLanguage(c.language, c.source, c.source, c.coreml)
			published := Judge([]Comparison{Compare(f)}, testPolicy)
			if published.Verdict != reason.Pass || !slices.Contains(codes(published.Notes), "WORDS_MERGED") {
				t.Errorf("the published rules alone: %s %v, notes %v; want a pass that notes WORDS_MERGED", published.Verdict, published.Reasons, codes(published.Notes))
			}
			strict := Judge([]Comparison{Compare(f)}, strictPolicy())
			if want := []string{"WORDS_STRICT_CHANGED", "WORDS_STRICT_RATE"}; strict.Verdict != reason.Failed || !slices.Equal(codes(strict.Reasons), want) {
				t.Errorf("with strict limits: %s %v, want %v", strict.Verdict, codes(strict.Reasons), want)
			}
			shown := published.Notes[slices.IndexFunc(published.Notes, func(r reason.Reason) bool { return r.Code == "WORDS_MERGED" })]
			if !strings.Contains(shown.Found, `" and "`) {
				t.Errorf("the note says %q, want the merged words of a public fixture", shown.Found)
			}
			private := f
			private.Public = false
			for _, n := range Judge([]Comparison{Compare(private)}, testPolicy).Notes {
				if strings.Contains(n.Found, `"`) {
					t.Errorf("a private fixture's note shows words: %s", n.Found)
				}
			}
		})
	}
}

// TestStrictForgivesForm takes sides that differ in form alone.
func TestStrictForgivesForm(t *testing.T) {
	for _, coreml := range []string{strings.ToUpper(spoken), strings.ReplaceAll(spoken, ",", ""), norm.NFD.String(spoken)} {
		if j := Judge([]Comparison{Compare(inLanguage("en", spoken, spoken, coreml))}, strictPolicy()); j.Verdict != reason.Pass || slices.Contains(codes(j.Notes), "WORDS_MERGED") {
			t.Errorf("%q: %s %v, notes %v", coreml, j.Verdict, j.Reasons, codes(j.Notes))
		}
	}
}

// TestStrictReportRefuses edits what a report keeps of the strict form.
func TestStrictReportRefuses(t *testing.T) {
	for name, edit := range map[string]func(*Comparison){
		"strict: ":                   func(c *Comparison) { c.CoreMLSource.Strict.Hits-- },
		"merged is ":                 func(c *Comparison) { c.CoreMLSource.Merged = 99 },
		"strict form's digest":       func(c *Comparison) { c.CoreML.StrictSHA256 = "" },
		"do not have its digest":     func(c *Comparison) { c.Words.Strict.GGML = "other words" },
		"the merged words are not":   func(c *Comparison) { c.Words.Merged = [][2]string{{"a", "b"}} },
		"is not what its words give": func(c *Comparison) { c.CoreMLSource.Merged = 1 },
	} {
		r := reportOf(inLanguage("hi", "कि दिन", "कि दिन", "कि दिन"))
		edit(&r.Comparisons[0])
		if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that says %q", err, name)
		}
	}
}

// TestStrictThresholds takes a policy that has only some of the strict limits.
func TestStrictThresholds(t *testing.T) {
	m := map[string]float64{"corpus_rate_max": 0.05, "file_rate_max": 0.1, "file_edits_free": 0, "worse_than_ggml_max": 0.03,
		"corpus_vs_ggml_max": 0.05, "file_vs_ggml_max": 0.1, "fixtures_min": 2, "units_min": 30, "strict_corpus_rate_max": 0.1}
	if _, err := PolicyFrom(m); err == nil || !strings.Contains(err.Error(), "strict_file_vs_ggml_max") {
		t.Errorf("error %v, want one that names the missing limit", err)
	}
}
