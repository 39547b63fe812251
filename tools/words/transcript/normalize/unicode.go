package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace reports white space as the reference implementation's runtime defines it: Unicode's White_Space, plus the
// four information separators, which have the bidirectional class of a separator.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f)
}

// isWord reports what \w matches: letters, every number and the underscore. Combining marks are not word characters.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || isASCIIDigit(r) || (r|0x20 >= 'a' && r|0x20 <= 'z')
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

func isASCIIDigit(r rune) bool { return r >= '0' && r <= '9' }

// isDigit reports decimal digits of any script (category Nd).
func isDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIDigit(r)
	}
	return unicode.Is(unicode.Nd, r)
}

// digitValue gives the value of a decimal digit. Unicode encodes each script's ten digits in ascending order and in
// blocks of ten, which the tables keep as ranges whose length is a multiple of ten.
func digitValue(r rune) int {
	if isASCIIDigit(r) {
		return int(r - '0')
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	return -1
}

// wordBefore and wordAfter say whether a word character ends at, or starts at, byte offset i: a word boundary lies at
// i when they differ.
func wordBefore(s string, i int) bool {
	if i <= 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return isWord(r)
}

func wordAfter(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return isWord(r)
}

// skipSpace gives the first offset at or after i that holds no white space.
func skipSpace(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isSpace(r) {
			break
		}
		i += n
	}
	return i
}

// collapseSpace writes each run of white space as one space. It trims nothing: the reference keeps outer spaces.
func collapseSpace(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	in := false
	for _, r := range s {
		if isSpace(r) {
			if !in {
				b.WriteByte(' ')
			}
			in = true
			continue
		}
		in = false
		b.WriteRune(r)
	}
	return b.String()
}

// lower maps to lower case with Unicode's full mapping: İ becomes i with a dot above, and Σ becomes ς at the end of a
// word (Final_Sigma in the Unicode Standard, section 3.13).
func lower(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch r {
		case 'İ':
			b.WriteString("i\u0307")
		case 'Σ':
			if finalSigma(s, i) {
				b.WriteRune('ς')
			} else {
				b.WriteRune('σ')
			}
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func finalSigma(s string, i int) bool {
	before := false
	for j := i; j > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:j])
		j -= n
		if isCaseIgnorable(r) {
			continue
		}
		before = isCased(r)
		break
	}
	if !before {
		return false
	}
	for _, r := range s[i+len("Σ"):] {
		if isCaseIgnorable(r) {
			continue
		}
		return !isCased(r)
	}
	return true
}

func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable: Mn, Me, Cf, Lm, Sk and the Word_Break classes MidLetter, MidNumLet and Single_Quote.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '\u00b7', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
