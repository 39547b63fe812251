package normalize

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Basic is the normaliser for languages other than English. The zero value is the evaluation's default.
type Basic struct {
	// RemoveDiacritics drops combining marks after NFKD and maps joined letters (ł, ø, ß, …) to plain ones.
	RemoveDiacritics bool
	// SplitLetters makes every extended grapheme cluster a word of its own, for scripts that write no spaces.
	SplitLetters bool
}

// Normalize standardises s. The result holds no white space but single spaces; outer ones are kept.
func (o Basic) Normalize(s string) string {
	s = dropBracketed(lower(strings.ToValidUTF8(s, "\ufffd")))
	if o.RemoveDiacritics {
		s = removeSymbolsAndDiacritics(s, "")
	} else {
		s = removeSymbols(s)
	}
	s = lower(s)
	if o.SplitLetters {
		s = strings.Join(graphemes(s), " ")
	}
	return collapseSpace(s)
}

// dropBracketed removes <…> and […] (any opening with any closing bracket), then (…) unless it is empty.
func dropBracketed(s string) string {
	s = dropSpans(s, "<[", ">]", 0)
	return dropSpans(s, "(", ")", 1)
}

// dropSpans removes every span that begins with one of open and ends at the next one of closing, where at least least
// bytes are between them. An opening that is never closed stays.
func dropSpans(s, open, closing string, least int) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(s, open)
		if i < 0 {
			break
		}
		n := strings.IndexAny(s[i+1:], closing)
		if n < 0 {
			break
		}
		if n < least {
			b.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		b.WriteString(s[:i])
		s = s[i+1+n+1:]
	}
	b.WriteString(s)
	return b.String()
}

// joinedLetters are letters outside ASCII that NFKD does not take apart. The table is from Whisper's evaluation code
// (LICENSE.whisper).
var joinedLetters = map[rune]string{
	'œ': "oe", 'Œ': "OE", 'ø': "o", 'Ø': "O", 'æ': "ae", 'Æ': "AE", 'ß': "ss", 'ẞ': "SS", 'đ': "d", 'Đ': "D",
	'ð': "d", 'Ð': "D", 'þ': "th", 'Þ': "th", 'ł': "l", 'Ł': "L",
}

// removeSymbolsAndDiacritics decomposes (NFKD), drops non-spacing marks and replaces other marks, symbols and
// punctuation by spaces, except the code points of keep.
func removeSymbolsAndDiacritics(s, keep string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		if strings.ContainsRune(keep, r) {
			b.WriteRune(r)
			continue
		}
		if plain, ok := joinedLetters[r]; ok {
			b.WriteString(plain)
			continue
		}
		switch {
		case unicode.Is(unicode.Mn, r):
		case isMarkSymbolPunct(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// removeSymbols composes (NFKC) and replaces marks, symbols and punctuation by spaces.
func removeSymbols(s string) string {
	return strings.Map(func(r rune) rune {
		if isMarkSymbolPunct(r) {
			return ' '
		}
		return r
	}, norm.NFKC.String(s))
}

func isMarkSymbolPunct(r rune) bool {
	return unicode.IsMark(r) || unicode.IsSymbol(r) || unicode.IsPunct(r)
}
