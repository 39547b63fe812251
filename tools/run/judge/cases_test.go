package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// cases are public reports, rewritten as logs, and what the judge says of each to a reader who asks for that kind of run.
var cases = []struct {
	file    string
	kind    evidence.Kind
	verdict reason.Verdict
	code    string
}{
	{"01-a01-test-stub-model.txt", "coreml", reason.Failed, "MODEL_TEST_STUB"},
	{"01-a01-test-stub-model.txt", "canary", reason.Failed, "MODEL_TEST_STUB"},
	{"03-a03-mlmodelc-as-model.txt", "coreml", reason.Failed, "MODEL_NOT_GGML"},
	{"03-a03-mlmodelc-as-model.txt", "canary", reason.Unknown, "CANARY_WRONG_CAUSE"},
	{"05-a06-compile-timeout.txt", "coreml", reason.Unknown, "DEVICE_COMPILE_TIMEOUT"},
	{"05-a06-compile-timeout.txt", "canary", reason.Failed, "CANARY_TIMEOUT"},
	{"09-a12-ac512-silent.txt", "coreml", reason.Failed, "FORBIDDEN_ARGUMENT"},
	{"11-a14-segv-after-load.txt", "coreml", reason.Failed, "CRASH_SIGNAL"},
	{"11-a14-segv-after-load.txt", "canary", reason.Failed, "CANARY_SIGNAL"},
	{"13-a16-control-crash-no-context-line.txt", "canary", reason.Failed, "CANARY_SIGNAL"},
	{"13-a16-control-crash-no-context-line.txt", "coreml", reason.Failed, "CRASH_SIGNAL"},
	{"17-a22-ane-eval-failed-exit0.txt", "coreml", reason.Pass, ""},
	{"19-a24-optimize-ane-segv.txt", "coreml", reason.Failed, "CRASH_SIGNAL"},
	{"31-a39-coreml0-exit0.txt", "coreml", reason.Failed, "NO_COREML_BUILD"},
	{"31-a39-coreml0-exit0.txt", "contrast", reason.Pass, ""},
	{"31-a39-coreml0-exit0.txt", "canary", reason.Failed, "CANARY_EXIT"},
	{"33-a42-bad-audio-exit0.txt", "coreml", reason.Failed, "NO_AUDIO_PROCESSED"},
	{"35-a44-no-prints.txt", "coreml", reason.Unknown, "LOG_SILENCED"},
	{"35-a44-no-prints.txt", "canary", reason.Unknown, "LOG_SILENCED"},
	{"39-b01-computeplan-sigabrt.txt", "coreml", reason.Unknown, "PLAN_READER_ABORTED"},
	{"61-c25-sandbox-cache-denied.txt", "coreml", reason.Unknown, "SANDBOX_DENIED"},
	{"25-a30-ane-transformers-trap.txt", "coreml", reason.Failed, "CONVERTER_UNPINNED"},
	{"49-c01-archive-checksum.txt", "coreml", reason.Failed, "SOURCE_DIGEST_MISMATCH"},
	{"51-c04-patch-missing.txt", "coreml", reason.Failed, "TOOLCHAIN_NO_PATCH"},
	{"53-c07-xcode-drift.txt", "coreml", reason.Unknown, "TOOLCHAIN_DRIFT"},
	{"55-c11-cached-passed.txt", "coreml", reason.Unknown, "NOT_EXECUTED"},
}

func readCase(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cases", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.file+"/"+string(c.kind), func(t *testing.T) {
			j := judgeText(t, []byte(readCase(t, c.file)), c.kind)
			show(t, j)
			check(t, j, c.verdict, c.code)
		})
	}
}

// ofStderr changes the lines of stderr and leaves the head and stdout.
func ofStderr(change func(i int, line string) string) func(string) []byte {
	return func(text string) []byte {
		stderr := !strings.Contains(text, "--- stderr")
		return perLine(func(i int, line string) string {
			switch {
			case strings.HasPrefix(line, "--- "):
				stderr = line == "--- stderr"
			case stderr && !strings.HasPrefix(line, "#"):
				return change(i, line)
			}
			return line
		})(text)
	}
}

// TestCasesVaried puts each report into another form: the verdict and its first reason stay.
func TestCasesVaried(t *testing.T) {
	forms := []dress{
		{"CRLF", true, endDresses[1].apply},
		{"CR", true, endDresses[2].apply},
		{"mark", true, encodingDresses[1].apply},
		{"UTF-16LE", true, encodingDresses[2].apply},
		{"UTF-16BE", true, encodingDresses[3].apply},
		{"gzip", true, encodingDresses[5].apply},
		{"time stamps", true, ofStderr(func(i int, line string) string { return fmt.Sprintf("2026-01-02T03:04:05.%03dZ %s", i, line) })},
		{"clock in brackets", true, ofStderr(func(_ int, line string) string { return "[12:00:01] " + line })},
		{"docker compose", true, ofStderr(func(_ int, line string) string { return "gate-1  | " + line })},
		{"coloured", true, ofStderr(func(_ int, line string) string { return "\x1b[33m" + line + "\x1b[0m" })},
		{"coloured behind a prefix", true, ofStderr(func(_ int, line string) string { return "[err] \x1b[1;31m" + line + "\x1b[m" })},
		{"stdout first", true, func(text string) []byte {
			head, streams, ok := strings.Cut(text, "--- stderr\n")
			stderr, stdout, both := strings.Cut(streams, "--- stdout\n")
			if !ok || !both {
				return []byte(text)
			}
			return []byte(head + "--- stdout\n" + strings.TrimSuffix(stdout, "\n") + "\n--- stderr\n" + stderr)
		}},
		{"blank lines", true, perLine(func(_ int, line string) string { return line + "\n" })},
	}
	for _, c := range cases {
		for _, form := range forms {
			j := judgeText(t, form.apply(readCase(t, c.file)), c.kind)
			if code := firstCode(j); j.Verdict != c.verdict || code != c.code {
				t.Errorf("%s, %s, %s: verdict %s, %v, want %s, %q", c.file, c.kind, form.name, j.Verdict, j.Reasons, c.verdict, c.code)
			}
		}
	}
}

func firstCode(j *verdict.Judgement) string {
	if len(j.Reasons) == 0 {
		return ""
	}
	return j.Reasons[0].Code
}

// check compares a judgement's verdict and first code with what is wanted.
func check(t *testing.T, j *verdict.Judgement, verdict reason.Verdict, code string) {
	t.Helper()
	got := firstCode(j)
	if j.Verdict != verdict || got != code {
		t.Errorf("verdict %s, first code %q, want %s, %q\nreasons: %v", j.Verdict, got, verdict, code, j.Reasons)
	}
}

// TestNotes holds what a passing run must still tell.
func TestNotes(t *testing.T) {
	j := judgeText(t, []byte(readCase(t, "17-a22-ane-eval-failed-exit0.txt")), evidence.KindCoreML)
	if len(j.Notes) != 1 || j.Notes[0].Code != "ANE_FALLBACK" {
		t.Errorf("notes %v, want ANE_FALLBACK", j.Notes)
	}
	// The note says it. A receipt takes no word about a device from the markers.
	if found, ok := j.Facts["placement"]; ok {
		t.Errorf("the markers say a placement: %v", found)
	}
}
