package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// MaxLog bounds a log given by hand, in bytes.
const MaxLog = logtext.MaxBytes

var (
	exitLine = regexp.MustCompile(`^exit:\s*(.*?)\s*$`)
	argvLine = regexp.MustCompile(`^argv:\s*(.*)$`)
	argvNote = regexp.MustCompile(`^#.*\bargv had (.*)$`)
	divider  = regexp.MustCompile(`^--- (stderr|stdout)\s*$`)
)

// ParseLog reads an existing log, which package logtext undresses. The text is either raw stderr, or has this form,
// in which each part may be missing:
//
//	# remark; "argv had ARGUMENTS" at its end names arguments of the program
//	exit: 0 | 139 | -6 | signal 11 (139) | SIGSEGV | timeout | 124
//	argv: ARGUMENTS
//	--- stderr
//	lines of stderr
//	--- stdout
//	lines of stdout
//
// The head is above the streams: other text above a section, and an exit line below the head of raw text, are
// refused, since nobody knows whose they are. A second exit line or a second section of a name is another run's, and no
// verdict on both can pass. Lines that are marked as stdout's by a prefix ([out], a container's log) are stdout's.
//
// An error is a [*reason.Error] if the text cannot be read.
func ParseLog(data []byte) (*Run, error) {
	all, err := logtext.Read(data)
	if err != nil {
		return nil, err
	}
	r := &Run{Kind: evidence.KindCoreML, Words: true}
	first := len(all)
	for i := len(all) - 1; i >= 0; i-- {
		if divider.MatchString(all[i].Text) && all[i].Stream == logtext.Unknown {
			first = i
		}
	}
	raw := first == len(all)
	n, err := r.head(all, first)
	if err != nil {
		return nil, err
	}
	if raw {
		return r, r.take(logtext.Unknown, all[n:])
	}
	return r, r.sections(all[first:])
}

// head reads the lines above the streams, and returns how many there are. In a text with sections nothing else may
// stand there; in raw text the head ends where the log begins.
func (r *Run) head(all []logtext.Line, first int) (int, error) {
	for i, line := range all[:first] {
		isHead, err := r.headLine(line.Text)
		switch {
		case err != nil:
			return 0, err
		case isHead:
		case first < len(all) && isWhisper(line.Text):
			return 0, unreadable(line, "the line \"--- stderr\" above the program's own lines, since the text has sections")
		case first < len(all):
			return 0, unreadable(line, "only remarks (#), \"exit: …\" and \"argv: …\" above \"--- stderr\"")
		default:
			return i, below(all[i:])
		}
	}
	return first, nil
}

func isWhisper(line string) bool {
	_, ok := whispercpp.ReadLine(line)
	return ok
}

// below refuses head lines in the middle of raw text.
func below(lines []logtext.Line) error {
	for _, line := range lines {
		if line.Stream == logtext.Unknown && exitLine.MatchString(line.Text) {
			return unreadable(line, "an exit line above the log, or --exit: below, nothing tells it from the program's own output")
		}
	}
	return nil
}

func unreadable(line logtext.Line, expected string) error {
	return reason.Errorf(reason.LogUnreadable, fmt.Sprintf("log line %d", line.Number), expected, "%s", quote(line.Text))
}

// headLine reads one line above the streams.
func (r *Run) headLine(line string) (bool, error) {
	if m := exitLine.FindStringSubmatch(line); m != nil {
		x, err := ParseExit(m[1])
		if err != nil {
			return false, err
		}
		if r.Exit != nil {
			r.Mixed = "exit line"
		}
		r.Exit = x
		return true, nil
	}
	for _, pattern := range []*regexp.Regexp{argvLine, argvNote} {
		if m := pattern.FindStringSubmatch(line); m != nil {
			r.Argv = append(r.Argv, SplitArguments(m[1])...)
			return true, nil
		}
	}
	return strings.HasPrefix(line, "#"), nil
}

