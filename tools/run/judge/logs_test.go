package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
)

// realLogs are logs of the real whisper-cli at a pin with ggml-tiny.en.bin, and what each shows.
var realLogs = []struct {
	file    string
	kind    evidence.Kind
	verdict reason.Verdict
	code    string
}{
	{"good", "coreml", reason.Pass, ""},
	{"counted", "coreml", reason.Pass, ""},
	{"counted", "canary", reason.Failed, "CANARY_LOADED"},
	{"silence", "coreml", reason.Pass, ""},
	{"ts", "coreml", reason.Pass, ""},
	{"ng", "coreml", reason.Pass, ""},
	{"short", "coreml", reason.Failed, "ENCODER_NOT_EXECUTED"},
	{"short-counted", "coreml", reason.Failed, "ENCODER_NOT_EXECUTED"},
	{"processors", "coreml", reason.Failed, "SECOND_LOAD_MARKER"},
	{"vad-missing", "coreml", reason.Failed, "VAD_MODEL_MISSING"},
	{"vad-missing", "canary", reason.Failed, "CANARY_LOADED"},
	{"vad-not-a-model", "coreml", reason.Failed, "VAD_MODEL_MISSING"},
	{"first-prediction-fails", "coreml", reason.Failed, "PREDICTION_FAILED"},
	{"two", "coreml", reason.Failed, "TWO_INPUTS"},
	{"ac", "coreml", reason.Failed, "PREDICTION_FAILED"},
	{"prediction-fails", "coreml", reason.Failed, "PREDICTION_FAILED"},
	{"nan-frame", "coreml", reason.Failed, "TRANSCRIPT_EMPTY"},
	{"fault-zeros", "coreml", reason.Failed, "FAULT_INJECTED"},
	{"fallback", "coreml", reason.Failed, "FALLBACK_FAILURE_PRESENT"},
	{"fallback", "canary", reason.Failed, "CANARY_EXIT"},
	{"canary", "canary", reason.Pass, ""},
	{"canary", "coreml", reason.Failed, "COREML_LOAD_FAILED"},
	{"canary-unpatched", "canary", reason.Failed, "CANARY_SIGNAL"},
	{"contrast", "contrast", reason.Pass, ""},
	{"contrast", "coreml", reason.Failed, "NO_COREML_BUILD"},
	{"good", "canary", reason.Failed, "CANARY_LOADED"},
	{"good", "contrast", reason.Failed, "CONTRAST_COREML"},
	{"np", "canary", reason.Unknown, "LOG_SILENCED"},
	{"noaudio", "contrast", reason.Failed, "USAGE_EXIT"},
	{"badaudio", "contrast", reason.Failed, "NO_AUDIO_PROCESSED"},
	{"unknown", "coreml", reason.Failed, "USAGE_EXIT"},
	{"badnum", "coreml", reason.Unknown, "BAD_NUMBER"},
	{"missing", "coreml", reason.Failed, "MODEL_MISSING"},
	{"missing", "canary", reason.Unknown, "CANARY_WRONG_CAUSE"},
	{"badmodel", "coreml", reason.Failed, "MODEL_NOT_GGML"},
	{"loader", "coreml", reason.Failed, "LOADER_FAILED"},
	{"loader", "canary", reason.Failed, "LOADER_FAILED"},
	// On an emulated Sandy Bridge, which lacks AVX2: the library has begun to write when ggml sets up its code.
	{"illegal-instruction", "coreml", reason.Unknown, "CPU_FEATURES_MISSING"},
	{"illegal-instruction", "canary", reason.Unknown, "CPU_FEATURES_MISSING"},
	{"illegal-instruction", "contrast", reason.Unknown, "CPU_FEATURES_MISSING"},
}

func realLog(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "logs", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// judgeText judges a log's text, or returns the refusal to read it as a judgement.
func judgeText(t *testing.T, text []byte, kind evidence.Kind) *verdict.Judgement {
	t.Helper()
	r, err := ParseLog(text)
	if refused, ok := err.(*reason.Error); ok {
		j := verdict.NewJudgement("log")
		j.AddReason(refused.Reason)
		return j
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Kind = kind
	return Judge(r)
}

// TestRealLogs judges logs as the real program wrote them, and prints each reason's text beside the input that raises it.
func TestRealLogs(t *testing.T) {
	for _, c := range realLogs {
		t.Run(c.file+"/"+string(c.kind), func(t *testing.T) {
			j := judgeText(t, realLog(t, c.file), c.kind)
			show(t, j)
			check(t, j, c.verdict, c.code)
		})
	}
}

// show prints what a reader of the reasons is told.
func show(t *testing.T, j *verdict.Judgement) {
	for _, r := range j.Reasons {
		d, ok := reason.Lookup(r.Code)
		if !ok {
			t.Errorf("%s is not a code", r.Code)
		}
		t.Logf("%s\n    means: %s\n    do:    %s", r, d.Means, d.Do)
	}
}

// TestBounds holds that a log of line feeds costs no memory, and that limits are refused by name.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		text []byte
		code string
	}{
		"60 MB of line feeds (Z08)": {bytes.Repeat([]byte("\n"), 60<<20), "LOG_EMPTY"},
		"a long line":               {bytes.Repeat([]byte("x"), logtext.MaxLine+1), "LOG_UNREADABLE"},
		"too many lines":            {bytes.Repeat([]byte("x\n"), logtext.MaxLines+1), "LOG_UNREADABLE"},
		"an empty file":             {nil, "LOG_EMPTY"},
		"a zip archive":             {[]byte("PK\x03\x04rest"), "LOG_UNREADABLE"},
		"a cut gzip":                {[]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), "LOG_UNREADABLE"},
		"NUL bytes":                 {[]byte("whisper_init_state: x\x00y\nz\n"), "LOG_UNREADABLE"},
	} {
		check(t, judgeText(t, c.text, "coreml"), map[string]reason.Verdict{"LOG_EMPTY": reason.Unknown, "LOG_UNREADABLE": reason.Failed}[c.code], c.code)
		_ = name
	}
}
