// Package reason is the vocabulary of verdicts: what a reason is, what its code means, and which
// verdict follows from a list of them. Packages that judge something define their own codes in a
// table ([]Definition) and know nothing of each other; coregate explain and docs/reasons.md show all.
package reason

import "fmt"

// Class says what a code does to a verdict.
type Class string

// The classes.
const (
	// Fail: the thing judged is wrong.
	Fail Class = "fail"
	// Refuse: the input is not acceptable and says nothing about a run; the verdict is fail.
	Refuse Class = "refuse"
	// Inconclusive: the run says nothing, and that never passes.
	Inconclusive Class = "inconclusive"
	// Note: a fact that a reader should see; it changes no verdict.
	Note Class = "note"
)

// Verdict is the answer of a judgement.
type Verdict string

// The verdicts. Inadmissible is a positive judgement that would pass, but whose canary did not.
const (
	Pass         Verdict = "pass"
	Failed       Verdict = "fail"
	Unknown      Verdict = "inconclusive"
	Inadmissible Verdict = "inadmissible"
)

// ExitCode is the exit code of a command whose verdict this is: 0 pass, 1 fail, 3 inconclusive or
// inadmissible. (2 is for commands that could not judge.)
func (v Verdict) ExitCode() int {
	switch v {
	case Pass:
		return 0
	case Unknown, Inadmissible:
		return 3
	}
	return 1
}

// Reason is one finding.
type Reason struct {
	// Code is stable: scripts may compare it.
	Code string `json:"code"`
	// Expected and Found say what was wanted and what was there.
	Expected string `json:"expected"`
	Found    string `json:"found"`
	// Where says where to look: a file, a line, a member.
	Where string `json:"where"`
}

// String is the reason on one line.
func (r Reason) String() string {
	return fmt.Sprintf("%s at %s: expected %s, found %s", r.Code, r.Where, r.Expected, r.Found)
}

// Error is a reason that ends the work: an input that was refused, or a check that failed.
type Error struct{ Reason }

// Error implements error.
func (e *Error) Error() string { return e.Reason.String() }

// Errorf makes an [Error]; found may be a format.
func Errorf(code, where, expected, found string, args ...any) *Error {
	return &Error{Reason{Code: code, Expected: expected, Found: fmt.Sprintf(found, args...), Where: where}}
}

// Definition is what a code means.
type Definition struct {
	// Code is upper case with underscores.
	Code string
	// Class says what the code does to a verdict.
	Class Class
	// Means is a sentence or two for someone who meets the code for the first time.
	Means string
	// Do says what to do about it.
	Do string
}

// Table is a package's definitions.
type Table []Definition

// Lookup finds a code.
func (t Table) Lookup(code string) (Definition, bool) {
	for _, d := range t {
		if d.Code == code {
			return d, true
		}
	}
	return Definition{}, false
}

// Verdict is the verdict that follows from reasons: fail if any fails, else inconclusive if any is,
// else pass. A code that the table does not know fails: an unknown word is no pass.
func (t Table) Verdict(reasons []Reason) Verdict {
	v := Pass
	for _, r := range reasons {
		d, ok := t.Lookup(r.Code)
		switch {
		case !ok || d.Class == Fail || d.Class == Refuse:
			return Failed
		case d.Class == Inconclusive:
			v = Unknown
		}
	}
	return v
}
