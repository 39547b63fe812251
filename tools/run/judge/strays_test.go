package judge

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestStrays puts a line that a judge reads once more into real logs that pass, whole or dressed, in each of several places. A
// log that says a thing twice, or beside other text, passes nothing, whatever the second line says.
func TestStrays(t *testing.T) {
	said := []string{
		"coreml_double: 1 predictions, 1 failed", "coreml_double: 0 predictions, 0 failed", "coreml_double: 5 predictions, 0 failed", "coreml_double: 1 predictions, 0 failed",
		"coreml_stand_in: 1 predictions, 0 failed", "coreml_double: 1 prediction, 1 failed", "coreml_double: 1 predictions, -1 failed", "coreml_double: 1 predictions, 0 failed, 1 lost",
		"coreml_double: 99999999999999999999 predictions, 0 failed", "coreml_double: version 2, protocol 1, fault nan", "coreml_double: version 1, protocol 1, fault none",
		"coreml_double: cannot load 'x': no such file", "coreml_double: prediction failed: x",
		"whisper_init_state: failed to load Core ML model from 'x'", "whisper_init_state: Core ML model loaded", "whisper_init_state: loading Core ML model from 'other-encoder.mlmodelc'",
		"whisper_init_state: compute buffer (encode) =   17.72 MB", "whisper_init_from_file_with_params_no_state: loading model from 'other.bin'",
		"system_info: n_threads = 1 / 2 | WHISPER : COREML = 0 | OPENVINO = 0 | CPU : SSE3 = 1 |", "system_info: n_threads = 1 / 2 | WHISPER : COREML = 1 | OPENVINO = 0 | CPU : SSE3 = 1 |",
		"whisper_print_timings:   encode time =     0.00 ms /     0 runs (     0.00 ms per run)", "whisper_print_timings:   encode time =   491.66 ms /     7 runs (   491.66 ms per run)",
		"whisper_print_timings:    total time =  1400.57 ms", "error: failed to initialize whisper context",
		"main: processing 'other.mp3' (176000 samples, 11.0 sec), 1 threads, 1 processors, 5 beams + best of 5, lang = en, task = transcribe, timestamps = 0 ...",
	}
	dresses := []string{"%s", "note: %s", "> %s", " %s", "\t%s", "\u00a0%s", "\u200b%s", "%s ", "%s (old)", "# %s", "2026-01-02T03:04:05Z %s", "[12:00:01] %s", "\x1b[31m%s\x1b[0m", "core\x1b[31m\x1b[0m%s",
		"xxx\r%s", "%s\r", "x\b%s", "%q", `{"log":%q,"stream":"stderr"}`, "\u00ad%s", "\u202e%s", "INFO:whisper:%s", "[out] %s", "\ufeff%s", "\xff%s", ""}
	n := 0
	for _, c := range []struct {
		file string
		kind evidence.Kind
	}{{"counted", evidence.KindCoreML}, {"contrast", evidence.KindContrast}, {"canary", evidence.KindCanary}} {
		head, rest, _ := strings.Cut(string(realLog(t, c.file)), "--- stderr\n")
		stderr, stdout, spoke := strings.Cut(rest, "--- stdout")
		lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
		for _, line := range said {
			for _, dress := range dresses {
				for _, at := range []int{n % (len(lines) / 2), len(lines)} {
					n++
					dressed := fmt.Sprintf(dress, line)
					if dress == "" { // a space without width inside
						dressed = line[:6] + "\u200b" + line[6:]
					}
					text := head + "--- stderr\n" + strings.Join(lines[:at], "\n") + "\n" + dressed + "\n" + strings.Join(lines[at:], "\n") + "\n"
					if spoke {
						text += "--- stdout" + stdout
					}
					r, err := ParseLog([]byte(text))
					if err != nil {
						continue // refused by name
					}
					r.Kind = c.kind
					if j := Judge(r); j.Verdict == reason.Pass {
						t.Errorf("%s passes as %s with %q in line %d", c.file, c.kind, dressed, at)
					}
				}
			}
		}
	}
	t.Logf("%d logs", n)
}

// TestStrayCodes holds by which code a stray line is refused, and where.
func TestStrayCodes(t *testing.T) {
	good, err := os.ReadFile("testdata/logs/counted.txt")
	if err != nil {
		t.Fatal(err)
	}
	const info, count = "system_info:", "coreml_double: 1 predictions, 0 failed\n"
	for _, c := range []struct{ from, to, code, found string }{
		{info, "note: coreml_double: 1 predictions, 1 failed\n" + info, reason.LogGarbled, "behind other text"},
		{count, "coreml_double: 1 prediction, 0 failed\n" + count, reason.LogGarbled, "does not write"},
		{info, "whisper_init_state: Core ML model loaded (cached)\n" + info, reason.LogGarbled, "before other text"},
		{info, "\u200bcoreml_double: version 1, protocol 1, fault none\n" + info, reason.LogGarbled, "behind other text"},
		{"whisper_init_state: first run on", "coreml_\u200bdouble: ready, x\nwhisper_init_state: first run on", reason.LogGarbled, "not seen"},
		{info, "coreml_double: version 1, protocol 1, fault none\n" + info, reason.StaleLog, "a second one"},
		{info, "coreml_double: cannot load 'x': y\n" + info, reason.StaleLog, "cannot load"},
		{info, "coreml_stand_in: asked to predict x\n" + info, reason.StaleLog, "stand_in"},
		{count, "coreml_double: 5 predictions, 0 failed\n" + count, reason.StaleLog, "2 lines"},
		{"coreml_double: version 2, protocol 1, fault none\n", "", "", ""},
	} {
		text := strings.Replace(string(good), c.from, c.to, 1)
		r, err := ParseLog([]byte(text))
		if err != nil || text == string(good) {
			t.Fatalf("%q: %v", c.to, err)
		}
		j := Judge(r)
		if got := firstCode(j); got != c.code || got != "" && !strings.Contains(j.Reasons[0].Found, c.found) {
			t.Errorf("with %q: %v, want %s, %q", c.to, j.Reasons, c.code, c.found)
		}
	}
}
