package logtext

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Stream says which of the program's streams a line is of.
type Stream string

// The streams.
const (
	// Unknown: nothing says which.
	Unknown Stream = ""
	Stderr  Stream = "stderr"
	Stdout  Stream = "stdout"
)

// Line is a line that is not blank, without colours and prefix.
type Line struct {
	Text string
	// Number is its place in the file, from 1.
	Number int
	Stream Stream
}

// Read returns the lines of a log file. Its errors are [*reason.Error] with the code LOG_UNREADABLE.
func Read(data []byte) ([]Line, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	if err := refuseDocument(text); err != nil {
		return nil, err
	}
	all, err := lines(text)
	if err != nil {
		return nil, err
	}
	out, stripped, err := undress(all)
	if err == nil && !stripped {
		err = refuseRewritten(out)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// prefix is what a program around the log puts before each line. Groups: tag names the writer, stream and part say
// which stream the line is of and whether it goes on, text is the line.
type prefix struct {
	name    string
	pattern *regexp.Regexp
	// headings are lines without the prefix that the same program writes between the others.
	headings *regexp.Regexp
}

const (
	rest    = `(?: (?P<text>.*))?$`
	rfc3339 = `\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`
	bsdTime = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0]?\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?`
	clock   = `\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?`
	process = `(?P<tag>[\w./-]+(?:\([\w./-]+\))?\[[0-9:a-fx]+\])`
)

// prefixes are tried in order. A row counts only if it is before every line.
var prefixes = []prefix{
	{name: "the stream's name", pattern: regexp.MustCompile(`^\[(?P<stream>out|err|stdout|stderr)\]` + rest)},
	{name: "the stream's name", pattern: regexp.MustCompile(`^(?P<stream>stdout|stderr|out|err)(?::| \|)` + rest)},
	{name: "a container log", pattern: regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d) (?P<stream>stdout|stderr) (?P<part>[FP])` + rest)},
	{name: "a GitLab job", pattern: regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z \d\d(?P<stream>[OE])[ +]?(?P<text>.*)$`)},
	{name: "GitHub's job log", pattern: regexp.MustCompile(`^(?P<tag>[^\t]+\t[^\t]+)\t\x{feff}?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z` + rest)},
	{name: "os_log", pattern: regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+[+-]\d{4} +0x[0-9a-f]+ +[A-Z][a-z]+ +0x[0-9a-f]+ +(?P<tag>\d+) +\d+ +[^:]+:(?: \([^)]*\))?(?: \[[^\]]*\])?` + rest),
		headings: regexp.MustCompile(`^Timestamp +Thread +Type|^Filtering the log data|^Skipping `)},
	{name: "os_log, compact", pattern: regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?:[+-]\d{4})? (?:[A-Z][a-z]? +)?` + process + `(?: \([^)]*\))?(?: \[[\w.]+:[\w.-]+\])?` + rest), headings: regexp.MustCompile(`^Timestamp +Ty Process|^Filtering the log data`)},
	{name: "syslog, RFC 5424", pattern: regexp.MustCompile(`^(?:<\d+>)?\d ` + rfc3339 + ` \S+ (?P<tag>\S+ \S+) \S+ (?:-|\[.*?\])` + rest)},
	{name: "syslog", pattern: regexp.MustCompile(`^(?:<\d+>)?(?:(?:` + bsdTime + `|` + rfc3339 + `) [\w.-]+ (?P<tag>[\w./-]+\[\d+\])|` + bsdTime + ` [\w.-]+ (?P<name>[\w./-]+)):` + rest), headings: regexp.MustCompile(`^-- (?:Logs begin|Journal begins|Boot |No entries|Reboot)`)},
	{name: "logcat", pattern: regexp.MustCompile(`^(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +(?P<tag>\d+) +\d+ [VDIWEFS] [^:]+:` + rest), headings: regexp.MustCompile(`^-+ beginning of `)},
	{name: "logcat, brief", pattern: regexp.MustCompile(`^[VDIWEFS]/[^(]+\( *(?P<tag>\d+)\):` + rest), headings: regexp.MustCompile(`^-+ beginning of `)},
	{name: "docker compose", pattern: regexp.MustCompile(`^(?P<tag>[\w.-]+) *\|` + rest)},
	{name: "a logger's line", pattern: regexp.MustCompile(`^\[?` + rfc3339 + `\]?(?: -| \|)? (?P<tag>[\w./-]+)(?: -| \|)? \[?(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|debug|info|warn|error)\]?(?: -| \||:)?` + rest)},
	{name: "a level", pattern: regexp.MustCompile(`^(?:DEBUG|INFO|WARNING|ERROR):(?P<tag>[\w./-]+):(?P<text>.*)$`)},
	{name: "an image's build", pattern: regexp.MustCompile(`^#(?P<tag>\d+) \d+\.\d+` + rest), headings: regexp.MustCompile(`^#\d+ (?:\[|DONE |CACHED$|ERROR: |sha256:|extracting )`)},
	{name: "a time stamp", pattern: regexp.MustCompile(`^(?:` + rfc3339 + `|` + bsdTime + `|` + clock + `):?` + rest)},
	{name: "a time stamp in brackets", pattern: regexp.MustCompile(`^\[(?:` + rfc3339 + `|` + bsdTime + `|` + clock + `)\]:?` + rest)},
	{name: "the time since the start", pattern: regexp.MustCompile(`^(?:\[ *\d+\.\d+s?\]|\d+\.\d{3,}s?):?` + rest)},
	{name: "a name in brackets", pattern: regexp.MustCompile(`^\[(?P<tag>[A-Za-z][\w ./:-]*)\]` + rest)},
	{name: "a tab", pattern: regexp.MustCompile(`^\t(?P<text>.*)$`)},
	{name: "spaces", pattern: regexp.MustCompile(`^ {2,8}(?P<text>\S.*)$`)},
	{name: "a quotation mark", pattern: regexp.MustCompile(`^>(?P<tag>)` + rest)},
}

// Undress takes prefixes off that are before every line, one around the other, and joins parts of lines. The lines are of
// [Read], or some of them.
func Undress(all []Line) ([]Line, error) {
	out, _, err := undress(all)
	return out, err
}

// undress says whether it took anything off: lines behind a prefix were not looked at before.
func undress(all []Line) (out []Line, stripped bool, err error) {
	const layers = 3
	for range layers {
		inner, ok, err := undressRecords(all)
		if err == nil && !ok {
			inner, ok, err = undressOnce(all)
		}
		if err != nil {
			return nil, false, err
		}
		if !ok {
			break
		}
		all, stripped = inner, true
	}
	if stripped {
		err = refuseRewritten(all)
	}
	return all, stripped, err
}

// undressOnce takes the first prefix off that is before every line, or one that no row knows before every line of the program.
func undressOnce(all []Line) ([]Line, bool, error) {
	for _, p := range prefixes {
		if inner, tags, ok := p.strip(all); ok {
			inner, err := oneWriter(inner, tags)
			return inner, true, err
		}
	}
	if inner, ok := learn(all); ok {
		return inner, true, nil
	}
	return all, false, nil
}

// strip takes p off every line; tags has the writer of each line that is left.
func (p prefix) strip(all []Line) (out []Line, tags []string, ok bool) {
	partial := ""
	for _, line := range all {
		m := p.pattern.FindStringSubmatch(line.Text)
		if m == nil {
			if p.headings != nil && p.headings.MatchString(line.Text) {
				continue
			}
			return nil, nil, false
		}
		group := func(name string) (value string) {
			for i, n := range p.pattern.SubexpNames() {
				if n == name && m[i] != "" {
					value = m[i]
				}
			}
			return value
		}
		text := partial + group("text")
		if partial = ""; group("part") == "P" {
			partial = text
			continue
		}
		line.Text, line.Stream = text, streamOf(group("stream"), line.Stream)
		out, tags = append(out, line), append(tags, group("tag")+group("name"))
	}
	return out, tags, len(out) > 0
}

func streamOf(name string, known Stream) Stream {
	switch name {
	case "out", "stdout", "O":
		return Stdout
	case "err", "stderr", "E":
		return Stderr
	}
	return known
}

// oneWriter keeps the lines of the one writer that wrote anything of whisper.cpp's; several such writers are several
// programs or runs in one log.
func oneWriter(all []Line, tags []string) ([]Line, error) {
	writers := map[string]bool{}
	for _, tag := range tags {
		writers[tag] = true
	}
	if len(writers) > 1 {
		ours := map[string]bool{}
		for i, line := range all {
			if whisper.MatchString(line.Text) {
				ours[tags[i]] = true
			}
		}
		switch len(ours) {
		case 0:
		case 1:
			var kept []Line
			for i, line := range all {
				if ours[tags[i]] {
					kept = append(kept, line)
				}
			}
			all = kept
		default:
			return nil, refuse("lines of %d programs or runs (%s): give the lines of one", len(ours), strings.Join(slices.Sorted(maps.Keys(ours)), ", "))
		}
	}
	return slices.DeleteFunc(all, func(l Line) bool { return strings.TrimSpace(l.Text) == "" }), nil
}

// whisper is a line of whisper.cpp's library or program.
var whisper = regexp.MustCompile(`^(?:whisper_[a-z0-9_]+: |system_info: |main: processing '|error: failed to initialize whisper context)`)
