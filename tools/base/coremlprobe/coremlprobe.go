// Package coremlprobe starts the program coremlprobe (tools/encoder/coremlprobe), and holds what all of its reports have in
// common: the host, and Core ML's errors. Packages tools/encoder/probe and tools/run/placement hold the rest of each report.
package coremlprobe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// Host is the machine; "unknown" stands for what it did not tell.
type Host struct {
	OSVersion string `json:"os_version"`
	OSBuild   string `json:"os_build"`
	Hardware  string `json:"hardware"`
	Chip      string `json:"chip"`
}

// String is the host as the fact core_ml_host of a judgement says it.
func (h Host) String() string {
	return h.Hardware + ", " + h.Chip + ", macOS " + h.OSVersion + " (" + h.OSBuild + ")"
}

// Error is an NSError.
type Error struct {
	Domain      string  `json:"domain"`
	Code        string  `json:"code"` // decimal
	Description *string `json:"description"`
	Reason      *string `json:"reason"`
	// Underlying errors, outermost first.
	Underlying []string `json:"underlying"`
}

// String is the error on one line; of a nil error it says that there was none.
func (e *Error) String() string {
	if e == nil {
		return "no error given"
	}
	s := e.Domain + " " + e.Code
	for _, more := range []*string{e.Description, e.Reason} {
		if more != nil {
			s += ": " + *more
		}
	}
	for _, u := range e.Underlying {
		s += "; under it " + u
	}
	return s
}

// End is how a start of the program ended.
type End struct {
	// Ended says how the program ended if not with exit 0: "signal: aborted", "deadline of 5m0s".
	Ended string
	// TimedOut says that it was stopped at its deadline.
	TimedOut bool
	// Stderr is the end of what it said.
	Stderr string
}

// Said is the end of what the program said, as the end of a sentence.
func (e *End) Said() string {
	if e.Stderr == "" {
		return ""
	}
	return ", saying: " + e.Stderr
}

// Report reads the report that the program wrote to path, of most bytes at most. It is nil where the program was ended before it
// wrote one; one that ended by itself has written its report.
func (e *End) Report(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && e.Ended != "":
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the probe left no report: %w", err)
	case info.Size() > most:
		return nil, fmt.Errorf("report of coremlprobe: %d bytes, more than the %d that a report may have", info.Size(), most)
	}
	return os.ReadFile(path)
}

// RowMajor are the strides, in elements, of a tensor of that shape without gaps.
func RowMajor(shape []int) []int {
	s := make([]int, len(shape))
	packed := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = packed
		packed *= shape[i]
	}
	return s
}

// keptStderr is how many bytes of standard error are kept.
const keptStderr = 4096

// Start starts the program once. It may crash inside Core ML or compile for hours, so it is a process of its own with a
// deadline. The error is for what could not be tried: a program that does not start, or ends with an exit code.
func Start(ctx context.Context, program string, deadline time.Duration, args ...string) (*End, error) {
	limited, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	cmd := exec.CommandContext(limited, program, args...)
	// Core ML's own caches lie in the user's home; nothing else of the environment is handed on.
	cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + os.TempDir()}
	if home := os.Getenv("HOME"); home != "" {
		cmd.Env = append(cmd.Env, "HOME="+home)
	}
	stderr := &tail{max: keptStderr}
	cmd.Stderr = stderr
	cmd.WaitDelay = 5 * time.Second
	e := &End{}
	err := cmd.Run()
	e.Stderr = withoutPaths(string(bytes.ToValidUTF8(stderr.kept, []byte("?"))))
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		e.TimedOut, e.Ended = true, "deadline of "+deadline.String()
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return nil, fmt.Errorf("%s ended with exit %d%s", program, exit.ExitCode(), e.Said())
	case errors.As(err, &exit):
		e.Ended = exit.String()
	case err != nil:
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return e, nil
}

// A path is what begins with a slash where a word begins, and has another one.
var path = regexp.MustCompile(`(^|[\s'"“‘(=:,;\[<])(/[^\s'"”’)\],;:>]*/[^\s'"”’)\],;:>]*)`)

// withoutPaths is a text with "<path>" for every path in it. Core ML names the model and its own caches in its messages.
func withoutPaths(text string) string {
	for _, known := range []string{os.Getenv("HOME"), os.TempDir()} {
		if len(known) > 1 {
			text = strings.ReplaceAll(text, known+"/", "/-/") // a folder whose name has a blank
		}
	}
	return path.ReplaceAllString(text, "$1<path>")
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
	max  int
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.max; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(p), nil
}
