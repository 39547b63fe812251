package mutants

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// Catalogue lists every mutant, class by class.
func Catalogue() []Mutant {
	var list []Mutant
	for _, class := range []struct {
		name    string
		mutants []Mutant
	}{
		{"Build", build()}, {"Log", logs()}, {"Invocation", invocation()}, {"Staging", staging()},
		{"Exit", exits()}, {"Canary", canaries()}, {"Contrast", contrasts()}, {"Words", words()}, {"Prediction", predictions()}, {"Placement", placements()}, {"Facts", facts()}, {"Evidence", broken()}, {"Logs of other tools", texts()},
	} {
		for _, m := range class.mutants {
			m.Class = class.name
			list = append(list, m)
		}
	}
	return list
}

const (
	loadedLine  = "whisper_init_state: Core ML model loaded\n"
	failedLine  = "whisper_init_state: failed to load Core ML model from 'ggml-model-encoder.mlmodelc'\n"
	contextLine = "error: failed to initialize whisper context\n"
	encodeLine  = "whisper_init_state: compute buffer (encode) =   17.72 MB\n"
	crossLine   = "whisper_init_state: compute buffer (cross)"
)

func build() []Mutant {
	define := func(list ...string) func(*Gate) {
		return func(g *Gate) { g.CoreML.Defines, g.Canary.Defines = list, list }
	}
	return []Mutant{
		{ID: "build-no-coreml", Fakes: "a Core ML build", Made: "system_info says COREML = 0", Code: reason.NoCoreMLBuild, Bend: stderr("coreml", "COREML = 1", "COREML = 0")},
		{ID: "build-no-coreml-word", Fakes: "a Core ML build", Made: "system_info does not name COREML", Code: reason.NoCoreMLBuild, Bend: stderr("coreml", "COREML = 1 | ", "")},
		{ID: "build-other-word", Fakes: "a Core ML build", Made: "system_info has MYCOREML = 1", Code: reason.NoCoreMLBuild, Bend: stderr("coreml", "COREML = 1", "MYCOREML = 1")},
		{ID: "build-coreml-10", Fakes: "a Core ML build", Made: "system_info has COREML = 10", Code: reason.NoCoreMLBuild, Bend: stderr("coreml", "COREML = 1", "COREML = 10")},
		{ID: "build-both-values", Fakes: "a Core ML build", Made: "system_info has COREML = 1 and COREML = 0", Code: reason.SystemInfoContradicts, Bend: stderr("coreml", "COREML = 1", "COREML = 1 | COREML = 0")},
		{ID: "build-fallback-ran", Fakes: "the Core ML encoder", Made: "the failure line before the load line of a fallback build", Code: reason.FallbackFailurePresent, Bend: stderr("coreml", loadedLine, failedLine+loadedLine)},
		{ID: "build-fallback-only", Fakes: "the Core ML encoder", Made: "a fallback build: failure line, ggml's encode buffer, exit 0", Code: reason.FallbackFailurePresent, Bend: all(stderr("coreml", loadedLine, failedLine), stderr("coreml", crossLine, encodeLine+crossLine))},
		{ID: "build-fallback-define", Fakes: "a build that refuses", Made: "the define WHISPER_COREML_ALLOW_FALLBACK reached the compiler", Code: reason.DefinesContradict, Bend: define("WHISPER_USE_COREML", "WHISPER_COREML_ALLOW_FALLBACK")},
		{ID: "build-define-missing", Fakes: "a Core ML build", Made: "the define WHISPER_USE_COREML did not reach the compiler", Code: reason.DefinesContradict, Bend: define("WHISPER_VERSION=\"1.9.1\"")},
		{ID: "build-other-flavour", Fakes: "the coreml flavour", Made: "the evidence names the flavour coreml_unpatched for the canary", Code: reason.RunsDiffer, Bend: func(g *Gate) { g.Canary.Flavour = "coreml_unpatched" }},
		{ID: "build-other-program", Fakes: "one build", Made: "the canary ran another whisper-cli", Code: reason.RunsDiffer, Bend: func(g *Gate) { g.Canary.Digests.CLI = strings.Repeat("9", 64) }},
		{ID: "build-other-pin", Fakes: "one revision", Made: "the contrast run is of another commit", Code: reason.RunsDiffer, Bend: func(g *Gate) { g.Contrast.Pin.Commit = strings.Repeat("1", 40) }},
	}
}

