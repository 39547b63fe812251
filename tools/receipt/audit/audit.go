// Package audit rebuilds what a receipt is about, with Bazel in an output base of its own, and says
// for each difference what it is.
//
// The rebuilt receipt is compared member by member with the audited one. A program that differs is
// compared section by section where the original is at hand (package bindiff). An encoder that differs
// is a new artifact, since Apple's compiler may not be deterministic: it is compared by program,
// weights and numbers, and the old receipt never covers it.
package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/bindiff"
)

// Reasons are the codes of this package.
var Reasons = reason.Table{
	{Code: "REBUILT_DIFFERS", Class: reason.Fail, Means: "Building the same sources again gave another whisper-cli or another model than the receipt binds.", Do: "See which section differs: a path, a date or a build id says what is not reproducible; code says that something else was compiled."},
	{Code: "ENCODER_REBUILT_DIFFERS", Class: reason.Inconclusive, Means: "The encoder, compiled again, is another artifact than the one that the receipt binds. Apple's compiler may not be deterministic.", Do: "Ship the encoder that was gated, or gate the new one: the old receipt never covers it."},
	{Code: "AUDIT_INPUT_DIFFERS", Class: reason.Fail, Means: "The checkout that was built is not what the receipt was made from: another pin, patch, manifest, policy or fixture.", Do: "Check out the revision that the receipt was made from, and choose its pin."},
	{Code: "AUDIT_TOOLCHAIN_DIFFERS", Class: reason.Inconclusive, Means: "The toolchain of this machine is not the one that the receipt names, so a difference proves nothing.", Do: "Audit with the compiler that the receipt names (--config=hermetic pins one)."},
	{Code: "AUDIT_LANE_DIFFERS", Class: reason.Inconclusive, Means: "This machine builds another lane, or another identity of it, than the receipt's.", Do: "Audit on a machine of the receipt's lane."},
	{Code: "AUDIT_EVIDENCE_DIFFERS", Class: reason.Fail, Means: "The same program with the same inputs left other evidence.", Do: "coregate diff shows what; on the emulated lane evidence repeats byte for byte."},
	{Code: "AUDIT_VERDICT_DIFFERS", Class: reason.Fail, Means: "Judged again, the gate has another verdict or other grounds.", Do: "coregate diff shows what changed."},
	{Code: "ORIGINAL_MISMATCH", Class: reason.Refuse, Means: "A file that was given as the original is not the one that the receipt binds, so comparing with it would explain nothing.", Do: "Give the file that was gated."},
}

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
	Verdict reason.Verdict     `json:"verdict"`
	Reasons []reason.Reason    `json:"reasons"`
	Notes   []reason.Reason    `json:"notes"`
	Changes []statement.Change `json:"changes"`
	// Program explains a program that differs, Encoder an encoder that does.
	Program []bindiff.Difference `json:"program"`
	Encoder []string             `json:"encoder"`
	Facts   map[string]any       `json:"facts"`
}

func (r *Result) add(code, where, expected, found string, args ...any) {
	r.Reasons = append(r.Reasons, reason.Errorf(code, where, expected, found, args...).Reason)
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
		if want := q.Receipt.Subject[0].Digest["sha256"]; sum != want {
			return reason.Errorf("ORIGINAL_MISMATCH", q.CLI, want, "%s", sum)
		}
	}
	if q.Encoder != "" {
		sum, err := tree.Digest(q.Encoder)
		if err != nil {
			return err
		}
		if want := q.Receipt.Subject[2].Digest["sha256"]; sum != want {
			return reason.Errorf("ORIGINAL_MISMATCH", q.Encoder, want, "%s", sum)
		}
	}
	return nil
}

// Compare holds a rebuilt receipt against the audited one. spec names the rebuilt files.
func Compare(q Request, rebuilt *statement.Statement, spec *statement.Spec) (*Result, error) {
	r := &Result{
		Reasons: []reason.Reason{}, Notes: []reason.Reason{}, Program: []bindiff.Difference{}, Encoder: []string{}, Facts: map[string]any{},
		Changes: append([]statement.Change{}, statement.Diff(q.Receipt.Unsealed(), rebuilt)...),
	}
	sums := map[string]string{}
	for i, name := range []string{"whisper-cli", "model", "encoder"} {
		sums[name] = rebuilt.Subject[i].Digest["sha256"]
		r.Facts["rebuilt_"+strings.ReplaceAll(name, "-", "_")] = sums[name]
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
	r.Verdict = Reasons.Verdict(r.Reasons)
	return r, nil
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
		r.add("ENCODER_REBUILT_DIFFERS", c.What, c.From, "%s", c.To)
	case kind == "subject":
		r.add("REBUILT_DIFFERS", c.What, c.From, "%s", c.To)
	case kind == "lane":
		r.add("AUDIT_LANE_DIFFERS", c.What, c.From, "%s", c.To)
	case kind == "toolchain":
		r.add("AUDIT_TOOLCHAIN_DIFFERS", c.What, c.From, "%s", c.To)
	case kind == "pin", kind == "patch", kind == "policy", kind == "flavour", kind == "required",
		kind == "material" && !strings.Contains(c.What, "whisper-cli") && !strings.Contains(c.What, "gate_evaluator"):
		r.add("AUDIT_INPUT_DIFFERS", c.What, c.From, "%s", c.To)
	case kind == "material":
		r.add("REBUILT_DIFFERS", c.What, c.From, "%s", c.To)
	case kind == "evidence" && !r.explained():
		r.add("AUDIT_EVIDENCE_DIFFERS", c.What, c.From, "%s", c.To)
	case (kind == "verdict" || kind == "judgement") && !r.explained():
		r.add("AUDIT_VERDICT_DIFFERS", c.What, c.From, "%s", c.To)
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
	a, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(rebuilt)
	if err != nil {
		return fmt.Errorf("read the rebuilt program: %w", err)
	}
	r.Program = bindiff.Compare(a, b)
	return nil
}

// readSpec reads the spec beside a built receipt and makes its paths absolute.
func readSpec(path, root string) (*statement.Spec, error) {
	data, err := os.ReadFile(path)
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
