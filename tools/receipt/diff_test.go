package receipt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/receipttest"
)

func statement(t *testing.T, w *receipttest.World) *receipt.Statement {
	t.Helper()
	s, err := receipt.Decode(w.Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDiff holds that changes come in the order of importance, and that there are none without a change.
func TestDiff(t *testing.T) {
	w := receipttest.New(t)
	before := statement(t, w)
	if got := receipt.Diff(before, statement(t, receipttest.New(t))); len(got) != 0 {
		t.Errorf("equal receipts differ: %v", got)
	}
	w.Canary.Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: 6}
	w.File(t, "ggml-model-encoder.mlmodelc/weights/weight.bin", "other weights")
	w.Spec.Toolchain["compiler"] = "gcc"
	w.Write(t)
	got := receipt.Diff(before, statement(t, w))
	var what []string
	for _, c := range got {
		what = append(what, c.What)
	}
	want := []string{
		"verdict", "subject ggml-model-encoder.mlmodelc", "encoder file weights/weight.bin",
		"judgement binding", "judgement canary", "judgement markers", "judgement transcript",
		"toolchain compiler", "evidence canary", "fact canary.exit",
	}
	if diff := cmp.Diff(want, what); diff != "" {
		t.Errorf("changes differ (-want +got):\n%s", diff)
	}
	first := receipt.Change{Rank: 0, What: "verdict", From: "pass", To: "fail"}
	if diff := cmp.Diff(first, got[0]); diff != "" {
		t.Errorf("the first change differs (-want +got):\n%s", diff)
	}
}
