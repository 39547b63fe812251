package judge

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestCases feeds public reports, rewritten as logs, to the judge that a reader would ask.
func TestCases(t *testing.T) {
	for _, c := range []struct {
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
	} {
		t.Run(c.file+"/"+string(c.kind), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "cases", c.file))
			if err != nil {
				t.Fatal(err)
			}
			r, err := ParseLog(text)
			if err != nil {
				t.Fatal(err)
			}
			r.Kind = c.kind
			check(t, Judge(r), c.verdict, c.code)
		})
	}
}

// check holds a judgement's verdict and first code against what is wanted.
func check(t *testing.T, j *verdict.Judgement, verdict reason.Verdict, code string) {
	t.Helper()
	got := ""
	if len(j.Reasons) > 0 {
		got = j.Reasons[0].Code
	}
	if j.Verdict != verdict || got != code {
		t.Errorf("verdict %s, first code %q, want %s, %q\nreasons: %v", j.Verdict, got, verdict, code, j.Reasons)
	}
}

// TestNotes holds what a passing run must still tell.
func TestNotes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "cases", "17-a22-ane-eval-failed-exit0.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseLog(text)
	if err != nil {
		t.Fatal(err)
	}
	j := Judge(r)
	if len(j.Notes) != 1 || j.Notes[0].Code != "ANE_FALLBACK" {
		t.Errorf("notes %v, want ANE_FALLBACK", j.Notes)
	}
}