func logs() []Mutant {
	return []Mutant{
		{ID: "log-no-load-line", Fakes: "a loaded encoder", Made: "the load line is missing", Code: reason.LoadMarkerAbsent, Bend: stderr("coreml", loadedLine, "")},
		{ID: "log-load-line-indented", Fakes: "a loaded encoder", Made: "the load line has blanks before it", Code: reason.LoadMarkerAbsent, Bend: stderr("coreml", loadedLine, "  "+loadedLine)},
		{ID: "log-load-line-quoted", Fakes: "a loaded encoder", Made: "the load line is inside another line", Code: reason.LoadMarkerAbsent, Bend: stderr("coreml", loadedLine, "note: "+loadedLine)},
		{ID: "log-load-line-tail", Fakes: "a loaded encoder", Made: "the load line goes on", Code: reason.LoadMarkerAbsent, Bend: stderr("coreml", "Core ML model loaded\n", "Core ML model loaded lazily\n")},
		{ID: "log-load-line-case", Fakes: "a loaded encoder", Made: "the load line in other letters", Code: reason.LoadMarkerAbsent, Bend: stderr("coreml", "Core ML model loaded\n", "core ml model loaded\n")},
		{ID: "log-load-line-stdout", Fakes: "a loaded encoder", Made: "the load line on stdout, not on stderr", Code: reason.LoadMarkerAbsent, Bend: all(stderr("coreml", loadedLine, ""), stdout(loadedLine+" "+evidencetest.Reference+"\n", "coreml"))},
		{ID: "log-loaded-twice", Fakes: "one run", Made: "the load line twice", Code: reason.SecondLoadMarker, Bend: stderr("coreml", loadedLine, loadedLine+loadedLine)},
		{ID: "log-stray-count", Fakes: "predictions that did not fail", Made: "a count of failed predictions behind other text, above the good one", Code: reason.LogGarbled, Bend: stderr("coreml", crossLine, "note: coreml_double: 1 predictions, 1 failed\n"+crossLine)},
		{ID: "log-stray-tail", Fakes: "a loaded encoder", Made: "a load line with more behind it, beside the whole one", Code: reason.LogGarbled, Bend: stderr("coreml", crossLine, "whisper_init_state: Core ML model loaded (cached)\n"+crossLine)},
		{ID: "log-second-greeting", Fakes: "one run", Made: "a second greeting of the double", Code: reason.StaleLog, Bend: stderr("coreml", crossLine, "coreml_double: version 2, protocol 1, fault none\n"+crossLine)},
		{ID: "log-refused-and-loaded", Fakes: "a loaded encoder", Made: "the double's refusal beside the load line", Code: reason.StaleLog, Bend: stderr("coreml", loadedLine, "coreml_double: cannot load 'ggml-model-encoder.mlmodelc': no such file\n"+loadedLine)},
		{ID: "log-two-counts", Fakes: "one run", Made: "two counts of the encoder's runs", Code: reason.StaleLog, Bend: stderr("coreml", "whisper_print_timings:   decode time", "whisper_print_timings:   encode time =   812.22 ms /     4 runs (   203.05 ms per run)\nwhisper_print_timings:   decode time")},
		{ID: "log-ggml-encoder", Fakes: "the Core ML encoder", Made: "ggml's encode buffer beside the load line", Code: reason.GGMLEncoderPresent, Bend: stderr("coreml", crossLine, encodeLine+crossLine)},
		{ID: "log-two-runs", Fakes: "one run", Made: "two logs joined", Code: reason.SecondLoadMarker, Bend: func(g *Gate) {
			text := strings.Join(g.CoreML.Stderr.Lines, "\n") + "\n"
			g.CoreML.Stderr = evidence.Normaliser{}.Stream([]byte(text+text), false, true, evidence.Recognise)
		}},
		{ID: "log-load-before-loading", Fakes: "one run", Made: "the load line before the loading line", Code: reason.StaleLog, Bend: all(stderr("coreml", loadedLine, ""), stderr("coreml", "whisper_init_state: loading Core ML", loadedLine+"whisper_init_state: loading Core ML"))},
		{ID: "log-other-encoder", Fakes: "this encoder", Made: "the loading line names another path", Code: reason.StaleLog, Bend: stderr("coreml", "Core ML model from 'ggml-model-encoder.mlmodelc'", "Core ML model from 'other-encoder.mlmodelc'")},
		{ID: "log-silenced", Fakes: "a quiet run", Made: "no line of the library at all", Code: reason.LogSilenced, Bend: func(g *Gate) { g.CoreML.Stderr = evidence.Normaliser{}.Stream(nil, false, true, evidence.Recognise) }},
		{ID: "log-truncated", Fakes: "a whole log", Made: "the log was cut by the runner's limit", Code: reason.LogTruncated, Bend: func(g *Gate) { g.CoreML.Stderr.Truncated = true }},
		{ID: "log-stdout-truncated", Fakes: "a whole transcript", Made: "stdout was cut by the runner's limit", Code: reason.LogTruncated, Bend: func(g *Gate) { g.CoreML.Stdout.Truncated = true }},
		{ID: "log-no-double", Fakes: "the emulated lane", Made: "the double's own line is missing", Code: reason.LaneMismatch, Bend: stderr("coreml", "coreml_double: version 2, protocol 1, fault none\n", "")},
		{ID: "log-double-uncounted", Fakes: "a run of the encoder", Made: "the double's own count is missing", Code: reason.LogTruncated, Bend: stderr("coreml", "coreml_double: 1 predictions, 0 failed\n", "")},
		{ID: "log-double-idle", Fakes: "a run of the encoder", Made: "the double counts no prediction", Code: reason.EncoderNotExecuted, Bend: stderr("coreml", "coreml_double: 1 predictions", "coreml_double: 0 predictions")},
		{ID: "log-double-counts-more", Fakes: "one run", Made: "the double counts more predictions than the program", Code: reason.StaleLog, Bend: stderr("coreml", "coreml_double: 1 predictions", "coreml_double: 2 predictions")},
		{ID: "log-double-counts-failure", Fakes: "a prediction", Made: "the double counts a failed prediction", Code: reason.PredictionFailed, Bend: stderr("coreml", "1 predictions, 0 failed", "1 predictions, 1 failed")},
		{ID: "log-physical-double", Fakes: "the physical lane", Made: "emulated evidence relabelled as physical", Code: reason.LaneMismatch, Bend: func(g *Gate) {
			for _, e := range g.sides() {
				e.Lane, e.LaneIdentity = evidence.LanePhysical, map[string]string{"lane": "physical", "os_build": "24G720"}
			}
		}},
		{ID: "log-no-audio", Fakes: "a processed recording", Made: "the processing line is missing", Code: reason.NoAudioProcessed, Bend: stderr("coreml", "main: processing 'audio.wav'", "main: reading 'audio.wav'")},
		{ID: "log-unreadable-audio", Fakes: "a processed recording", Made: "upstream could not read the audio and exits 0", Code: reason.NoAudioProcessed, Bend: stderr("coreml", "main: processing 'audio.wav'", "error: failed to read audio data as wav\nmain: not processing 'audio.wav'")},
	}
}

