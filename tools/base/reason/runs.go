package reason

// Runs: codes.
const (
	LogUnreadable          = "LOG_UNREADABLE"
	LogEmpty               = "LOG_EMPTY"
	LogForeign             = "LOG_FOREIGN"
	LogGarbled             = "LOG_GARBLED"
	LogSwapped             = "LOG_SWAPPED"
	EvidenceNewer          = "EVIDENCE_NEWER"
	EvidenceContradicts    = "EVIDENCE_CONTRADICTS"
	EnvironmentForbidden   = "ENVIRONMENT_FORBIDDEN"
	TwoInputs              = "TWO_INPUTS"
	EncoderNotExecuted     = "ENCODER_NOT_EXECUTED"
	EncoderNotStaged       = "ENCODER_NOT_STAGED"
	CrashContradictsExit   = "CRASH_CONTRADICTS_EXIT"
	RunStopped             = "RUN_STOPPED"
	LoaderFailed           = "LOADER_FAILED"
	ProgramNotStarted      = "PROGRAM_NOT_STARTED"
	CoremlcFailed          = "COREMLC_FAILED"
	BuildFailed            = "BUILD_FAILED"
	RemoteFailed           = "REMOTE_FAILED"
	XcodeFailed            = "XCODE_FAILED"
	ConverterFailed        = "CONVERTER_FAILED"
	ComputePlanFailed      = "COMPUTE_PLAN_FAILED"
	EvidenceMissing        = "EVIDENCE_MISSING"
	EvidenceKind           = "EVIDENCE_KIND"
	ExitMissing            = "EXIT_MISSING"
	LogTruncated           = "LOG_TRUNCATED"
	LaneMismatch           = "LANE_MISMATCH"
	RunsDiffer             = "RUNS_DIFFER"
	ForbiddenArgument      = "FORBIDDEN_ARGUMENT"
	SpecRefused            = "SPEC_REFUSED"
	ThreadsExceed          = "THREADS_EXCEED"
	ModelName              = "MODEL_NAME"
	WorkerIdentity         = "WORKER_IDENTITY"
	CPUFeaturesMissing     = "CPU_FEATURES_MISSING"
	LanguageMissing        = "LANGUAGE_MISSING"
	LanguageIgnored        = "LANGUAGE_IGNORED"
	LanguageUnknown        = "LANGUAGE_UNKNOWN"
	LogSilenced            = "LOG_SILENCED"
	DeviceCompileTimeout   = "DEVICE_COMPILE_TIMEOUT"
	RunTimeout             = "RUN_TIMEOUT"
	OutOfMemory            = "OUT_OF_MEMORY"
	BadNumber              = "BAD_NUMBER"
	SandboxDenied          = "SANDBOX_DENIED"
	PlanReaderAborted      = "PLAN_READER_ABORTED"
	CrashSignal            = "CRASH_SIGNAL"
	ModelTestStub          = "MODEL_TEST_STUB"
	ModelVocabulary        = "MODEL_VOCABULARY"
	ModelFloat32           = "MODEL_FLOAT32"
	ModelNotGGML           = "MODEL_NOT_GGML"
	ModelMissing           = "MODEL_MISSING"
	CoreMLLoadFailed       = "COREML_LOAD_FAILED"
	ContextFailed          = "CONTEXT_FAILED"
	UsageExit              = "USAGE_EXIT"
	DTWPreset              = "DTW_PRESET"
	DeprecatedProgram      = "DEPRECATED_PROGRAM"
	NoAudioProcessed       = "NO_AUDIO_PROCESSED"
	OutputUnwritable       = "OUTPUT_UNWRITABLE"
	VADModelMissing        = "VAD_MODEL_MISSING"
	ProcessFailed          = "PROCESS_FAILED"
	ExitCode               = "EXIT_CODE"
	NoCoreMLBuild          = "NO_COREML_BUILD"
	LoadMarkerAbsent       = "LOAD_MARKER_ABSENT"
	FallbackFailurePresent = "FALLBACK_FAILURE_PRESENT"
	GGMLEncoderPresent     = "GGML_ENCODER_PRESENT"
	SecondLoadMarker       = "SECOND_LOAD_MARKER"
	StaleLog               = "STALE_LOG"
	DefinesContradict      = "DEFINES_CONTRADICT"
	SystemInfoContradicts  = "SYSTEM_INFO_CONTRADICTS"
	CanaryTimeout          = "CANARY_TIMEOUT"
	CanarySignal           = "CANARY_SIGNAL"
	CanaryExit             = "CANARY_EXIT"
	CanaryMarkerAbsent     = "CANARY_MARKER_ABSENT"
	CanaryWrongCause       = "CANARY_WRONG_CAUSE"
	CanaryLoaded           = "CANARY_LOADED"
	CanaryRetried          = "CANARY_RETRIED"
	CanaryEncoderPresent   = "CANARY_ENCODER_PRESENT"
	CanaryNotPassed        = "CANARY_NOT_PASSED"
	ContrastCoreML         = "CONTRAST_COREML"
	ContrastNoEncoder      = "CONTRAST_NO_ENCODER"
	TranscriptEmpty        = "TRANSCRIPT_EMPTY"
	TranscriptDiffers      = "TRANSCRIPT_DIFFERS"
	TranscriptReference    = "TRANSCRIPT_REFERENCE"
	ReferenceText          = "REFERENCE_TEXT"
	TranscriptWithheld     = "TRANSCRIPT_WITHHELD"
	SourceDigestMismatch   = "SOURCE_DIGEST_MISMATCH"
	ToolchainNoPatch       = "TOOLCHAIN_NO_PATCH"
	PatchNotApplied        = "PATCH_NOT_APPLIED"
	ToolchainDrift         = "TOOLCHAIN_DRIFT"
	CoremlcMissing         = "COREMLC_MISSING"
	ConverterUnpinned      = "CONVERTER_UNPINNED"
	NotExecuted            = "NOT_EXECUTED"
	PowerSaysNothing       = "POWER_SAYS_NOTHING"
	NondeterministicDecode = "NONDETERMINISTIC_DECODE"
	AneFallback            = "ANE_FALLBACK"
	FaultInjected          = "FAULT_INJECTED"
)

