package normalize

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestStrictKeepsApart takes pairs that the published rules merge, and demands that the strict form keeps them apart.
func TestStrictKeepsApart(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		split      bool
		// merged says that the published rules make both the same.
		merged bool
	}{
		{"Hindi vowel signs", "कि", "की", false, true},
		{"Hindi nasalisation", "हंस", "हँस", false, true},
		{"Bengali vowel signs", "দিন", "দীন", false, true},
		{"Tamil vowel signs", "கல்", "கால்", false, false},
		{"Thai tones", "มา ไม่", "มา ไม้", true, true},
		{"Lao tones", "ໃກ້", "ໃກ່", true, true},
		{"Burmese", "မာ", "မား", true, true},
		{"Yoruba, not composed", "ọ̀rọ̀", "ọ́rọ́", false, true},
		{"pointed Arabic", "عِلْم", "عَلَم", false, true},
		{"pointed Hebrew", "סֵפֶר", "סָפַר", false, true},
		{"per cent", "5%", "5", false, true},
		{"currency", "$5", "5", false, true},
		{"currencies", "$5", "€5", false, true},
		{"negative", "-5", "5", false, true},
		{"a grade", "A+", "A", false, true},
		{"full-width per cent", "5％", "5", true, true},
		{"small per cent", "5﹪", "5", true, true},
		{"full-width negative", "－5", "5", true, true},
		{"full-width currency", "＄5", "5", true, true},
		{"degrees Celsius", "20℃", "20", false, false},
		{"kilograms in one character", "5㎏", "5", true, false},
		{"a company in one character", "㈱日立", "日立", true, false},
		{"B flat", "B♭", "B", false, true},
		{"a section", "§5", "5", false, true},
		{"feet and inches", "5′6″", "5 6", false, true},
		{"negative by a figure dash", "‒5", "5", false, true},
		{"negative by a hyphen that does not break", "‑5", "5", false, true},
		{"negative after a word", "minus -5 degrees", "minus 5 degrees", false, true},
	} {
		strict := Strict{SplitLetters: c.split}
		if a, b := strict.Normalize(c.a), strict.Normalize(c.b); a == b {
			t.Errorf("%s: %q and %q both become %q", c.name, c.a, c.b, a)
		}
		published := Basic{SplitLetters: c.split}
		if a, b := published.Normalize(c.a), published.Normalize(c.b); c.merged && strings.TrimSpace(a) != strings.TrimSpace(b) {
			t.Errorf("%s: the published rules keep %q and %q apart", c.name, a, b)
		}
	}
}

// TestStrictMerges takes pairs that differ in form alone.
func TestStrictMerges(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		split      bool
	}{
		{"case", "Ask Not", "ask not", false},
		{"punctuation", "Ask not, what?", "ask not what", false},
		{"quotation marks", "‘ask’ “not”", "ask not", false},
		{"apostrophes", "don’t", "don't", false},
		{"hyphens", "well-known", "well known", false},
		{"white space", "ask\u00a0not\n", " ask  not", false},
		{"decomposed", norm.NFD.String("señor café"), "señor café", false},
		{"full width", "５％ ＡＳＫ", "5% ask", false},
		{"half-width katakana", "ｶﾞｷﾞ", "ガギ", true},
		{"degrees Celsius in one character", "20℃", "20°C", false},
		{"square metres in one character", "5㎡", "5m2", true},
		{"a trade mark", "Foo™", "Foo", false},
		{"zero width", "as\u200bk\ufeff not", "ask not", false},
		{"Japanese full stop", "今日は。", "今日は", true},
		{"Arabic question mark", "ماذا؟", "ماذا", false},
		{"Devanagari danda", "नमस्ते।", "नमस्ते", false},
	} {
		strict := Strict{SplitLetters: c.split}
		if a, b := strict.Normalize(c.a), strict.Normalize(c.b); a != b {
			t.Errorf("%s: %q becomes %q, %q becomes %q", c.name, c.a, a, c.b, b)
		}
	}
}

// TestStrictForms gives the exact form.
func TestStrictForms(t *testing.T) {
	for in, want := range map[string]string{
		"It's 5:30, on 1/2; $1,000.50 (or -3 %).": "it's 5:30 on 1/2 $1,000.50 or -3 %",
		"R&B ♪ #1": "r&b #1",
		"!!!!":     "",
		"...":      "",
		"x - y":    "x y",
	} {
		if got := (Strict{}).Normalize(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func FuzzStrict(f *testing.F) {
	f.Add("And so, my fellow Americans", false)
	f.Add("की 5% -3 ’ไม่", true)
	f.Fuzz(func(t *testing.T, s string, split bool) {
		o := Strict{SplitLetters: split}
		once := o.Normalize(s)
		if twice := o.Normalize(once); !split && twice != once {
			t.Errorf("%q becomes %q, and that %q", s, once, twice)
		}
	})
}
