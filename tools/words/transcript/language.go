package transcript

import (
	"cmp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/normalize"
)

// A Profile is how texts of one language are compared.
type Profile struct {
	// Name with the version of the rules, as evidence keeps it: "english/2", "basic/2" or "basic-split/2".
	Name string
	// Unit is what an error rate counts: words, or grapheme clusters where a script writes no spaces.
	Unit Unit
	// Normalize standardises a text; splitting its result at spaces gives the units.
	Normalize func(string) string
	// Strict standardises it without merging words that differ (normalize.Strict).
	Strict func(string) string
}

// Units splits a text into what an error rate counts, after composing it (NFC): a decomposed letter is the same letter. A
// text in which nothing is said ([evidence.Said]) gives none.
func (p Profile) Units(text string) []string {
	// A decoder can stop within a character.
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !evidence.Said(text) {
		return nil
	}
	return Words(p.Normalize(norm.NFC.String(text)))
}

// A Unit is what error rates count.
type Unit string

// The units.
const (
	WordUnit     Unit = "word"
	GraphemeUnit Unit = "grapheme"
)

// ProfileFor gives the profile for a language as whisper-cli takes it: a code ("en") or an English name ("english").
// Whisper's evaluation uses its English rules for English, counts characters in Chinese, Cantonese, Japanese, Thai,
// Lao and Burmese, and words after the basic rules in every other language.
func ProfileFor(language string) Profile {
	switch strings.ToLower(language) {
	case "en", "english":
		return Profile{"english/2", WordUnit, normalize.English, normalize.Strict{}.Normalize}
	case "zh", "chinese", "mandarin", "yue", "cantonese", "ja", "japanese", "th", "thai", "lo", "lao", "my", "myanmar", "burmese":
		return Profile{"basic-split/2", GraphemeUnit, normalize.Basic{SplitLetters: true}.Normalize, normalize.Strict{SplitLetters: true}.Normalize}
	}
	return Profile{"basic/2", WordUnit, normalize.Basic{}.Normalize, normalize.Strict{}.Normalize}
}

// languageNames are upstream's languages (g_lang in src/whisper.cpp): whisper-cli takes the code and the name alike.
const languageNames = `
af=afrikaans, am=amharic, ar=arabic, as=assamese, az=azerbaijani, ba=bashkir, be=belarusian, bg=bulgarian,
bn=bengali, bo=tibetan, br=breton, bs=bosnian, ca=catalan, cs=czech, cy=welsh, da=danish, de=german, el=greek,
en=english, es=spanish, et=estonian, eu=basque, fa=persian, fi=finnish, fo=faroese, fr=french, gl=galician,
gu=gujarati, ha=hausa, haw=hawaiian, he=hebrew, hi=hindi, hr=croatian, ht=haitian creole, hu=hungarian, hy=armenian,
id=indonesian, is=icelandic, it=italian, ja=japanese, jw=javanese, ka=georgian, kk=kazakh, km=khmer, kn=kannada,
ko=korean, la=latin, lb=luxembourgish, ln=lingala, lo=lao, lt=lithuanian, lv=latvian, mg=malagasy, mi=maori,
mk=macedonian, ml=malayalam, mn=mongolian, mr=marathi, ms=malay, mt=maltese, my=myanmar, ne=nepali, nl=dutch,
nn=nynorsk, no=norwegian, oc=occitan, pa=punjabi, pl=polish, ps=pashto, pt=portuguese, ro=romanian, ru=russian,
sa=sanskrit, sd=sindhi, si=sinhala, sk=slovak, sl=slovenian, sn=shona, so=somali, sq=albanian, sr=serbian,
su=sundanese, sv=swedish, sw=swahili, ta=tamil, te=telugu, tg=tajik, th=thai, tk=turkmen, tl=tagalog, tr=turkish,
tt=tatar, uk=ukrainian, ur=urdu, uz=uzbek, vi=vietnamese, yi=yiddish, yo=yoruba, yue=cantonese, zh=chinese`

var languageCodes = func() map[string]string {
	m := map[string]string{}
	for _, pair := range strings.FieldsFunc(languageNames, func(r rune) bool { return r == ',' || r == '\n' }) {
		if code, name, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			m[name] = code
		}
	}
	return m
}()

// languageCode is one spelling of a language that whisper-cli knows under two.
func languageCode(language string) string {
	return cmp.Or(languageCodes[language], language)
}
