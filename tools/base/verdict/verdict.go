// Package verdict holds what a judgement is and how one is reached: findings are added one by one, and the verdict
// follows from their codes (package reason). Every program that judges uses these types; there is no second set.
package verdict

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Findings are a verdict and its grounds. The zero value has no verdict, which is not a pass: begin with [New].
type Findings struct {
	Verdict reason.Verdict  `json:"verdict"`
	Reasons []reason.Reason `json:"reasons"`
	// Notes are findings that change no verdict.
	Notes []reason.Reason `json:"notes"`
}

// New is findings of nothing yet: a pass, until a reason is added.
func New() Findings {
	return Findings{Verdict: reason.Pass, Reasons: []reason.Reason{}, Notes: []reason.Reason{}}
}

// From is the findings over reasons of any class.
func From(reasons ...reason.Reason) Findings {
	f := New()
	f.AddAll(reasons)
	return f
}

// Add adds a finding of a code and draws the verdict again.
func (f *Findings) Add(code, where, expected, found string) {
	f.AddReason(reason.Reason{Code: code, Expected: expected, Found: found, Where: where})
}

// Addf is [Findings.Add] with a format for what was found.
func (f *Findings) Addf(code, where, expected, found string, args ...any) {
	f.Add(code, where, expected, fmt.Sprintf(found, args...))
}

// AddReason adds a finding, to the notes if its code is a note's, and draws the verdict again. Its texts may quote what
// was judged: they are made visible here, before a receipt or a terminal has them.
func (f *Findings) AddReason(r reason.Reason) {
	r.Expected, r.Found, r.Where = reason.Visible(r.Expected), reason.Visible(r.Found), reason.Visible(r.Where)
	if reason.IsNote(r.Code) {
		f.Notes = append(f.Notes, r)
		return
	}
	f.Reasons = append(f.Reasons, r)
	f.Verdict = reason.VerdictOf(f.Reasons)
}

// AddAll adds findings in their order.
func (f *Findings) AddAll(reasons []reason.Reason) {
	for _, r := range reasons {
		f.AddReason(r)
	}
}

// Has says whether one of the codes is among the reasons.
func (f *Findings) Has(codes ...string) bool {
	for _, r := range f.Reasons {
		for _, code := range codes {
			if r.Code == code {
				return true
			}
		}
	}
	return false
}

// PolicyRef names the policy that a judgement went by.
type PolicyRef struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Judgement is one verdict and its grounds. Its JSON form is what --json prints and receipts hold.
type Judgement struct {
	Name string `json:"name"`
	Findings
	// Facts are what the judgement read: strings, numbers and truth values.
	Facts map[string]any `json:"facts"`
	// Policy is null for judgements without thresholds.
	Policy *PolicyRef `json:"policy"`
}

// Check says whether a judgement that was read agrees with itself: its verdict is the one that its reasons give. A
// positive judgement that would pass, but whose canary did not, may be inadmissible in place of inconclusive.
func (j *Judgement) Check() error {
	want := reason.VerdictOf(j.Reasons)
	if j.Verdict == want || want == reason.Unknown && j.Verdict == reason.Inadmissible {
		return nil
	}
	return fmt.Errorf("judgement %q says %q, but its reasons give %q", j.Name, j.Verdict, want)
}

// NewJudgement begins a judgement of that name.
func NewJudgement(name string) *Judgement {
	return &Judgement{Name: name, Findings: New(), Facts: map[string]any{}}
}

// Visible makes the texts of a judgement that was read from a file visible, as [Findings.AddReason] does with new ones: what
// a model says of itself must keep no receipt from being written.
func (j *Judgement) Visible() {
	for _, list := range [][]reason.Reason{j.Reasons, j.Notes} {
		for i, r := range list {
			list[i] = reason.Reason{Code: reason.Visible(r.Code), Expected: reason.Visible(r.Expected), Found: reason.Visible(r.Found), Where: reason.Visible(r.Where)}
		}
	}
	for key, value := range j.Facts {
		if text, ok := value.(string); ok {
			j.Facts[key] = reason.Visible(text)
		}
	}
}

// Worst is the verdict over several: fail if any fails, else inconclusive if any is not a pass, else pass. Nothing
// judged is a failure, and so is a verdict that is none.
func Worst(verdicts ...reason.Verdict) reason.Verdict {
	if len(verdicts) == 0 {
		return reason.Failed
	}
	worst := reason.Pass
	for _, v := range verdicts {
		switch v {
		case reason.Pass:
		case reason.Unknown, reason.Inadmissible:
			worst = reason.Unknown
		default:
			return reason.Failed
		}
	}
	return worst
}

// Overall is [Worst] over judgements.
func Overall(judgements []*Judgement) reason.Verdict {
	verdicts := make([]reason.Verdict, len(judgements))
	for i, j := range judgements {
		verdicts[i] = j.Verdict
	}
	return Worst(verdicts...)
}
