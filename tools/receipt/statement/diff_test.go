package statement_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

func decoded(t *testing.T, w *gatefixture.World) *statement.Statement {
	t.Helper()
	s, err := statement.Decode(w.Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDiff holds that changes come in the order of importance, and that there are none without a change.
func TestDiff(t *testing.T) {
	w := gatefixture.New(t)
	before := decoded(t, w)
	if got := statement.Diff(before, decoded(t, gatefixture.New(t))); len(got) != 0 {
		t.Errorf("equal receipts differ: %v", got)
	}
	w.Canary.Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: 6}
	w.File(t, "ggml-model-encoder.mlmodelc/weights/weight.bin", "other weights")
	w.Spec.Toolchain["compiler"] = "gcc"
	w.Write(t)
	got := statement.Diff(before, decoded(t, w))
	var what []string
	for _, c := range got {
		what = append(what, c.What)
	}
	want := []string{
		"verdict", "subject ggml-model-encoder.mlmodelc", "encoder file weights/weight.bin",
		"judgement binding", "judgement canary", "judgement contract", "judgement markers", "judgement parity", "judgement transcript",
		"toolchain compiler", "evidence canary", "fact canary.exit",
	}
	if diff := cmp.Diff(want, what); diff != "" {
		t.Errorf("changes differ (-want +got):\n%s", diff)
	}
	first := statement.Change{Rank: 0, What: "verdict", From: "pass", To: "fail"}
	if diff := cmp.Diff(first, got[0]); diff != "" {
		t.Errorf("the first change differs (-want +got):\n%s", diff)
	}
}

// TestDiffSmall holds that two receipts which are not the same bytes are not called the same.
func TestDiffSmall(t *testing.T) {
	failing := func() *statement.Statement {
		w := gatefixture.New(t)
		w.Canary.Exit.Code = 0
		w.Write(t)
		return decoded(t, w)
	}
	passing := func() *statement.Statement { return decoded(t, gatefixture.New(t)) }
	for _, c := range []struct {
		name   string
		of     func() *statement.Statement
		change func(p *statement.Predicate)
		what   string
	}{
		{"what a reason found", failing, func(p *statement.Predicate) { p.Judgements[3].Reasons[0].Found = "exit 139" }, "judgement grounds canary"},
		{"a note", passing, func(p *statement.Predicate) {
			p.Judgements[0].Notes = append(p.Judgements[0].Notes, reason.Reason{Code: "EMULATED_UNITS"})
		}, "fact notes of binding"},
		{"a judgement's policy", failing, func(p *statement.Predicate) { p.Judgements[0].Policy = &verdict.PolicyRef{Name: "mine"} }, "fact policy of binding"},
		{"the tree of the pin", passing, func(p *statement.Predicate) { p.Pin.Tree = strings.Repeat("0", 40) }, "pin tree"},
		{"a size", passing, func(p *statement.Predicate) { p.EncoderFiles[0].Size++ }, "other members"},
		{"an order", passing, func(p *statement.Predicate) { slices.Reverse(p.Judgements) }, "other members"},
		{"the patch's label", passing, func(p *statement.Predicate) { p.Pin.Patch.Label = "//x" }, "other members"},
	} {
		a, b := c.of(), c.of()
		c.change(&b.Predicate)
		if got := statement.Diff(a, b); len(got) != 1 || got[0].What != c.what {
			t.Errorf("%s: %v, want %q", c.name, got, c.what)
		}
	}
}
