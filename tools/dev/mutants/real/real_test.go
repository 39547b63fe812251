package real

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// atOnce is how many mutants run at the same time; each run has one thread.
const atOnce = 2

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

// TestReal makes every variant and every mutant, and demands acceptance and refusal for the right reason.
func TestReal(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	for _, words := range []bool{false, true} {
		if _, err := w.Good(ctx, words); err != nil {
			t.Fatalf("a good gate cannot be made: %v", err)
		}
	}
	alarms := 0
	good := Variants()
	for _, v := range good {
		back := func() {}
		if v.Around != nil {
			var err error
			if back, err = v.Around(); err != nil {
				t.Fatal(err)
			}
		}
		reasons, err := w.Accept(ctx, &v)
		back()
		if err != nil || len(reasons) > 0 {
			alarms++
			t.Errorf("%s (%s) is refused: %v %+v", v.ID, v.Is, err, reasons)
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	refused, right := 0, 0
	list := Catalogue()
	slots := make(chan struct{}, atOnce)
	for _, m := range list {
		slots <- struct{}{}
		wg.Go(func() {
			codes, err := w.Try(ctx, &m)
			<-slots
			mu.Lock()
			defer mu.Unlock()
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
		})
	}
	wg.Wait()
	fmt.Printf("refused %d/%d, right reason %d/%d, false alarms %d/%d\n", refused, len(list), right, len(list), alarms, len(good))
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
