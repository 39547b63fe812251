package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rule is one thing that packages must not do.
type rule struct {
	// of names the packages that it is about, by their path below the module; "x/..." means x and below.
	of []string
	// but are packages of these that it is not about.
	but []string
	// only are all of our packages that they may depend on; nil for no such limit.
	only []string
	// never are packages that they must not depend on, however indirectly.
	never []string
	why   string
}

// rules are the directions of the groups first (ARCHITECTURE.md), then of packages within them. The message of a
// rule says where the code belongs instead.
var rules = []rule{
	{of: []string{"tools/base/..."}, only: []string{"tools/base/..."}, why: "base is what every group stands on and imports no other; what needs more belongs in the group that it is about"},
	{of: []string{"tools/encoder/..."}, only: []string{"tools/encoder/...", "tools/upstream/whispercpp", "tools/base/..."}, why: "encoder reads models and computes numbers; what a run shows belongs in tools/run, what is bound in tools/receipt"},
	{of: []string{"tools/upstream/..."}, only: []string{"tools/upstream/...", "tools/base/..."}, why: "upstream says what was built from what; what a run shows belongs in tools/run"},
	{of: []string{"tools/run/..."}, only: []string{"tools/run/...", "tools/upstream/...", "tools/base/..."}, why: "run is one execution and what it proves; words belong in tools/words, receipts in tools/receipt"},
	{of: []string{"tools/words/..."}, only: []string{"tools/words/...", "tools/run/...", "tools/upstream/...", "tools/base/..."}, why: "words compares what runs heard; what is bound belongs in tools/receipt"},
	{of: []string{"tools/..."}, but: []string{"tools/dev/..."}, never: []string{"tools/dev/..."}, why: "dev works on this repository alone; what the product needs belongs in one of its groups"},
	{of: []string{"tools/..."}, but: []string{"tools/coregate", "tools/actions/...", "tools/dev/..."}, never: []string{"tools/coregate", "tools/actions/..."}, why: "commands are thin and imported by no one; what two need belongs in the group that it is about"},

	{of: []string{"tools/encoder/ggml/..."}, only: []string{"tools/encoder/ggml/...", "tools/base/half"}, why: "it reads model files and imports nothing of ours but the numbers of float16"},
	{of: []string{"tools/encoder/mil/..."}, only: []string{"tools/encoder/mil/...", "tools/base/half"}, why: "it reads, writes and evaluates programs and imports nothing of ours but the numbers of float16"},
	{of: []string{"tools/encoder/probe/..."}, only: []string{"tools/encoder/probe/...", "tools/base/strictjson", "tools/base/coremlprobe"}, why: "it runs a program and reads its report, and judges nothing"},
	{of: []string{"tools/encoder/reference/..."}, never: []string{"tools/encoder/mil/..."}, why: "it is the second, independent reference, and shares no code with the evaluator"},
	{of: []string{"tools/upstream/whispercpp/..."}, only: []string{"tools/upstream/whispercpp/..."}, why: "it states what is true of upstream at the pin and imports nothing of ours"},
	{of: []string{"tools/run/runner", "tools/run/evidence/..."}, never: []string{"tools/run/judge"}, why: "it records what happened and has no opinion"},
	{of: []string{"tools/run/measure/..."}, never: []string{"tools/run/judge", "tools/run/runner"}, why: "it says what a run cost, which no judgement reads; the runner asks it before a run, and not the other way round"},
	{of: []string{"tools/run/judge"}, never: []string{"tools/run/runner"}, why: "a judgement is a pure function of evidence"},
	{of: []string{"tools/run/placement", "tools/run/placement/computeplan", "tools/run/placement/trace", "tools/run/placement/power"}, never: []string{"tools/run/placement/reading", "tools/run/runner"}, why: "they read what instruments wrote, and start nothing"},
	{of: []string{"tools/receipt/statement"}, never: []string{"tools/run/runner", "tools/receipt/envelope", "tools/receipt/verify"}, why: "a receipt is written in a build and signed outside it"},
}

// data are packages that only embed files which Bazel rules read too. Every group may import them.
var data = []string{"gate/policy", "patches", "third_party/...", "testdata/..."}

// matches says whether a package is one of the patterns.
func matches(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if below, ok := strings.CutSuffix(pattern, "/..."); ok {
			return pkg == below || strings.HasPrefix(pkg, below+"/")
		}
		return pkg == pattern
	})
}

// check holds an import graph against the rules and returns what is wrong, sorted.
func check(imports map[string][]string) []string {
	var wrong []string
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		for _, r := range rules {
			if !matches(pkg, r.of) || matches(pkg, r.but) {
				continue
			}
			for _, dep := range reach(imports, pkg) {
				if matches(dep, r.never) || r.only != nil && !matches(dep, r.only) && !matches(dep, data) {
					wrong = append(wrong, fmt.Sprintf("%s depends on %s: %s", pkg, dep, r.why))
				}
			}
		}
	}
	return wrong
}

// reach lists what a package depends on, directly or not.
func reach(imports map[string][]string, pkg string) []string {
	seen := map[string]bool{}
	var walk func(string)
	walk = func(p string) {
		for _, dep := range imports[p] {
			if !seen[dep] {
				seen[dep] = true
				walk(dep)
			}
		}
	}
	walk(pkg)
	return slices.Sorted(maps.Keys(seen))
}

// unused lists rules that are about no package: a package that was renamed would escape its rule.
func unused(imports map[string][]string) []string {
	var out []string
	for _, r := range rules {
		for _, pattern := range r.of {
			found := false
			for pkg := range imports {
				found = found || matches(pkg, []string{pattern})
			}
			if !found {
				out = append(out, fmt.Sprintf("no package matches %s: rename it in tools/dev/layers too", pattern))
			}
		}
	}
	return out
}
