package normalize

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestEnglish(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"case and punctuation", "Hello, World!", "hello world"},
		{"brackets", "yes [applause] no (laughs) <b>maybe", "yes no maybe"},
		{"empty parentheses are punctuation", "a () b", "a b"},
		{"an opening without an end stays", "a [b c", "a b c"},
		{"fillers", "Um, I uh mean hmm it_um", "i mean it um"},
		{"contractions", "I won't, she's gone, they'd been; y'all can't", "i will not she has gone they had been you all can not"},
		{"space before an apostrophe", "that 's it", "that is it"},
		{"typographic apostrophe is not a contraction", "don’t", "don t"},
		{"titles", "Mr. Smith met Dr. Jones", "mister smith met doctor jones"},
		{"title only as a word", "most", "most"},
		{"commas in digits", "12,345 people", "12345 people"},
		{"a digit is spent by its comma", "1,2,3", "12 3"},
		{"year", "nineteen eighty four", "1984"},
		{"years strung", "twenty twenty five", "2025"},
		{"hundreds", "two hundred and five", "205"},
		{"thousands", "three thousand four hundred twelve", "3412"},
		{"digits", "one oh one", "101"},
		{"double", "double four triple zero", "44000"},
		{"decimal", "three point one four", "3.14"},
		{"half", "two and a half million", "2500000"},
		{"no number and a half", "a day and a half", "a day and a half"},
		{"scaled digits", "1.5 million", "1500000"},
		{"ordinals", "the twenty first and 3 rd", "the 21st and 3rd"},
		{"ninth is not read", "the ninth", "the ninth"},
		{"plurals", "the nineteen sixties and 1960s", "the 1960s and 1960s"},
		{"currency", "ten thousand dollars", "$10000"},
		{"dollars and cents", "two dollars and seven cents", "$2.07"},
		{"cents only", "$0.07", "¢7"},
		{"percent", "five per cent, six percent", "5% 6%"},
		{"sign", "minus five", "-5"},
		{"sign before a word", "plus size", "plus size"},
		{"one", "one 1 $1 1s", "one one one ones"},
		{"one in a decimal, as the reference has it", "1.5", "one.5"},
		{"digits of another script", "٣ cats", "3 cats"},
		{"zero swallows", "0 oh", "0"},
		{"point before a scale is lost", "point million", "1000000"},
		{"spelling", "the colour of the organisation", "the color of the organization"},
		{"diacritics", "Ærøskøbing naïve façade", "aeroskobing naive facade"},
		{"loose signs", "100 % sure. $ and .5", "100 sure and .5"},
		{"big scale", "two decillion", "2" + strings.Repeat("0", 33)},
		{"invalid bytes", "a\xffb", "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := English(tt.in); got != tt.want {
				t.Errorf("English(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestBasic(t *testing.T) {
	tests := []struct {
		name     string
		options  Basic
		in, want string
	}{
		{"symbols", Basic{}, "¿Qué tal, señor?", " qué tal señor "},
		{"compatibility forms", Basic{}, "Ｗｉｄｅ ﬁ", "wide fi"},
		{"diacritics", Basic{RemoveDiacritics: true}, "Łódź, Straße, Ærø", "lodz strasse aero"},
		{"marks become spaces", Basic{}, "नमस्ते", "नमस त "},
		{"split", Basic{SplitLetters: true}, "你好，世界", "你 好 世 界"},
		{"decomposed Hangul stays together", Basic{SplitLetters: true, RemoveDiacritics: true}, "안녕", norm.NFKD.String("안 녕")},
		{"turkish", Basic{RemoveDiacritics: true}, "İstanbul", "istanbul"},
		{"final sigma", Basic{}, "ΟΔΟΣ ΣΑΣ", "οδος σας"},
		{"brackets", Basic{}, "ja [Musik] (leise) nein", "ja nein"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.options.Normalize(tt.in)
			if got != tt.want {
				t.Errorf("Normalize(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSpellingsParse(t *testing.T) {
	if n := len(spellings()); n != 1738 {
		t.Errorf("%d spellings, want 1738", n)
	}
	for british, american := range spellings() {
		if strings.ContainsFunc(british+american, unicode.IsSpace) || british == "" || american == "" {
			t.Errorf("spelling %q to %q: want one word each", british, american)
		}
	}
}

func TestGraphemes(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"ab", []string{"a", "b"}},
		{"e\u0301x", []string{"e\u0301", "x"}},
		{"\r\na", []string{"\r\n", "a"}},
		{"\u1100\u1161\u11a8\u1100", []string{"\u1100\u1161\u11a8", "\u1100"}},
		{"🇩🇪🇫🇷🇩", []string{"🇩🇪", "🇫🇷", "🇩"}},
		{"\u0600\u0661", []string{"\u0600\u0661"}},
		{"กำ", []string{"กำ"}},
	}
	for _, tt := range tests {
		got := graphemes(tt.in)
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("graphemes(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Whatever comes in, what goes out is valid UTF-8 in single spaces, and the grapheme split loses nothing.
func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "one hundred and twenty five dollars and 7 cents", "1.2.3 million", "and a half", "\xff", "ΑΣ'", "안녕 [x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = s[:min(len(s), 1<<14)]
		outputs := map[string]string{"english": English(s)}
		for name, o := range map[string]Basic{"basic": {}, "diacritics": {RemoveDiacritics: true}, "split": {SplitLetters: true}, "both": {true, true}} {
			outputs[name] = o.Normalize(s)
		}
		for name, out := range outputs {
			if !utf8.ValidString(out) || strings.Contains(out, "  ") || strings.ContainsFunc(out, func(r rune) bool { return r != ' ' && isSpace(r) }) {
				t.Errorf("%s of %q gives %q", name, s, out)
			}
		}
		if valid := strings.ToValidUTF8(s, "?"); strings.Join(graphemes(valid), "") != valid {
			t.Errorf("graphemes of %q lose text", valid)
		}
	})
}
