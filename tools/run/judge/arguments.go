package judge

import "strings"

// SplitArguments splits a line of arguments at its blanks as a shell does: what is in quotation marks, or behind a backslash, is not
// split. Marks that do not close are characters like others.
func SplitArguments(line string) []string {
	var out []string
	var word strings.Builder
	var mark rune
	begun, escaped := false, false
	runes := []rune(line)
	for i, r := range runes {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && mark != '\'' && i+1 < len(runes) && strings.ContainsRune(" \t'\"\\", runes[i+1]):
			begun, escaped = true, true
		case mark == 0 && (r == '\'' || r == '"'):
			begun, mark = true, r
		case mark != 0 && r == mark:
			mark = 0
		case mark == 0 && (r == ' ' || r == '\t'):
			if begun {
				out = append(out, word.String())
				word.Reset()
				begun = false
			}
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if mark != 0 {
		return strings.Fields(line)
	}
	if begun {
		out = append(out, word.String())
	}
	return out
}
