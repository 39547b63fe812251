package main

import (
	"strings"
	"testing"
)

// TestCheck holds each direction against a graph that breaks only it.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		graph map[string][]string
		wrong string
	}{
		{"as it should be", map[string][]string{"tools/coregate": {"tools/receipt/verify"}, "tools/receipt/verify": {"tools/receipt/statement"}, "tools/receipt/statement": {"tools/run/judge"}, "tools/run/judge": {"tools/run/evidence", "tools/base/reason"}}, ""},
		{"below itself", map[string][]string{"tools/encoder/mil/eval": {"tools/encoder/mil", "tools/encoder/mil/kernel"}}, ""},
		{"mil of artifact", map[string][]string{"tools/encoder/mil/eval": {"tools/encoder/artifact"}}, "tools/encoder/mil/eval depends on tools/encoder/artifact"},
		{"mil of reason", map[string][]string{"tools/encoder/mil": {"tools/base/reason"}}, "tools/encoder/mil depends on tools/base/reason"},
		{"ggml of mil", map[string][]string{"tools/encoder/ggml": {"tools/encoder/mil"}}, "tools/encoder/ggml depends on tools/encoder/mil"},
		{"runner of judge, indirectly", map[string][]string{"tools/run/runner": {"tools/run/x"}, "tools/run/x": {"tools/run/judge"}}, "tools/run/runner depends on tools/run/judge"},
		{"judge of runner", map[string][]string{"tools/run/judge": {"tools/run/runner"}}, "tools/run/judge depends on tools/run/runner"},
		{"judge of receipt", map[string][]string{"tools/run/judge": {"tools/receipt/statement"}}, "tools/run/judge depends on tools/receipt/statement"},
		{"receipt of envelope", map[string][]string{"tools/receipt/statement": {"tools/receipt/envelope"}}, "tools/receipt/statement depends on tools/receipt/envelope"},
		{"a command imported", map[string][]string{"tools/receipt/report": {"tools/coregate"}}, "tools/receipt/report depends on tools/coregate"},
		{"an action imported", map[string][]string{"tools/receipt/report": {"tools/actions/gate_run"}}, "tools/receipt/report depends on tools/actions/gate_run"},
		{"actions among themselves", map[string][]string{"tools/actions/gate_run": {"tools/actions/internal/stage"}}, ""},
		{"reference of evaluator", map[string][]string{"tools/encoder/reference": {"tools/encoder/mil/eval"}}, "tools/encoder/reference depends on tools/encoder/mil/eval"},
		{"base of another group", map[string][]string{"tools/base/reason": {"tools/run/judge"}}, "tools/base/reason depends on tools/run/judge"},
		{"upstream of run", map[string][]string{"tools/upstream/candidate": {"tools/run/judge"}}, "tools/upstream/candidate depends on tools/run/judge"},
		{"upstream's facts of a reason", map[string][]string{"tools/upstream/whispercpp": {"tools/base/reason"}}, "tools/upstream/whispercpp depends on tools/base/reason"},
		{"run of words", map[string][]string{"tools/run/judge": {"tools/words/transcript"}}, "tools/run/judge depends on tools/words/transcript"},
		{"encoder of run", map[string][]string{"tools/encoder/parity": {"tools/run/judge"}}, "tools/encoder/parity depends on tools/run/judge"},
		{"product of dev", map[string][]string{"tools/receipt/audit": {"tools/dev/lint"}}, "tools/receipt/audit depends on tools/dev/lint"},
	} {
		got := strings.Join(check(c.graph), "\n")
		if c.wrong == "" && got != "" || !strings.HasPrefix(got, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, got, c.wrong)
		}
	}
}

func TestParse(t *testing.T) {
	got := parse([]byte(module + "tools/a fmt " + module + "tools/b\n" + module + "tools/b\n"))
	if len(got) != 2 || len(got["tools/a"]) != 1 || got["tools/a"][0] != "tools/b" || len(got["tools/b"]) != 0 {
		t.Errorf("parsed %v", got)
	}
}

// TestUnused holds that a rule about nothing is noticed.
func TestUnused(t *testing.T) {
	if got := unused(map[string][]string{"tools/encoder/mil": nil}); len(got) == 0 {
		t.Error("rules about packages that are not there pass unnoticed")
	}
}