func invocation() []Mutant {
	argv := func(more ...string) func(*Gate) {
		return func(g *Gate) {
			for _, e := range g.sides() {
				e.Argv = append(e.Argv, more...)
			}
		}
	}
	return []Mutant{
		{ID: "argv-no-prints", Fakes: "a judged run", Made: "-np in the command line", Code: reason.LogSilenced, Bend: argv("-np")},
		{ID: "argv-no-prints-long", Fakes: "a judged run", Made: "--no-prints in the command line", Code: reason.LogSilenced, Bend: argv("--no-prints")},
		{ID: "argv-audio-context", Fakes: "the model's context", Made: "-ac 512", Code: reason.ForbiddenArgument, Bend: argv("-ac", "512")},
		{ID: "argv-processors", Fakes: "one run", Made: "-p 2", Code: reason.ForbiddenArgument, Bend: argv("-p", "2")},
		{ID: "argv-response-file", Fakes: "these arguments", Made: "a response file @more", Code: reason.ForbiddenArgument, Bend: argv("@more")},
		{ID: "argv-unknown", Fakes: "a run", Made: "an unknown option, which ends the program with exit 0", Code: reason.ForbiddenArgument, Bend: argv("--no-such-option")},
		{ID: "argv-help", Fakes: "a run", Made: "--help, which ends the program with exit 0", Code: reason.ForbiddenArgument, Bend: argv("--help")},
		{ID: "argv-no-value", Fakes: "a run", Made: "an option without its value, which ends the program with exit 0", Code: reason.ForbiddenArgument, Bend: argv("-l")},
		{ID: "argv-fallback-decode", Fakes: "repeatable decoding", Made: "--temperature-inc 0.2", Code: reason.NondeterministicDecode, Bend: argv("--temperature-inc", "0.2")},
		{ID: "argv-temperature", Fakes: "repeatable decoding", Made: "--temperature 0.8", Code: reason.NondeterministicDecode, Bend: argv("--temperature", "0.8")},
		{ID: "argv-guessed-language", Fakes: "repeatable decoding", Made: "-l auto", Code: reason.NondeterministicDecode, Bend: argv("-l", "auto")},
		{ID: "argv-contrast-differs", Fakes: "like runs", Made: "the contrast run has another language", Code: reason.RunsDiffer, Bend: func(g *Gate) { g.Contrast.Argv = append(g.Contrast.Argv, "-l", "de") }},
		{ID: "fault-injected", Fakes: "a sound double", Made: "the double was told to misbehave", Code: reason.FaultInjected, Bend: func(g *Gate) {
			g.CoreML.Fault = "zeros"
			stderr("coreml", "protocol 1, fault none", "protocol 1, fault zeros")(g)
		}},
	}
}

