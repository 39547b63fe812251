package judge

import (
	"testing"
)

// TestTools holds that each known text of another tool is told by its own code, whatever the exit and the kind of run, in
// colours and behind a prefix.
func TestTools(t *testing.T) {
	for _, row := range tools {
		for _, exit := range []string{"", "exit: 0\n", "exit: 1\n", "exit: 2\n", "exit: 127\n"} {
			for _, line := range []string{row.example, "\x1b[31m" + row.example + "\x1b[0m", "2026-01-02T03:04:05.123Z " + row.example} {
				for _, kind := range []string{"coreml", "canary", "contrast"} {
					j := judgeText(t, []byte(exit+line+"\n"), "coreml")
					if len(j.Reasons) != 1 || j.Reasons[0].Code != row.code {
						t.Errorf("%s, %s, %q: %v, want %s", row.name, kind, exit+line, j.Reasons, row.code)
					}
				}
			}
		}
		show(t, judgeText(t, []byte(row.example+"\n"), "coreml"))
	}
}

// TestOtherTools judges further texts that were met.
func TestOtherTools(t *testing.T) {
	for text, code := range map[string]string{
		"\x1b[0m//gate:all\x1b[32m   (cached) PASSED\x1b[0m in 2.8s":         "NOT_EXECUTED",
		"INFO: 3 processes: 1 remote cache hit, 2 internal.":                 "NOT_EXECUTED",
		"2 out of 3 hunks failed--saving rejects to src/whisper.cpp.rej":     "PATCH_NOT_APPLIED",
		"Reversed (or previously applied) patch detected!  Skipping patch.":  "PATCH_NOT_APPLIED",
		"whisper-cli: error while loading shared libraries: libgomp.so.1: x": "LOADER_FAILED",
		"cp: /private/var/folders/x/y/T/z: Operation not permitted":          "SANDBOX_DENIED",
		"src.tar.gz: FAILED": "SOURCE_DIGEST_MISMATCH",
		"** BUILD FAILED **": "XCODE_FAILED",
		"hello world":        "LOG_FOREIGN",
	} {
		j := judgeText(t, []byte("exit: 1\n"+text+"\n"), "coreml")
		if code != "" && (len(j.Reasons) == 0 || j.Reasons[0].Code != code) {
			t.Errorf("%q: %v, want %s", text, j.Reasons, code)
		}
		for _, r := range j.Reasons {
			if r.Code == "LOG_SILENCED" {
				t.Errorf("%q is called silenced", text)
			}
		}
	}
}
