package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

const (
	loadingLine = "whisper_init_state: loading Core ML model from 'ggml-model-encoder.mlmodelc'\n"
	loadedLine  = "whisper_init_state: Core ML model loaded\n"
	failedLine  = "whisper_init_state: failed to load Core ML model from 'ggml-model-encoder.mlmodelc'\n"
	encodeLine  = "whisper_init_state: compute buffer (encode) =   17.72 MB\n"
)

// bend is one change to a run that went as it should.
type bend struct {
	name    string
	kind    evidence.Kind
	change  func(e *evidence.Evidence)
	verdict reason.Verdict
	code    string
}

func edit(from, to string) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) { evidencetest.Edit(e, from, to) }
}

func exit(x evidence.Exit) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) { e.Exit = x }
}

func code(n int) func(*evidence.Evidence) {
	return exit(evidence.Exit{Kind: evidence.ExitCode, Code: n})
}

// cutAfter is the good log up to a line, with it.
func cutAfter(line string) string {
	head, _, _ := strings.Cut(evidencetest.Stderr("coreml"), line)
	return head + line
}

// TestVerdicts bends good runs, one thing at a time: each bend has its own reason.
func TestVerdicts(t *testing.T) {
	none := func(*evidence.Evidence) {}
	for _, c := range []bend{
		{"good", "coreml", none, reason.Pass, ""},
		{"good, and the evaluator says what it computes with", "coreml", edit("fault none\n", "fault none\ncoreml_double: ready, kernel amd64-avx2-fma-f16c\n"), reason.Pass, ""},
		{"good", "canary", none, reason.Pass, ""},
		{"good", "contrast", none, reason.Pass, ""},

		{"silenced log", "coreml", func(e *evidence.Evidence) { evidencetest.SetStreams(e, "", " words\n") }, reason.Unknown, "LOG_SILENCED"},
		{"silenced canary", "canary", func(e *evidence.Evidence) {
			evidencetest.SetStreams(e, "error: failed to initialize whisper context\n", "")
		}, reason.Unknown, "LOG_SILENCED"},
		{"ggml-only binary", "coreml", func(e *evidence.Evidence) {
			evidencetest.SetStreams(e, evidencetest.Stderr("contrast"), " words\n")
		}, reason.Failed, "NO_COREML_BUILD"},
		{"fallback build", "coreml", edit(loadedLine, failedLine+encodeLine), reason.Failed, "FALLBACK_FAILURE_PRESENT"},
		{"load line gone", "coreml", edit(loadedLine, ""), reason.Failed, "LOAD_MARKER_ABSENT"},
		{"load line inside another", "coreml", edit(loadedLine, "note: "+loadedLine), reason.Failed, "LOAD_MARKER_ABSENT"},
		{"load line with a tail", "coreml", edit(loadedLine, strings.TrimSpace(loadedLine)+" (not)\n"), reason.Failed, "LOAD_MARKER_ABSENT"},
		{"load line on stdout only", "coreml", func(e *evidence.Evidence) {
			evidencetest.SetStreams(e, strings.ReplaceAll(evidencetest.Stderr("coreml"), loadedLine, ""), loadedLine)
		}, reason.Failed, "LOAD_MARKER_ABSENT"},
		{"second load marker", "coreml", edit(loadedLine, loadedLine+loadedLine), reason.Failed, "SECOND_LOAD_MARKER"},
		{"a second state", "coreml", edit("main: processing", strings.TrimSpace(loadingLine)+"\n"+loadedLine+"main: processing"), reason.Failed, "SECOND_LOAD_MARKER"},
		{"encode buffer", "coreml", edit(loadedLine, loadedLine+encodeLine), reason.Failed, "GGML_ENCODER_PRESENT"},
		{"COREML = 0", "coreml", edit("COREML = 1", "COREML = 0"), reason.Failed, "NO_COREML_BUILD"},
		{"COREML = 10", "coreml", edit("COREML = 1", "COREML = 10"), reason.Failed, "NO_COREML_BUILD"},
		{"another word", "coreml", edit("COREML = 1", "XCOREML = 1"), reason.Failed, "NO_COREML_BUILD"},
		{"COREML elsewhere", "coreml", edit("system_info: n_threads", "COREML = 1\nsystem_info_was: n_threads"), reason.Failed, "NO_AUDIO_PROCESSED"},
		{"output unwritable", "coreml", edit("main: processing", "open: failed to open 'gone/words.txt' for writing\nmain: processing"), reason.Failed, "OUTPUT_UNWRITABLE"},
		{"COREML twice", "coreml", edit("COREML = 1", "COREML = 1 | COREML = 0"), reason.Failed, "SYSTEM_INFO_CONTRADICTS"},
		{"another run's log before", "coreml", edit(loadingLine, loadingLine+loadingLine), reason.Failed, "STALE_LOG"},
		{"another model's path", "coreml", edit("'ggml-model-encoder", "'m/ggml-base-encoder"), reason.Failed, "STALE_LOG"},
		{"load before loading", "coreml", func(e *evidence.Evidence) {
			edit(loadedLine, "")(e)
			edit(loadingLine, loadedLine+loadingLine)(e)
		}, reason.Failed, "STALE_LOG"},
		{"loaded from nowhere", "coreml", edit(loadingLine, ""), reason.Failed, "STALE_LOG"},
		{"encoder not there", "coreml", func(e *evidence.Evidence) { e.EncoderPath.Before = false }, reason.Failed, "ENCODER_NOT_STAGED"},
		{"encoder gone", "coreml", func(e *evidence.Evidence) { e.EncoderPath.After = false }, reason.Failed, "ENCODER_NOT_STAGED"},
		{"refused", "coreml", func(e *evidence.Evidence) {
			code(3)(e)
			evidencetest.SetStreams(e, evidencetest.Stderr("canary"), "")
		}, reason.Failed, "COREML_LOAD_FAILED"},
		{"cut log", "coreml", func(e *evidence.Evidence) { e.Stderr.Truncated = true }, reason.Failed, "LOG_TRUNCATED"},
		{"crash", "coreml", exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 11}), reason.Failed, "CRASH_SIGNAL"},
		{"crash as a shell says it", "coreml", code(139), reason.Failed, "CRASH_SIGNAL"},
		{"abort as a shell says it", "coreml", code(134), reason.Failed, "CRASH_SIGNAL"},
		{"killed for no stated cause", "coreml", exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 9}), reason.Failed, "CRASH_SIGNAL"},
		{"killed for memory", "coreml", exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 9, OOMKilled: true}), reason.Unknown, "OUT_OF_MEMORY"},
		{"stopped for want of memory", "coreml", exit(evidence.Exit{Kind: evidence.ExitMemory}), reason.Unknown, "MEMORY_EMERGENCY"},
		{"segfault in a full group", "coreml", exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 11, OOMKilled: true}), reason.Failed, "CRASH_SIGNAL"},
		{"deadline", "coreml", exit(evidence.Exit{Kind: evidence.ExitTimeout}), reason.Unknown, "RUN_TIMEOUT"},
		{"deadline while loading", "coreml", func(e *evidence.Evidence) {
			exit(evidence.Exit{Kind: evidence.ExitTimeout})(e)
			evidencetest.SetStreams(e, loadingLine, "")
		}, reason.Unknown, "DEVICE_COMPILE_TIMEOUT"},
		{"whisper_full failed", "coreml", code(10), reason.Failed, "PROCESS_FAILED"},
		{"no input", "coreml", func(e *evidence.Evidence) {
			code(2)(e)
			evidencetest.SetStreams(e, "error: input file not found 'x'\nerror: no input files specified\n", "")
		}, reason.Failed, "USAGE_EXIT"},
		{"unknown argument, exit 0", "coreml", func(e *evidence.Evidence) {
			evidencetest.SetStreams(e, "error: unknown argument: --nope\n", "")
		}, reason.Failed, "USAGE_EXIT"},
		{"old name", "coreml", func(e *evidence.Evidence) {
			code(1)(e)
			evidencetest.SetStreams(e, "", "WARNING: The binary 'main' is deprecated.\n")
		}, reason.Failed, "DEPRECATED_PROGRAM"},
		{"unreadable device number", "coreml", func(e *evidence.Evidence) {
			code(134)(e)
			evidencetest.SetStreams(e, "terminate called after throwing an instance of 'std::invalid_argument'\n  what():  stoi\n", "")
		}, reason.Unknown, "BAD_NUMBER"},
		{"no memory, in C++'s words", "coreml", func(e *evidence.Evidence) {
			code(134)(e)
			evidencetest.SetStreams(e, cutAfter(loadedLine)+"libc++abi: terminating due to uncaught exception of type std::bad_alloc\n", "")
		}, reason.Unknown, "OUT_OF_MEMORY"},
		{"no memory, in another library's words", "coreml", func(e *evidence.Evidence) {
			exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 6})(e)
			evidencetest.SetStreams(e, cutAfter(loadedLine)+"terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n", "")
		}, reason.Unknown, "OUT_OF_MEMORY"},
		{"no memory for a heap of Metal's", "coreml", func(e *evidence.Evidence) {
			exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 6})(e)
			evidencetest.SetStreams(e, cutAfter(loadedLine)+"MemrefBufferizationRuntime.mm:202: error 'createMemrefHeap: newHeapWithDescriptor returned nil\n  (size=3847225344, manualPlacement=1)'\n", "")
		}, reason.Unknown, "OUT_OF_MEMORY"},
		{"no memory for a buffer of ggml's", "coreml", func(e *evidence.Evidence) {
			exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 11})(e)
			evidencetest.SetStreams(e, cutAfter(loadedLine)+"ggml_gallocr_reserve_n: failed to allocate CPU buffer of size 1073741824\n", "")
		}, reason.Unknown, "OUT_OF_MEMORY"},
		{"killed, and the kernel says for memory", "coreml", func(e *evidence.Evidence) {
			exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 9})(e)
			evidencetest.SetStreams(e, cutAfter(loadedLine)+"memory.events: oom_kill 1\n", "")
		}, reason.Unknown, "OUT_OF_MEMORY"},
		{"no memory for the model, and no context", "coreml", func(e *evidence.Evidence) {
			code(3)(e)
			evidencetest.SetStreams(e, "whisper_init_from_file_with_params_no_state: loading model from 'ggml-model.bin'\nggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 1073741824\n"+
				"error: failed to initialize whisper context\n", "")
		}, reason.Unknown, "OUT_OF_MEMORY"},
		{"no context, and no line of the library", "coreml", func(e *evidence.Evidence) {
			code(3)(e)
			evidencetest.SetStreams(e, "error: failed to initialize whisper context\n", "")
		}, reason.Unknown, "LOG_SILENCED"},
		{"a crash's words and an exit code", "coreml", func(e *evidence.Evidence) {
			code(1)(e)
			evidencetest.SetStreams(e, cutAfter(loadedLine)+"GGML_ASSERT(n > 0) failed\n", "")
		}, reason.Failed, "CRASH_CONTRADICTS_EXIT"},
		{"an abort of the plan's reader", "coreml", func(e *evidence.Evidence) {
			exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 6})(e)
			evidencetest.SetStreams(e, "It is not a valid .mlmodelc file.\n", "")
		}, reason.Unknown, "PLAN_READER_ABORTED"},
		{"an abort without a word of memory", "coreml", func(e *evidence.Evidence) {
			exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 6})(e)
			evidencetest.SetStreams(e, cutAfter(loadedLine), "")
		}, reason.Failed, "CRASH_SIGNAL"},
		{"a canary without memory", "canary", func(e *evidence.Evidence) {
			code(134)(e)
			evidencetest.SetStreams(e, "libc++abi: terminating due to uncaught exception of type std::bad_alloc\n", "")
		}, reason.Unknown, "OUT_OF_MEMORY"},
		{"no words", "coreml", func(e *evidence.Evidence) {
			evidencetest.SetStreams(e, evidencetest.Stderr("coreml"), "\n\n")
		}, reason.Failed, "TRANSCRIPT_EMPTY"},
		{"fault", "coreml", func(e *evidence.Evidence) { e.Fault = "gain-1pct" }, reason.Failed, "FAULT_INJECTED"},
		{"relabelled lane", "coreml", func(e *evidence.Evidence) { e.Lane = evidence.LanePhysical }, reason.Failed, "LANE_MISMATCH"},
		{"relabelled lane, other way", "coreml", edit("coreml_double: version 2, protocol 1, fault none\n", ""), reason.Failed, "LANE_MISMATCH"},
		{"another bridge than the identity's", "coreml", func(e *evidence.Evidence) { e.LaneIdentity["core_ml"] = "coreml_stand_in" }, reason.Failed, "LANE_MISMATCH"},
		{"another bridge, other way", "coreml", func(e *evidence.Evidence) {
			e.LaneIdentity["core_ml"] = "coreml_double"
			edit("coreml_double: version", "coreml_stand_in: version")(e)
		}, reason.Failed, "LANE_MISMATCH"},
		{"upstream's own bridge", "coreml", func(e *evidence.Evidence) {
			e.LaneIdentity["core_ml"] = "coreml_stand_in"
			edit("coreml_double: ", "coreml_stand_in: ")(e)
		}, reason.Pass, ""},
		{"upstream's own bridge, uncounted", "coreml", func(e *evidence.Evidence) {
			e.LaneIdentity["core_ml"] = "coreml_stand_in"
			edit("coreml_double: ", "coreml_stand_in: ")(e)
			edit("coreml_stand_in: 1 predictions, 0 failed\n", "")(e)
		}, reason.Failed, "LOG_TRUNCATED"},
		{"the double's count is missing", "coreml", edit("coreml_double: 1 predictions, 0 failed\n", ""), reason.Failed, "LOG_TRUNCATED"},
		{"the double counts other runs", "coreml", edit("coreml_double: 1 pred", "coreml_double: 2 pred"), reason.Failed, "STALE_LOG"},
		{"the double counts none", "coreml", edit("coreml_double: 1 pred", "coreml_double: 0 pred"), reason.Failed, "ENCODER_NOT_EXECUTED"},
		{"the double counts a failure", "coreml", edit("1 predictions, 0 failed", "1 predictions, 1 failed"), reason.Failed, "PREDICTION_FAILED"},

		{"refusal that crashed", "canary", code(139), reason.Failed, "CANARY_SIGNAL"},
		{"refusal that aborted", "canary", exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 6}), reason.Failed, "CANARY_SIGNAL"},
		{"refusal with a good ending", "canary", code(0), reason.Failed, "CANARY_EXIT"},
		{"refusal with another code", "canary", code(1), reason.Failed, "CANARY_EXIT"},
		{"refusal out of time", "canary", exit(evidence.Exit{Kind: evidence.ExitTimeout}), reason.Failed, "CANARY_TIMEOUT"},
		{"refusal without the context error", "canary", edit("error: failed to initialize whisper context\n", ""), reason.Failed, "CANARY_MARKER_ABSENT"},
		{"refusal without the load failure", "canary", edit(failedLine, ""), reason.Failed, "CANARY_MARKER_ABSENT"},
		{"refusal over the model", "canary", func(e *evidence.Evidence) {
			evidencetest.SetStreams(e, "whisper_init_from_file_with_params_no_state: loading model from 'ggml-model.bin'\n"+
				"whisper_init_from_file_with_params_no_state: failed to open 'ggml-model.bin'\nerror: failed to initialize whisper context\n", "")
		}, reason.Unknown, "CANARY_WRONG_CAUSE"},
		{"refusal after a load", "canary", edit(failedLine, loadedLine+failedLine), reason.Failed, "CANARY_LOADED"},
		{"refusal at the second try", "canary", func(e *evidence.Evidence) { e.Attempts = 2 }, reason.Failed, "CANARY_RETRIED"},
		{"refusal after a warm-up", "canary", func(e *evidence.Evidence) { e.WarmUps = 1 }, reason.Failed, "CANARY_RETRIED"},
		{"encoder there before", "canary", func(e *evidence.Evidence) { e.EncoderPath.Before = true }, reason.Failed, "CANARY_ENCODER_PRESENT"},
		{"encoder there after", "canary", func(e *evidence.Evidence) { e.EncoderPath.After = true }, reason.Failed, "CANARY_ENCODER_PRESENT"},
		{"refusal before its cause", "canary", func(e *evidence.Evidence) {
			const line = "error: failed to initialize whisper context\n"
			evidencetest.SetStreams(e, line+strings.ReplaceAll(evidencetest.Stderr("canary"), line, ""), "")
		}, reason.Failed, "STALE_LOG"},
		{"refusal with system info", "canary", edit("error: failed to init", "system_info: WHISPER : COREML = 1 | \nerror: failed to init"), reason.Failed, "STALE_LOG"},
		{"cut refusal", "canary", func(e *evidence.Evidence) { e.Stderr.Truncated = true }, reason.Failed, "LOG_TRUNCATED"},
		{"stopped for want of memory", "canary", exit(evidence.Exit{Kind: evidence.ExitMemory}), reason.Unknown, "MEMORY_EMERGENCY"},
		{"killed for memory", "canary", exit(evidence.Exit{Kind: evidence.ExitSignal, Signal: 9, OOMKilled: true}), reason.Unknown, "OUT_OF_MEMORY"},

		{"no encode buffer", "contrast", edit(encodeLine, ""), reason.Failed, "CONTRAST_NO_ENCODER"},
		{"Core ML build", "contrast", edit("COREML = 0", "COREML = 1"), reason.Failed, "CONTRAST_COREML"},
		{"Core ML line", "contrast", edit(encodeLine, loadingLine+encodeLine), reason.Failed, "CONTRAST_COREML"},
		{"crash", "contrast", code(139), reason.Failed, "CRASH_SIGNAL"},
	} {
		t.Run(string(c.kind)+"/"+c.name, func(t *testing.T) {
			e := evidencetest.Sample(c.kind)
			c.change(e)
			r := FromEvidence(e)
			r.Words = true
			check(t, Judge(r), c.verdict, c.code)
		})
	}
}

