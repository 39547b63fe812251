package judge

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
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
		{"an excerpt of stderr alone, without counters", "exit: 0\n" + loadedLog, "", "LOG_TRUNCATED"},
		{"the same as a section", "exit: 0\n--- stderr\n" + loadedLog, "", "LOG_TRUNCATED"},
		{"two exit lines", "exit: 3\n" + good, "", "STALE_LOG"},
		{"two exit lines that agree", "exit: 0\n" + good, "", "STALE_LOG"},
		{"a second section", good + "--- stderr\nsomething\n", "", "STALE_LOG"},
		{"time stamps and no words", strings.Replace(good, " words", "[00:00:00.000 --> 00:00:11.000]  ", 1), "", "TRANSCRIPT_EMPTY"},
		{"a model without .bin", "argv: -m m/ggml-base.mlmodelc\n" + good, "", "MODEL_NAME"},
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

// TestWordsOfTheCase holds that what was found is true of the very log: no cause that the log itself rules out, and the
// line's own word where there is one.
func TestWordsOfTheCase(t *testing.T) {
	good := string(realLog(t, "good"))
	_, streams, _ := strings.Cut(good, "\n")
	stderr, _, _ := strings.Cut(strings.TrimPrefix(streams, "--- stderr\n"), "--- stdout\n")
	embedded := ""
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "system_info:") && !strings.HasPrefix(line, "main:") {
			embedded += line
		}
	}
	missing := string(realLog(t, "missing"))
	for _, c := range []struct {
		name, text, kind, code, says, not string
	}{
		{"exit 1 behind a whole run", "exit: 1\n" + streams, "coreml", reason.ExitCode, "exit 1", "response file"},
		{"exit 2 behind a whole run", "exit: 2\n" + streams, "coreml", reason.ExitCode, "exit 2", "input file"},
		{"the same as a canary", "exit: 1\n" + strings.ReplaceAll(streams, loadedLine, ""), "canary", reason.CanaryExit, "exit 1", "response file"},
		{"a canary that ended with 6", "exit: 6\n" + strings.ReplaceAll(streams, loadedLine, ""), "canary", reason.CanaryExit, "exit 6", "exit 0"},
		{"a missing model", missing, "coreml", reason.ModelMissing, "failed to open", "dtw"},
		{"the library in another program", "exit: 0\n--- stderr\n" + embedded + "--- stdout\nwords\n", "coreml", reason.LogForeign, "another program holds the library", "audio"},
		{"the same, stamped", "exit: 0\n--- stderr\n" + string(prefixed("2026-01-02T03:04:05.%d23Z ")(embedded)) + "--- stdout\nwords\n", "coreml", reason.LogForeign, "another program holds the library", "-np"},
	} {
		j := judgeText(t, []byte(c.text), evidence.Kind(c.kind))
		if firstCode(j) != c.code || !strings.Contains(j.Reasons[0].Found, c.says) || strings.Contains(j.Reasons[0].Found, c.not) {
			t.Errorf("%s: %v, want %s with %q and without %q", c.name, j.Reasons, c.code, c.says, c.not)
		}
	}
}

// TestVADModel holds that a voice detector's model which is missing or is none is named, in every spelling of the log.
func TestVADModel(t *testing.T) {
	const missing = "whisper_vad_init_from_file_with_params: failed to open VAD model 'ggml-silero-v5.1.2.bin'"
	lines := loadedLog + "main: processing 'audio.wav' (176000 samples, 11.0 sec), 4 threads, 1 processors, 5 beams + best of 5, lang = en, task = transcribe, timestamps = 1 ...\n" +
		"whisper_full: VAD is enabled, processing speech segments only\n" + missing + "\nwhisper_vad: failed to initialize VAD context\n" +
		"whisper_full: failed to compute VAD\nwhisper-cli: failed to process audio\n"
	log := func(exit, stderr string) string {
		return "exit: " + exit + "\n--- stderr\n" + stderr + "--- stdout\n\n"
	}
	for _, c := range []struct {
		name, text, want, quoted string
	}{
		{"missing", log("10", lines), reason.VADModelMissing, missing},
		{"no -vm", log("10", strings.ReplaceAll(lines, "ggml-silero-v5.1.2.bin", "")), reason.VADModelMissing, "VAD model ''"},
		{"the status lost", log("0", lines), reason.VADModelMissing, missing},
		{"not a model", log("10", strings.ReplaceAll(lines, missing, "whisper_vad_init_with_params: invalid model data (bad magic)")), reason.VADModelMissing, "bad magic"},
		{"another tensor", log("10", strings.ReplaceAll(lines, missing, "whisper_vad_init_with_params: unknown tensor 'x' in model file")), reason.VADModelMissing, "unknown tensor"},
		{"its context alone", log("10", strings.ReplaceAll(lines, missing+"\n", "")), reason.VADModelMissing, "failed to initialize VAD context"},
		{"prefixed", log("10", strings.ReplaceAll(strings.TrimSuffix("\n"+lines, "\n"), "\n", "\n[12:00:01] ")[1:]+"\n"), reason.VADModelMissing, missing},
		{"coloured, CRLF", strings.ReplaceAll(log("10", strings.ReplaceAll(lines, missing, "\x1b[31m"+missing+"\x1b[0m")), "\n", "\r\n"), reason.VADModelMissing, missing},
		{"its allocator, which is not its model", log("10", strings.ReplaceAll(strings.ReplaceAll(lines, missing, "whisper_vad_init_context: failed to init VAD allocator"), "whisper_vad: failed to initialize VAD context\n", "")), reason.ProcessFailed, "VAD allocator"},
		{"-np", log("10", "whisper-cli: failed to process audio\n"), reason.ProcessFailed, "exit 10"},
	} {
		j := judgeText(t, []byte(c.text), "coreml")
		show(t, j)
		if len(j.Reasons) == 0 || j.Reasons[0].Code != c.want || !strings.Contains(j.Reasons[0].Found, c.quoted) {
			t.Errorf("%s: %v, want %s with %q", c.name, j.Reasons, c.want, c.quoted)
		}
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

// TestLoadFailureCause quotes the cause of a failed load where the log has it (A35).
func TestLoadFailureCause(t *testing.T) {
	failed := strings.Index(refusedLog, "whisper_init_state: failed")
	for line, named := range map[string]bool{
		"Could not open m/ggml-base-encoder.mlmodelc/weights/weight.bin":                true,
		"2026-01-02 03:04:05.678 whisper-cli[4311:99] Cannot read x.mlmodelc/model.mil": true,
		"E5RT: Failed to build the model execution plan with error code: -14":           true,
		"whisper_init_state: first run on a device may take a while ...":                false,
		"ggml_backend_load_best: search path x/weights does not exist":                  false,
	} {
		j := judgeText(t, []byte("exit: 3\n--- stderr\n"+refusedLog[:failed]+line+"\n"+refusedLog[failed:]), evidence.KindCoreML)
		if len(j.Reasons) != 1 || j.Reasons[0].Code != "COREML_LOAD_FAILED" {
			t.Fatalf("%q: %v, want COREML_LOAD_FAILED alone", line, j.Reasons)
		}
		if found := j.Reasons[0].Found; strings.Contains(found, "the log has no cause") == named || strings.Contains(found, line) != named {
			t.Errorf("%q: found %q", line, found)
		}
	}
}
