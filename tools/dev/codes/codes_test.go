package main

import (
	"strings"
	"testing"
)

// TestCheck changes one thing at a time in sources that are in order.
func TestCheck(t *testing.T) {
	const table = "package reason\nconst (\n A = \"A_CODE\"\n B = \"B_CODE\"\n)\nvar x = Table{{Code: A}, {Code: B}}\n"
	const user = "package p\nfunc f() { j.Add(reason.A, w, e, g); _ = reason.Reason{Code: reason.B} }\n"
	for _, c := range []struct{ name, table, user, wrong string }{
		{"in order", table, user, ""},
		{"never emitted", table, strings.ReplaceAll(user, "reason.B}", "reason.A}"), "B_CODE: never emitted"},
		{"compared only", table, strings.ReplaceAll(user, "_ = reason.Reason{Code: reason.B}", "_ = r.Code == reason.B"), "B_CODE: never emitted"},
		{"in a case only", table, strings.ReplaceAll(user, "_ = reason.Reason{Code: reason.B}", "switch r.Code { case reason.B: }"), "B_CODE: never emitted"},
		{"spelled out", table, user + "var y = \"A_CODE\"\n", "the code A_CODE is spelled out"},
		{"undefined", table, user + "func g() { j.Add(\"C_CODE\", w, e, g) }\n", `the code "C_CODE" is not defined`},
		{"undefined in a literal", table, user + "var y = reason.Reason{Code: \"C_CODE\"}\n", `the code "C_CODE" is not defined`},
		{"two rows", table + "var y = Table{{Code: A}}\n", user, "A_CODE: defined in 2 rows"},
		{"no row", strings.ReplaceAll(table, ", {Code: B}", ""), user, "B_CODE: defined in 0 rows"},
		{"two constants", table + "const C = \"A_CODE\"\nvar y = Table{{Code: C}}\n", user + "var y = reason.C\n", "A_CODE: constants A and C"},
		{"row of a literal", table + "var y = Table{{Code: \"C_CODE\"}}\n", user, "name it by its constant"},
	} {
		wrong, err := check(map[string]string{"tools/base/reason/x.go": c.table, "tools/p/p.go": c.user})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if all := strings.Join(wrong, "\n"); c.wrong == "" && all != "" || !strings.Contains(all, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, all, c.wrong)
		}
	}
	if _, err := check(map[string]string{"tools/p/p.go": "no Go"}); err == nil {
		t.Error("a file that does not parse passes")
	}
}
