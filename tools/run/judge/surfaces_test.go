package judge

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// dress puts a log into another form.
type dress struct {
	name string
	// keeps says that a log in this form is read as it was; otherwise it may be refused.
	keeps bool
	apply func(text string) []byte
}

func perLine(f func(i int, line string) string) func(string) []byte {
	return func(text string) []byte {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i := range lines {
			lines[i] = f(i, lines[i])
		}
		return []byte(strings.Join(lines, "\n") + "\n")
	}
}

func prefixed(format string) func(string) []byte {
	return perLine(func(i int, line string) string { return strings.ReplaceAll(format, "%d", fmt.Sprint(i%10)) + line })
}

func wide(order func(u uint16) [2]byte, mark bool) func(string) []byte {
	return func(text string) []byte {
		units := utf16.Encode([]rune(text))
		if mark {
			units = append([]uint16{0xfeff}, units...)
		}
		var out []byte
		for _, u := range units {
			b := order(u)
			out = append(out, b[:]...)
		}
		return out
	}
}

func littleEndian(u uint16) [2]byte { return [2]byte{byte(u), byte(u >> 8)} }
func bigEndian(u uint16) [2]byte    { return [2]byte{byte(u >> 8), byte(u)} }

// prefixes, colours, line ends, encodings and interleavings are combined; cuts are tried on each log alone.
var (
	prefixDresses = []dress{
		{"plain", true, func(text string) []byte { return []byte(text) }},
		{"time stamps", true, prefixed("2026-01-02T03:04:05.%d23Z ")},
		{"clock in brackets", true, prefixed("[12:00:0%d] ")},
		{"date and comma", true, prefixed("2026-01-02 03:04:05,%d23 ")},
		{"[err]", true, prefixed("[err] ")},
		{"stderr:", true, prefixed("stderr: ")},
		{"container", true, prefixed("2026-01-02T03:04:05.%d23456789Z stderr F ")},
		{"docker compose", true, prefixed("gate-1  | ")},
		{"GitHub job", true, prefixed("build\tRun gate\t2026-01-02T03:04:05.%d234567Z ")},
		{"syslog", true, prefixed("Jan  2 03:04:0%d host whisper-cli[4311]: ")},
		{"syslog 5424", true, prefixed("<30>1 2026-01-02T03:04:0%d.123Z host whisper-cli 4311 - - ")},
		{"logcat", true, prefixed("01-02 03:04:05.%d23  4311  4311 I whisper: ")},
		{"logcat brief", true, prefixed("I/whisper ( 4311): ")},
		{"os_log", true, prefixed("2026-01-02 03:04:05.%d23456+0000 0x1a2b     Default     0x0                  4311   0    whisper-cli: (libwhisper) ")},
		{"os_log compact", true, prefixed("2026-01-02 03:04:05.%d23 Df whisper-cli[4311:1a2b] ")},
		{"seconds", true, prefixed("[    1.%d23456] ")},
		{"time stamps in a compose log", true, prefixed("gate-1  | 2026-01-02T03:04:05.%d23Z ")},
		{"on every second line", false, perLine(func(i int, line string) string {
			if i%2 == 0 {
				return line
			}
			return "[12:00:01] " + line
		})},
		{"unknown", false, prefixed("§§ %d ")},
	}
	colourDresses = []dress{
		{"plain", true, func(text string) []byte { return []byte(text) }},
		{"coloured", true, perLine(func(_ int, line string) string { return "\x1b[31m" + line + "\x1b[0m" })},
		{"erased to the right", true, perLine(func(_ int, line string) string { return line + "\x1b[K" })},
		{"trailing blanks", false, perLine(func(_ int, line string) string { return line + "  " })},
		{"zero-width", false, perLine(func(_ int, line string) string { return "\u200b" + line })},
		{"cursor moved", false, perLine(func(_ int, line string) string { return "\x1b[2A" + line })},
	}
	endDresses = []dress{
		{"LF", true, func(text string) []byte { return []byte(text) }},
		{"CRLF", true, func(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r\n")) }},
		{"CR", true, func(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r")) }},
		{"no end", true, func(text string) []byte { return []byte(strings.TrimSuffix(text, "\n")) }},
	}
	encodingDresses = []dress{
		{"UTF-8", true, func(text string) []byte { return []byte(text) }},
		{"mark", true, func(text string) []byte { return []byte("\ufeff" + text) }},
		{"UTF-16LE", true, wide(littleEndian, true)},
		{"UTF-16BE", true, wide(bigEndian, true)},
		{"UTF-16LE without a mark", true, wide(littleEndian, false)},
		{"gzip", true, func(text string) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write([]byte(text))
			_ = z.Close()
			return b.Bytes()
		}},
	}
	interleaved = []dress{
		{"alone", true, func(text string) []byte { return []byte(text) }},
		{"with other lines", true, perLine(func(i int, line string) string {
			if i%7 == 3 {
				return line + "\nINFO: something else goes on"
			}
			return line
		})},
	}
)

// refusals are the codes by which a log in another form may be refused.
var refusals = []string{reason.LogUnreadable, reason.LogGarbled, reason.LogTruncated, reason.LogForeign, reason.LogEmpty, reason.LogSilenced,
	reason.LoadMarkerAbsent, reason.CanaryMarkerAbsent, reason.NoAudioProcessed}

// TestSurfaces dresses real logs: no verdict turns from fail to pass, and a pass stays one or is
// refused by name.
func TestSurfaces(t *testing.T) {
	n := 0
	for _, c := range realLogs {
		r, err := ParseLog(realLog(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		stderr := strings.Join(r.Stderr, "\n") + "\n"
		base := surface(t, []byte(stderr), r, c.kind)
		try := func(p, colour, in, end, enc dress) {
			n++
			if base.Verdict != reason.Pass && n%3 != 0 {
				return // there are more of these, and all must only not pass
			}
			text := string(colour.apply(string(p.apply(string(in.apply(stderr))))))
			got := surface(t, enc.apply(string(end.apply(text))), r, c.kind)
			name := strings.Join([]string{c.file, string(c.kind), p.name, colour.name, in.name, end.name, enc.name}, ", ")
			compare(t, name, base, got, p.keeps && colour.keeps)
		}
		// Every pair of forms, with the other forms taken in turn.
		for i, p := range prefixDresses {
			for j, colour := range colourDresses {
				try(p, colour, interleaved[(i+j)%2], endDresses[(i+j)%len(endDresses)], encodingDresses[(i+2*j)%len(encodingDresses)])
			}
		}
		for i, end := range endDresses {
			for j, enc := range encodingDresses {
				try(prefixDresses[(5*i+j)%len(prefixDresses)], colourDresses[(i+j)%3], interleaved[(i+j)%2], end, enc)
			}
		}
		for cut := 0; cut < len(stderr); cut += max(1, len(stderr)/12) {
			n++
			compare(t, fmt.Sprintf("%s, %s, cut at %d", c.file, c.kind, cut), base, surface(t, []byte(stderr[:cut]), r, c.kind), false)
		}
	}
	t.Logf("%d surfaces", n)
}

// FuzzSurfaces puts a real log into any product of the forms, the colour inside or outside the prefix, and cuts it before or
// behind its encoding. As above, no verdict turns from fail to pass, and a pass is refused by name or stays one.
func FuzzSurfaces(f *testing.F) {
	for i := range realLogs {
		f.Add(uint8(i), uint8(3*i), uint8(i), uint8(i/2), uint8(i), uint8(i), i%2 == 0, uint32(0), uint32(0))
		f.Add(uint8(i), uint8(5*i+1), uint8(i/3), uint8(i), uint8(i/2), uint8(i), i%3 == 0, uint32(37*i), uint32(0))
		f.Add(uint8(i), uint8(0), uint8(0), uint8(i), uint8(i), uint8(i/2), true, uint32(0), uint32(101*i))
	}
	f.Fuzz(func(t *testing.T, log, prefix, colour, in, end, encoding uint8, inside bool, cutText, cutBytes uint32) {
		c := realLogs[int(log)%len(realLogs)]
		r, err := ParseLog(realLog(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		stderr := strings.Join(r.Stderr, "\n") + "\n"
		base := surface(t, []byte(stderr), r, c.kind)
		pick := func(of []dress, n uint8) dress { return of[int(n)%len(of)] }
		p, k, i, e, enc := pick(prefixDresses, prefix), pick(colourDresses, colour), pick(interleaved, in), pick(endDresses, end), pick(encodingDresses, encoding)
		text := string(i.apply(stderr))
		if inside {
			text = string(p.apply(string(k.apply(text))))
		} else {
			text = string(k.apply(string(p.apply(text))))
		}
		whole := cutText == 0 && cutBytes == 0
		text = text[:len(text)-int(cutText)%(len(text)+1)]
		data := enc.apply(string(e.apply(text)))
		data = data[:len(data)-int(cutBytes)%(len(data)+1)]
		name := fmt.Sprintf("%s, %s: %s, %s (inside: %t), %s, %s, %s, cut %d and %d", c.file, c.kind, p.name, k.name, inside, i.name, e.name, enc.name, cutText, cutBytes)
		compare(t, name, base, surface(t, data, r, c.kind), whole && p.keeps && k.keeps)
	})
}

// surface judges stderr in another form with the rest of the run as it was.
func surface(t *testing.T, stderr []byte, as *Run, kind evidence.Kind) *verdict.Judgement {
	t.Helper()
	r, err := ParseLog(stderr)
	if refused, ok := err.(*reason.Error); ok {
		j := verdict.NewJudgement("log")
		j.AddReason(refused.Reason)
		return j
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Kind, r.Exit, r.Stdout, r.StdoutKnown = kind, as.Exit, as.Stdout, as.StdoutKnown
	return Judge(r)
}

func compare(t *testing.T, name string, base, got *verdict.Judgement, keeps bool) {
	t.Helper()
	named := slices.ContainsFunc(got.Reasons, func(r reason.Reason) bool { return slices.Contains(refusals, r.Code) })
	switch {
	case base.Verdict != reason.Pass && got.Verdict == reason.Pass:
		t.Errorf("%s: %s became a pass", name, base.Verdict)
	case base.Verdict == reason.Pass && got.Verdict != reason.Pass && (keeps || !named):
		t.Errorf("%s: a pass became %s: %v", name, got.Verdict, got.Reasons)
	}
}
