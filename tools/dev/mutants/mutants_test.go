package mutants

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

var update = flag.Bool("update", false, "write docs/mutants.md")

const document = "../../../docs/mutants.md"

// TestMutants makes every mutant and demands a refusal for the right reason.
func TestMutants(t *testing.T) {
	refused, right := 0, 0
	list := Catalogue()
	for _, m := range list {
		found, err := m.Try()
		switch {
		case err != nil && m.Code == Unreadable:
			refused, right = refused+1, right+1
		case err != nil:
			refused++
			t.Errorf("%s: refused by the reader (%v), want %s", m.ID, err, m.Code)
		case found.Verdict == reason.Pass:
			t.Errorf("%s passes: %s, made by: %s", m.ID, m.Fakes, m.Made)
		case !found.Has(m.Code):
			refused++
			t.Errorf("%s: want %s, found %v", m.ID, m.Code, found.Reasons)
		default:
			refused, right = refused+1, right+1
		}
	}
	alarms := 0
	good := Variants()
	for _, v := range good {
		g := Good()
		v.Bend(g)
		if found, err := g.Judge(); err != nil || found.Verdict != reason.Pass {
			alarms++
			t.Errorf("%s (%s) is refused: %v %+v", v.ID, v.Is, err, found)
		}
	}
	fmt.Printf("refused %d/%d, right reason %d/%d, false alarms %d/%d\n", refused, len(list), right, len(list), alarms, len(good))
}

// TestBentFacts checks that the facts which mutants bend are those of passes: unbent, nothing is wrong with them.
func TestBentFacts(t *testing.T) {
	for _, name := range []string{"contract", "parity", "markers", "canary", "contrast", "transcript"} {
		if found, err := said(name, func(map[string]any) {})(); err != nil || found.Verdict != reason.Pass {
			t.Errorf("%s, unbent: %v %v", name, err, found)
		}
	}
}

// TestCatalogue checks that every mutant is described, under an identifier of its own and a code that exists.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	name := regexp.MustCompile(`^[a-z0-9-]+$`)
	for _, m := range Catalogue() {
		if seen[m.ID] || !name.MatchString(m.ID) || m.Fakes == "" || m.Made == "" {
			t.Errorf("mutant %+v: expected an identifier of its own and a description", m)
		}
		seen[m.ID] = true
		if _, ok := reason.Lookup(m.Code); !ok && m.Code != Unreadable {
			t.Errorf("mutant %s names the code %s, which is not defined", m.ID, m.Code)
		}
	}
}

// TestDocument checks docs/mutants.md.
func TestDocument(t *testing.T) {
	if *update {
		if err := os.WriteFile(document, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), Markdown()); diff != "" {
		t.Errorf("docs/mutants.md is not current; run go test ./tools/dev/mutants -update:\n%s", diff)
	}
}
