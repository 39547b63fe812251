package judge

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestTools holds that each known text of another tool is told by its own code, whatever the exit and the kind of run, in
// colours and behind a prefix.
func TestTools(t *testing.T) {
	for _, row := range tools {
		for _, exit := range []string{"", "exit: 0\n", "exit: 1\n", "exit: 2\n", "exit: 127\n"} {
			for _, line := range []string{row.example, "\x1b[31m" + row.example + "\x1b[0m", "2026-01-02T03:04:05.123Z " + row.example} {
				for _, kind := range []string{"coreml", "canary", "contrast"} {
					j := judgeText(t, []byte(exit+line+"\n"), evidence.Kind(kind))
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
		`2026-12-01,"whisper_init_state: loading Core ML model from 'x'"`: "LOG_GARBLED",
		"** BUILD FAILED **": "XCODE_FAILED",
		`coremlcompiler: error: Unsupported model version`:                                                                          "COREMLC_FAILED",
		`xcrun: error: unable to find utility "coremlcompiler", not a developer tool or in PATH`:                                    "COREMLC_MISSING",
		`INFO: 1 process: 1 internal.`:                                                                                              "NOT_EXECUTED",
		`error: patch failed: src/whisper.cpp:12`:                                                                                   "PATCH_NOT_APPLIED",
		`Unreversed patch detected!  Ignore -R? [n]`:                                                                                "PATCH_NOT_APPLIED",
		`error: git diff header lacks filename information when removing 1 leading pathname component (line 5)`:                     "PATCH_NOT_APPLIED",
		`Error Domain=NSCocoaErrorDomain Code=513 "You don’t have permission to save the file “x” in the folder “com.apple.e5rt”."`: "SANDBOX_DENIED",
		`Error loading shared library libgomp.so.1: No such file or directory (needed by ./whisper-cli)`:                            "LOADER_FAILED",
		`Error relocating ./whisper-cli: __memcpy_chk: symbol not found`:                                                            "LOADER_FAILED",
		`bash: ./whisper-cli: cannot execute: required file not found`:                                                              "LOADER_FAILED",
		`./whisper-cli: /lib/libc.so.6: Version »GLIBC_2.38« nicht gefunden (benötigt von ./whisper-cli)`:                           "LOADER_FAILED",
		`bash: ./whisper-cli: Kann die Datei nicht ausführen.`:                                                                      "LOADER_FAILED",
		`You have not agreed to the Xcode license agreements. Please run 'sudo xcodebuild -license'`:                                "XCODE_FAILED",
		`sha256sum: WARNUNG: 1 berechnete Prüfsumme passte NICHT`:                                                                   "SOURCE_DIGEST_MISMATCH",
		`model.bin: FEHLSCHLAG`:                                   "SOURCE_DIGEST_MISMATCH",
		`SHA256 mismatch: expected 11, got 22`:                    "SOURCE_DIGEST_MISMATCH",
		`Error: ggml-base.bin: checksum mismatch`:                 "SOURCE_DIGEST_MISMATCH",
		`ModuleNotFoundError: No module named 'coremltools'`:      "CONVERTER_FAILED",
		`ModuleNotFoundError: No module named 'ane_transformers'`: "CONVERTER_FAILED",
		`env: ‘patch’: No such file or directory`:                 "TOOLCHAIN_NO_PATCH",
		`Xcode version must be specified to use an Apple CROSSTOOL. If your Xcode version has changed recently`: "TOOLCHAIN_DRIFT",
		`zsh: no such file or directory: ./whisper-cli`:                                                         "PROGRAM_NOT_STARTED",
		`zsh: permission denied: ./whisper-cli`:                                                                 "PROGRAM_NOT_STARTED",
		`bash: whisper-cli: Kommando nicht gefunden.`:                                                           "PROGRAM_NOT_STARTED",
		`'whisper-cli' is not recognized as an internal or external command,`:                                   "PROGRAM_NOT_STARTED",
		`ANE: 0.0 W`: "POWER_SAYS_NOTHING",
		// B19, as asitop and powermetrics -f plist print it.
		`ANE Usage: 0% @ 0.0 W`:              "POWER_SAYS_NOTHING",
		`<key>ane_power</key><real>0</real>`: "POWER_SAYS_NOTHING",
		// C05, B17.
		`patch: **** Can't find file src/whisper.cpp : No such file or directory`:                                   "PATCH_NOT_APPLIED",
		`patch: can't open 'src/whisper.cpp': No such file or directory`:                                            "PATCH_NOT_APPLIED",
		`AttributeError: 'NoneType' object has no attribute 'get_compiled_model_path'`:                              "CONVERTER_FAILED",
		`make: *** [Makefile:12: whisper-cli] Error 1`:                                                              "BUILD_FAILED",
		`src/whisper.cpp:12:1: error: expected ';'`:                                                                 "BUILD_FAILED",
		`ninja: build stopped: subcommand failed.`:                                                                  "BUILD_FAILED",
		`Fatal glibc error: CPU does not support x86-64-v3`:                                                         "CPU_FEATURES_MISSING",
		`./whisper-cli: error while loading shared libraries: libggml-cpu.so: CPU ISA level is lower than required`: "CPU_FEATURES_MISSING",
		`[00:00:00.000 --> 00:00:10.640]   And so, my fellow Americans, ask not what your country can do for you`:   "LOG_SWAPPED",
		"hello world": "LOG_FOREIGN",
	} {
		for _, end := range []string{"", "exit: 0\n", "exit: 34\n", "exit: 127\n"} {
			if j := judgeText(t, []byte(end+text+"\n"), "canary"); len(j.Reasons) == 0 || j.Reasons[0].Code != code {
				t.Errorf("%q with %q: %v, want %s", text, end, j.Reasons, code)
			}
		}
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

// TestNotStarted: a shell's exit code for what it could not start is understood whatever its language.
func TestNotStarted(t *testing.T) {
	for text, code := range map[string]string{
		"exit: 127\nbash: whisper-cli: polecenie nieodnalezione\n":                 "PROGRAM_NOT_STARTED",
		"exit: 127\nbash: whisper-cli: コマンドが見つかりません\n":                             "PROGRAM_NOT_STARTED",
		"exit: 126\nbash: ./whisper-cli: Отказано в доступе\n":                     "PROGRAM_NOT_STARTED",
		"exit: 1\nbash: whisper-cli: polecenie nieodnalezione\n":                   "LOG_FOREIGN",
		"exit: 127\nnothing of a shell's\n":                                        "LOG_FOREIGN",
		"exit: 127\nwhisper_init_state: loading Core ML model from 'x.mlmodelc'\n": "EXIT_CODE",
	} {
		if j := judgeText(t, []byte(text), "coreml"); firstCode(j) != code {
			t.Errorf("%q: %v, want %s", text, j.Reasons, code)
		}
	}
}

// TestIllegalInstruction: SIGILL is the processor's word before any Core ML line, and a crash's after it or with the program's own words.
func TestIllegalInstruction(t *testing.T) {
	const (
		began  = "whisper_init_from_file_with_params_no_state: loading model from 'm.bin'\n"
		coreml = "whisper_init_state: loading Core ML model from 'm-encoder.mlmodelc'\n"
	)
	for text, code := range map[string]string{
		"":                              "CPU_FEATURES_MISSING",
		"Illegal instruction: 4\n":      "CPU_FEATURES_MISSING",
		began:                           "CPU_FEATURES_MISSING",
		began + "Illegal instruction\n": "CPU_FEATURES_MISSING",
		began + "Ungültiger Maschinenbefehl (Speicherabzug geschrieben)\n":     "CPU_FEATURES_MISSING",
		began + "libc++abi: terminating due to uncaught exception of type x\n": "CRASH_SIGNAL",
		began + "vector.h:1: Assertion `n < size()' failed.\n":                 "CRASH_SIGNAL",
		began + coreml:                           "CRASH_SIGNAL",
		began + coreml + "Illegal instruction\n": "CRASH_SIGNAL",
		began + "2026 x: " + coreml:              "CRASH_SIGNAL",
	} {
		for _, exit := range []string{"exit: 132\n", "exit: SIGILL\n", "exit: -4\n", "exit: signal 4\n"} {
			if j := judgeText(t, []byte(exit+"--- stderr\n"+text), "coreml"); firstCode(j) != code {
				t.Errorf("%q: %v, want %s", exit+text, j.Reasons, code)
			}
		}
		want := map[string]string{"CRASH_SIGNAL": "CANARY_SIGNAL"}[code]
		if j := judgeText(t, []byte("exit: 132\n--- stderr\n"+text), "canary"); want != "" && firstCode(j) != want || want == "" && firstCode(j) != code {
			t.Errorf("canary, %q: %v", text, j.Reasons)
		}
	}
}

// TestHolders: a log of another program that holds the library is named so, and its audio is not blamed.
func TestHolders(t *testing.T) {
	const (
		loaded = "whisper_init_state: loading Core ML model from 'm-encoder.mlmodelc'\nwhisper_init_state: Core ML model loaded\n"
		info   = "system_info: n_threads = 4 / 10 | WHISPER : COREML = 1 | OPENVINO = 0 |\n"
		total  = "whisper_print_timings:   encode time =   500.00 ms /     1 runs (   500.00 ms per run)\nwhisper_print_timings:    total time =   900.00 ms\n"
	)
	for text, code := range map[string]string{
		loaded + "\nwhisper server listening at http://127.0.0.1:8080\n":                                               "LOG_FOREIGN",
		loaded + info + "operator(): processing 'a.wav' (176000 samples, 11.0 sec), 4 threads, 1 processors\n" + total: "LOG_FOREIGN",
		loaded + "main: processing 0 samples (step = 3.0 sec / len = 10.0 sec / keep = 0.2 sec), 4 threads\n":          "LOG_FOREIGN",
		loaded + info + total + "If you wish, you can submit these results here:\n":                                    "LOG_FOREIGN",
		loaded + "main: processing, 4 threads, lang = en, task = transcribe, timestamps = 0 ...\n":                     "LOG_FOREIGN",
		loaded + "Progress:   5%\nProgress: 100%\n":                                                                    "LOG_FOREIGN",
		loaded + "--- stdout\n[Start speaking]\n":                                                                      "LOG_FOREIGN",
		loaded + total: "LOG_FOREIGN",
		loaded:         "NO_AUDIO_PROCESSED",
		loaded + "error: failed to read audio file 'a.wav'\n": "NO_AUDIO_PROCESSED",
	} {
		if strings.Contains(text, "--- stdout") {
			text = "--- stderr\n" + text
		}
		for _, form := range []string{"exit: 0\n" + text, "exit: 0\r\n" + strings.ReplaceAll(text, "\n", "\r\n")} {
			if j := judgeText(t, []byte(form), "coreml"); firstCode(j) != code || j.Verdict == "pass" {
				t.Errorf("%q: %v, want %s", form, j.Reasons, code)
			}
		}
	}
}
