package agreement

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// markup are what a text holds beside words in other files than a plain one.
var markup = []struct {
	pattern *regexp.Regexp
	is      string
}{
	{regexp.MustCompile(`^version https://git-lfs`), "a Git LFS pointer: run git lfs pull"},
	{regexp.MustCompile(`^/annex/objects/`), "a git-annex pointer: run git annex get"},
	{regexp.MustCompile(`(?i)^\s*<(?:!doctype|\?xml|html)`), "a web page or XML: fetch the text itself"},
	{regexp.MustCompile(`^\{\\rtf`), "rich text: save it as plain text"},
	{regexp.MustCompile(`(?i)</?(?:[pbiu]|br|div|span|pre|body|tt|font|c|v)(?:[\s./][^<>]*)?>`), "markup (tags in angle brackets): write the words alone"},
	{regexp.MustCompile(`\d\d:\d\d[.,]\d{3} --> \d`), "subtitles or a log with time stamps: write the words alone"},
}

// notPlain says why a text is no plain text with nothing but the words of a recording, and what to do; "" for one that may be.
// What is not the words counts as edits, for which nobody would look into the reference.
func notPlain(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) {
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size <= 1 {
				return fmt.Sprintf("byte 0x%02x at offset %d, which is none of a UTF-8 text: save it as UTF-8", text[i], i)
			}
		}
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r", r) }); i >= 0 {
		return fmt.Sprintf("the control character U+%04X at offset %d, as in UTF-16 text or a packed file: save the words as UTF-8 text", text[i], i)
	}
	for _, m := range markup {
		if m.pattern.MatchString(text) {
			return m.is
		}
	}
	if start := strings.TrimSpace(text); start != "" && strings.ContainsRune(`{["`, rune(start[0])) && json.Valid([]byte(start)) {
		return "JSON: write the words alone"
	}
	return ""
}
