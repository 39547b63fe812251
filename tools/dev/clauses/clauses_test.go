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

// TestCodes holds that a code beside a test is one that the test has. The page itself is checked by `go run ./tools/dev/codes`, which has the files.
func TestCodes(t *testing.T) {
	files := map[string]string{"tools/a_test.go": `{"x", "LOG_SILENCED"}`, "tools/b_test.go": "want(reason.CPUFeaturesMissing)", "tools/c_test.go": "reason.LogSilencedNot NOT_LOG"}
	read := func(path string) (string, error) {
		if text, ok := files[path]; ok {
			return text, nil
		}
		return "", os.ErrNotExist
	}
	for line, want := range map[string]string{
		"| S0-001 | x | done | `tools/a_test.go:TestX`; `LOG_SILENCED` |":                               "",
		"| S0-001 | x | done | `tools/b_test.go:TestX`; `CPU_FEATURES_MISSING` |":                       "",
		"| S0-001 | x | done | `tools/b_test.go:TestX`, `tools/a_test.go`; `LOG_SILENCED` |":            "",
		"| S0-001 | x | done | `tools/b_test.go:TestX`; `LOG_SILENCED` |":                               "S0-001 names LOG_SILENCED",
		"| S0-001 | x | done | `tools/c_test.go:TestX`; `LOG_SILENCED` |":                               "S0-001 names LOG_SILENCED",
		"| S0-001 | x | done | `tools/a_test.go:TestX`; `LOG_SILENCED`, `CPU_FEATURES_MISSING` |":       "S0-001 names CPU_FEATURES_MISSING",
		"| S0-001 | x | partial | `tools/b_test.go:TestX`; `LOG_SILENCED`; no Mac |":                    "",
		"| S0-001 | x | done | `tools/b_test.go:TestX`; `RSS` is no code, and `PEER_REPORTS` is none |": "",
	} {
		got, err := Codes(line, read)
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(got, "\n"); (all == "") != (want == "") || !strings.Contains(all, want) {
			t.Errorf("%s: found %q, want %q", line, all, want)
		}
	}
	if _, err := Codes("| S0-001 | x | done | `tools/none_test.go:TestX`; `LOG_SILENCED` |", read); err == nil {
		t.Error("a file that is not there gives no error")
	}
}
