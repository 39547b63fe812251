package transcript

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/transcript/normalize"
)

// A Profile is how texts of one language are compared.
type Profile struct {
	// Name with the version of the rules, as evidence keeps it: "english/1", "basic/1" or "basic-split/1".
	Name string
	// Unit is what an error rate counts: words, or grapheme clusters where a script writes no spaces.
	Unit Unit
	// Normalize standardises a text; splitting its result at spaces gives the units.
	Normalize func(string) string
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
		return Profile{"english/1", WordUnit, normalize.English}
	case "zh", "chinese", "mandarin", "yue", "cantonese", "ja", "japanese", "th", "thai", "lo", "lao", "my", "myanmar", "burmese":
		return Profile{"basic-split/1", GraphemeUnit, normalize.Basic{SplitLetters: true}.Normalize}
	}
	return Profile{"basic/1", WordUnit, normalize.Basic{}.Normalize}
}