func staging() []Mutant {
	sum := strings.Repeat("9", 64)
	return []Mutant{
		{ID: "staging-other-model", Fakes: "one model", Made: "the canary had another .bin", Code: reason.RunsDiffer, Bend: func(g *Gate) { g.Canary.Digests.Model = sum }},
		{ID: "staging-contrast-model", Fakes: "one model", Made: "the contrast run had another .bin", Code: reason.RunsDiffer, Bend: func(g *Gate) { g.Contrast.Digests.Model = sum }},
		{ID: "staging-other-audio", Fakes: "one recording", Made: "the contrast run had other audio", Code: reason.RunsDiffer, Bend: func(g *Gate) { g.Contrast.Digests.Audio = sum }},
		{ID: "staging-canary-encoder-before", Fakes: "a canary without an encoder", Made: "an encoder stood at its path before the run", Code: reason.CanaryEncoderPresent, Bend: func(g *Gate) { g.Canary.EncoderPath.Before = true }},
		{ID: "staging-canary-encoder-after", Fakes: "a canary without an encoder", Made: "an encoder stood at its path after the run", Code: reason.CanaryEncoderPresent, Bend: func(g *Gate) { g.Canary.EncoderPath.After = true }},
		{ID: "staging-other-lane", Fakes: "one lane", Made: "the canary ran on another host's double", Code: reason.RunsDiffer, Bend: func(g *Gate) {
			g.Canary.LaneIdentity = map[string]string{"lane": "emulated", "version": "3", "baseline": "x86-64 with AVX2 and FMA"}
		}},
	}
}

