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
		wrong, err := check(map[string]string{"tools/base/reason/x.go": c.table, "tools/p/p.go": c.user}, map[string]string{"tools/p/p_test.go": "reason.A reason.B reason.C"}, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if all := strings.Join(wrong, "\n"); c.wrong == "" && all != "" || !strings.Contains(all, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, all, c.wrong)
		}
	}
	if _, err := check(map[string]string{"tools/p/p.go": "no Go"}, nil, nil); err == nil {
		t.Error("a file that does not parse passes")
	}
}

// TestTested holds that a code which changes a verdict is named by a test of another package than the vocabulary's.
func TestTested(t *testing.T) {
	sources := map[string]string{
		"tools/base/reason/x.go": "package reason\nconst (\n A = \"A_CODE\"\n B = \"B_CODE\"\n)\nvar x = Table{{Code: A, Class: Fail}, {Code: B, Class: Note}}\n",
		"tools/p/p.go":           "package p\nfunc f() { j.Add(reason.A, w, e, g); _ = reason.Reason{Code: reason.B} }\n",
	}
	for _, c := range []struct {
		name   string
		tests  map[string]string
		exempt map[string]string
		wrong  string
	}{
		{"by constant", map[string]string{"tools/p/p_test.go": "want(reason.A)"}, nil, ""},
		{"by value", map[string]string{"tools/p/p_test.go": "want(`A_CODE: no`)"}, nil, ""},
		{"excused", nil, map[string]string{"A_CODE": "it needs a Mac"}, ""},
		{"by nobody", map[string]string{"tools/p/p_test.go": "want(reason.B)"}, nil, "A_CODE: no test raises it"},
		{"by a longer name", map[string]string{"tools/p/p_test.go": "reason.AB A_CODES XA_CODE"}, nil, "A_CODE: no test raises it"},
		{"by the vocabulary's own test", map[string]string{"tools/base/reason/x_test.go": "A_CODE"}, nil, "A_CODE: no test raises it"},
		{"excused and raised", map[string]string{"tools/p/p_test.go": "A_CODE"}, map[string]string{"A_CODE": "it needs a Mac"}, "A_CODE: a test raises it"},
		{"excused and undefined", map[string]string{"tools/p/p_test.go": "A_CODE"}, map[string]string{"C_CODE": "it needs a Mac"}, "C_CODE: byHand names it"},
	} {
		wrong, err := check(sources, c.tests, c.exempt)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if found := strings.Join(wrong, "\n"); c.wrong == "" && found != "" || !strings.Contains(found, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, found, c.wrong)
		}
	}
}

// TestTexts prints a code's text beside the place that raises it and the input of a test that does.
func TestTexts(t *testing.T) {
	c, files, err := take(map[string]string{
		"tools/base/reason/x.go": "package reason\nconst (\n A = \"A_CODE\"\n B = \"B_CODE\"\n)\nvar x = Table{{Code: A, Class: Fail, Means: \"It broke.\", Do: \"Mend it.\"}, {Code: B, Class: Note}}\n",
		"tools/p/p.go":           "package p\nfunc f() { j.Add(reason.A, \"here\",\n \"whole\", found); _ = []row{{reason.B, \"x\"}} }\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.texts(&out, files, map[string]string{"tools/p/p_test.go": "package p\n{\"a hole\", reason.A},\n", "tools/base/reason/x_test.go": "A_CODE"}, "")
	want := "A_CODE (fail)\n  means   It broke.\n  do      Mend it.\n  raised  tools/p/p.go:2:12: j.Add(reason.A, \"here\", \"whole\", found)\n" +
		"  input   tools/p/p_test.go:2: {\"a hole\", reason.A},\n\nB_CODE (note)\n  means   \n  do      \n  raised  tools/p/p.go:3:29: {reason.B, \"x\"}\n\n"
	if out.String() != want {
		t.Errorf("found\n%s\nwant\n%s", out.String(), want)
	}
	var one strings.Builder
	c.texts(&one, files, nil, "B_")
	if !strings.HasPrefix(one.String(), "B_CODE") {
		t.Errorf("only codes that begin with B_ are asked for, found\n%s", one.String())
	}
}
