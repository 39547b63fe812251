package reason

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible spells a text on one line of visible characters: control characters, line ends, and those that
// turn the direction of writing become escapes. What a file brings along must not write lines of its own
// into a log, nor steer a terminal.
func Visible(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case Hidden(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case Hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// VisibleJSON writes hidden characters in the text of a JSON document as escapes of JSON: the document is the same. Line ends
// and tabs between its members stay; within its strings JSON has none.
func VisibleJSON(document string) string {
	var b strings.Builder
	for _, r := range document {
		switch {
		case r < ' ' || !Hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Hidden says that a character is not seen as itself: a control character, a line or paragraph separator, a mark of
// format (direction of writing, width of nothing), a character of private meaning, or none at all.
func Hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Noncharacter_Code_Point, unicode.Variation_Selector)
}