// TestPrivateVerdicts holds that what is kept of a private fixture's log is enough to judge it.
func TestPrivateVerdicts(t *testing.T) {
	for _, kind := range []evidence.Kind{"coreml", "canary", "contrast"} {
		e := evidencetest.Sample(kind)
		e.Public = false
		evidencetest.SetStreams(e, evidencetest.Stderr(kind), "secret words\n")
		if _, err := evidence.Encode(e); err != nil {
			t.Fatal(err)
		}
		check(t, Judge(FromEvidence(e)), reason.Pass, "")
		if kind == "canary" {
			continue
		}
		// Speech was given: the count that replaces the words says whether any were written.
		for _, c := range []struct {
			heard   *evidence.WordCount
			verdict reason.Verdict
			code    string
		}{{count("secret words"), reason.Pass, ""}, {count("\n"), reason.Failed, "TRANSCRIPT_EMPTY"}, {nil, reason.Unknown, "TRANSCRIPT_WITHHELD"}} {
			e.Words = c.heard
			r := FromEvidence(e)
			r.Words = true
			check(t, Judge(r), c.verdict, c.code)
		}
	}
}

func count(words string) *evidence.WordCount {
	n := evidence.CountWords(words)
	return &n
}

// TestRuns holds what three runs must have in common, and what a failed canary does to the rest.
func TestRuns(t *testing.T) {
	other := strings.Repeat("9", 64)
	for _, c := range []struct {
		name   string
		change func(r *Runs)
		name2  string
		want   reason.Verdict
		code   string
		all    reason.Verdict
	}{
		{"good", func(*Runs) {}, Markers, reason.Pass, "", reason.Pass},
		{"no canary", func(r *Runs) { r.Canary = nil }, Markers, reason.Inadmissible, "CANARY_NOT_PASSED", reason.Failed},
		{"canary crashed", func(r *Runs) { r.Canary.Exit.Code = 139 }, Markers, reason.Inadmissible, "CANARY_NOT_PASSED", reason.Failed},
		{"canary crashed", func(r *Runs) { r.Canary.Exit.Code = 139 }, Transcript, reason.Inadmissible, "CANARY_NOT_PASSED", reason.Failed},
		{"canary of another binary", func(r *Runs) { r.Canary.Digests.CLI = other }, Canary, reason.Failed, "RUNS_DIFFER", reason.Failed},
		{"canary of another model", func(r *Runs) { r.Canary.Digests.Model = other }, Canary, reason.Failed, "RUNS_DIFFER", reason.Failed},
		{"canary of another lane", func(r *Runs) { r.Canary.LaneIdentity["baseline"] = "x86-64 with SSE4.2" }, Canary, reason.Failed, "RUNS_DIFFER", reason.Failed},
		{"contrast of another model", func(r *Runs) { r.Contrast.Digests.Model = other }, Contrast, reason.Failed, "RUNS_DIFFER", reason.Failed},
		{"contrast of another pin", func(r *Runs) { r.Contrast.Pin.Commit = "other" }, Contrast, reason.Failed, "RUNS_DIFFER", reason.Failed},
		{"runs swapped", func(r *Runs) { r.CoreML, r.Canary = r.Canary, r.CoreML }, Canary, reason.Failed, "EVIDENCE_KIND", reason.Failed},
		{"no positive run", func(r *Runs) { r.CoreML = nil }, Markers, reason.Failed, "EVIDENCE_MISSING", reason.Failed},
		{"canary out of memory", func(r *Runs) {
			r.Canary.Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: 9, OOMKilled: true}
		}, Markers, reason.Inadmissible, "CANARY_NOT_PASSED", reason.Unknown},
	} {
		t.Run(c.name+"/"+c.name2, func(t *testing.T) {
			runs := Runs{evidencetest.Sample("coreml"), evidencetest.Sample("canary"), evidencetest.Sample("contrast")}
			c.change(&runs)
			judgements := JudgeRuns(runs, verdict.NewJudgement(Transcript), evidencetest.Reference)
			for _, j := range judgements {
				if j.Name == c.name2 {
					check(t, j, c.want, c.code)
				}
			}
			if got := verdict.Overall(judgements); got != c.all {
				t.Errorf("overall %s, want %s", got, c.all)
			}
		})
	}
	if got := verdict.Overall(nil); got != reason.Failed {
		t.Errorf("no judgement at all: %s, want fail", got)
	}
}

// TestEveryJudgementOfRuns holds that the judgements which are registered as made from runs are made, in order, and
// that each says what it is about.
func TestEveryJudgementOfRuns(t *testing.T) {
	runs := Runs{evidencetest.Sample("coreml"), evidencetest.Sample("canary"), evidencetest.Sample("contrast")}
	var names []string
	for _, j := range JudgeRuns(runs, verdict.NewJudgement(Transcript), evidencetest.Reference) {
		names = append(names, j.Name)
		kind, _ := judgements.Lookup(j.Name)
		for _, fact := range kind.About {
			if value, ok := j.Facts[fact].(string); !ok || value == "" {
				t.Errorf("%s has fact %s %v: expected what it is about", j.Name, fact, j.Facts[fact])
			}
		}
	}
	if want := judgements.Of(judgements.Runs); !slices.Equal(names, want) {
		t.Errorf("JudgeRuns makes %q, but %q are registered", names, want)
	}
}
