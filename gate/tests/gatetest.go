// Package tests holds the go_tests of the gates. One program judges every gate of a kind: it finds
// its evidence through the environment, as gate_test of //gate:defs.bzl sets it:
//
//	GATE_EVIDENCE_COREML, GATE_EVIDENCE_CANARY, GATE_EVIDENCE_CONTRAST   runfiles paths of evidence.json
//	GATE_REFERENCE                                                       runfiles path of the reference words
//	GATE_POLICY                                                          runfiles path of the frozen policy
//	GATE_CONTRACT                                                        runfiles path of the judgement over model and encoder
//	GATE_PARITY                                                          runfiles path of the judgement over the numbers
//	GATE_WORDS                                                           runfiles path of the judgement over what was heard
//	PRIVATE_*                                                            runfiles paths of what a private gate wrote, see private_test.go
//	GATE_EXPECT   for tests of the gates themselves: the gate must fail, and for one of these
//	              reason codes, separated by commas
//
// Outside Bazel, where nothing is named, the tests judge the evidence in testdata.
//
// A judgement is a pure function of the evidence, so running a test again can only read the same
// first run again.
package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// T is what these tests need of *testing.T.
type T interface {
	require.TestingT
	Helper()
	Logf(format string, args ...any)
}

// Gate is the environment of one gate's tests.
type Gate struct {
	Runs      judge.Runs
	Reference string
	Policy    *policy.Policy
	// Expect are the reason codes of which one must be found; empty for a gate that must pass.
	Expect []string
}

// Load reads what the environment names. What is named and cannot be read, or is not evidence, fails
// the test; a run that is not named is missing, and the judgement says what that means.
func Load(t T, getenv func(string) string) Gate {
	t.Helper()
	var g Gate
	for _, side := range []struct {
		variable string
		to       **evidence.Evidence
	}{
		{"GATE_EVIDENCE_COREML", &g.Runs.CoreML}, {"GATE_EVIDENCE_CANARY", &g.Runs.Canary}, {"GATE_EVIDENCE_CONTRAST", &g.Runs.Contrast},
	} {
		if path := getenv(side.variable); path != "" {
			e, _, err := evidence.ReadFile(runfile(getenv, path))
			require.NoError(t, err, "%s must name evidence of a run", side.variable)
			*side.to = e
		}
	}
	if path := getenv("GATE_REFERENCE"); path != "" {
		text, err := os.ReadFile(runfile(getenv, path))
		require.NoError(t, err, "GATE_REFERENCE must name a text file")
		g.Reference = string(text)
	}
	path := getenv("GATE_POLICY")
	require.NotEmpty(t, path, "GATE_POLICY must name the frozen policy: run this test through gate_test (bazel test //gate:all)")
	p, err := policy.Load(runfile(getenv, path))
	require.NoError(t, err, "GATE_POLICY must name a frozen policy")
	require.Equal(t, "gate", p.Kind, "policy %s must be one for gates", p.Name)
	g.Policy = p
	if codes := getenv("GATE_EXPECT"); codes != "" {
		g.Expect = strings.Split(codes, ",")
	}
	return g
}

// Environment is the environment of a gate. Under Bazel it is the process's own and nothing stands in
// for what it does not name; a plain go test gets the evidence in testdata.
func Environment(getenv func(string) string) func(string) string {
	if getenv("TEST_SRCDIR") != "" || getenv("GATE_POLICY") != "" {
		return getenv
	}
	plain := map[string]string{
		"GATE_EVIDENCE_COREML": "testdata/coreml.json", "GATE_EVIDENCE_CANARY": "testdata/canary.json", "GATE_EVIDENCE_CONTRAST": "testdata/contrast.json",
		"GATE_REFERENCE": "testdata/reference.txt", "GATE_POLICY": "../policy/gate_v1.json", "GATE_CONTRACT": "testdata/contract.json",
		"GATE_PARITY": "testdata/parity.json", "GATE_WORDS": "testdata/words.json",
		"PRIVATE_CONTROL": "testdata/coreml.json", "PRIVATE_COREML": "testdata/canary.json", "PRIVATE_CANARY": "testdata/canary.json",
		"PRIVATE_CONTRAST": "testdata/canary.json", "PRIVATE_WORDS": "testdata/contract.json", "PRIVATE_RECEIPT": "testdata/contract.json",
		"PRIVATE_REPORT": "testdata/parity.json",
	}
	return func(name string) string { return plain[name] }
}

// runfile resolves a runfiles path, as Bazel lays runfiles out on every system that can run a gate.
func runfile(getenv func(string) string, path string) string {
	for _, variable := range []string{"RUNFILES_DIR", "TEST_SRCDIR"} {
		if root := getenv(variable); root != "" && !filepath.IsAbs(path) {
			return filepath.Join(root, filepath.FromSlash(path))
		}
	}
	return path
}

// Require judges the gate and holds the judgement called name against what is expected.
func Require(t T, g Gate, name string) {
	t.Helper()
	judgements := judge.JudgeRuns(g.Runs, g.Reference)
	i := slices.IndexFunc(judgements, func(j *verdict.Judgement) bool { return j.Name == name })
	require.GreaterOrEqual(t, i, 0, "no judgement is called %s", name)
	hold(t, g.Expect, judgements[i])
}

// RequireJudgement reads a judgement that an action wrote, which the environment variable names, and
// holds it against what is expected.
func RequireJudgement(t T, getenv func(string) string, variable, name string) {
	t.Helper()
	path := getenv(variable)
	require.NotEmpty(t, path, "%s must name a judgement: run this test through gate_test (bazel test //gate:all)", variable)
	data, err := os.ReadFile(runfile(getenv, path))
	require.NoError(t, err, "%s must name a judgement", variable)
	j := &verdict.Judgement{}
	require.NoError(t, strictjson.Decode(data, j), "%s must name a judgement", variable)
	require.Equal(t, name, j.Name, "%s must name the judgement %s", variable, name)
	var expect []string
	if codes := getenv("GATE_EXPECT"); codes != "" {
		expect = strings.Split(codes, ",")
	}
	hold(t, expect, j)
}

// hold compares one judgement with what is expected of the gate.
func hold(t T, expect []string, j *verdict.Judgement) {
	t.Helper()
	t.Logf("%s: %s\n%s", j.Name, j.Verdict, Describe(j))
	if len(expect) == 0 {
		assert.Equal(t, reason.Pass, j.Verdict, "%s must pass\n%s", j.Name, Describe(j))
		return
	}
	assert.NotEqual(t, reason.Pass, j.Verdict, "%s must not pass: one of %v was expected", j.Name, expect)
	assert.True(t, slices.ContainsFunc(j.Reasons, func(r reason.Reason) bool { return slices.Contains(expect, r.Code) }),
		"%s must fail for one of %v\n%s", j.Name, expect, Describe(j))
}

// Describe lists the reasons, notes and facts of a judgement.
func Describe(j *verdict.Judgement) string {
	var b strings.Builder
	for _, r := range append(slices.Clone(j.Reasons), j.Notes...) {
		fmt.Fprintf(&b, "  %s\n", r)
		if d, ok := reason.Lookup(r.Code); ok {
			fmt.Fprintf(&b, "    %s %s\n", d.Means, d.Do)
		}
	}
	fmt.Fprintf(&b, "  facts: %v\n", j.Facts)
	return b.String()
}
