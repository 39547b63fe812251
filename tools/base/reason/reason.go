// Package reason is the vocabulary of verdicts: what a reason is, every code that a reason can have, and which
// verdict follows from a list of reasons.
//
// A code is a constant and a row of its section's table, in one file of this package (runs.go, receipts.go, …).
// coregate explain and docs/reasons.md show all of them. A test refuses a code that nothing emits, one that no test raises, one that is
// spelled out where it is emitted, and one that two rows define.
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
