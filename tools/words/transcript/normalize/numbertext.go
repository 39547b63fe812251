package normalize

import (
	"strings"
	"unicode/utf8"
)

// spellHalves turns "<number> and a half" into "<number> point five". What is between is joined by spaces.
func spellHalves(s string) string {
	parts := splitHalves(s)
	if len(parts) == 1 && strings.TrimFunc(s, isSpace) != "" {
		return s
	}
	var out []string
	for i, part := range parts {
		words := strings.FieldsFunc(part, isSpace)
		if len(words) == 0 {
			continue
		}
		out = append(out, part)
		if i == len(parts)-1 {
			break
		}
		last := words[len(words)-1]
		if isDecimalWord(last) || hasClass(last, classScale) {
			out = append(out, "point five")
		} else {
			out = append(out, "and a half")
		}
	}
	return strings.Join(out, " ")
}

// splitHalves cuts s at each "and a half" that occurs as whole words, with any white space between them.
func splitHalves(s string) []string {
	var parts []string
	done := 0
	for next := 0; ; {
		at := strings.Index(s[next:], "and")
		if at < 0 {
			break
		}
		i := next + at
		next = i + len("and")
		if wordBefore(s, i) {
			continue
		}
		a := skipSpace(s, next)
		if a == next || !strings.HasPrefix(s[a:], "a") {
			continue
		}
		half := skipSpace(s, a+1)
		end := half + len("half")
		if half == a+1 || !strings.HasPrefix(s[half:], "half") || wordAfter(s, end) {
			continue
		}
		parts = append(parts, s[done:i])
		done, next = end, end
	}
	return append(parts, s[done:])
}

// splitDigitsFromLetters puts a space where an ASCII digit meets a letter a to z, and then takes white space away
// again before an ordinal or plural ending ("1960s", "274th").
func splitDigitsFromLetters(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := range len(s) {
		if i > 0 && (isASCIIDigit(rune(s[i-1])) && isLowerLetter(s[i]) || isLowerLetter(s[i-1]) && isASCIIDigit(rune(s[i]))) {
			b.WriteByte(' ')
		}
		b.WriteByte(s[i])
	}
	s = b.String()
	b = strings.Builder{}
	b.Grow(len(s))
	for i := 0; i < len(s); {
		b.WriteByte(s[i])
		i++
		if !isASCIIDigit(rune(s[i-1])) {
			continue
		}
		if j := skipSpace(s, i); j > i {
			if n := endingAt(s, j); n > 0 {
				b.WriteString(s[j : j+n])
				i = j + n
			}
		}
	}
	return b.String()
}

func isLowerLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// endingAt gives the length of the ordinal or plural ending that is a whole word at i, or 0.
func endingAt(s string, i int) int {
	for _, e := range [...]string{"st", "nd", "rd", "th", "s"} {
		if strings.HasPrefix(s[i:], e) && !wordAfter(s, i+len(e)) {
			return len(e)
		}
	}
	return 0
}

// tidyNumbers joins amounts and cents ("$2 and ¢7" is "$2.07"), writes amounts below one as cents, and writes a digit
// 1 that stands alone as "one".
func tidyNumbers(s string) string {
	s = replaceAt(s, joinCents)
	s = replaceAt(s, onlyCents)
	return spellOne(s)
}

// replaceAt rewrites s where rule matches at a currency sign. rule gets the text from the sign on, and gives the
// length of its match, 0 for none, and what to write.
func replaceAt(s string, rule func(string) (int, string)) string {
	if !strings.ContainsAny(s, "€£$") {
		return s
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, "€£$")
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		n, text := rule(s)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
			text = s[:n]
		}
		b.WriteString(text)
		s = s[n:]
	}
	return b.String() + s
}

// joinCents matches a sign, digits, " " or " and ", "¢" and one or two digits.
func joinCents(s string) (int, string) {
	_, at := utf8.DecodeRuneInString(s)
	end := at + leadingDigits(s[at:])
	rest, ok := strings.CutPrefix(s[end:], " ")
	if end == at || !ok {
		return 0, ""
	}
	rest = strings.TrimPrefix(rest, "and ")
	rest, ok = strings.CutPrefix(rest, "¢")
	n := leadingDigits(rest)
	if !ok || n < 1 || n > 2 || wordAfter(rest, n) {
		return 0, ""
	}
	cents := rest[:n]
	if n == 1 {
		cents = "0" + cents
	}
	return len(s) - len(rest) + n, s[:end] + "." + cents
}

// onlyCents matches a sign, "0", any one character and one or two digits.
func onlyCents(s string) (int, string) {
	_, at := utf8.DecodeRuneInString(s)
	rest, ok := strings.CutPrefix(s[at:], "0")
	if !ok || rest == "" || rest[0] == '\n' {
		return 0, ""
	}
	_, any := utf8.DecodeRuneInString(rest)
	rest = rest[any:]
	n := leadingDigits(rest)
	if n < 1 || n > 2 || wordAfter(rest, n) {
		return 0, ""
	}
	cents := rest[:n]
	if n == 2 && cents[0] == '0' {
		cents = cents[1:]
	}
	return len(s) - len(rest) + n, "¢" + cents
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && isASCIIDigit(rune(s[n])) {
		n++
	}
	return n
}

// spellOne writes "1" and "1s", standing as whole words, as "one" and "ones".
func spellOne(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == '1' && !wordBefore(s, i) {
			end := i + 1
			if strings.HasPrefix(s[end:], "s") && !wordAfter(s, end+1) {
				end++
			}
			if !wordAfter(s, end) {
				b.WriteString("one" + s[i+1:end])
				i = end
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
