package whispercpp

import (
	"regexp"
	"slices"
	"strconv"
)

// Sizes of the vocabularies (n_vocab) of Whisper's models. The runtime knows what a model hears by this number alone:
// whisper.cpp's is_multilingual and num_languages, and the ids of its special tokens that shift with them.
const (
	EnglishVocabulary      = 51864
	MultilingualVocabulary = 51865 // 99 languages
	LastVocabulary         = 51866 // 100 languages: Cantonese came with large-v3
)

// KnownVocabulary says that the runtime's special tokens are those that a model of n tokens was trained with.
func KnownVocabulary(n int) bool { return n >= EnglishVocabulary && n <= LastVocabulary }

// Multilingual is upstream's own test.
func Multilingual(n int) bool { return n >= MultilingualVocabulary }

// Languages is the number of languages of a vocabulary of n tokens, as the runtime computes it for a multilingual model; 1
// for others.
func Languages(n int) int {
	if !Multilingual(n) {
		return 1
	}
	return n - 51766
}

// LacksLanguage says that a multilingual model of n tokens has no token for the language, which is given by code or by
// name: the runtime numbers languages on, and the hundredth of a model of 99 is the token <translate>.
func LacksLanguage(n int, language string) bool {
	return Multilingual(n) && n < LastVocabulary && slices.Contains([]string{"yue", "cantonese"}, language)
}

var modelFact = regexp.MustCompile(`^whisper_model_load: ([a-z_]+) *= *([0-9]+)`)

// ModelFact reads a number of the model from the line in which the program prints it (n_vocab, n_mels, …).
func ModelFact(line string) (name string, value int, ok bool) {
	m := modelFact.FindStringSubmatch(line)
	if m == nil {
		return "", 0, false
	}
	value, err := strconv.Atoi(m[2])
	return m[1], value, err == nil
}
