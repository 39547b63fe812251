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
		{"as it should be", map[string][]string{"tools/coregate": {"tools/verify"}, "tools/verify": {"tools/receipt"}, "tools/receipt": {"tools/judge"}, "tools/judge": {"tools/evidence", "tools/reason"}}, ""},
		{"below itself", map[string][]string{"tools/mil/eval": {"tools/mil", "tools/mil/kernel"}}, ""},
		{"mil of artifact", map[string][]string{"tools/mil/eval": {"tools/artifact"}}, "tools/mil/eval depends on tools/artifact"},
		{"mil of reason", map[string][]string{"tools/mil": {"tools/reason"}}, "tools/mil depends on tools/reason"},
		{"ggml of mil", map[string][]string{"tools/ggml": {"tools/mil"}}, "tools/ggml depends on tools/mil"},
		{"runner of judge, indirectly", map[string][]string{"tools/runner": {"tools/x"}, "tools/x": {"tools/judge"}}, "tools/runner depends on tools/judge"},
		{"judge of runner", map[string][]string{"tools/judge": {"tools/runner"}}, "tools/judge depends on tools/runner"},
		{"judge of receipt", map[string][]string{"tools/judge": {"tools/receipt"}}, "tools/judge depends on tools/receipt"},
		{"receipt of envelope", map[string][]string{"tools/receipt": {"tools/envelope"}}, "tools/receipt depends on tools/envelope"},
		{"a command imported", map[string][]string{"tools/report": {"tools/coregate"}}, "tools/report depends on tools/coregate"},
		{"an action imported", map[string][]string{"tools/report": {"tools/actions/gate_run"}}, "tools/report depends on tools/actions/gate_run"},
		{"actions among themselves", map[string][]string{"tools/actions/gate_run": {"tools/actions/internal/plain"}}, ""},
		{"reference of evaluator", map[string][]string{"tools/reference": {"tools/mil/eval"}}, "tools/reference depends on tools/mil/eval"},
		{"reason of anything", map[string][]string{"tools/reason": {"tools/tree"}}, "tools/reason depends on tools/tree"},
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
	if got := unused(map[string][]string{"tools/mil": nil}); len(got) == 0 {
		t.Error("rules about packages that are not there pass unnoticed")
	}
}
