// Package audit rebuilds what a receipt is about, with Bazel in an output base of its own, and says
// for each difference what it is.
//
// The rebuilt receipt is compared member by member with the audited one. A program that differs is
// compared section by section where the original is at hand (package bindiff). An encoder that differs
// is a new artifact, since Apple's compiler may not be deterministic: it is compared by program,
// weights and numbers, and the old receipt never covers it.
package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/bindiff"
)

// Request says what to audit and with what.
type Request struct {
	Receipt *statement.Statement
	// Workspace is a checkout of the gate's repository.
	Workspace string
	// Target is the label of the receipt, the receipt's own name if empty.
	Target string
	// Bazel is the program to build with, and Flags what is added to its build command.
	Bazel string
	Flags []string
	// OutputBase is a new directory for the build; a temporary one, removed afterwards, if empty.
	OutputBase string
	// CLI and Encoder are the gated originals, if at hand, to explain differences with.
	CLI, Encoder string
	// Log takes Bazel's messages.
	Log *os.File
}

// Result is what an audit found.
type Result struct {
	verdict.Findings
	Changes []statement.Change `json:"changes"`
	// Program explains a program that differs, Encoder an encoder that does.
	Program []bindiff.Difference `json:"program"`
	Encoder []string             `json:"encoder"`
	Facts   map[string]any       `json:"facts"`
}

// Run rebuilds and compares. An error means that the audit could not be made.
func Run(ctx context.Context, q Request) (*Result, error) {
	if err := checkOriginals(q); err != nil {
		return nil, err
	}
	built, err := rebuild(ctx, q)
	if err != nil {
		return nil, err
	}
	defer built.close(ctx)
	return Compare(q, built.statement, built.spec)
}

// checkOriginals refuses originals that the receipt does not bind.
func checkOriginals(q Request) error {
	if q.CLI != "" {
		sum, _, err := tree.HashFile(q.CLI)
		if err != nil {
			return err
		}
		if want := q.Receipt.Digest(statement.SubjectCLI); sum != want {
			return reason.Errorf(reason.OriginalMismatch, q.CLI, want, "%s", sum)
		}
	}
	if q.Encoder != "" {
		sum, err := tree.Digest(q.Encoder)
		if err != nil {
			return err
		}
		if want := q.Receipt.Digest(statement.SubjectEncoder); sum != want {
			return reason.Errorf(reason.OriginalMismatch, q.Encoder, want, "%s", sum)
		}
	}
	return nil
}

// Compare holds a rebuilt receipt against the audited one. spec names the rebuilt files.
func Compare(q Request, rebuilt *statement.Statement, spec *statement.Spec) (*Result, error) {
	r := &Result{
		Findings: verdict.New(), Program: []bindiff.Difference{}, Encoder: []string{}, Facts: map[string]any{},
		Changes: append([]statement.Change{}, statement.Diff(q.Receipt.Unsealed(), rebuilt)...),
	}
	for fact, subject := range map[string]string{"whisper_cli": statement.SubjectCLI, "model": statement.SubjectModel, "encoder": statement.SubjectEncoder} {
		r.Facts["rebuilt_"+fact] = rebuilt.Digest(subject)
	}
	for _, c := range r.Changes {
		r.classify(c)
	}
	if changed(r.Changes, "subject "+statement.SubjectCLI) && q.CLI != "" {
		if err := r.explainProgram(q.CLI, spec.CLI); err != nil {
			return nil, err
		}
	}
	if changed(r.Changes, "subject "+statement.SubjectEncoder) && q.Encoder != "" {
		r.Encoder = compareEncoders(q.Encoder, spec.Encoder, spec.Model)
	}
	r.unequal(q, rebuilt)
	return r, nil
}

// unequal fails an audit of the emulated lane that no other reason fails: there the same inputs give the same bytes, so
// whatever differs has a cause.
func (r *Result) unequal(q Request, rebuilt *statement.Statement) {
	if q.Receipt.Predicate.Lane != evidence.LaneEmulated || r.Verdict != reason.Pass {
		return
	}
	for _, c := range r.Changes {
		r.Add(reason.AuditDiffers, c.What, c.From, c.To)
	}
	a, err1 := strictjson.Canonical(q.Receipt.Unsealed())
	b, err2 := strictjson.Canonical(rebuilt)
	if err1 != nil || err2 != nil || len(r.Changes) == 0 && !bytes.Equal(a, b) {
		r.Add(reason.AuditDiffers, "receipt", "the same bytes", "others")
	}
}

func changed(changes []statement.Change, what string) bool {
	for _, c := range changes {
		if c.What == what {
			return true
		}
	}
	return false
}

// classify gives a change its reason. What follows from another change (a run of another program has
// other evidence) gets none of its own.
func (r *Result) classify(c statement.Change) {
	kind, _, _ := strings.Cut(c.What, " ")
	switch {
	case c.What == "subject "+statement.SubjectEncoder:
		r.Add(reason.EncoderRebuiltDiffers, c.What, c.From, c.To)
	case kind == "subject":
		r.Add(reason.RebuiltDiffers, c.What, c.From, c.To)
	case kind == "lane":
		r.Add(reason.AuditLaneDiffers, c.What, c.From, c.To)
	case kind == "toolchain":
		r.Add(reason.AuditToolchainDiffers, c.What, c.From, c.To)
	case kind == "pin", kind == "patch", kind == "policy", kind == "flavour", kind == "required",
		kind == "material" && !strings.Contains(c.What, "whisper-cli") && !strings.Contains(c.What, "gate_evaluator"):
		r.Add(reason.AuditInputDiffers, c.What, c.From, c.To)
	case kind == "material":
		r.Add(reason.RebuiltDiffers, c.What, c.From, c.To)
	case kind == "evidence" && !r.explained():
		r.Add(reason.AuditEvidenceDiffers, c.What, c.From, c.To)
	case (kind == "verdict" || kind == "judgement") && !r.explained():
		r.Add(reason.AuditVerdictDiffers, c.What, c.From, c.To)
	}
}

// explained says that something else differs from which other evidence follows.
func (r *Result) explained() bool {
	for _, c := range r.Changes {
		kind, _, _ := strings.Cut(c.What, " ")
		switch kind {
		case "subject", "lane", "material", "pin", "flavour":
			return true
		}
	}
	return false
}

func (r *Result) explainProgram(original, rebuilt string) error {
	a, err := regular.ReadFile(original)
	if err != nil {
		return err
	}
	b, err := regular.ReadFile(rebuilt)
	if err != nil {
		return fmt.Errorf("read the rebuilt program: %w", err)
	}
	r.Program = bindiff.Compare(a, b)
	return nil
}

// readSpec reads the spec beside a built receipt and makes its paths absolute.
func readSpec(path, root string) (*statement.Spec, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the rebuilt receipt's spec: %w", err)
	}
	s := &statement.Spec{}
	if err := strictjson.Decode(data, s); err != nil {
		return nil, fmt.Errorf("the rebuilt receipt's spec: %w", err)
	}
	for _, p := range []*string{&s.CLI, &s.Encoder, &s.Model} {
		*p = filepath.Join(root, *p)
	}
	return s, nil
}
