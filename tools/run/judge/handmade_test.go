package judge

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

const (
	loadedLog = "whisper_init_state: loading Core ML model from 'm/ggml-base-encoder.mlmodelc'\n" +
		"whisper_init_state: Core ML model loaded\n" +
		"system_info: n_threads = 4 | WHISPER : COREML = 1 | OPENVINO = 0 |\n"
	refusedLog = "whisper_init_state: loading Core ML model from 'm/ggml-base-encoder.mlmodelc'\n" +
		"whisper_init_state: failed to load Core ML model from 'm/ggml-base-encoder.mlmodelc'\n" +
		"error: failed to initialize whisper context\n"
)

// TestHandMadeLogs holds logs as people cut and paste them to their reasons; "" is a pass.
func TestHandMadeLogs(t *testing.T) {
	stamped := func(log string) string {
		return "[12:00:01] " + strings.ReplaceAll(strings.TrimSuffix(log, "\n"), "\n", "\n[12:00:01] ") + "\n"
	}
	good := "exit: 0\n--- stderr\n" + loadedLog + "--- stdout\n words\n"
	for _, c := range []struct {
		name, text string
		kind       evidence.Kind
		want       string
	}{
		{"one run", good, "", ""},
		{"words behind time stamps", strings.Replace(good, " words", "[00:00:00.000 --> 00:00:11.000]   words", 1), "", ""},
		{"two exit lines", "exit: 3\n" + good, "", "STALE_LOG"},
		{"two exit lines that agree", "exit: 0\n" + good, "", "STALE_LOG"},
		{"a second section", good + "--- stderr\nsomething\n", "", "STALE_LOG"},
		{"time stamps and no words", strings.Replace(good, " words", "[00:00:00.000 --> 00:00:11.000]  ", 1), "", "TRANSCRIPT_EMPTY"},
		{"a model without .bin", "argv: -m m/ggml-base.mlmodelc\n" + good, "", "FORBIDDEN_ARGUMENT"},
		{"a prefix before each line", "exit: 0\n--- stderr\n" + stamped(loadedLog) + "--- stdout\nwords\n", "", ""},
		{"a deadline by timeout(1)", "exit: 124\n--- stderr\n" + loadedLog, "", "RUN_TIMEOUT"},
		{"a refusal", "exit: 3\n--- stderr\n" + refusedLog, evidence.KindCanary, ""},
		{"a refusal, a prefix before each line", "exit: 3\n--- stderr\n" + stamped(refusedLog), evidence.KindCanary, ""},
		{"a refusal and another run", "exit: 3\n--- stderr\n" + refusedLog + "--- stdout\nexit: 139\n--- stderr\n", evidence.KindCanary, "STALE_LOG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseLog([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			r.Kind = c.kind
			j, got := Judge(r), ""
			if len(j.Reasons) > 0 {
				got = j.Reasons[0].Code
			}
			if got != c.want || len(j.Reasons) > 1 {
				t.Errorf("reasons are %v, want %q alone", j.Reasons, c.want)
			}
		})
	}
}

func TestSetExit(t *testing.T) {
	for _, c := range []struct {
		own, given string
		ok         bool
	}{{"0", "0", true}, {"139", "signal 11", true}, {"139", "0", false}, {"0", "timeout", false}, {"0", "x", false}} {
		r, err := ParseLog([]byte("exit: " + c.own + "\n--- stderr\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.SetExit(c.given); (err == nil) != c.ok {
			t.Errorf("log says %s, %s given: error %v", c.own, c.given, err)
		}
	}
}
