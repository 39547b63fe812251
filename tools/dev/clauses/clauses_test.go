package clauses

import (
	"os"
	"strings"
	"testing"
)

func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../../docs/clauses.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPage(t *testing.T) {
	for _, w := range Check(page(t)) {
		t.Error(w)
	}
}

// What a careless edit does to the page.
func TestFaults(t *testing.T) {
	good := page(t)
	line := func(id string) string {
		i := strings.Index(good, "| "+id+" |")
		return good[i : i+strings.IndexByte(good[i:], '\n')+1]
	}
	first := line("S0-001")
	for name, c := range map[string]struct{ old, with, says string }{
		"a clause left out":      {first, "", "expected S0-001, found S0-002"},
		"a clause twice":         {first, first + first, "expected S0-002, found S0-001"},
		"done without proof":     {first, "| S0-001 | x | done | we tried it |\n", "expected a test or file"},
		"partial without why":    {first, "| S0-001 | x | partial | `tools/x/y_test.go:TestZ` |\n", "expected why"},
		"missing without a word": {first, "| S0-001 | x | missing |  |\n", "expected why"},
		"a state of its own":     {first, "| S0-001 | x | nearly | soon |\n", `unknown state "nearly"`},
		"a column less":          {first, "| S0-001 | x | done |\n", "expected | id | clause"},
		"a count that is wrong":  {": 121 clauses, ", ": 121 clauses, 1", "found"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s: the page has no %q", name, c.old)
		}
		if got := strings.Join(Check(strings.Replace(good, c.old, c.with, 1)), "\n"); !strings.Contains(got, c.says) {
			t.Errorf("%s: found %q, expected %q", name, got, c.says)
		}
	}
}
