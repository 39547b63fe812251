package ggml

import "fmt"

// Problem classes what is wrong with a file, for callers that turn it into a
// reason code.
type Problem string

const (
	// NotGGML: the file does not begin with the magic number.
	NotGGML Problem = "not a ggml model"
	// Truncated: the file ends inside something that it announced.
	Truncated Problem = "truncated"
	// Malformed: a number or name in the file cannot be right.
	Malformed Problem = "malformed"
	// Incomplete: well formed, but tensors are missing, unknown or of the wrong shape.
	Incomplete Problem = "incomplete"
	// Undecodable: a tensor's type is known by name but its values cannot be decoded here.
	Undecodable Problem = "undecodable"
)

// FormatError is the error for bytes that are not a usable model. Errors of
// reading the file itself (permissions, disk) are never of this type.
type FormatError struct {
	Problem Problem
	// Offset is the byte at which the fault was noticed, or -1.
	Offset int64
	// Looks says what the file looks like instead, for NotGGML; else "".
	Looks  string
	Detail string
}

func (e *FormatError) Error() string {
	s := string(e.Problem) + ": " + e.Detail
	if e.Offset >= 0 {
		s = fmt.Sprintf("%s (at byte %d)", s, e.Offset)
	}
	return s
}

func malformed(offset int64, format string, args ...any) error {
	return &FormatError{Problem: Malformed, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}

func truncated(offset int64, format string, args ...any) error {
	return &FormatError{Problem: Truncated, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}