var runs = Table{
	// Evidence itself.
	{Code: EvidenceMissing, Class: Fail, Means: "A run that the judgement needs left no evidence.", Do: "Capture that run; a receipt is never written from what is assumed."},
	{Code: EvidenceKind, Class: Fail, Means: "The evidence is from another kind of run.", Do: "Give each judgement the evidence of its own run."},
	{Code: EvidenceNewer, Class: Inconclusive, Means: "The evidence was made by a newer version of this project, in a form that this version does not know.", Do: "Judge it with the version that made it, or a newer one."},
	{Code: EvidenceContradicts, Class: Fail, Means: "Two parts of the evidence of one run do not agree, or a part is missing: arguments, defines, digests, exit, and what the log itself says of model, audio, threads, language and runs.", Do: "Capture the run again. Evidence is written by the runner and never edited."},
	{Code: EnvironmentForbidden, Class: Refuse, Means: "The program's environment is not the one that the runner gives: a variable is missing, another is there, or one has another value. Variables such as GGML_BACKEND_PATH and WHISPER_ARG_DEVICE change what runs.", Do: "Run with coregate run or the gate's actions, which inherit nothing."},
	{Code: TwoInputs, Class: Refuse, Means: "One run was given more than one input, so its log and its words are of several recordings.", Do: "Give each run one -f."},
	{Code: LogUnreadable, Class: Refuse, Means: "The log is not text that can be read as the program wrote it. What was found says what it is.", Do: "Give the text of the program's standard error, plain or as gzip."},
	{Code: ExitMissing, Class: Fail, Means: "A log came without the way in which the program ended.", Do: "Give --exit, or a line \"exit: …\" above the log."},
	{Code: LogTruncated, Class: Fail, Means: "The log does not reach the end of the run: a stream was longer than is kept, or the lines that end a run are missing, so a marker may be missing too.", Do: "Capture both streams to their end; markers of a cut log prove nothing."},
	{Code: LaneMismatch, Class: Fail, Means: "The lane that the evidence claims and what its log shows do not agree: what emulates Core ML announces itself in every run, by the name that the lane's identity gives it; Apple's Core ML never does.", Do: "Run on the lane that is claimed. A lane cannot be relabelled."},
	{Code: RunsDiffer, Class: Fail, Means: "Two runs that must be of the same binary, model, pin and lane are not.", Do: "Judge runs of one gate together."},
	{Code: ForbiddenArgument, Class: Refuse, Means: "whisper-cli was or would be started with an argument that the contract forbids: -ac changes the mel width and fails silently, -p above 1 loads the encoder again, response files hide what ran, unknown options end the program with exit 0.", Do: "Leave the argument out."},
	{Code: SpecRefused, Class: Refuse, Means: "A run's specification asks for something that the contract does not allow.", Do: "Change the named member."},
	{Code: ThreadsExceed, Class: Refuse, Means: "The run asks for more threads than the machine may be asked for as it is now: half of its processors in low-power mode or in serious heat, a third in critical heat, and on a Mac or for a measurement never the last one.", Do: "Ask for fewer threads, or wait until the machine has cooled and saves no power. The number is never lowered by itself: it is a part of the run."},
	{Code: ModelName, Class: Refuse, Means: "The model's file name does not end in .bin. The encoder's path is derived by cutting the model's path at its last dot, which may then be in a directory's name.", Do: "Name the model ggml-NAME.bin."},
	{Code: WorkerIdentity, Class: Refuse, Means: "The machine that was to run a physical gate is not the one that its key names: another build of macOS, other hardware, or an identity with holes.", Do: "Update the key (bazel fetch --configure, or the worker's platform properties), or send the action to the machine that it names."},
	{Code: CPUFeaturesMissing, Class: Inconclusive, Means: "The processor of this machine lacks instructions that whisper-cli was built for: nothing was started, or the program died of an illegal instruction before it loaded anything.", Do: "coregate binary --here WHISPER-CLI names them, unless the program is stripped. Run on a machine that has them, or build with --//third_party/whisper_cpp:instruction_set=baseline."},
	{Code: LanguageMissing, Class: Refuse, Means: "A multilingual model was given no language and would guess one.", Do: "State the language of the fixture."},
	{Code: LanguageUnknown, Class: Refuse, Means: "The model has no token for the language: the runtime numbers languages on and takes a token of another meaning.", Do: "Use a model that knows it (large-v3 and what is made from it know Cantonese), or zh."},
	{Code: LanguageIgnored, Class: Refuse, Means: "An English-only model ignores the language that it was given.", Do: "Use en, or a multilingual model."},

	// Runs that say nothing.
	{Code: LogSilenced, Class: Inconclusive, Means: "whisper-cli ran with -np (--no-prints) or another program emptied its log callback: only lines that survive this are there, and every marker is gone.", Do: "Run without -np. A silenced run can neither pass nor fail honestly."},
	{Code: LogEmpty, Class: Inconclusive, Means: "The log has no line.", Do: "Give the file that the program's standard error went to (2> log)."},
	{Code: LogForeign, Class: Inconclusive, Means: "The log is not of whisper-cli: no line of it is one that whisper-cli prints, and no known error of another tool is in it; or it holds the library's lines alone, as another program writes them.", Do: "Read what was found; give the standard error of whisper-cli."},
	{Code: LogSwapped, Class: Inconclusive, Means: "Lines that whisper-cli writes to stderr are under stdout.", Do: "Give each stream under its own name: --- stderr, --- stdout."},
	{Code: LogGarbled, Class: Fail, Means: "A line that must appear exactly as the program writes it appears in another form: behind a prefix that other lines lack, with a suffix, or among control characters. Such a line proves nothing.", Do: "Capture the program's own standard error in a file of its own."},
	{Code: DeviceCompileTimeout, Class: Inconclusive, Means: "The deadline passed while the encoder was being loaded. A first load on a device compiles the model, which can take minutes; for some models it takes hours, every time.", Do: "Raise the deadline, warm up first, or use a smaller encoder. Do not kill the system's compiler service."},
	{Code: RunTimeout, Class: Inconclusive, Means: "The deadline passed before the program ended.", Do: "Raise the deadline, or shorten the fixture."},
	{Code: OutOfMemory, Class: Inconclusive, Means: "Memory ran out: the system says that it killed the program for it (cgroup oom_kill, a Jetsam report), or the program says that an allocation failed.", Do: "Give the action more memory."},
	{Code: BadNumber, Class: Inconclusive, Means: "The program aborted on a number that it could not read, from an argument or from the environment (WHISPER_ARG_DEVICE), before any model was loaded.", Do: "Run it in a closed environment; coregate run does."},
	{Code: SandboxDenied, Class: Inconclusive, Means: "The system's own caches (Core ML's e5rt, Metal's) could not be written from the sandbox.", Do: "Run physical actions without a sandbox."},
	{Code: PlanReaderAborted, Class: Inconclusive, Means: "Apple's compute-plan reader aborted, as it does when it is given a directory that is not a compiled model. This is not a run of whisper-cli, and placement is unknown.", Do: "Give it an .mlmodelc that has coremldata.bin."},

	// The positive run.
	{Code: EncoderNotExecuted, Class: Fail, Means: "The encoder was loaded and never ran: by the counters of the program, or of what emulates Core ML, no window of audio went through it.", Do: "Give audio of at least 100 ms in which there is something to hear; leave out --vad."},
	{Code: EncoderNotStaged, Class: Fail, Means: "The encoder was not beside the model both before and after the run.", Do: "If it vanished during the run, find out what cleans the staging directory; otherwise stage it under the derived name."},
	{Code: CrashContradictsExit, Class: Fail, Means: "The log holds the last words of a crash, or a shell's word that the program was killed, and the exit says otherwise: the status was lost on the way, as in a pipe without pipefail.", Do: "Record the exit of whisper-cli itself (PIPESTATUS, pipefail)."},
	{Code: RunStopped, Class: Inconclusive, Means: "A signal from outside ended the program, such as a CI service sends at its time limit. It did not crash.", Do: "Find out what stopped it, and give the run the time that it needs."},
	{Code: LoaderFailed, Class: Refuse, Means: "The system's loader could not start the program: a library is missing, too old, or for another processor.", Do: "Install what the quoted line names, or build for the system that runs it (coregate binary lists what a program needs)."},
	{Code: ProgramNotStarted, Class: Refuse, Means: "The shell could not start the program.", Do: "Check the program's path, its mode, and its processor."},
	{Code: CrashSignal, Class: Fail, Means: "A signal ended the program: a crash, or SIGKILL, by which the system or a person killed it. Exit codes above 128 are judged as the signals that they encode.", Do: "Start at the quoted line, if there is one. After SIGKILL, read the system's log (memory, a broken signature). A crash is never retried."},
	{Code: ModelTestStub, Class: Refuse, Means: "The model is upstream's stub for tests (for-tests-ggml-….bin), which has no tensors.", Do: "Use a real model."},
	{Code: ModelNotGGML, Class: Refuse, Means: "The model given is not a ggml model but an .mlmodelc or a file inside one, an LFS pointer, or a damaged file.", Do: "Give the ggml-NAME.bin with -m; the encoder is found beside it."},
	{Code: ModelMissing, Class: Refuse, Means: "The model's file could not be opened.", Do: "Check the path."},
	{Code: CoreMLLoadFailed, Class: Fail, Means: "The Core ML encoder was not loaded and the program refused to run without it. Apple's bridge discards Core ML's error (error:nil); the emulated lane's double prints its own, which is quoted.", Do: "Check that the .mlmodelc is beside the model under the derived name and is whole (coregate inspect); on a Mac, coremlprobe prints the error."},
	{Code: ContextFailed, Class: Fail, Means: "The program could not make its context, and the log does not say that the encoder was the cause.", Do: "Read the lines above the error."},
	{Code: UsageExit, Class: Refuse, Means: "The program ended over its arguments, without a run. It exits 0 for many of these.", Do: "Correct the arguments."},
	{Code: DTWPreset, Class: Refuse, Means: "An unknown --dtw preset exits 3, as a refused encoder does.", Do: "Leave --dtw out."},
	{Code: DeprecatedProgram, Class: Refuse, Means: "The program is the stub that upstream installs under old names: it prints that its name is deprecated, and ends.", Do: "Run the file that the target whisper-cli builds; a stub that was renamed to whisper-cli is still the stub."},
	{Code: NoAudioProcessed, Class: Fail, Means: "The program ended with exit 0, but no audio went through the model: unreadable audio exits 0 upstream.", Do: "Check the audio file; wav, mp3, flac and ogg are decoded."},
	{Code: OutputUnwritable, Class: Fail, Means: "A file that the program was asked for could not be written. It ends with exit 0 all the same.", Do: "Give it a folder that exists and may be written, or let the words go to standard output."},
	{Code: VADModelMissing, Class: Refuse, Means: "The program was to look for speech by a voice detector (--vad) whose model (-vm) is missing or is none. Upstream ends with exit 10 and heard nothing.", Do: "Leave out --vad: a gate's run hears the whole recording. Elsewhere, give the detector's own model (ggml-silero-….bin) with -vm."},
	{Code: ProcessFailed, Class: Fail, Means: "whisper_full failed (exit 10). What was found names the cause where the log does.", Do: "Read the lines above it. A known cause is an -ac larger than the model."},
	{Code: ExitCode, Class: Fail, Means: "The program ended with an exit code other than 0.", Do: "Read the last lines of the log. The exit codes of whisper-cli are in docs/evidence.md; another program has its own."},
	{Code: NoCoreMLBuild, Class: Fail, Means: "The binary was built without Core ML: system_info says COREML = 0, or does not name it.", Do: "Build the coreml flavour; look for a stale binary."},
	{Code: LoadMarkerAbsent, Class: Fail, Means: "The line \"whisper_init_state: Core ML model loaded\" is not on stderr.", Do: "Look for a load failure above it; without this line ggml's own encoder ran, or nothing did."},
	{Code: FallbackFailurePresent, Class: Fail, Means: "The encoder failed to load and the run went on: the build allows fallback to ggml's encoder.", Do: "Build without WHISPER_COREML_ALLOW_FALLBACK."},
	{Code: GGMLEncoderPresent, Class: Fail, Means: "ggml set up its own encoder (\"compute buffer (encode)\"), which it does only when Core ML is not used. This marker is independent of the load line.", Do: "Build the coreml flavour, without fallback. The Core ML encoder did not run, whatever other lines say."},
	{Code: SecondLoadMarker, Class: Fail, Means: "The encoder was loaded more than once in a run: -p above 1, or two logs in one file.", Do: "Use -p 1; judge one run at a time."},
	{Code: StaleLog, Class: Fail, Means: "The lines cannot come from one run of this model: they repeat, are in an order that the program never prints, name another model, encoder or recording, or count other numbers of runs.", Do: "Judge the log that belongs to this run."},
	{Code: DefinesContradict, Class: Fail, Means: "The macros that reached the compiler are not those of the flavour that the binary claims.", Do: "Look at the compile action, not at the option's name: a misspelled macro does nothing."},
	{Code: SystemInfoContradicts, Class: Fail, Means: "A system_info line gives COREML more than one value, or one that is neither 0 nor 1.", Do: "Find out what wrote the log."},

	// The negative control.
	{Code: CanaryTimeout, Class: Fail, Means: "The negative control did not refuse in time.", Do: "Find out behind the log's last line what it waited for; a build that does not refuse proves nothing. Never retry a canary."},
	{Code: CanarySignal, Class: Fail, Means: "The negative control crashed instead of refusing; a crash proves memory unsafety, not refusal. After a load failure, the unpatched program frees an uninitialised batch.", Do: "If the load failure is in the log, build with the compatibility patch; otherwise find the crash. Never retry a canary."},
	{Code: CanaryExit, Class: Fail, Means: "The negative control ended with an exit code other than 3. With exit 0, the build runs without its encoder; any other code has its own cause.", Do: "Read what was found. A build that runs on is not the coreml flavour."},
	{Code: CanaryMarkerAbsent, Class: Fail, Means: "The negative control exited 3, but without both the load-failure line and the final context error.", Do: "Give the canary the program and the model of the positive run, and keep its whole standard error: exit 3 alone can be a typing error in a path."},
	{Code: CanaryWrongCause, Class: Inconclusive, Means: "The negative control exited 3 for another cause: the model itself did not load, so the encoder was never asked for.", Do: "Give the canary the model of the positive run."},
	{Code: CanaryLoaded, Class: Fail, Means: "The negative control loaded a Core ML encoder, though none should be there.", Do: "Find out which encoder it found."},
	{Code: CanaryRetried, Class: Fail, Means: "The negative control was started more than once, or warmed up. The first result is the evidence.", Do: "Run with retries off."},
	{Code: CanaryEncoderPresent, Class: Fail, Means: "Something stood at the derived encoder path before or after the negative control.", Do: "Stage the model alone."},
	{Code: CanaryNotPassed, Class: Inconclusive, Means: "The negative control of this build did not pass, so no positive result of it is admissible.", Do: "Repair the canary first."},

	// The contrast run.
	{Code: ContrastCoreML, Class: Fail, Means: "The contrast run, which must use ggml's own encoder, is of a Core ML build or shows Core ML lines.", Do: "Use the ggml flavour."},
	{Code: ContrastNoEncoder, Class: Fail, Means: "The contrast run does not show ggml's encoder being set up, so the marker's absence elsewhere means nothing.", Do: "Check that this build still prints \"compute buffer (encode)\"."},

	// Words.
	{Code: TranscriptEmpty, Class: Fail, Means: "The run wrote no words. In a Core ML run, a prediction that failed leaves this, with a clean log.", Do: "Of a Core ML run, check the encoder's names, types and shapes (coregate inspect) and its numbers (coregate parity); of a run with ggml's encoder, the model and the recording. A recording without speech is a fixture of silence."},
	{Code: TranscriptDiffers, Class: Fail, Means: "The Core ML encoder and ggml's own write different words for the same recording, by more than the policy allows.", Do: "Core ML changed the answer: check the encoder's numbers (coregate parity). Of a private fixture, coregate run --public prints both texts on your own machine."},
	{Code: TranscriptReference, Class: Fail, Means: "The Core ML run's words differ from the reference words by more than the policy allows.", Do: "If the contrast run has as many edits, the model, the recording or the reference is the cause; otherwise Core ML changed the answer. Of a private fixture, coregate run --public prints the text on your own machine."},
	{Code: ReferenceText, Class: Refuse, Means: "The file of reference words is no plain text in UTF-8, or holds more than words: its other characters would be counted as errors of the run.", Do: "Write the recording's words to a text file in UTF-8, and nothing else."},
	{Code: TranscriptWithheld, Class: Inconclusive, Means: "The fixture is not public, and its evidence holds neither its words nor a comparison of them with this reference.", Do: "Run again with the reference beside the recording; only the run can compare words that it may not keep."},

	// Logs of programs around a gate.
	{Code: SourceDigestMismatch, Class: Fail, Means: "What was fetched is not what was pinned. Hosting services repack archives, which changes an archive's digest and not its content.", Do: "Pin content, as this project's repository rules do, and mirror the archive. Never update a digest to whatever was fetched."},
	{Code: ToolchainNoPatch, Class: Refuse, Means: "The image has no program called patch, so the source could not be patched.", Do: "Install it, or use this project's repository rules, which apply the patch themselves."},
	{Code: PatchNotApplied, Class: Fail, Means: "A patch did not apply. What was found says how: other lines in the source, a source that is patched already, or another strip level.", Do: "Patch the pinned source with the patch that belongs to it."},
	{Code: ToolchainDrift, Class: Inconclusive, Means: "The Xcode that the build was configured with has been replaced since.", Do: "Select the Xcode again (bazel fetch --configure) and gate again: a receipt binds the Xcode build."},
	{Code: CoremlcMissing, Class: Refuse, Means: "coremlc is part of a full Xcode; the Command Line Tools do not have it.", Do: "Install Xcode and select it: xcrun --find coremlc must resolve inside Xcode.app."},
	{Code: ConverterUnpinned, Class: Refuse, Means: "A converter's requirements cannot be met together (ane-transformers pins torch to 1.11 and older). A gate takes an encoder by digest and converts nothing.", Do: "Convert in an isolated, pinned environment and gate the result."},
	{Code: CoremlcFailed, Class: Fail, Means: "coremlc did not compile the model.", Do: "Read the quoted line; coregate inspect shows what the package holds."},
	{Code: BuildFailed, Class: Fail, Means: "The program was not built, so nothing ran.", Do: "Read the quoted line and those above it in the build's output."},
	{Code: RemoteFailed, Class: Inconclusive, Means: "The remote cache or execution service failed, so nothing ran.", Do: "Start the build again when the service answers, or run locally."},
	{Code: XcodeFailed, Class: Refuse, Means: "xcodebuild or xcrun failed.", Do: "Read the quoted line; xcode-select -p shows which Xcode is selected."},
	{Code: ConverterFailed, Class: Fail, Means: "coremltools did not convert, load or compile the model.", Do: "Read the quoted line. A gate takes an encoder by digest and converts nothing."},
	{Code: ComputePlanFailed, Class: Inconclusive, Means: "Core ML did not build a plan of where the operations would run, so nothing is known about placement.", Do: "Check that the encoder loads (coremlprobe), then ask for the plan again."},
	{Code: NotExecuted, Class: Inconclusive, Means: "The log reports a cached result: nothing ran when it was written, and the verdict is an earlier run's.", Do: "Read the receipt: its evidence is the first run's, and its observations say when and where that was."},
	{Code: PowerSaysNothing, Class: Inconclusive, Means: "powermetrics shows no Neural Engine power. Its figures are estimates for the whole system; zero refutes nothing without a positive control.", Do: "Claim placement from a compute plan or a trace, and say which."},
	{Code: NondeterministicDecode, Class: Inconclusive, Means: "The decoding falls back to higher temperatures, which draws words at random, so two transcripts cannot be compared.", Do: "Decode with --temperature 0 --temperature-inc 0, as coregate run does."},

	// Facts worth a look.
	{Code: AneFallback, Class: Note, Means: "The Neural Engine failed to compile or evaluate the encoder and Core ML went on elsewhere, inside itself. The run counts; a claim about placement does not.", Do: "Claim no Neural Engine placement from this run."},
	{Code: FaultInjected, Class: Fail, Means: "The emulated lane's double was told to misbehave, for a test of the gates. Such a run passes nothing.", Do: "Run without a fault."},
}