func exits() []Mutant {
	return []Mutant{
		{ID: "exit-process-failed", Fakes: "a whole run", Made: "exit 10 with every marker", Code: reason.ProcessFailed, Bend: exit("coreml", 10)},
		{ID: "exit-134", Fakes: "a whole run", Made: "exit 134 with every marker", Code: reason.CrashSignal, Bend: exit("coreml", 134)},
		{ID: "exit-139", Fakes: "a whole run", Made: "exit 139 with every marker", Code: reason.CrashSignal, Bend: exit("coreml", 139)},
		{ID: "exit-segv", Fakes: "a whole run", Made: "SIGSEGV after every marker", Code: reason.CrashSignal, Bend: signal("coreml", 11)},
		{ID: "exit-abort", Fakes: "a whole run", Made: "SIGABRT after every marker", Code: reason.CrashSignal, Bend: signal("coreml", 6)},
		{ID: "exit-ill", Fakes: "a whole run", Made: "SIGILL after every marker", Code: reason.CrashSignal, Bend: signal("coreml", 4)},
		{ID: "exit-kill-unexplained", Fakes: "a kill for memory", Made: "SIGKILL without the system's word for it", Code: reason.CrashSignal, Bend: signal("coreml", 9)},
		{ID: "exit-kill-memory", Fakes: "a failure of the program", Made: "SIGKILL with the cgroup's oom_kill", Code: reason.OutOfMemory, Bend: func(g *Gate) { g.CoreML.Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: 9, OOMKilled: true} }},
		{ID: "exit-timeout", Fakes: "a whole run", Made: "the deadline passed after every marker", Code: reason.RunTimeout, Bend: func(g *Gate) { g.CoreML.Exit = evidence.Exit{Kind: evidence.ExitTimeout} }},
		{ID: "exit-1", Fakes: "a whole run", Made: "exit 1 with every marker", Code: reason.ExitCode, Bend: exit("coreml", 1)},
		{ID: "exit-contrast", Fakes: "a whole contrast run", Made: "the contrast run ended with exit 139", Code: reason.CrashSignal, Bend: exit("contrast", 139)},
	}
}

func canaries() []Mutant {
	list := []Mutant{
		{ID: "canary-timeout", Fakes: "a refusal", Made: "the canary ran into its deadline", Code: reason.CanaryTimeout, Bend: func(g *Gate) { g.Canary.Exit = evidence.Exit{Kind: evidence.ExitTimeout} }},
		{ID: "canary-counted", Fakes: "a refusal", Made: "the canary's log counts a prediction", Code: reason.StaleLog, Bend: stderr("canary", contextLine, contextLine+"coreml_double: 1 predictions, 0 failed\n")},
		{ID: "canary-exit-0", Fakes: "a refusal", Made: "the canary exits 0", Code: reason.CanaryExit, Bend: exit("canary", 0)},
		{ID: "canary-exit-1", Fakes: "a refusal", Made: "the canary exits 1", Code: reason.CanaryExit, Bend: exit("canary", 1)},
		{ID: "canary-exit-4", Fakes: "a refusal", Made: "the canary exits 4", Code: reason.CanaryExit, Bend: exit("canary", 4)},
		{ID: "canary-exit-134", Fakes: "a refusal", Made: "the canary exits 134 with both markers", Code: reason.CanarySignal, Bend: exit("canary", 134)},
		{ID: "canary-exit-139", Fakes: "a refusal", Made: "the canary exits 139 with both markers", Code: reason.CanarySignal, Bend: exit("canary", 139)},
		{ID: "canary-abort", Fakes: "a refusal", Made: "SIGABRT with both markers", Code: reason.CanarySignal, Bend: signal("canary", 6)},
		{ID: "canary-segv", Fakes: "a refusal", Made: "SIGSEGV with both markers", Code: reason.CanarySignal, Bend: signal("canary", 11)},
		{ID: "canary-no-failure-line", Fakes: "a refusal", Made: "exit 3 without the load-failure line", Code: reason.CanaryMarkerAbsent, Bend: stderr("canary", failedLine, "")},
		{ID: "canary-no-context-line", Fakes: "a refusal", Made: "exit 3 without the context line", Code: reason.CanaryMarkerAbsent, Bend: stderr("canary", contextLine, "")},
		{ID: "canary-model-missing", Fakes: "a refusal", Made: "exit 3 because the model's path is wrong", Code: reason.CanaryWrongCause, Bend: func(g *Gate) {
			evidencetest.SetStreams(g.Canary, "whisper_init_from_file_with_params_no_state: loading model from 'ggml-model.bin'\nwhisper_init_from_file_with_params_no_state: failed to open 'ggml-model.bin'\n"+contextLine, "")
		}},
		{ID: "canary-loaded", Fakes: "a canary without an encoder", Made: "the canary loaded an encoder", Code: reason.CanaryLoaded, Bend: stderr("canary", failedLine, loadedLine)},
		{ID: "canary-attempts", Fakes: "a first attempt", Made: "the canary was started twice", Code: reason.CanaryRetried, Bend: func(g *Gate) { g.Canary.Attempts = 2 }},
		{ID: "canary-warmed", Fakes: "a first attempt", Made: "the canary was warmed up", Code: reason.CanaryRetried, Bend: func(g *Gate) { g.Canary.WarmUps = 1 }},
		{ID: "canary-missing", Fakes: "a gate", Made: "there is no canary", Code: reason.CanaryNotPassed, Bend: func(g *Gate) { g.Canary = nil }},
		{ID: "canary-is-positive", Fakes: "a canary", Made: "the positive run's evidence in the canary's place", Code: reason.EvidenceKind, Bend: func(g *Gate) { g.Canary = evidencetest.Sample(evidence.KindCoreML) }},
	}
	return list
}

