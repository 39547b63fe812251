package judgements

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

var update = flag.Bool("update", false, "write the Starlark table")

const starlark = "../../../gate/private/judgements.bzl"

// TestStarlark holds that the table which macro and rules read is this one.
func TestStarlark(t *testing.T) {
	var b strings.Builder
	b.WriteString(`"""The judgements of a gate, by name. Written from tools/base/judgements: go test ./tools/base/judgements -update."""

visibility("//gate/...")

JUDGEMENTS = {
`)
	for _, k := range slices.SortedFunc(slices.Values(All), func(a, b Kind) int { return strings.Compare(a.Name, b.Name) }) {
		fmt.Fprintf(&b, "    %q: struct(\n        demand = %q,\n        says = %q,\n        source = %q,\n    ),\n", k.Name, k.Demand, k.Says, k.Source)
	}
	b.WriteString("}\n")
	if *update {
		if err := os.WriteFile(starlark, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(starlark)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not the table of tools/base/judgements: run go test ./tools/base/judgements -update", starlark)
	}
}

// TestDocumented holds that docs/receipt.md has the table of judgements.
func TestDocumented(t *testing.T) {
	const path = "../../../docs/receipt.md"
	made := map[Source]string{Runs: "`gate_judge`, from the runs", Rule: "a rule of its own", Receipt: "the receipt"}
	demand := map[Demand]string{Always: "always", Gate: "of a `coreml_encoder_gate`", Asked: "where recordings are given", Extra: "where a gate asks for it"}
	var rows strings.Builder
	for _, k := range All {
		var about []string
		for _, fact := range k.About {
			if k.Source != Runs || !strings.HasSuffix(fact, "evidence_sha256") && fact != verdict.FactReference {
				about = append(about, "`"+fact+"`")
			}
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s | %s |\n", k.Name, k.Says, made[k.Source], demand[k.Demand], strings.Join(about, ", "))
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const head = "|---|---|---|---|---|\n"
	before, rest, _ := strings.Cut(string(page), head)
	_, after, ok := strings.Cut(rest, "\n\n")
	if !ok {
		t.Fatalf("%s has no table of five columns", path)
	}
	want := before + head + rows.String() + "\n" + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Errorf("%s does not list the judgements as they are registered: run go test ./tools/base/judgements -update", path)
	}
}

// TestTable holds that each judgement is whole and stands there once.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range All {
		if seen[k.Name] || k.Name == "" || k.Says == "" {
			t.Errorf("%+v: expected a name of its own, and what a pass says", k)
		}
		seen[k.Name] = true
		if none := k.Source == Receipt; none != (len(k.About) == 0) {
			t.Errorf("%s: a judgement of source %s has facts %v: all but a receipt's own say what they are about", k.Name, k.Source, k.About)
		}
		if !slices.Contains([]Source{Runs, Rule, Receipt}, k.Source) || !slices.Contains([]Demand{Always, Gate, Asked, Extra}, k.Demand) {
			t.Errorf("%s: source %q, demand %q: expected known ones", k.Name, k.Source, k.Demand)
		}
	}
	if k, ok := Lookup(Canary); !ok || k.Name != Canary {
		t.Errorf("Lookup(%s) is %+v, %v", Canary, k, ok)
	}
	if _, ok := Lookup(""); ok {
		t.Error("Lookup finds a judgement without a name")
	}
}

// TestFacts holds that each list of facts is whole: keys of their own, values that its type can have, and words for a reader.
func TestFacts(t *testing.T) {
	lists := map[string][]Fact{"toolchain": Toolchain}
	for lane, list := range Identity {
		lists["lane_identity, "+lane] = list
	}
	for _, k := range All {
		lists[k.Name] = k.Facts
		for _, about := range k.About {
			if f := k.Fact(about); f == nil || f.In != Must {
				t.Errorf("%s: the fact %s, by which it says what it is about, is none that every pass has", k.Name, about)
			}
		}
	}
	for name, list := range lists {
		seen := map[string]bool{}
		for _, f := range list {
			number, texts := f.Type == Count || f.Type == Number, len(f.Values) > 0 || f.Form != nil
			if seen[f.Key] || f.Says == "" || number == texts && f.Type != Truth || number && f.Least > f.Most || strings.Contains(f.Says+f.Also+f.Expected(), "|") {
				t.Errorf("%s: %+v: expected a key of its own, words for a reader, and either a range or values", name, f)
			}
			seen[f.Key] = true
		}
	}
}

// TestFactsPage holds that docs/facts.md has the lists.
func TestFactsPage(t *testing.T) {
	const path = "../../../docs/facts.md"
	want := Markdown()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(path); err != nil || string(page) != want {
		t.Errorf("%s does not list the facts as they are registered (%v): run go test ./tools/base/judgements -update", path, err)
	}
}

// TestWriters holds that the rules which write lane identities and toolchains write the members that are listed, and no other.
func TestWriters(t *testing.T) {
	for _, w := range []struct {
		path, from, to string
		list           []Fact
	}{
		{"emulated_identity.bzl", "identity = {", "output =", Identity["emulated"]},
		{"core_ml_identity.bzl", "IDENTITY_FIELDS = {", "fail(identity_with_hole", Identity["physical"]},
		{"repo/core_ml_host_repo.bzl", "def _mac_identity", "def _core_ml_host_repo_impl", Identity["physical"]},
		{"gate_receipt.bzl", "def _toolchain(ctx)", "def _toolchain_programs", Toolchain[:4]},
	} {
		text, err := os.ReadFile("../../../gate/private/" + w.path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), w.from)
		part, _, ok := strings.Cut(rest, w.to)
		if !ok {
			t.Fatalf("%s: nothing between %q and %q", w.path, w.from, w.to)
		}
		var found, want []string
		for _, m := range regexp.MustCompile(`"([a-z_]+)"(?:: |\] = )`).FindAllStringSubmatch(part, -1) {
			found = append(found, m[1])
		}
		for _, f := range w.list {
			want = append(want, f.Key)
		}
		slices.Sort(found)
		slices.Sort(want)
		if found = slices.Compact(found); !slices.Equal(found, want) {
			t.Errorf("%s writes %q, the list has %q", w.path, found, want)
		}
	}
}
