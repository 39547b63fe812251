package evidence

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
)

// WordCount replaces the words of a run that may not be kept: how many there were, and the SHA-256
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
// normalisation that is of use. A text in which nothing was said ([Said]) has none.
func Words(text string) []string {
	if !Said(text) {
		return nil
	}
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

var (
	// timeSpan is before each segment when time stamps are on; languages differ in the decimal mark.
	timeSpan = regexp.MustCompile(`\[?\d+:\d\d(?::\d\d)?(?:[.,]\d+)?\s*-->\s*\d+:\d\d(?::\d\d)?(?:[.,]\d+)?\]?`)
	// annotation is what a model writes in place of words: [BLANK_AUDIO], (upbeat music), *sighs*, 【音楽】, <|nospeech|>. In square
	// brackets it may have been cut.
	annotation = regexp.MustCompile(`\[[^\[\]]*(?:\]|$)|\([^()]*\)|（[^（）]*）|［[^［］]*］|【[^【】]*】|〔[^〔〕]*〕|\*[^*\n]*\*|＊[^＊\n]*＊|<\|[^|]*\|>`)
)

// Said says that a transcript has at least one word. It is the one definition of that: letters or digits that are left
// when terminal codes, invisible characters, time stamps and annotations in brackets or asterisks are taken away, as the
// published normalisation takes them. What a decoder writes of silence or of NaN (`...`, `!!!!!!!!`, `[BLANK_AUDIO]`) says nothing.
func Said(transcript string) bool {
	text := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\r' && r != '\t' && logtext.Invisible(r) {
			return -1
		}
		return r
	}, logtext.Uncoloured(transcript))
	text = timeSpan.ReplaceAllString(text, " ")
	for shorter := ""; shorter != text; { // brackets are nested
		shorter, text = text, annotation.ReplaceAllString(text, " ")
	}
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