func contrasts() []Mutant {
	return []Mutant{
		{ID: "contrast-coreml", Fakes: "a build without Core ML", Made: "the contrast run's system_info says COREML = 1", Code: reason.ContrastCoreML, Bend: stderr("contrast", "COREML = 0", "COREML = 1")},
		{ID: "contrast-load-line", Fakes: "a build without Core ML", Made: "the contrast run has the load line", Code: reason.ContrastCoreML, Bend: stderr("contrast", crossLine, loadedLine+crossLine)},
		{ID: "contrast-greeting", Fakes: "a build without Core ML", Made: "the contrast run has the double's greeting", Code: reason.ContrastCoreML, Bend: stderr("contrast", crossLine, "coreml_double: version 2, protocol 1, fault none\n"+crossLine)},
		{ID: "contrast-no-encoder", Fakes: "ggml's encoder", Made: "the contrast run has no encode buffer", Code: reason.ContrastNoEncoder, Bend: stderr("contrast", encodeLine, "")},
		{ID: "warmed-emulated", Fakes: "a cold run", Made: "a positive run of the emulated lane was warmed up, which its runner never does", Code: reason.EvidenceContradicts, Bend: func(g *Gate) { g.CoreML.WarmUps = 1 }},
		{ID: "contrast-missing", Fakes: "a gate", Made: "there is no contrast run", Code: reason.EvidenceMissing, Bend: func(g *Gate) { g.Contrast = nil }},
		{ID: "contrast-is-positive", Fakes: "a contrast run", Made: "the positive run's evidence in its place", Code: reason.EvidenceKind, Bend: func(g *Gate) { g.Contrast = evidencetest.Sample(evidence.KindCoreML) }},
	}
}

func words() []Mutant {
	empty := func(id, text, made string) Mutant {
		return Mutant{ID: "words-" + id, Fakes: "a prediction", Made: made, Code: reason.TranscriptEmpty, Bend: stdout(text, "coreml")}
	}
	return []Mutant{
		empty("none", "\n", "the Core ML run writes nothing"),
		empty("blank-audio", " [BLANK_AUDIO]\n", "the Core ML run writes [BLANK_AUDIO]"),
		empty("exclamation", " !!!!!!!!!!!!\n", "the Core ML run writes exclamation marks, as NaN outputs do"),
		empty("dots", " ...\n", "the Core ML run writes dots"),
		empty("zero-width", " \u200b\u200b\ufeff\n", "the Core ML run writes zero-width characters"),
		empty("colour", "\x1b[38;5;160m\x1b[0m\n", "the Core ML run writes colour codes"),
		{ID: "words-contrast-none", Fakes: "a contrast", Made: "ggml's run writes nothing", Code: reason.TranscriptEmpty, Bend: stdout("\n", "contrast")},
		{ID: "words-loop", Fakes: "a prediction", Made: "the Core ML run writes one word 200 times", Code: reason.TranscriptDiffers, Bend: stdout(strings.Repeat(" you", 200)+"\n", "coreml")},
		{ID: "words-other", Fakes: "a prediction", Made: "the Core ML run writes another sentence", Code: reason.TranscriptDiffers, Bend: stdout(" I have nothing to offer but blood, toil, tears and sweat.\n", "coreml")},
		{ID: "words-half", Fakes: "a prediction", Made: "the Core ML run stops in the middle", Code: reason.TranscriptDiffers, Bend: stdout(" And so my fellow Americans ask not what your country\n", "coreml")},
		{ID: "words-both-other", Fakes: "this recording", Made: "both runs write another recording's words", Code: reason.TranscriptReference, Bend: stdout(" I have nothing to offer but blood, toil, tears and sweat.\n", "coreml", "contrast")},
		{ID: "words-no-reference", Fakes: "a reference", Made: "the reference has no words", Code: reason.EvidenceMissing, Bend: func(g *Gate) { g.Reference = " \n…" }},
		{ID: "words-withheld", Fakes: "a private run that was compared", Made: "private evidence has no comparison", Code: reason.TranscriptWithheld, Bend: func(g *Gate) {
			for _, e := range g.sides() {
				e.Public = false
				evidencetest.SetStreams(e, evidencetest.Stderr(e.Kind), "")
				count := evidence.CountWords(evidencetest.Reference)
				e.Words = &count
			}
		}},
	}
}

