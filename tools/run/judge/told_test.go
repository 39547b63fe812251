package judge

import (
	"fmt"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestTold judges public reports of which no log was published, as they are told, by their numbers. It does so with Windows's
// line ends, behind time stamps and in UTF-16 too.
func TestTold(t *testing.T) {
	const (
		loading = "whisper_init_state: loading Core ML model from 'm/ggml-large-encoder.mlmodelc'\n" +
			"whisper_init_state: first run on a device may take a while ...\n"
		failed  = "whisper_init_state: failed to load Core ML model from 'm/ggml-large-encoder.mlmodelc'\nerror: failed to initialize whisper context\n"
		loaded  = "whisper_init_state: Core ML model loaded\nsystem_info: n_threads = 4 / 10 | WHISPER : COREML = 1 | OPENVINO = 0 |\n"
		timings = "whisper_print_timings:   encode time =   500.00 ms /     1 runs (   500.00 ms per run)\n" +
			"whisper_print_timings:   decode time = 90000.00 ms /    20 runs (  4500.00 ms per run)\n" +
			"whisper_print_timings:    total time = %s ms\n"
		words = "--- stdout\nAnd so my fellow Americans\n"
		kind5 = "whisper_model_load: n_mels        = 80\nwhisper_model_load: type          = 5 (large)\n"
	)
	canary := evidence.KindCanary
	for _, c := range []struct {
		id, text string
		kind     evidence.Kind
		verdict  reason.Verdict
		code     string
	}{
		{"A05", "exit: 3\n--- stderr\n" + kind5 + loading + failed, "", reason.Failed, "COREML_LOAD_FAILED"},
		{"A05", "exit: 3\n--- stderr\n" + kind5 + loading + failed, canary, reason.Pass, ""},
		{"A08", "exit: 0\n--- stderr\n" + loading + loaded + fmt.Sprintf(timings, "25000.00") + words, "", reason.Pass, ""},
		{"A21", "exit: 0\n--- stderr\n" + loading + loaded + fmt.Sprintf(timings, "91000.00") + words, "", reason.Pass, ""},
		{"A49", "exit: 139\n--- stderr\n" + loading, "", reason.Failed, "CRASH_SIGNAL"},
		{"B11", "EXECUTING ON APPLE NEURAL ENGINE\n", "", reason.Unknown, "LOG_FOREIGN"},
		{"B13", "exit: 3\n--- stderr\n" + loading + "E5RT: Failed to build the model execution plan, error code: -14. ANECCompile() FAILED\n" + failed, "", reason.Failed, "COREML_LOAD_FAILED"},
		{"C05", "exit: 1\npatching file b/src/whisper.cpp\ncan't find file to patch at input line 3\nPerhaps you used the wrong -p or --strip option?\n", "", reason.Failed, "PATCH_NOT_APPLIED"},
		{"C10", "exit: 0\nINFO: 12 processes: 8 remote cache hit, 4 internal.\n", "", reason.Unknown, "NOT_EXECUTED"},
		{"C20", "exit: 3\n--- stderr\n" + loading + failed, "", reason.Failed, "COREML_LOAD_FAILED"},
		{"C21", "exit: 1\nxcrun: error: SDK \"macosx\" cannot be located\n", "", reason.Failed, "XCODE_FAILED"},
	} {
		forms := map[string]func(string) []byte{
			"as told":  func(text string) []byte { return []byte(text) },
			"CRLF":     endDresses[1].apply,
			"UTF-16LE": encodingDresses[2].apply,
			"stamped":  ofStderr(func(i int, line string) string { return fmt.Sprintf("2026-01-02T03:04:05.%03dZ %s", i, line) }),
		}
		for name, form := range forms {
			j := judgeText(t, form(c.text), c.kind)
			if code := firstCode(j); j.Verdict != c.verdict || code != c.code {
				t.Errorf("%s, %s: verdict %s, %v, want %s, %q", c.id, name, j.Verdict, j.Reasons, c.verdict, c.code)
			}
		}
	}
}
