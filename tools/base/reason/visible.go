package reason

import (
	"fmt"
	"strings"
	"unicode"
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
		case Hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Hidden says that a character is not seen as itself: a control character, a line or paragraph separator, a
// mark that turns the direction of writing, or none at all.
func Hidden(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Bidi_Control, r) ||
		unicode.Is(unicode.Noncharacter_Code_Point, r)
}
