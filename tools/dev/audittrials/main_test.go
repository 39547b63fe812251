package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/bindiff"
)

// TestFound bends what an audit that found a changed flag says: each is not what the check takes.
func TestFound(t *testing.T) {
	flag := changes[1]
	for _, c := range []struct {
		name string
		bend func(r *audit.Result)
		says string
	}{
		{"as it must be", func(*audit.Result) {}, ""},
		{"pass", func(r *audit.Result) { r.Verdict = reason.Pass }, "the audit says pass"},
		{"one program only", func(r *audit.Result) { r.Reasons = r.Reasons[:1] }, "both programs"},
		{"something else too", func(r *audit.Result) {
			r.AddReason(reason.Reason{Code: "AUDIT_INPUT_DIFFERS", Where: "pin"})
		}, "both programs"},
		{"no section", func(r *audit.Result) { r.Program = nil }, "code to differ in .text"},
		{"another section", func(r *audit.Result) { r.Program[0].Section = ".comment" }, "code to differ in .text"},
	} {
		r := &audit.Result{
			Findings: verdict.From(reason.Reason{Code: "REBUILT_DIFFERS", Where: "subject " + statement.SubjectCLI}, reason.Reason{Code: "REBUILT_DIFFERS", Where: "material " + statement.MaterialContrastCLI}),
			Program:  []bindiff.Difference{{Section: ".text", What: bindiff.Code}},
		}
		c.bend(r)
		_, err := found(flag, r)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// TestRefused holds that a build which failed for another reason is not taken for a refusal.
func TestRefused(t *testing.T) {
	patch := changes[2]
	failed := errors.New("exit status 1")
	const log = "ERROR: patch //patches:whisper_batch_zero_init.patch of pin x: expected SHA-256 a, found b\n"
	if _, err := refused(patch, failed, log); err != nil {
		t.Error(err)
	}
	if _, err := refused(patch, nil, ""); err == nil {
		t.Error("a build of an edited patch is taken")
	}
	if _, err := refused(patch, failed, "ERROR: no space left on device\n"); err == nil {
		t.Error("a full disk is taken for a refusal")
	}
}

// TestChanges holds that each change can still be made in this tree.
func TestChanges(t *testing.T) {
	for _, x := range changes {
		data, err := os.ReadFile(filepath.Join("../../..", x.file))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "copy")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := edit(path, x.from, x.to); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		if err := edit(path, "nothing like this", ""); err == nil {
			t.Error("an edit that changes nothing is taken")
		}
	}
}