// sections reads the streams of a text that begins with a divider.
func (r *Run) sections(all []logtext.Line) error {
	seen := map[string]bool{}
	for len(all) > 0 {
		name := divider.FindStringSubmatch(all[0].Text)[1]
		end := 1
		for end < len(all) && !divider.MatchString(all[end].Text) {
			end++
		}
		if seen[name] {
			r.Mixed = "section --- " + name
		}
		seen[name] = true
		if err := r.take(logtext.Stream(name), all[1:end]); err != nil {
			return err
		}
		all = all[end:]
	}
	return nil
}

// take adds the lines of one section, or of raw text, to their streams.
func (r *Run) take(section logtext.Stream, lines []logtext.Line) error {
	if section == logtext.Stdout {
		r.StdoutKnown = true
	} else {
		var err error
		if lines, err = logtext.Undress(lines); err != nil {
			return err
		}
	}
	for _, line := range lines {
		if section == logtext.Stdout || section == logtext.Unknown && line.Stream == logtext.Stdout {
			r.StdoutKnown = true
			r.Stdout = append(r.Stdout, line.Text)
			continue
		}
		r.Stderr, r.StderrNumbers = append(r.Stderr, line.Text), append(r.StderrNumbers, line.Number)
	}
	return nil
}

var (
	plainExit  = regexp.MustCompile(`^(?:code )?(\d{1,3})$`)
	signalExit = regexp.MustCompile(`^(?:signal (\d{1,3})|-(\d{1,3}))(?: \((\d{1,3})\))?(?: \(core dumped\))?$`)
	namedExit  = regexp.MustCompile(`^(sig[a-z]+)(?: \((\d{1,3})\))?(?: \(core dumped\))?$`)
	lateExit   = regexp.MustCompile(`^(?:timeout(?: ?\(124\))?|timed out(?: after [0-9.]+ ?(?:s|sec|seconds|m|min|minutes))?)$`)
)

// ParseExit reads how a program ended, as people and tools write it: an exit code; a negative number, "signal N" or
// SIGNAME for a signal, with the shell's code behind it; "timeout" or "timed out" for a passed deadline. 124
// is how timeout(1) says the latter; whisper-cli has no such code. The text says one thing: "0 139" is two ends.
func ParseExit(text string) (*evidence.Exit, error) {
	bad := fmt.Errorf("exit %q: expected an exit code, \"signal N\", a signal's name or \"timeout\", and nothing else", text)
	word := strings.ToLower(strings.TrimSpace(text))
	if lateExit.MatchString(word) {
		return &evidence.Exit{Kind: evidence.ExitTimeout}, nil
	}
	if m := plainExit.FindStringSubmatch(word); m != nil {
		n, err := strconv.Atoi(m[1])
		switch {
		case err != nil || n > 255:
			return nil, bad
		case n == 124:
			return &evidence.Exit{Kind: evidence.ExitTimeout}, nil
		}
		return &evidence.Exit{Kind: evidence.ExitCode, Code: n}, nil
	}
	n, shell := 0, ""
	if m := signalExit.FindStringSubmatch(word); m != nil {
		n, _ = strconv.Atoi(m[1] + m[2]) // one of them is there, and both are digits
		shell = m[3]
	} else if m := namedExit.FindStringSubmatch(word); m != nil {
		n, shell = spelled[strings.ToUpper(m[1])], m[2]
	}
	if n < 1 || n > 127 || shell != "" && shell != strconv.Itoa(128+n) {
		return nil, bad
	}
	return &evidence.Exit{Kind: evidence.ExitSignal, Signal: n}, nil
}

// SetExit takes an end that was given beside the log, which must not contradict the log's own.
func (r *Run) SetExit(text string) error {
	x, err := ParseExit(text)
	if err != nil {
		return err
	}
	if r.Exit != nil {
		if given, own := DescribeExit(effective(*x)), DescribeExit(effective(*r.Exit)); given != own {
			return fmt.Errorf("exit %q: the log itself says %s; correct one of them", text, own)
		}
	}
	r.Exit = x
	return nil
}
