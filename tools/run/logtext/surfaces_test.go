package logtext_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// each writes every line of a log with its number, from 1.
func each(format func(n int, line string) string) func(string) string {
	return func(log string) string {
		lines := strings.Split(log, "\n")
		for i, line := range lines {
			lines[i] = format(i+1, line)
		}
		return strings.Join(lines, "\n")
	}
}

// before puts a prefix before every line, in which %d is the line's number and %2d, %03d and so on too.
func before(prefix string) func(string) string {
	return each(func(n int, line string) string {
		if !strings.Contains(prefix, "%") {
			return prefix + line
		}
		return fmt.Sprintf(prefix, n) + line
	})
}

func quoted(line string) string {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// unknown are prefixes for which there is no row of the table, and records, as programs write them.
var unknown = map[string]func(string) string{
	"cat -n":                    before("%6d\t"),
	"grep -n":                   before("%d:"),
	"grep -Hn":                  before("logs/run.log:%d:"),
	"less -N":                   before("%7d "),
	"bat":                       before("%4d   │ "),
	"a patch":                   before("+"),
	"a list":                    before("- "),
	"journald, monotonic":       before("[ 1234.%06d] host whisper-cli[123]: "),
	"journald, full":            before("Tue 2026-12-01 15:%02d:09 UTC host whisper-cli[123]: "),
	"journald, German":          before("Dez 01 15:%02d:09 host whisper-cli[123]: "),
	"log show --style syslog":   before("2026-12-01 15:33:09.%06d+0000  localhost whisper-cli[123]: (libwhisper) "),
	"stern":                     before("gate-abc12 whisper "),
	"TeamCity":                  before("[15:%02d:09]\t[Step 1/2] "),
	"klog":                      before("I1201 15:33:09.%06d   12345 main.go:12] "),
	"a fraction without zeros":  before("2026-12-01T15:33:09.%d  INFO whisper: "),
	"log4j":                     before("2026-12-01 15:33:09,%03d INFO  [main] c.e.Whisper: "),
	"a German date":             before("01.12.2026 15:%02d:09 "),
	"an American date":          before("12/01/2026 03:%02d:09 PM "),
	"mpirun":                    before("[1,0]<stderr>:"),
	"pdsh":                      before("host1: "),
	"docker build":              before("#12 0.%03d "),
	"Buildkite":                 before("\x1b_bk;t=17014447891%02d\x07"),
	"an unknown one in a known": before("2026-12-01T15:33:09Z %5d\t"),
	"logfmt":                    each(func(_ int, line string) string { return "time=2026-12-01T15:33:09Z level=INFO msg=" + quoted(line) }),
	"logrus":                    each(func(_ int, line string) string { return `time="2026-12-01" msg=` + quoted(line) + " pid=12" }),
	"structlog":                 each(func(_ int, line string) string { return `{"event":` + quoted(line) + `,"level":"info"}` }),
	"log show --style ndjson":   each(func(_ int, line string) string { return `{"eventMessage":` + quoted(line) + `}` }),
	"journald's list of bytes":  each(func(_ int, line string) string { return `{"MESSAGE":` + numbers("\x1b[0m"+line) + `}` }),
	"heads and tails of another": func(log string) string {
		return "Attaching to gate\n" + before("gate > ")(log) + "\ngate exited with code 0"
	},
}

func numbers(text string) string {
	var list []int
	for _, b := range []byte(text) {
		list = append(list, int(b))
	}
	out, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// anchored says that a log has so many of the program's lines that a prefix can be told from a text.
func anchored(lines []string) bool {
	n := 0
	for _, line := range lines {
		if whispercpp.Begin(line) == 0 {
			n++
		}
	}
	return n >= 2
}

// A prefix that nobody wrote down is taken off all the same, if it is before every line of the program.
func TestUnknownPrefixes(t *testing.T) {
	for name, data := range seeds(t) {
		all, err := logtext.Read(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := texts(all)
		if want = slices.DeleteFunc(want, func(line string) bool { return strings.HasPrefix(line, "exit:") || strings.HasPrefix(line, "--- ") }); !anchored(want) {
			continue
		}
		for surface, dress := range unknown {
			got, err := logtext.Read([]byte(dress(strings.Join(want, "\n"))))
			lines := slices.DeleteFunc(texts(got), func(line string) bool {
				return strings.HasPrefix(line, "Attaching ") || strings.HasPrefix(line, "gate exited")
			})
			if err != nil || !slices.Equal(lines, want) {
				t.Errorf("%s as %s: %v, found %q", name, surface, err, lines[:min(3, len(lines))])
			}
		}
	}
}

// Where it is not known whose a line is, nothing is taken off.
func TestNoPrefix(t *testing.T) {
	const one, two = "whisper_init_state: loading Core ML model from 'a'", "whisper_init_state: Core ML model loaded"
	for name, text := range map[string]string{
		"two writers in turn":           "0> " + one + "\n1> " + one + "\n0> " + two + "\n1> " + two,
		"two names":                     "a> " + one + "\nb> " + two,
		"a line of the program without": "> 1 " + one + "\n> 2 " + two + "\nread_audio_data: failed to read audio data",
		"one line":                      "they say: " + two,
		"a text that runs on":           "xx" + one + "\nxx" + two,
		"quotations":                    "log \"" + one + "\"\nlog \"" + two + "\"",
	} {
		lines, err := logtext.Read([]byte(text))
		if err != nil || strings.Join(texts(lines), "\n") != text {
			t.Errorf("%s: %v, found %q", name, err, texts(lines))
		}
	}
}

// Each changes characters of the program's lines, so that none of them says anything; none is read as a log without those
// lines, and each is named.
func TestRewritten(t *testing.T) {
	wrap := func(log string) string {
		var out []string
		for _, line := range strings.Split(log, "\n") {
			for len(line) > 60 {
				out, line = append(out, line[:60]), line[60:]
			}
			out = append(out, line)
		}
		return strings.Join(out, "\n")
	}
	wide := func(text string) string {
		var b []byte
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	for _, c := range []struct {
		name, says string
		rewrite    func(string) string
	}{
		{"cat -A", "ends of lines", each(func(_ int, line string) string { return line + "$" })},
		{"cat -v", "ends of lines", each(func(_ int, line string) string { return line + "^M" })},
		{"an HTML page", "HTML", func(log string) string { return "<pre>\n" + html.EscapeString(log) + "\n</pre>" }},
		{"a word processor", "typographic", strings.NewReplacer("from '", "from \u2018", "'\n", "\u2019\n").Replace},
		{"an address", "%27", func(log string) string { return strings.ReplaceAll(log, "'", "%27") }},
		{"a mail", "quoted-printable", func(log string) string { return strings.ReplaceAll(log, "=", "=3D") }},
		{"a shell's quotation", `\'`, func(log string) string { return strings.ReplaceAll(log, "'", `\'`) }},
		{"a narrow terminal", "broken in two", wrap},
		{"wide colons", "wide characters", func(log string) string { return strings.ReplaceAll(log, ": ", "\uff1a ") }},
		{"no-break spaces", "no-break spaces", func(log string) string { return strings.ReplaceAll(log, " ", "\u00a0") }},
		{"vertical tabs", "U+000B", func(log string) string { return strings.ReplaceAll(log, "\n", "\v") }},
		{"next lines", "U+0085", func(log string) string { return strings.ReplaceAll(log, "\n", "\u0085") }},
		{"line separators", "U+2028", func(log string) string { return strings.ReplaceAll(log, "\n", "\u2028") }},
		{"base64", "base64", func(log string) string { return base64.StdEncoding.EncodeToString([]byte(log)) }},
		{"a JSON string", "JSON string", quoted},
		{"a JSON array", "JSON string or array", func(log string) string { return "[\n" + quoted(log) + "\n]" }},
		{"a JSON object", "JSON object", func(log string) string { return "{\n \"stderr\": " + quoted(log) + "\n}" }},
		{"two encodings", "in one file", func(log string) string { return "\xff\xfe" + wide(log+"\n") + log + strings.Repeat("\n", len(log)%2) }},
	} {
		lines, err := logtext.Read(seeds(t)["good.txt"])
		if err != nil {
			t.Fatal(err)
		}
		_, err = logtext.Read([]byte(c.rewrite(strings.Join(texts(lines), "\n"))))
		var refused *reason.Error
		if !errors.As(err, &refused) || refused.Code != reason.LogUnreadable || !strings.Contains(refused.Found, c.says) {
			t.Errorf("%s: expected LOG_UNREADABLE with %q, found %v", c.name, c.says, err)
		}
	}
}
