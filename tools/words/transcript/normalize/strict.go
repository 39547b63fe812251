package normalize

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// Strict is the normaliser that merges no two words: it composes (NFC), lowers the case, takes
// full-width and half-width forms for the usual ones, spells symbols out that stand for letters, and drops punctuation. The
// published rules also drop combining marks, signs and symbols, and rewrite numbers, so that in many languages different
// words become one: Hindi vowel signs, Thai and Lao tones, pointed Arabic and Hebrew, "5 %" and "$5", "-5" and "5".
type Strict struct {
	// SplitLetters makes every extended grapheme cluster a word of its own, for scripts that write no spaces.
	SplitLetters bool
}

// Normalize standardises s. The result holds no white space but single spaces.
func (o Strict) Normalize(s string) string {
	s = strings.Map(dropInvisible, strings.ToValidUTF8(s, "\ufffd"))
	text := []rune(norm.NFC.String(lower(norm.NFC.String(width.Fold.String(spellOut(s))))))
	spaced := make([]rune, len(text))
	for i, r := range text {
		spaced[i] = strictRune(r, runeAt(text, i-1), runeAt(text, i+1))
	}
	s = string(spaced)
	if o.SplitLetters {
		s = strings.Join(graphemes(s), " ")
	}
	return strings.TrimSpace(collapseSpace(s))
}

// signs are punctuation and other symbols that are spoken, beside currency and mathematical signs.
const signs = "%﹪‰؉٪#@&°№§′″♭♮"

// spellOut writes the symbols that stand for letters as these letters, as Unicode's compatibility decomposition has them: ℃ is °C, ㎏ is kg, ㈱
// is (株). Trade marks are not spoken.
func spellOut(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r >= 0x80 && r != '™' && r != '℠' && unicode.Is(unicode.So, r) {
			out.WriteString(norm.NFKC.String(string(r)))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// dropInvisible drops format and control characters, which are between letters and are not seen.
func dropInvisible(r rune) rune {
	if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
		return -1
	}
	return r
}

// strictRune is what becomes of r between two neighbours: itself, another character, or a space.
func strictRune(r, before, after rune) rune {
	switch {
	case strings.ContainsRune("'’‘ʼ׳״", r):
		// An apostrophe is within a word; at its edge it is a quotation mark.
		if !wordRune(before) || !wordRune(after) {
			return ' '
		}
		if strings.ContainsRune("’‘ʼ", r) {
			return '\''
		}
		return r
	case strings.ContainsRune("-−–‑‒﹣", r):
		// A sign, unless it joins or parts words.
		if unicode.IsDigit(after) && !wordRune(before) {
			return '-'
		}
		return ' '
	case strings.ContainsRune(".,:/٫٬", r):
		if unicode.IsDigit(before) && unicode.IsDigit(after) {
			return r
		}
		return ' '
	case strings.ContainsRune(signs, r) || unicode.In(r, unicode.Sc, unicode.Sm):
		return r
	case unicode.IsPunct(r) || unicode.IsSymbol(r):
		return ' '
	}
	return r
}

func runeAt(text []rune, i int) rune {
	if i < 0 || i >= len(text) {
		return ' '
	}
	return text[i]
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
