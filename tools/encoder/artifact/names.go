package artifact

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// unlike says in what two names differ that look alike: spelled with other characters, with blanks at an end, or in other capitals. It is
// "" for names that a reader sees to be different.
func unlike(want, got string) string {
	switch {
	case want == got:
	case norm.NFC.String(want) == norm.NFC.String(got):
		return ", spelled with other characters: " + strconv.QuoteToASCII(got)
	case strings.TrimSpace(want) == strings.TrimSpace(got):
		return ", with a blank at its end"
	case strings.EqualFold(want, got):
		return ", in other capitals"
	}
	return ""
}

// unlikeAny is unlike for the first of several names that looks like the one that is wanted.
func unlikeAny(want string, names []string) string {
	for _, name := range names {
		if how := unlike(want, name); how != "" {
			return how
		}
	}
	return ""
}
