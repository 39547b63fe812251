package evidence

import (
	"strings"
	"unicode"
)

// WordCount stands for the words of a run that may not be kept: how many there were, and the SHA-256
// of them all, each followed by LF, after the normalisation of [Words]. It says whether two
// transcripts are the same and nothing else; of a very short one the words can be guessed.
type WordCount struct {
	Count  int    `json:"count"`
	SHA256 string `json:"sha256"`
}

// CountWords is the WordCount of a text.
func CountWords(text string) WordCount {
	words := Words(text)
	return WordCount{Count: len(words), SHA256: digestLines(words)}
}

// Words splits text into lower-case words of letters, digits and inner apostrophes: the smallest
// normalisation that is of use.
func Words(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
	out := fields[:0]
	for _, w := range fields {
		if w = strings.Trim(strings.ReplaceAll(w, "’", "'"), "'"); w != "" {
			out = append(out, w)
		}
	}
	return out
}
