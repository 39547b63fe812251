package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// box is the runfiles of one gate_test.
type box struct {
	t    *testing.T
	root string
	env  map[string]string
	m    map[string]any
}

func newBox(t *testing.T, list ...*verdict.Judgement) *box {
	t.Helper()
	b := &box{t: t, root: t.TempDir(), m: map[string]any{"schema": 1, "label": "//gate:it_test", "expect": []string{}}}
	b.env = map[string]string{"TEST_SRCDIR": b.root, "GATE_TEST": "_main/gate/it_test.gate.json"}
	named := []map[string]string{}
	for _, j := range list {
		file := "_main/gate/" + j.Name + ".json"
		b.write(file, j)
		named = append(named, map[string]string{"name": j.Name, "file": file})
	}
	b.m["judgements"] = named
	return b
}

func (b *box) write(path string, v any) {
	b.t.Helper()
	data, err := json.Marshal(v)
	full := filepath.Join(b.root, filepath.FromSlash(path))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(full), 0o755)
	}
	if err == nil {
		err = os.WriteFile(full, data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// run runs the program and returns its exit code and what it printed.
func (b *box) run(args ...string) (int, string) {
	b.t.Helper()
	b.write("_main/gate/it_test.gate.json", b.m)
	var out strings.Builder
	code := run(args, func(name string) string { return b.env[name] }, &out)
	return code, out.String()
}

func failing(name string, codes ...string) *verdict.Judgement {
	j := verdict.NewJudgement(name)
	for i, code := range codes {
		j.Add(code, fmt.Sprintf("line %d", i), "one thing", "another")
	}
	return j
}

// TestVerdicts holds when a gate test passes.
func TestVerdicts(t *testing.T) {
	pass := func(name string) *verdict.Judgement { return verdict.NewJudgement(name) }
	inadmissible := failing("markers", reason.CanaryNotPassed)
	inadmissible.Verdict = reason.Inadmissible
	for _, c := range []struct {
		name   string
		list   []*verdict.Judgement
		expect []string
		code   int
	}{
		{"a pass", []*verdict.Judgement{pass("markers")}, nil, 0},
		{"two", []*verdict.Judgement{pass("markers"), pass("canary")}, nil, 0},
		{"one of two", []*verdict.Judgement{pass("markers"), failing("canary", reason.CanaryExit)}, nil, 1},
		{"inconclusive", []*verdict.Judgement{failing("markers", reason.LogSilenced)}, nil, 1},
		{"inadmissible", []*verdict.Judgement{inadmissible}, nil, 1},
		{"none", nil, nil, 1},
		{"expected", []*verdict.Judgement{failing("canary", reason.CanaryExit)}, []string{"CANARY_SIGNAL", "CANARY_EXIT"}, 0},
		{"expected, for another reason", []*verdict.Judgement{failing("canary", reason.CanaryLoaded)}, []string{"CANARY_EXIT"}, 1},
		{"expected, and a pass", []*verdict.Judgement{pass("canary")}, []string{"CANARY_EXIT"}, 1},
	} {
		b := newBox(t, c.list...)
		if c.expect != nil {
			b.m["expect"] = c.expect
		}
		if code, out := b.run(); code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s", c.name, code, c.code, out)
		}
	}
}

// TestNothingElseCounts holds that no argument and no variable of the caller's makes a gate test green.
func TestNothingElseCounts(t *testing.T) {
	red := func() *box { return newBox(t, failing("markers", reason.LoadMarkerAbsent)) }
	for _, args := range [][]string{
		{"-test.run=^$"}, {"-test.skip=."}, {"-test.list=."}, {"-test.count=0"}, {"--test.run", "none"}, {"-h"}, {"--help"}, {"--"}, {""},
	} {
		if code, out := red().run(args...); code == 0 {
			t.Errorf("arguments %q: exit 0\n%s", args, out)
		}
	}
	for name, value := range map[string]string{
		"TESTBRIDGE_TEST_ONLY": "none", "TEST_TOTAL_SHARDS": "9", "TEST_SHARD_INDEX": "8", "GATE_EXPECT": "LOAD_MARKER_ABSENT", "GATE_POLICY": "x",
		"TEST_RUNNER_FAIL_FAST": "1", "TEST_SHARD_STATUS_FILE": filepath.Join(t.TempDir(), "status"), "XML_OUTPUT_FILE": "x", "GO_TEST_RUN_FROM_BAZEL": "1",
	} {
		b := red()
		b.env[name] = value
		if code, out := b.run(); code == 0 {
			t.Errorf("%s=%s: exit 0\n%s", name, value, out)
		}
	}
}

// TestOtherRunfiles holds that runfiles which a caller names replace no judgement.
func TestOtherRunfiles(t *testing.T) {
	other := newBox(t, verdict.NewJudgement("markers"))
	if code, out := other.run(); code != 0 {
		t.Fatalf("expected the other runfiles to pass by themselves, found %d:\n%s", code, out)
	}
	b := newBox(t, failing("markers", reason.NoCoreMLBuild))
	b.env["RUNFILES_DIR"] = other.root
	if code, out := b.run(); code != 1 || !strings.Contains(out, reason.NoCoreMLBuild) {
		t.Errorf("expected exit 1 with %s, found %d:\n%s", reason.NoCoreMLBuild, code, out)
	}
	b.env["TEST_SRCDIR"] = ""
	if code, out := b.run(); code != 1 || !strings.Contains(out, "nothing was judged") {
		t.Errorf("expected exit 1 without runfiles of its own, found %d:\n%s", code, out)
	}
}

// TestBrokenInputs holds that judgements which are missing, altered, or of another name fail.
func TestBrokenInputs(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *box)
	}{
		{"no judgement file", func(b *box) { _ = os.Remove(filepath.Join(b.root, "_main/gate/markers.json")) }},
		{"another name", func(b *box) { b.write("_main/gate/markers.json", verdict.NewJudgement("canary")) }},
		{"no verdict", func(b *box) { b.write("_main/gate/markers.json", &verdict.Judgement{Name: "markers"}) }},
		{"a pass with a reason", func(b *box) {
			j := failing("markers", reason.LoadMarkerAbsent)
			j.Verdict = reason.Pass
			b.write("_main/gate/markers.json", j)
		}},
		{"an unknown member", func(b *box) { b.write("_main/gate/markers.json", map[string]any{"verdict": "pass", "extra": 1}) }},
		{"an unknown kind", func(b *box) {
			b.write("_main/gate/odd.json", verdict.NewJudgement("odd"))
			b.m["judgements"] = []map[string]string{{"name": "odd", "file": "_main/gate/odd.json"}}
		}},
		{"a path out of the runfiles", func(b *box) {
			b.write("../markers.json", verdict.NewJudgement("markers"))
			b.m["judgements"] = []map[string]string{{"name": "markers", "file": "../markers.json"}}
		}},
		{"an absolute path", func(b *box) {
			b.m["judgements"] = []map[string]string{{"name": "markers", "file": filepath.Join(b.root, "_main/gate/markers.json")}}
		}},
		{"another schema", func(b *box) { b.m["schema"] = 2 }},
		{"no manifest", func(b *box) { b.env["GATE_TEST"] = "" }},
		{"no runfiles", func(b *box) { b.env["TEST_SRCDIR"] = "" }},
	} {
		b := newBox(t, verdict.NewJudgement("markers"))
		if code, out := b.run(); code != 0 {
			t.Fatalf("as it is: exit %d\n%s", code, out)
		}
		c.change(b)
		if code, out := b.run(); code == 0 || !strings.Contains(out, "FAIL") {
			t.Errorf("%s: exit %d\n%s", c.name, code, out)
		}
	}
}

