// Command verdict is the program of every gate_test: it reads judgements that actions wrote and exits 0 if they pass.
//
// The rule names the judgements in a manifest beside them, of which GATE_TEST is the path below TEST_SRCDIR:
//
//	{"schema": 1, "label": "//gate:markers_test", "expect": [], "judgements": [{"name": "markers", "file": "_main/gate/markers.json"}]}
//
// A judgement ran in an action, so running the test again can only read the same first run again. The program is not made of
// Go's testing package, and takes no argument: nothing that selects tests (--test_filter, -test.run, -test.skip, -test.list,
// -test.count, shards) can leave a judgement out. With `expect`, which tests of the gates themselves have, no judgement may
// pass, and each must have one of those reason codes.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout)) }

// manifest is what the rule writes.
type manifest struct {
	Schema     int      `json:"schema"`
	Label      string   `json:"label"`
	Expect     []string `json:"expect"`
	Judgements []struct {
		Name string `json:"name"`
		File string `json:"file"`
	} `json:"judgements"`
}

func run(args []string, getenv func(string) string, stdout io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintf(stdout, "FAIL: arguments %s\n  expected: none; a gate test judges everything that its rule names\n  do:       leave --test_arg and args out\n", reason.Visible(fmt.Sprintf("%q", args)))
		return 1
	}
	// Bazel asks for this of a test that is split. Each part judges all there is.
	if path := getenv("TEST_SHARD_STATUS_FILE"); path != "" {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			fmt.Fprintf(stdout, "FAIL: answer that the test may be split: %v\n", err)
			return 1
		}
	}
	m, list, err := read(getenv)
	if err != nil {
		fmt.Fprintf(stdout, "FAIL: nothing was judged: %s\n", reason.Visible(err.Error()))
		return 1
	}
	if print(stdout, m, list) {
		return 0
	}
	return 1
}

// read reads the manifest and the judgements that it names.
func read(getenv func(string) string) (*manifest, []*verdict.Judgement, error) {
	// Bazel finds this program below TEST_SRCDIR. RUNFILES_DIR is whatever --test_env says, so it names nothing here.
	root := getenv("TEST_SRCDIR")
	path := getenv("GATE_TEST")
	if path == "" || root == "" {
		return nil, nil, errors.New("expected the runfiles of a gate_test, found none: run it with bazel test")
	}
	m := &manifest{}
	if err := readJSON(root, path, m); err != nil {
		return nil, nil, err
	}
	if m.Schema != 1 || len(m.Judgements) == 0 {
		return nil, nil, fmt.Errorf("%s: expected schema 1 and judgements, found schema %d and %d judgements", path, m.Schema, len(m.Judgements))
	}
	var list []*verdict.Judgement
	for _, named := range m.Judgements {
		j := &verdict.Judgement{}
		if err := readJSON(root, named.File, j); err != nil {
			return nil, nil, err
		}
		if _, known := judgements.Lookup(named.Name); !known || j.Name != named.Name {
			return nil, nil, fmt.Errorf("%s: expected the judgement %q, found %q", named.File, named.Name, j.Name)
		}
		if err := j.Check(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", named.File, err)
		}
		list = append(list, j)
	}
	return m, list, nil
}

// readJSON reads a file of the test's own runfiles.
func readJSON(root, path string, out any) error {
	if !fs.ValidPath(path) || path == "." {
		return fmt.Errorf("%s: expected a path below the test's own runfiles", path)
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	if err := strictjson.Decode(data, out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// maxLines bounds what a failed test prints: fewer than fifteen lines, the last of which names the page.
const maxLines = 14

// print says how the judgements ended and whether that is as it must be.
func print(w io.Writer, m *manifest, list []*verdict.Judgement) bool {
	failing := []*verdict.Judgement{}
	for _, j := range list {
		if !asExpected(m.Expect, j) {
			failing = append(failing, j)
		}
	}
	if len(failing) == 0 {
		for _, j := range list {
			fmt.Fprintf(w, "%s: %s%s\n", j.Name, j.Verdict, codes(j))
		}
		fmt.Fprintf(w, "PASS %s\n", m.Label)
		return true
	}
	if len(m.Expect) > 0 {
		fmt.Fprintf(w, "FAIL %s: expected one of %s\n", m.Label, strings.Join(m.Expect, ", "))
		for _, j := range failing[:min(len(failing), maxLines-1)] {
			fmt.Fprintf(w, "  %s: %s%s\n", j.Name, j.Verdict, codes(j))
		}
		return false
	}
	for _, line := range explain(m.Label, failing) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, "  page: docs/failed.md of rules_coreml_gate")
	return false
}

func asExpected(expect []string, j *verdict.Judgement) bool {
	if len(expect) == 0 {
		return j.Verdict == reason.Pass
	}
	return j.Verdict != reason.Pass && j.Has(expect...)
}

// codes lists the codes of a judgement's reasons and notes, for a line.
func codes(j *verdict.Judgement) string {
	var out []string
	for _, r := range append(append([]reason.Reason{}, j.Reasons...), j.Notes...) {
		out = append(out, r.Code)
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + reason.Visible(strings.Join(out, ", ")) + ")"
}

// explain prints each reason once: whole as long as there is room, then on one line, then counted.
func explain(label string, failing []*verdict.Judgement) []string {
	names := []string{}
	reasons, seen := []reason.Reason{}, map[reason.Reason]bool{}
	for _, j := range failing {
		names = append(names, fmt.Sprintf("%s: %s", j.Name, j.Verdict))
		for _, r := range j.Reasons {
			if !seen[r] {
				seen[r] = true
				reasons = append(reasons, r)
			}
		}
	}
	out := []string{fmt.Sprintf("FAIL %s: %s", label, strings.Join(names, ", "))}
	for i, r := range reasons {
		left := len(reasons) - i - 1
		room := maxLines - 1 - len(out) // one is the page's
		whole := entry(r)
		switch {
		case len(whole)+left <= room:
			out = append(out, whole...)
		case room > 1 || left == 0:
			out = append(out, "  "+short(reason.Visible(r.String())))
		default:
			return append(out, fmt.Sprintf("  and %d more: the judgement's file has them (bazel build the target without _test)", left+1))
		}
	}
	return out
}

// entry is a reason with what to do about it.
func entry(r reason.Reason) []string {
	do := "update these rules: the code is not known to them"
	if d, ok := reason.Lookup(r.Code); ok {
		do = d.Do
	}
	line := func(name, text string) string {
		return fmt.Sprintf("    %-9s %s", name+":", short(reason.Visible(text)))
	}
	return []string{"  " + reason.Visible(r.Code), line("expected", r.Expected), line("found", r.Found), line("where", r.Where), line("do", do)}
}

// short bounds a line.
func short(line string) string {
	const most = 400
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}
