// Package architecture states in which direction the Go packages of this project import each other.
//
// DESIGN in one line: coregate and the actions -> receipt and what reads receipts -> judge ->
// evidence, policy; artifact -> ggml, mil; mil and ggml import nothing of ours. The rest follows:
// what produces evidence or facts knows nothing of verdicts over them.
package architecture

import "strings"

// Rule says what packages below From must not import. Paths are relative to tools/, and stand for
// the packages below them too.
type Rule struct {
	From string
	Not  []string
	Why  string
}

// Rules of this project.
var Rules = []Rule{
	{"", []string{"coregate", "actions"}, "programs are the top"},
	{"mil", []string{""}, "mil imports nothing of ours but itself"},
	{"ggml", []string{""}, "ggml imports nothing of ours but itself"},
	{"reference", []string{"mil", "parity"}, "the reference shares no code with the evaluator"},
	{"evidence", []string{"judge", "policy", "runner", "receipt"}, "evidence holds no opinion"},
	{"runner", []string{"judge", "policy", "receipt", "artifact", "parity"}, "a run is captured, not judged"},
	{"artifact", []string{"judge", "receipt", "parity"}, "the contract stands below the gates"},
	{"transcript", []string{"judge", "receipt", "runner"}, "words are compared by pure functions"},
	{"judge", []string{"receipt", "runner", "parity"}, "a judgement is a pure function of evidence"},
	{"receipt", []string{"verify", "report", "audit", "envelope"}, "who reads receipts stands above them"},
}

// Within says whether path is root or below it.
func Within(path, root string) bool {
	return root == "" || path == root || strings.HasPrefix(path, root+"/")
}

// Broken returns the rules that an import of to by from breaks.
func Broken(from, to string) []Rule {
	var broken []Rule
	for _, r := range Rules {
		// A package may always import its own parts, and programs may share what is theirs.
		if !Within(from, r.From) || (r.From != "" && Within(to, r.From)) || (r.From == "" && (Within(from, "coregate") || Within(from, "actions"))) {
			continue
		}
		for _, not := range r.Not {
			if Within(to, not) {
				broken = append(broken, r)
				break
			}
		}
	}
	return broken
}
