// Package clauses checks docs/clauses.md, the table of what the project was asked for: that no clause is left out, that a state says
// what it rests on, and that the headings count what is below them. That the tests named there exist, tools/dev/links checks, and that
// they have the reason codes beside them, tools/dev/codes by [Codes].
package clauses

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// sections are the documents, by the prefix of their clauses, with the number of clauses in each.
var sections = []struct {
	prefix string
	n      int
}{{"S0", 121}, {"S2", 89}, {"S3", 40}, {"S4", 39}}

// States of a clause.
const (
	Done          = "done"
	Partial       = "partial"
	Missing       = "missing"
	NotApplicable = "not applicable"
)

var (
	row     = regexp.MustCompile(`^\| (S\d)-(\d{3}) \| (.+?) \| ([a-z ]+) \| (.*) \|$`)
	heading = regexp.MustCompile(`^## .*: (\d+) clauses, (.*)$`)
	part    = regexp.MustCompile(`(\d+) ([a-z ]+)`)
	code    = regexp.MustCompile("`([A-Z][A-Z0-9_]+)`")
	file    = regexp.MustCompile("`([a-z_]+/[^`:]+)(?::[A-Za-z_]+)?`")
	place   = regexp.MustCompile("`(?:docs|gate|tools|third_party|patches)/[^`]+`")
)

// Check gives what is wrong with the page, nothing if it is right.
func Check(page string) []string {
	var wrong []string
	say := func(format string, a ...any) { wrong = append(wrong, fmt.Sprintf(format, a...)) }
	next := map[string]int{}
	said, found := map[string]string{}, map[string]int{}
	title := ""
	end := func() {
		for state, n := range said {
			if fmt.Sprint(found[state]) != n {
				say("%s: %s %s, found %d", title, n, state, found[state])
			}
		}
		for state := range found {
			if said[state] == "" {
				say("%s: the heading counts no clause that is %s", title, state)
			}
		}
	}
	for line := range strings.SplitSeq(page, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			end()
			title, said, found = line, map[string]string{}, map[string]int{}
			for _, p := range part.FindAllStringSubmatch(m[2], -1) {
				said[strings.TrimSpace(p[2])] = p[1]
			}
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "| S") {
				say("expected | id | clause | state | proof |, found %s", line)
			}
			continue
		}
		id, state, proof := m[1]+"-"+m[2], m[4], strings.TrimSpace(m[5])
		next[m[1]]++
		if want := fmt.Sprintf("%s-%03d", m[1], next[m[1]]); id != want {
			say("expected %s, found %s", want, id)
		}
		found[state]++
		switch {
		case state != Done && state != Partial && state != Missing && state != NotApplicable:
			say("%s: unknown state %q", id, state)
		case state == Done && !place.MatchString(proof):
			say("%s is done: expected a test or file that proves it, found %q", id, proof)
		case state != Done && strings.Trim(place.ReplaceAllString(proof, ""), " ,;") == "":
			say("%s is %s: expected why, found %q", id, state, proof)
		}
	}
	end()
	for _, s := range sections {
		if next[s.prefix] != s.n {
			say("%s: expected %d clauses, found %d", s.prefix, s.n, next[s.prefix])
		}
	}
	return wrong
}

// Codes gives the reason codes that a row which is done names, and that none of its files has: what proves the row says nothing of it. read
// gives a file of the repository. A code is in a file as it is spelled, or as the constant of package reason.
func Codes(page string, read func(path string) (string, error)) ([]string, error) {
	var wrong []string
	for line := range strings.SplitSeq(page, "\n") {
		m := row.FindStringSubmatch(line)
		if m == nil || m[4] != Done {
			continue
		}
		var named []string
		for _, c := range code.FindAllStringSubmatch(m[5], -1) {
			if _, known := reason.Lookup(c[1]); known {
				named = append(named, c[1])
			}
		}
		if len(named) == 0 {
			continue
		}
		text := ""
		for _, f := range file.FindAllStringSubmatch(m[5], -1) {
			data, err := read(f[1])
			if err != nil {
				return nil, fmt.Errorf("%s-%s: %w", m[1], m[2], err)
			}
			text += data + "\n"
		}
		for _, c := range named {
			constant := regexp.MustCompile(`(?i)\breason\.` + strings.ReplaceAll(c, "_", "") + `\b`)
			if !strings.Contains(text, c) && !constant.MatchString(text) {
				wrong = append(wrong, fmt.Sprintf("%s-%s names %s: expected a file that has it, found none among those of the row", m[1], m[2], c))
			}
		}
	}
	return wrong, nil
}
