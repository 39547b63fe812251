package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// NormalisationVersion names the rules below; a change of any of them is a new version.
const NormalisationVersion = 1

// Normaliser replaces what varies between two runs of the same inputs by names, line by line:
//
//  1. a trailing CR is dropped; bytes that are not UTF-8 become U+FFFD;
//  2. the staging directory (in each spelling of Stage) becomes $STAGE;
//  3. home and per-user cache directories (/Users/NAME, /home/NAME, /root, [/private]/var/folders/XX/YY)
//     become $HOME and $CACHE;
//  4. durations, "NNN.NN ms" with their padding, become " <ms>";
//  5. in "n_threads = A / B" the machine's own count B becomes <cores>;
//  6. numbers of the form 0x… with at least five digits become <address>;
//  7. the prefix "YYYY-MM-DD HH:MM:SS.mmm[+zone] NAME[PID:TID]" of Apple's log becomes "<log> NAME".
//
// Sizes in MB and run counts stay: they follow from the binary and the model.
type Normaliser struct {
	// Stage lists the spellings of the staging directory, without a trailing slash.
	Stage []string
}

var rules = []struct {
	// hint is text without which the pattern cannot match; it spares long lines the pattern.
	hint    string
	pattern *regexp.Regexp
	with    string
}{
	{"/", regexp.MustCompile(`/(?:Users|home)/[^/\s'":]+|/root\b`), "$$HOME"},
	{"/var/folders/", regexp.MustCompile(`(?:/private)?/var/folders/[^/\s'":]+/[^/\s'":]+`), "$$CACHE"},
	{" ms", regexp.MustCompile(` *\b[0-9]+(?:\.[0-9]+)? ms\b`), " <ms>"},
	{"n_threads = ", regexp.MustCompile(`\b(n_threads = [0-9]+ / )[0-9]+`), "${1}<cores>"},
	{"0x", regexp.MustCompile(`\b0x[0-9a-fA-F]{5,}\b`), "<address>"},
	{"[", regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?:[+-]\d+)? (\S+?)\[\d+:[0-9a-fx]+\]`), "<log> ${1}"},
}

// Line normalises one line, given without its LF.
func (n Normaliser) Line(line string) string {
	line = strings.TrimSuffix(strings.ToValidUTF8(line, "\uFFFD"), "\r")
	for _, stage := range n.Stage {
		if stage != "" {
			line = strings.ReplaceAll(line, stage, "$STAGE")
		}
	}
	for _, r := range rules {
		if strings.Contains(line, r.hint) {
			line = r.pattern.ReplaceAllString(line, r.with)
		}
	}
	return line
}

// MaxLines bounds the lines of a stream; a longer one counts as truncated there.
const MaxLines = 1 << 17

// Stream normalises a whole stream. keepAll keeps every line; otherwise only those that keep accepts.
func (n Normaliser) Stream(raw []byte, truncated, keepAll bool, keep func(string) bool) Stream {
	if end := lineEnd(raw, MaxLines); end < len(raw) {
		raw, truncated = raw[:end], true
	}
	lines := splitLines(string(raw))
	for i := range lines {
		lines[i] = n.Line(lines[i])
	}
	s := Stream{SHA256: digestLines(lines), Count: len(lines), Truncated: truncated, Complete: keepAll, Lines: []string{}}
	for _, line := range lines {
		if keepAll || keep(line) {
			s.Lines = append(s.Lines, line)
		}
	}
	return s
}

// lineEnd is the offset after the nth LF, or the length of a text with fewer.
func lineEnd(text []byte, n int) int {
	at := 0
	for range n {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}

// splitLines splits at LF; text after the last LF is a line as well.
func splitLines(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func digestLines(lines []string) string {
	h := sha256.New()
	for _, line := range lines {
		h.Write([]byte(line))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