// TestPrinted holds what a failed test prints for every registered judgement: each reason once, with code, expected,
// found, where and what to do, on fewer than fifteen lines, with the page that helps, and nothing that a terminal would obey.
func TestPrinted(t *testing.T) {
	for _, k := range judgements.All {
		code := map[string]string{"parity": reason.ParitySNR, "words": reason.WordsCoreMLEmpty, "contract": reason.ModelName}[k.Name]
		if code == "" {
			code = reason.LoadMarkerAbsent
		}
		j := failing(k.Name, code)
		j.Reasons[0].Found = "an\x1b[31mescape\nand a line"
		_, out := newBox(t, j).run()
		d, _ := reason.Lookup(code)
		for _, want := range []string{code, "expected: one thing", `found:    an\u001b[31mescape\nand a line`, "where:    line 0", "do:       " + d.Do, "page: docs/failed.md"} {
			if strings.Count(out, want) != 1 {
				t.Errorf("%s: %q stands there %d times, want once\n%s", k.Name, want, strings.Count(out, want), out)
			}
		}
		if lines := strings.Count(out, "\n"); lines > maxLines || strings.Contains(out, "\x1b") || strings.Contains(out, "goroutine") || strings.Contains(out, ".go:") {
			t.Errorf("%s: %d lines\n%s", k.Name, lines, out)
		}
	}
	// Many reasons, and one that two judgements share.
	for n := 1; n <= 60; n++ {
		codes := make([]string, n)
		for i := range codes {
			codes[i] = reason.StaleLog
		}
		list := []*verdict.Judgement{failing("markers", codes...), failing("transcript", codes...)}
		_, out := newBox(t, list...).run()
		shown := strings.Count(out, reason.StaleLog)
		if lines := strings.Count(out, "\n"); lines > maxLines || shown > n || shown < min(n, maxLines-3) {
			t.Errorf("%d reasons: %d lines with %d of them\n%s", n, lines, shown, out)
		}
		if shown < n && !strings.Contains(out, fmt.Sprintf("and %d more", n-shown)) {
			t.Errorf("%d reasons: %d are shown and nothing says so\n%s", n, shown, out)
		}
	}
}

// TestRealJudgements reads judgements as the actions of real gates wrote them.
func TestRealJudgements(t *testing.T) {
	for _, name := range []string{"contract", "parity", "words"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		b := newBox(t, verdict.NewJudgement(name))
		if err := os.WriteFile(filepath.Join(b.root, "_main/gate", name+".json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if code, out := b.run(); code != 0 {
			t.Errorf("%s: exit %d\n%s", name, code, out)
		}
	}
}

// TestFailedPage holds that docs/failed.md shows what a red gate prints.
func TestFailedPage(t *testing.T) {
	r, err := judge.ParseLog([]byte("exit: 0\n--- stderr\n" + strings.Replace(evidencetest.Stderr("coreml"), "COREML = 1", "COREML = 0", 1) + "--- stdout\n words\n"))
	if err != nil {
		t.Fatal(err)
	}
	r.Kind = "coreml"
	b := newBox(t, judge.Judge(r))
	b.m["label"] = "//models:small_en_markers_test"
	_, out := b.run()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "failed.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```\n"+out+"```\n") {
		t.Errorf("docs/failed.md does not show this; change it in tools/coregate/failed.go:\n%s", out)
	}
}
