package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// MaxLog bounds a log given by hand, in bytes.
const MaxLog = 64 << 20

var (
	exitLine = regexp.MustCompile(`^exit:\s*(.*)$`)
	argvLine = regexp.MustCompile(`^argv:\s*(.*)$`)
	argvNote = regexp.MustCompile(`^#.*\bargv had (.*)$`)
	divider  = regexp.MustCompile(`^--- (stderr|stdout)$`)
)

// ParseLog reads a log that someone has at hand. The text is either raw stderr, or has this form,
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
// A second exit line or a second section of a name is another run's, and no verdict on both can pass.
// Normalisation does not matter to a judge, so lines are taken as they are, but for a trailing CR.
func ParseLog(text []byte) (*Run, error) {
	if len(text) > MaxLog {
		return nil, fmt.Errorf("log has %d bytes, more than the limit of %d", len(text), MaxLog)
	}
	r := &Run{Kind: evidence.KindCoreML, Words: true}
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
	structured := false
	for _, line := range lines {
		structured = structured || divider.MatchString(line)
	}
	section, seen := "head", map[string]bool{}
	if !structured {
		section = "loose"
	}
	for _, line := range lines {
		if m := divider.FindStringSubmatch(line); m != nil && structured {
			section = m[1]
			if seen[section] {
				r.Mixed = "section " + line
			}
			seen[section] = true
			r.StdoutKnown = r.StdoutKnown || section == "stdout"
			continue
		}
		switch section {
		case "stderr":
			r.Stderr = append(r.Stderr, line)
			continue
		case "stdout":
			r.Stdout = append(r.Stdout, line)
			continue
		}
		if err := r.head(line, section == "loose"); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// head reads one line above the streams; in loose text, what is no head line is stderr.
func (r *Run) head(line string, loose bool) error {
	if m := exitLine.FindStringSubmatch(line); m != nil {
		x, err := ParseExit(m[1])
		if err != nil {
			return err
		}
		if r.Exit != nil {
			r.Mixed = "exit line"
		}
		r.Exit = x
		return nil
	}
	if m := argvLine.FindStringSubmatch(line); m != nil {
		r.Argv = append(r.Argv, strings.Fields(m[1])...)
		return nil
	}
	if m := argvNote.FindStringSubmatch(line); m != nil {
		r.Argv = append(r.Argv, strings.Fields(m[1])...)
		return nil
	}
	if loose && !strings.HasPrefix(line, "#") {
		r.Stderr = append(r.Stderr, line)
	}
	return nil
}

var (
	signalWord = regexp.MustCompile(`(?i)^signal\s+(\d+)\b`)
	bareNumber = regexp.MustCompile(`^-?\d+$`)
)

// ParseExit reads how a program ended, as people and tools write it: an exit code, a negative number
// or "signal N" or SIGNAME for a signal, "timeout" (with a code or without) for a passed deadline. 124
// is how timeout(1) says the latter; whisper-cli has no such code.
func ParseExit(text string) (*evidence.Exit, error) {
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	if strings.HasPrefix(lower, "timeout") || strings.HasPrefix(lower, "timed out") || strings.TrimPrefix(lower, "code ") == "124" {
		return &evidence.Exit{Kind: evidence.ExitTimeout}, nil
	}
	if m := signalWord.FindStringSubmatch(text); m != nil {
		return signalExit(m[1])
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(lower, "code "), " ")
	if bareNumber.MatchString(word) {
		n, err := strconv.Atoi(word)
		switch {
		case err == nil && n >= 0 && n <= 255:
			return &evidence.Exit{Kind: evidence.ExitCode, Code: n}, nil
		case err == nil && n < 0:
			return signalExit(strconv.Itoa(-n))
		}
	}
	for n, name := range signalNames {
		if strings.EqualFold(word, strings.Fields(name)[0]) && n != 10 {
			return &evidence.Exit{Kind: evidence.ExitSignal, Signal: n}, nil
		}
	}
	return nil, fmt.Errorf("exit %q: expected an exit code, \"signal N\", a signal's name or \"timeout\"", text)
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

func signalExit(digits string) (*evidence.Exit, error) {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 127 {
		return nil, fmt.Errorf("signal %s: expected 1 to 127", digits)
	}
	return &evidence.Exit{Kind: evidence.ExitSignal, Signal: n}, nil
}
