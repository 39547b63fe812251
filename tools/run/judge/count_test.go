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

// A double that counts says its count at the end of every run that it served; one of version 1 counts none.
func TestDoubleCountMissing(t *testing.T) {
	const count = "coreml_double: 1 predictions, 0 failed"
	first := string(realLog(t, "good"))
	second := strings.Replace(first, "coreml_double: version 1,", "coreml_double: version 2,", 1)
	future := strings.Replace(first, "coreml_double: version 1,", "coreml_double: version 99999999999999999999,", 1)
	cut := func(log string) string {
		return log[:strings.Index(log, "whisper_print_timings")] + log[strings.Index(log, "--- stdout"):]
	}
	// An excerpt begins below the line that names the model.
	excerpt := cut("exit: 0\n--- stderr\n" + second[strings.Index(second, "whisper_init_state: loading Core ML"):])
	for name, c := range map[string]struct{ text, code string }{
		"version 1, no count":             {first, ""},
		"version 2, its count":            {withStderr(t, second, count), ""},
		"version 2, no count":             {second, reason.LogTruncated},
		"a version of the future":         {future, reason.LogTruncated},
		"version 2, a count of another":   {withStderr(t, second, "coreml_double: 3 predictions, 0 failed"), reason.StaleLog},
		"version 2, two counts":           {withStderr(t, second, count+"\n"+count), reason.StaleLog},
		"version 2, a count inside text":  {withStderr(t, second, "note: "+count), reason.LogTruncated},
		"J36 a count of another form":     {withStderr(t, second, "coreml_double: 01 predictions, 0 failed"), reason.PredictionFailed},
		"J17 a count above the run":       {strings.Replace(second, "whisper_init_state: loading Core ML", count+"\nwhisper_init_state: loading Core ML", 1), reason.StaleLog},
		"version 2, an excerpt and words": {excerpt, ""},
	} {
		j := judgeText(t, []byte(c.text), "coreml")
		if c.code == "" && j.Verdict != reason.Pass || c.code != "" && (j.Verdict == reason.Pass || !j.Has(c.code)) {
			t.Errorf("%s: found %s, %v, want %q", name, j.Verdict, j.Reasons, c.code)
		}
		if j.Verdict == reason.Pass && strings.Contains(c.text, count) && j.Facts[FactDoublePredictions] != 1 {
			t.Errorf("%s: fact %s is %v, want 1", name, FactDoublePredictions, j.Facts[FactDoublePredictions])
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
