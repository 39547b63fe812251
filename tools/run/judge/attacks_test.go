package judge

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// TestLogAttacks: a log that was made to look right, or whose fault is told in other words, does not pass.
func TestLogAttacks(t *testing.T) {
	good := string(realLog(t, "good"))
	swap := func(from, to string) string { return strings.Replace(good, from, to, 1) }
	beside := func(line string) string {
		return swap("whisper_print_timings:     load", line+"\nwhisper_print_timings:     load")
	}
	const loaded, info = "whisper_init_state: Core ML model loaded\n", "system_info: "
	failed := "whisper_init_state: failed to load Core ML model from 'ggml-model-encoder.mlmodelc'"
	head, body, _ := strings.Cut(good, "--- stderr\n")
	stderr, stdout, _ := strings.Cut(body, "--- stdout\n")
	for _, c := range []struct {
		id, text string
		kind     evidence.Kind
	}{
		{"J05 an exit line inside raw stderr", strings.Replace(stderr, loaded, loaded+"exit: 0\n", 1), "coreml"},
		{"J07 two ends", swap("exit: 0", "exit: 0 139"), "coreml"},
		{"J09 an end and a signal", swap("exit: 0", "exit: code 0 signal 11"), "coreml"},
		{"J16 forged failure lines beside a missing model", strings.Replace(string(realLog(t, "missing")), "error: failed", strings.Replace(failed, "failed to load", "loading", 1)+"\n"+failed+"\nerror: failed", 1), "canary"},
		{"J17 a failed run above the section", head + failed + "\n--- stderr\n" + stderr + "--- stdout\n" + stdout, "coreml"},
		{"J18 a failure behind a colour", swap(loaded, "\x1b[31m"+failed+"\x1b[0m\n"+loaded), "coreml"},
		{"J19 a failure after a lone CR", swap(loaded, "progress\r"+failed+"\n"+loaded), "coreml"},
		{"J20 ggml's marker with a trailing blank", swap(loaded, loaded+"whisper_init_state: compute buffer (encode) =   17.72 MB \n"), "coreml"},
		{"J21 a failure with a trailing blank", swap(loaded, failed+" \n"+loaded), "coreml"},
		{"J22 an encoder of another model", strings.ReplaceAll(good, "loading Core ML model from 'ggml-model-", "loading Core ML model from 'ggml-other-"), "coreml"},
		{"J24 a log cut after system_info", head + "--- stderr\n" + stderr[:strings.Index(stderr, info)] + info + "n_threads = 1 / 4 | WHISPER : COREML = 1 | \n--- stdout\n" + stdout, "coreml"},
		{"J32 backspaces over failed", swap(loaded, "whisper_init_state: failed\b\b\b\b\b\b to load Core ML model from 'x'\n"+loaded), "coreml"},
		{"J36 COREML = 01", swap("COREML = 1", "COREML = 01"), "coreml"},
		{"J37 X.COREML = 1", swap("COREML = 1", "X.COREML = 1"), "coreml"},
		{"J44 zero-width words", head + "--- stderr\n" + stderr + "--- stdout\n\u200b\u2060\ufeff\n", "coreml"},
		{"J45 blank audio", head + "--- stderr\n" + stderr + "--- stdout\n [BLANK_AUDIO]\n", "coreml"},
		{"words of dots", head + "--- stderr\n" + stderr + "--- stdout\n ...\n", "coreml"},
		{"words of exclamation marks", head + "--- stderr\n" + stderr + "--- stdout\n !!!!!!!!\n", "coreml"},
		{"words of colours", head + "--- stderr\n" + stderr + "--- stdout\n\x1b[38;5;160m\x1b[0m\n", "coreml"},
		{"words of time stamps", head + "--- stderr\n" + stderr + "--- stdout\n[00:00:00,000 --> 00:00:11,000]\n", "coreml"},
		{"J46 the double says a fault", swap("fault none", "fault nan-frame"), "coreml"},
		{"ggml's marker in MiB", swap(loaded, loaded+"whisper_init_state: compute buffer (encode) = 17,72 MiB\n"), "coreml"},
		{"no run of the encoder", swap("/     1 runs ( ", "/     0 runs ( "), "coreml"},
		{"GGML_ASSERT and exit 0", swap("whisper_print_timings:     load", "/x/ggml.c:12: GGML_ASSERT(a == b) failed\nwhisper_print_timings:     load"), "coreml"},
		{"a crash and exit 0", swap("whisper_print_timings:     load", "Segmentation fault (core dumped)\nwhisper_print_timings:     load"), "coreml"},
		{"malloc's error and exit 0", swap("whisper_print_timings:     load", "whisper-cli(1,0x1) malloc: *** error for object 0x1: pointer being freed was not allocated\nwhisper_print_timings:     load"), "coreml"},
		{"a failed prediction", swap("whisper_print_timings:     load", "Unable to compute the prediction using a neural network model. It can be an invalid input data or broken/unsupported model (error code: -1).\nwhisper_print_timings:     load"), "coreml"},
		{"E5RT", swap("whisper_print_timings:     load", "E5RT encountered an STL exception. msg = to_string: unknown.\nwhisper_print_timings:     load"), "coreml"},
		{"Espresso, behind Apple's prefix", swap("whisper_print_timings:     load", "2026-01-02 03:04:05.123 whisper-cli[1:2] [espresso] [Espresso::handle_ex_plan] exception=x\nwhisper_print_timings:     load"), "coreml"},
		{"the Neural Engine's error 8", swap("whisper_print_timings:     load", "Error Domain=com.apple.appleneuralengine Code=8 \"processRequest:model:qos:qIndex:modelStringID:options:error:\"\nwhisper_print_timings:     load"), "coreml"},
		{"the Neural Engine's error 8 by its short name", beside("appleneuralengine Code=8"), "coreml"},
		{"Espresso's status", beside("[espresso] status=-1"), "coreml"},
		{"Espresso's status in words", beside("[Espresso::ANERuntimeEngine] evaluate returned status: -4"), "coreml"},
		{"a crash in German", beside("Speicherzugriffsfehler (Speicherabzug geschrieben)"), "coreml"},
		{"a crash in French", beside("Erreur de segmentation"), "coreml"},
		{"a crash in Spanish", beside("Violación de segmento (`core' generado)"), "coreml"},
		{"a crash in Italian", beside("Errore di segmentazione (core dump creato)"), "coreml"},
		{"a crash in Chinese", beside("段错误 (核心已转储)"), "coreml"},
		{"a crash in Japanese", beside("Segmentation fault (コアダンプ)"), "coreml"},
		{"a crash in Russian", beside("Ошибка сегментирования (стек памяти сброшен на диск)"), "coreml"},
		{"killed, by macOS's shell", beside("Killed: 9"), "coreml"},
		{"killed, by bash", beside("./gate.sh: line 3:  4311 Killed                  ./whisper-cli -m m.bin"), "coreml"},
		{"killed, by zsh", beside("zsh: killed     ./whisper-cli"), "coreml"},
		{"a sanitizer without a process", beside("SUMMARY: AddressSanitizer: heap-buffer-overflow src/whisper.cpp:1"), "coreml"},
	} {
		t.Run(c.id, func(t *testing.T) {
			r, err := ParseLog([]byte(c.text))
			if err != nil {
				t.Log(err)
				return
			}
			r.Kind = c.kind
			j := Judge(r)
			show(t, j)
			if j.Verdict == reason.Pass {
				t.Errorf("it passes")
			}
		})
	}
}