// broken are files of evidence that the reader refuses before anything is judged; their code is UNREADABLE.
func broken() []Mutant {
	bend := func(id, made string, bend func(*Gate)) Mutant {
		return Mutant{ID: "evidence-" + id, Fakes: "evidence", Made: made, Code: Unreadable, Bend: bend}
	}
	return []Mutant{
		bend("schema", "the schema number is 0", func(g *Gate) { g.CoreML.Schema = 0 }),
		{ID: "evidence-newer", Fakes: "evidence", Made: "the schema number is the next one", Code: reason.EvidenceNewer, Answer: func() (*verdict.Findings, error) {
			data, err := evidence.Encode(evidencetest.Sample(evidence.KindCoreML))
			if err != nil {
				return nil, err
			}
			old := fmt.Sprintf(`"schema":%d`, evidence.Schema)
			_, err = evidence.Decode([]byte(strings.Replace(string(data), old, fmt.Sprintf(`"schema":%d`, evidence.Schema+1), 1)))
			return refusal(err)
		}},
		bend("kind", "the kind is unknown", func(g *Gate) { g.CoreML.Kind = "positive" }),
		bend("lane", "the lane is unknown", func(g *Gate) { g.CoreML.Lane = "Physical" }),
		bend("digest", "a digest in upper case", func(g *Gate) { g.CoreML.Digests.Model = strings.Repeat("A", 64) }),
		bend("digest-empty", "a digest is empty", func(g *Gate) { g.CoreML.Digests.CLI = "" }),
		bend("no-encoder", "a positive run without an encoder's digest", func(g *Gate) { g.CoreML.Digests.Encoder = nil }),
		bend("canary-encoder", "a canary with an encoder's digest", func(g *Gate) { s := strings.Repeat("e", 64); g.Canary.Digests.Encoder = &s }),
		bend("line-changed", "a line of the log changed, its digest not", func(g *Gate) { g.CoreML.Stderr.Lines[0] = "another line" }),
		bend("line-missing", "a line of the log left out, its count not", func(g *Gate) { g.CoreML.Stderr.Lines = g.CoreML.Stderr.Lines[1:] }),
		bend("exit-both", "an exit code and a signal", func(g *Gate) { g.CoreML.Exit = evidence.Exit{Kind: evidence.ExitCode, Code: 0, Signal: 11} }),
		bend("no-attempt", "no attempt", func(g *Gate) { g.Canary.Attempts = 0 }),
		bend("normalisation", "other normalisation rules", func(g *Gate) { g.CoreML.Normalisation = 99 }),
		bend("heard", "a private comparison whose edits do not give its counts", func(g *Gate) {
			g.CoreML.Heard = &evidence.Heard{ReferenceSHA256: strings.Repeat("0", 64), Profile: "english/2", ReferenceUnits: 5, Units: 9, Edits: []evidence.HeardEdit{}}
		}),
	}
}

// refusal is a reader's refusal as findings, if it has a reason code.
func refusal(err error) (*verdict.Findings, error) {
	var refused *reason.Error
	if !errors.As(err, &refused) {
		return nil, err
	}
	found := verdict.From(refused.Reason)
	return &found, nil
}

// Unreadable stands for an answer that no reason code gives: the evidence is refused by its reader.
const Unreadable = "(refused by the reader)"
