package judge

import "github.com/coreml-gate/rules_coreml_gate/tools/base/reason"

// Reasons are the codes of this package.
var Reasons = reason.Table{
	// Evidence itself.
	{Code: "EVIDENCE_MISSING", Class: reason.Fail, Means: "A run that the judgement needs left no evidence.", Do: "Run the gate's actions; a receipt is never written from what is assumed."},
	{Code: "EVIDENCE_KIND", Class: reason.Fail, Means: "The evidence is of another kind of run than the one to be judged.", Do: "Give each judgement the evidence of its own run."},
	{Code: "EXIT_MISSING", Class: reason.Fail, Means: "A log came without the way in which the program ended.", Do: "Give --exit, or a line \"exit: …\" above the log."},
	{Code: "LOG_TRUNCATED", Class: reason.Fail, Means: "A stream was longer than the runner keeps, or its end was never seen, so a marker may be missing from it.", Do: "Find out what floods the log; markers of a cut log prove nothing."},
	{Code: "LANE_MISMATCH", Class: reason.Fail, Means: "The lane that the evidence claims and what its log shows do not agree: the emulated double announces itself in every run, Apple's Core ML never does.", Do: "Run on the lane that is claimed. A lane cannot be relabelled."},
	{Code: "RUNS_DIFFER", Class: reason.Fail, Means: "Two runs that must be of the same binary, model, pin and lane are not.", Do: "Judge runs of one gate together."},
	{Code: "FORBIDDEN_ARGUMENT", Class: reason.Refuse, Means: "whisper-cli was or would be started with an argument that the contract forbids: -ac changes the mel width and fails silently, -p above 1 loads the encoder again, response files hide what ran, unknown options end the program with exit 0.", Do: "Leave the argument out."},
	{Code: "SPEC_REFUSED", Class: reason.Refuse, Means: "A run's specification asks for something that the contract does not allow.", Do: "Change the named member."},
	{Code: "MODEL_NAME", Class: reason.Refuse, Means: "The model's file name does not end in .bin. The encoder's path is derived by cutting the model's path at its last dot, which may then be in a directory's name.", Do: "Name the model ggml-NAME.bin."},
	{Code: "WORKER_IDENTITY", Class: reason.Refuse, Means: "The machine that was to run a physical gate is not the one that its key names: another build of macOS, other hardware, or an identity with holes.", Do: "Update the key (bazel sync --configure, or the worker's platform properties), or send the action to the machine that it names."},
	{Code: "LANGUAGE_MISSING", Class: reason.Refuse, Means: "A multilingual model was given no language and would guess one.", Do: "State the language of the fixture."},
	{Code: "LANGUAGE_IGNORED", Class: reason.Refuse, Means: "An English-only model ignores the language that it was given.", Do: "Use en, or a multilingual model."},

	// Runs that say nothing.
	{Code: "LOG_SILENCED", Class: reason.Inconclusive, Means: "The log has no line of the library at all: -np (--no-prints) installs an empty log callback, which removes every marker.", Do: "Run without -np. A silenced run can neither pass nor fail honestly."},
	{Code: "DEVICE_COMPILE_TIMEOUT", Class: reason.Inconclusive, Means: "The deadline passed while the encoder was being loaded. A first load on a device compiles the model, which can take minutes; for some models it takes hours, every time.", Do: "Raise the deadline, warm up first, or use a smaller encoder. Do not kill the system's compiler service."},
	{Code: "RUN_TIMEOUT", Class: reason.Inconclusive, Means: "The deadline passed before the program ended.", Do: "Raise the deadline, or shorten the fixture."},
	{Code: "OUT_OF_MEMORY", Class: reason.Inconclusive, Means: "The system killed the program for want of memory, and says so itself (cgroup oom_kill, a Jetsam report).", Do: "Give the action more memory."},
	{Code: "BAD_NUMBER", Class: reason.Inconclusive, Means: "The program aborted on a number that it could not read, from an argument or from the environment (WHISPER_ARG_DEVICE), before any model was loaded.", Do: "Run it in a closed environment; coregate run does."},
	{Code: "SANDBOX_DENIED", Class: reason.Inconclusive, Means: "The system's own caches (Core ML's e5rt, Metal's) could not be written from the sandbox.", Do: "Run physical actions without a sandbox."},
	{Code: "PLAN_READER_ABORTED", Class: reason.Inconclusive, Means: "Apple's compute-plan reader aborted: it was given a directory that is no compiled model. This is no run of whisper-cli, and nothing is known about placement.", Do: "Give it an .mlmodelc that has coremldata.bin."},

	// The positive run.
	{Code: "CRASH_SIGNAL", Class: reason.Fail, Means: "A signal ended the program. Exit codes above 128 are judged as the signals that they stand for.", Do: "Find the crash. A crash is never retried."},
	{Code: "MODEL_TEST_STUB", Class: reason.Refuse, Means: "The model is upstream's stub for tests (for-tests-ggml-….bin), which has no tensors.", Do: "Use a real model."},
	{Code: "MODEL_NOT_GGML", Class: reason.Refuse, Means: "What was given as the model is no ggml model: an .mlmodelc or a file inside it, an LFS pointer, or a damaged file.", Do: "Give the ggml-NAME.bin with -m; the encoder is found beside it."},
	{Code: "MODEL_MISSING", Class: reason.Refuse, Means: "The model's file could not be opened.", Do: "Check the path."},
	{Code: "COREML_LOAD_FAILED", Class: reason.Fail, Means: "The Core ML encoder was not loaded and the program refused to run without it. The bridge throws Core ML's own error away (error:nil).", Do: "Check that the .mlmodelc stands beside the model under the derived name and is whole (coregate inspect); on a Mac, coremlprobe prints the error."},
	{Code: "CONTEXT_FAILED", Class: reason.Fail, Means: "The program could not make its context, and the log does not say that the encoder was the cause.", Do: "Read the lines above the error."},
	{Code: "USAGE_EXIT", Class: reason.Refuse, Means: "The program ended over its arguments, without a run. It exits 0 for many of these.", Do: "Correct the arguments."},
	{Code: "DTW_PRESET", Class: reason.Refuse, Means: "An unknown --dtw preset exits 3, as a refused encoder does.", Do: "Leave --dtw out."},
	{Code: "DEPRECATED_PROGRAM", Class: reason.Refuse, Means: "The program is upstream's stub under the old name main, which only prints a warning.", Do: "Run whisper-cli."},
	{Code: "NO_AUDIO_PROCESSED", Class: reason.Fail, Means: "The program ended with exit 0, but no audio went through the model: unreadable audio exits 0 upstream.", Do: "Check the audio file; wav, mp3, flac and ogg are decoded."},
	{Code: "OUTPUT_UNWRITABLE", Class: reason.Fail, Means: "A file that the program was asked for could not be written. It ends with exit 0 all the same.", Do: "Give it a folder that exists and may be written, or let the words go to standard output."},
	{Code: "PROCESS_FAILED", Class: reason.Fail, Means: "whisper_full failed (exit 10).", Do: "Read the log; a wrong -ac does this."},
	{Code: "EXIT_CODE", Class: reason.Fail, Means: "The program ended with an exit code other than 0.", Do: "Look the code up in docs/evidence.md."},
	{Code: "NO_COREML_BUILD", Class: reason.Fail, Means: "The binary was built without Core ML: system_info says COREML = 0, or does not name it.", Do: "Build the coreml flavour; look for a stale binary."},
	{Code: "LOAD_MARKER_ABSENT", Class: reason.Fail, Means: "The line \"whisper_init_state: Core ML model loaded\" does not stand on stderr.", Do: "Without it ggml's own encoder ran, or nothing did."},
	{Code: "FALLBACK_FAILURE_PRESENT", Class: reason.Fail, Means: "The encoder failed to load and the run went on: the build allows fallback to ggml's encoder.", Do: "Build without WHISPER_COREML_ALLOW_FALLBACK."},
	{Code: "GGML_ENCODER_PRESENT", Class: reason.Fail, Means: "ggml set up its own encoder (\"compute buffer (encode)\"), which it does only when Core ML is not used. This marker is independent of the load line.", Do: "The encoder did not run, whatever other lines say."},
	{Code: "SECOND_LOAD_MARKER", Class: reason.Fail, Means: "The encoder was loaded more than once in a run: -p above 1, or two logs in one file.", Do: "Use -p 1; judge one run at a time."},
	{Code: "STALE_LOG", Class: reason.Fail, Means: "The lines cannot come from one run of this model: they repeat, stand in an order that the program never prints, or name another path.", Do: "Judge the log that belongs to this run."},
	{Code: "DEFINES_CONTRADICT", Class: reason.Fail, Means: "The macros that reached the compiler are not those of the flavour that the binary is said to be.", Do: "Look at the compile action, not at the option's name: a misspelled macro does nothing."},
	{Code: "SYSTEM_INFO_CONTRADICTS", Class: reason.Fail, Means: "A system_info line gives COREML more than one value, or one that is neither 0 nor 1.", Do: "Find out what wrote the log."},

	// The negative control.
	{Code: "CANARY_TIMEOUT", Class: reason.Fail, Means: "The negative control did not refuse in time.", Do: "A build that does not refuse is no proof; do not retry."},
	{Code: "CANARY_SIGNAL", Class: reason.Fail, Means: "The negative control crashed instead of refusing. The unpatched program frees an uninitialised batch; a crash proves memory unsafety, not refusal.", Do: "Build with the compatibility patch. Never retry a canary."},
	{Code: "CANARY_EXIT", Class: reason.Fail, Means: "The negative control ended with an exit code other than 3.", Do: "Exit 0 means that the build runs without its encoder."},
	{Code: "CANARY_MARKER_ABSENT", Class: reason.Fail, Means: "The negative control exited 3, but without both the load-failure line and the final context error.", Do: "Exit 3 alone can be a typing error in a path."},
	{Code: "CANARY_WRONG_CAUSE", Class: reason.Inconclusive, Means: "The negative control exited 3 for another cause: the model itself did not load, so the encoder was never asked for.", Do: "Give the canary the model of the positive run."},
	{Code: "CANARY_LOADED", Class: reason.Fail, Means: "The negative control loaded a Core ML encoder, though none should be there.", Do: "Find out which encoder it found."},
	{Code: "CANARY_RETRIED", Class: reason.Fail, Means: "The negative control was started more than once, or warmed up. The first result is the evidence.", Do: "Run with retries off."},
	{Code: "CANARY_ENCODER_PRESENT", Class: reason.Fail, Means: "Something stood at the derived encoder path before or after the negative control.", Do: "Stage the model alone."},
	{Code: "CANARY_NOT_PASSED", Class: reason.Inconclusive, Means: "The negative control of this build did not pass, so no positive result of it is admissible.", Do: "Repair the canary first."},

	// The contrast run.
	{Code: "CONTRAST_COREML", Class: reason.Fail, Means: "The contrast run, which must use ggml's own encoder, is of a Core ML build or shows Core ML lines.", Do: "Use the ggml flavour."},
	{Code: "CONTRAST_NO_ENCODER", Class: reason.Fail, Means: "The contrast run does not show ggml's encoder being set up, so the marker's absence elsewhere means nothing.", Do: "Check that this build still prints \"compute buffer (encode)\"."},

	// Words.
	{Code: "TRANSCRIPT_EMPTY", Class: reason.Fail, Means: "The run wrote no words. A prediction that failed inside Core ML leaves exactly this, with a clean log.", Do: "Check the encoder's names, types and shapes (coregate inspect) and its numbers (coregate parity)."},
	{Code: "TRANSCRIPT_DIFFERS", Class: reason.Fail, Means: "The words are not the reference words.", Do: "Compare with the contrast run: if that is right, Core ML changed the answer; if it is wrong too, the conversion was already wrong."},
	{Code: "TRANSCRIPT_WITHHELD", Class: reason.Inconclusive, Means: "The fixture is not public, and the evidence holds neither its words nor their digest.", Do: "Capture the evidence again with this version."},

	// Logs of programs around a gate.
	{Code: "SOURCE_DIGEST_MISMATCH", Class: reason.Fail, Means: "What was fetched is not what was pinned. Hosting services repack archives, which changes an archive's digest and not its content.", Do: "Pin content, as this project's repository rules do, and mirror the archive. Never update a digest to whatever was fetched."},
	{Code: "TOOLCHAIN_NO_PATCH", Class: reason.Refuse, Means: "The image has no program called patch, so the source could not be patched.", Do: "Install it, or use this project's repository rules, which apply the patch themselves."},
	{Code: "PATCH_NOT_APPLIED", Class: reason.Fail, Means: "A patch did not apply: another source, or another strip level than the one it was made for.", Do: "Patch the pinned source with the patch that belongs to it."},
	{Code: "TOOLCHAIN_DRIFT", Class: reason.Inconclusive, Means: "The Xcode that the build was configured with is no longer there; it was updated behind the build's back.", Do: "Select the Xcode again (bazel sync --configure) and gate again: a receipt binds the Xcode build."},
	{Code: "COREMLC_MISSING", Class: reason.Refuse, Means: "coremlc is part of a full Xcode; the Command Line Tools do not have it.", Do: "Install Xcode and select it: xcrun --find coremlc must resolve inside Xcode.app."},
	{Code: "CONVERTER_UNPINNED", Class: reason.Refuse, Means: "A converter's requirements cannot be met together (ane-transformers pins torch to 1.11 and older). A gate takes an encoder by digest and converts nothing.", Do: "Convert in an isolated, pinned environment and gate the result."},
	{Code: "NOT_EXECUTED", Class: reason.Inconclusive, Means: "The log tells of a cached result: nothing ran when it was written.", Do: "Read the receipt: its evidence is the first run's, and its observations say when and where that was."},
	{Code: "POWER_SAYS_NOTHING", Class: reason.Inconclusive, Means: "powermetrics shows no Neural Engine power. Its figures are estimates for the whole system; zero refutes nothing without a positive control.", Do: "Claim placement from a compute plan or a trace, and say which."},
	{Code: "NONDETERMINISTIC_DECODE", Class: reason.Inconclusive, Means: "The decoding falls back to higher temperatures, which draws words at random, so two transcripts cannot be compared.", Do: "Decode with --temperature 0 --temperature-inc 0, as coregate run does."},

	// Facts worth a look.
	{Code: "ANE_FALLBACK", Class: reason.Note, Means: "The Neural Engine failed to compile or evaluate the encoder and Core ML went on elsewhere, inside itself. The run stands; a claim about placement does not.", Do: "Claim no Neural Engine placement from this run."},
	{Code: "FAULT_INJECTED", Class: reason.Fail, Means: "The emulated lane's double was told to misbehave, for a test of the gates. Such a run passes nothing.", Do: "Run without a fault."},
}