// TestEvidenceAttacks holds that evidence whose parts do not agree passes nothing.
func TestEvidenceAttacks(t *testing.T) {
	argv := func(add ...string) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) { e.Argv = append(e.Argv, add...) }
	}
	other := strings.Repeat("9", 64)
	for _, c := range []struct {
		id     string
		change func(r *Runs)
	}{
		{"V01 no defines", func(r *Runs) { r.CoreML.Defines, r.Canary.Defines, r.Contrast.Defines = nil, nil, nil }},
		{"V02b fallback by another value", func(r *Runs) { r.CoreML.Defines = append(r.CoreML.Defines, "WHISPER_COREML_ALLOW_FALLBACK=2") }},
		{"V03b no arguments", func(r *Runs) {
			for _, e := range []*evidence.Evidence{r.CoreML, r.Canary, r.Contrast} {
				e.Argv = e.Argv[:1]
			}
		}},
		{"V04d a language twice", func(r *Runs) { argv("-l", "xx")(r.CoreML) }},
		{"V04e another recording", func(r *Runs) { argv("-f", "other.wav")(r.CoreML) }},
		{"V04f another model", func(r *Runs) { argv("-m", "other.bin")(r.CoreML) }},
		{"V04g a bare input", func(r *Runs) { argv("other.wav")(r.CoreML) }},
		{"a language that is guessed", func(r *Runs) { r.CoreML.Argv[6] = "auto" }},
		{"a temperature", func(r *Runs) { r.CoreML.Argv[11] = "0.8" }},
		{"V05 another library", func(r *Runs) { r.CoreML.Environment["GGML_BACKEND_PATH"] = "/x" }},
		{"V05b no environment", func(r *Runs) { r.CoreML.Environment = map[string]string{} }},
		{"V05c a fault in the environment", func(r *Runs) { r.CoreML.Environment[evidence.FaultVariable] = "zeros" }},
		{"V07 a fault in the log", func(r *Runs) { evidencetest.Edit(r.CoreML, "fault none", "fault zeros") }},
		{"V11 warm-ups", func(r *Runs) { r.CoreML.WarmUps = 1 }},
		{"V13 no heap fill", func(r *Runs) { delete(r.Canary.Environment, evidence.HeapVariable) }},
		{"V14 a canary without an evaluator", func(r *Runs) { r.Canary.Digests.Evaluator = nil }},
		{"V14b a canary with another evaluator", func(r *Runs) { r.Canary.Digests.Evaluator = &other }},
		{"V14c no evaluator", func(r *Runs) { r.CoreML.Digests.Evaluator = nil }},
		{"V19 a contrast of another flavour", func(r *Runs) { r.Contrast.Flavour = "coreml_allow_fallback" }},
		{"V22 another encoder path, in the log too", func(r *Runs) {
			r.CoreML.EncoderPath.Derived = "x-encoder.mlmodelc"
			evidencetest.Edit(r.CoreML, "ggml-model-encoder", "x-encoder")
		}},
		{"V23 no run of the encoder", func(r *Runs) { evidencetest.Edit(r.CoreML, "/     1 runs ( <ms>", "/     0 runs ( <ms>") }},
		{"V24 no processing line", func(r *Runs) { evidencetest.Edit(r.CoreML, "main: processing", "main: something") }},
		{"V25 another model in the log", func(r *Runs) {
			evidencetest.Edit(r.CoreML, "loading model from 'ggml-model.bin'", "loading model from 'other.bin'")
		}},
		{"V26 another recording in the log", func(r *Runs) { evidencetest.Edit(r.CoreML, "processing 'audio.wav'", "processing 'other.wav'") }},
		{"V27 other threads in the log", func(r *Runs) { evidencetest.Edit(r.CoreML, "n_threads = 2", "n_threads = 9") }},
		{"no greeting of the double", func(r *Runs) { evidencetest.Edit(r.CoreML, "coreml_double: version 2, protocol 1, fault none\n", "") }},
		{"no greeting in the canary", func(r *Runs) { evidencetest.Edit(r.Canary, "coreml_double: version 2, protocol 1, fault none\n", "") }},
		{"a double of another version", func(r *Runs) { evidencetest.Edit(r.CoreML, "version 2, protocol", "version 3, protocol") }},
		{"a double of another protocol", func(r *Runs) { evidencetest.Edit(r.Canary, "protocol 1,", "protocol 2,") }},
		{"another header in the log", func(r *Runs) { evidencetest.Edit(r.CoreML, "n_mels        = 80", "n_mels        = 128") }},
		{"another header in the canary's log", func(r *Runs) { evidencetest.Edit(r.Canary, "(tiny)", "(base)") }},
		{"a header that is not whole", func(r *Runs) { evidencetest.Edit(r.Contrast, "whisper_model_load: n_mels        = 80\n", "") }},
		{"a header line twice", func(r *Runs) {
			for _, e := range []*evidence.Evidence{r.CoreML, r.Canary, r.Contrast} {
				evidencetest.Edit(e, "whisper_model_load: n_mels        = 80\n", "whisper_model_load: n_mels        = 80\nwhisper_model_load: n_mels        = 80\n")
			}
		}},
		{"a buffer twice", func(r *Runs) {
			evidencetest.Edit(r.CoreML, "whisper_init_state: compute buffer (conv)   =    4.85 MB\n", "whisper_init_state: compute buffer (conv)   =    4.85 MB\nwhisper_init_state: compute buffer (conv)   =    5.85 MB\n")
		}},
		{"another recording read", func(r *Runs) {
			evidencetest.Edit(r.CoreML, "whisper_init_state: Core ML model loaded\n", "whisper_init_state: Core ML model loaded\nread_audio_data: reading audio data from 'other.wav' ...\n")
		}},
		{"seconds of another recording", func(r *Runs) { evidencetest.Edit(r.CoreML, "11.0 sec", "12.0 sec") }},
		{"samples of another recording", func(r *Runs) { evidencetest.Edit(r.CoreML, "(176000 samples, 11.0 sec)", "(160000 samples, 10.0 sec)") }},
		{"another encoder in the build", func(r *Runs) { evidencetest.Edit(r.Contrast, "OPENVINO = 0", "OPENVINO = 1") }},
		{"V28 a canary of another model", func(r *Runs) { evidencetest.Edit(r.Canary, "ggml-model", "other-model") }},
	} {
		t.Run(c.id, func(t *testing.T) {
			runs := Runs{evidencetest.Sample("coreml"), evidencetest.Sample("canary"), evidencetest.Sample("contrast")}
			c.change(&runs)
			judgements := JudgeRuns(runs, verdict.NewJudgement(Transcript), evidencetest.Reference)
			passes := true
			for _, j := range judgements {
				show(t, j)
				passes = passes && j.Verdict == reason.Pass
			}
			if passes {
				t.Error("it passes")
			}
		})
	}
	for id, change := range map[string]func(e *evidence.Evidence){
		"V06 public evidence with lines left out": func(e *evidence.Evidence) { e.Stdout.Complete, e.Stdout.Count = false, 500 },
		"V09 five starts":                         func(e *evidence.Evidence) { e.Attempts = 5 },
		"V12 killed for memory with exit 0":       func(e *evidence.Evidence) { e.Exit.OOMKilled = true },
		"V31 words withheld in public evidence": func(e *evidence.Evidence) {
			heard := evidence.CountWords(evidencetest.Reference)
			e.Stdout.Complete, e.Stdout.Lines, e.Words = false, []string{}, &heard
		},
	} {
		e := evidencetest.Sample("coreml")
		change(e)
		if _, err := evidence.Encode(e); err == nil {
			t.Errorf("%s is evidence", id)
		}
	}
}
