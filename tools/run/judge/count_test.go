package judge

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// The double's own count of predictions and the program's count of its encoder's runs are of one run, so they agree.
func TestDoubleCount(t *testing.T) {
	good := string(realLog(t, "good"))
	runs := judgeText(t, []byte(good), "coreml").Facts[factEncoderRuns]
	if runs != 1 {
		t.Fatalf("the log's encoder ran %v times, want 1", runs)
	}
	for line, code := range map[string]string{
		"":                                                          "",
		"coreml_double: 1 predictions, 0 failed":                    "",
		"coreml_double: 2 predictions, 0 failed":                    reason.StaleLog,
		"coreml_double: 0 predictions, 0 failed":                    reason.EncoderNotExecuted,
		"coreml_double: 1 predictions, 1 failed":                    reason.PredictionFailed,
		"coreml_double: 1 predictions, 2 failed":                    reason.PredictionFailed,
		"coreml_stand_in: 7 predictions, 0 failed":                  reason.StaleLog,
		"coreml_double: 99999999999999999999 predictions, 0 failed": reason.PredictionFailed,
	} {
		text := withStderr(t, good, line)
		j := judgeText(t, []byte(text), "coreml")
		switch {
		case code == "" && j.Verdict != reason.Pass:
			t.Errorf("%q: found %s, %v, want a pass", line, j.Verdict, j.Reasons)
		case code != "" && (j.Verdict != reason.Failed || !j.Has(code)):
			t.Errorf("%q: found %s, %v, want %s", line, j.Verdict, j.Reasons, code)
		}
	}
}

// withStderr puts a line behind the last line of whisper_print_timings.
func withStderr(t *testing.T, log, line string) string {
	t.Helper()
	at := strings.Index(log, "whisper_print_timings:    total time")
	if at < 0 {
		t.Fatal("the log has no total time")
	}
	end := at + strings.Index(log[at:], "\n") + 1
	if line == "" {
		return log
	}
	return log[:end] + line + "\n" + log[end:]
}
