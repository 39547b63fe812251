package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// TestX17 holds that neither what a run heard nor what a model says of itself reaches a terminal as anything but text.
func TestX17(t *testing.T) {
	const hostile = "ask not\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\u200b"
	w := gatefixture.New(t)
	evidencetest.SetStreams(w.CoreML, evidencetest.Stderr(evidence.KindCoreML), hostile+"\n::error::x\n")
	w.Contract.Add(reason.PairingAbsent, "tensor "+hostile, "the model's", hostile+"\n::error::x")
	w.Write(t)
	path := w.File(t, "receipt.json", string(w.Receipt(t)))
	env := map[string]string{"GATE_RECEIPT": path, "GATE_EVIDENCE_COREML": w.Spec.CoreML, "GATE_EVIDENCE_CONTRAST": w.Spec.Contrast}
	var out, errs bytes.Buffer
	if code := run(func(name string) string { return env[name] }, &out, &errs); code != 1 || errs.Len() > 0 {
		t.Fatalf("exit %d, %s", code, errs.String())
	}
	text := out.String()
	if i := strings.IndexFunc(text, func(r rune) bool { return reason.Hidden(r) && r != '\n' }); i >= 0 {
		t.Errorf("%q reaches the terminal", text[i:min(len(text), i+12)])
	}
	if strings.Contains(text, "\n::error") || !strings.Contains(text, "ask not") {
		t.Errorf("a line of its own, or no words:\n%s", text)
	}
}
