package real

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// input is a file or folder that the build names in the environment.
func input(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s must name a file; `bazel test //tools/dev/mutants/real:real_test` does", variable)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(os.Getenv("TEST_SRCDIR"), filepath.FromSlash(path))
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func newWorld(t *testing.T) *World {
	w := &World{
		CLI:   map[string]string{},
		Small: Model{input(t, "SMALL_MODEL"), input(t, "SMALL_ENCODER")}, Speech: Model{input(t, "SPEECH_MODEL"), input(t, "SPEECH_ENCODER")},
		Evaluator: input(t, "EVALUATOR"), Audio: input(t, "AUDIO"), Pin: input(t, "PIN"), Identity: input(t, "IDENTITY"), Scratch: t.TempDir(),
	}
	for flavour, variable := range map[string]string{
		whispercpp.FlavourGGML: "CLI_GGML", "coreml": "CLI_COREML", "coreml_allow_fallback": "CLI_FALLBACK", "coreml_unpatched": "CLI_UNPATCHED",
		"coreml_allow_fallback_unpatched": "CLI_FALLBACK_UNPATCHED",
	} {
		w.CLI[flavour] = input(t, variable)
	}
	text, err := os.ReadFile(input(t, "REFERENCE"))
	if err != nil {
		t.Fatal(err)
	}
	w.Reference = string(text)
	return w
}

// TestWords tries the mutants whose words are judged.
func TestWords(t *testing.T) {
	try(t, func(m Mutant) bool { return m.Basis.words() })
}

// TestMutants tries the other mutants.
func TestMutants(t *testing.T) {
	try(t, func(m Mutant) bool { return !m.Basis.words() })
}

// try makes mutants and demands refusal for the right reason.
func try(t *testing.T, which func(Mutant) bool) {
	w := newWorld(t)
	tried, refused, right := 0, 0, 0
	for _, m := range Catalogue() {
		if !which(m) {
			continue
		}
		good(t, w, m.Basis)
		tried++
		codes, err := w.Try(t.Context(), &m)
		switch {
		case err != nil:
			t.Errorf("%s: %v", m.ID, err)
		case len(codes) == 0:
			t.Errorf("%s passes: %s, made by: %s", m.ID, m.Fakes, m.Made)
		case !slices.Contains(codes, m.Code):
			refused++
			t.Errorf("%s: want %s, found %v", m.ID, m.Code, codes)
		default:
			refused, right = refused+1, right+1
		}
	}
	if tried == 0 {
		t.Error("no mutant was tried")
	}
	fmt.Printf("refused %d/%d, right reason %d/%d\n", refused, tried, right, tried)
}

// TestVariants makes every variant and demands acceptance.
func TestVariants(t *testing.T) {
	w, alarms := newWorld(t), 0
	list := Variants()
	for _, v := range list {
		good(t, w, v.Basis)
		back := func() {}
		if v.Around != nil {
			var err error
			if back, err = v.Around(); err != nil {
				t.Fatal(err)
			}
		}
		reasons, err := w.Accept(t.Context(), &v)
		back()
		if err != nil || len(reasons) > 0 {
			alarms++
			t.Errorf("%s (%s) is refused: %v %+v", v.ID, v.Is, err, reasons)
		}
	}
	fmt.Printf("false alarms %d/%d\n", alarms, len(list))
}

// good makes the good gate of a basis, where a mutant would hide why it cannot be made.
func good(t *testing.T, w *World, basis Basis) {
	t.Helper()
	if _, err := w.Good(t.Context(), basis); err != nil {
		t.Fatalf("a good gate cannot be made: %v", err)
	}
}

// TestCatalogue checks that every mutant and variant is described, under an identifier of its own and a code that exists.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	name := regexp.MustCompile(`^real-[a-z0-9-]+$`)
	for _, m := range Catalogue() {
		if seen[m.ID] || !name.MatchString(m.ID) || m.Fakes == "" || m.Made == "" || (m.Bend == nil) == (m.Give == nil) || (m.Bend == nil) != (len(m.Sides) == 0) {
			t.Errorf("mutant %+v: expected an identifier of its own, a description, and runs that are bent or exchanged", m)
		}
		seen[m.ID] = true
		if _, ok := reason.Lookup(m.Code); !ok && m.Code != Refused {
			t.Errorf("mutant %s names the code %s, which is not defined", m.ID, m.Code)
		}
	}
	for _, v := range Variants() {
		if seen[v.ID] || !name.MatchString(v.ID) || v.Is == "" || (v.Bend == nil) != (len(v.Sides) == 0) {
			t.Errorf("variant %+v: expected an identifier of its own and a description", v)
		}
		seen[v.ID] = true
	}
}
