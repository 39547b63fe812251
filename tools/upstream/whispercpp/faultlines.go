package whispercpp

// The patterns of lines that are no line of whisper.cpp's own: those of Core ML and what stands for it, of the loader, the
// C library, the shell and the sandbox.

const (
	// emulation is how what stands for Core ML on the emulated lane begins its lines: the double of the bridge, or the stand-in
	// for the framework below upstream's own bridge.
	emulation = `coreml_(?:double|stand_in): `

	usage = `^error: (?:unknown argument|argument .* requires value|input file not found|no input files specified|unknown language|response file|cannot use both|failed to parse grammar|failed to open response file)`
	// A voice detector's context is its model: nothing else makes it fail.
	vadModel  = `failed to open VAD model|whisper_vad_init_with_params: (?:invalid |unknown tensor|tensor .* wrong |ERROR not all tensors)|failed to initialize VAD context`
	vadFailed = `whisper_[a-z_]+: failed to (?:compute VAD|init VAD allocator)`
	// A prediction that failed leaves the encoder's output as it was; the bridge reports it to no one.
	predictionFailed = `Unable to compute the (?:asynchronous )?prediction|Error (?:computing NN outputs|in predicting|predicting)\b|` + emulation + `prediction failed: |appleneuralengine["')]* Code=8\b|Failure (?:in|dynamically resizing).*-executePlan|Failed to (?:evaluate|predict|execute)\b.*\b(?:model|prediction|E5RT|program)|E5RT(?: encountered| execution)?.*(?:evaluat|execut|predict)[a-z]* .*(?:fail|error)|\[Espresso::handle_ex_plan\]|Espresso exception`
	coremlError      = `(?i)(?:\be5rt\b|\[espresso\]|\[espresso::|\[coreml\]|com\.apple\.(?:coreml|appleneuralengine)\b).*(?:error|fail|exception|code=|status[ :=]+-[0-9])|\b(?:could not|cannot|unable to) (?:open|read|find|map)\b.*(?:\.mlmodelc/|weight\.bin)`
	// What a shell says of a program that was killed.
	killed = `\b[Kk]illed: 9\b|: line [0-9]+: +[0-9]+ Killed\b|^(?:zsh: )?[Kk]illed(?:  +\S.*)?$`
	// The C library and shells tell of a crash in the user's language: German, French, Spanish, Italian, Portuguese, Polish,
	// Russian, Chinese, Japanese.
	translated    = `Speicherzugriffsfehler|Speicherabzug geschrieben|[Ee]rreur de segmentation|core dumpé|Violación de segmento|.core. generado|[Ee]rrore di segmentazione|core dump creato|Falha de segmentação|imagem do núcleo gravada|Naruszenie ochrony pamięci|Ошибка сегментирования|стек памяти сброшен|段错误|核心已转储|程式記憶體區段錯誤|セグメンテーション|コアダンプ`
	sandboxDenied = `com\.apple\.(?:e5rt|metalfe|metal)\b.*(?:[Oo]peration not permitted|denied)|sandbox_extension_issue_file failed|\bdeny\(1\) [a-z-]+|(?:/private)?/var/folders/.*[Oo]peration not permitted|[Oo]peration not permitted.*/var/folders/`
	loader        = `\bdyld(?:\[[0-9]+\])?: .*(?:[Ll]ibrary not loaded|[Ss]ymbol not found|missing symbol)|error while loading shared libraries: |version ` + "[`']" + `[A-Za-z_0-9.]+' not found|symbol lookup error: |[Bb]ad CPU type in executable|cannot execute binary file|[Ee]xec format error|FATAL: kernel too old`
	crash         = `GGML_ASSERT|[Aa]ssertion .*failed|\bASSERT(?:ION)? FAILED|[Ss]egmentation fault|libc\+\+abi: |^terminate called|\*\*\* Terminating app due to uncaught exception|malloc: \*\*\* error|\*\*\* error for object|double free or corruption|free\(\): (?:invalid|double)|corrupted (?:size|double-linked|unsorted)|malloc\(\): |munmap_chunk\(\): |realloc\(\): |\*\*\* (?:stack smashing|buffer overflow) detected|Abort trap: |\bAborted \(core dumped\)|Trace/BPT trap|[Bb]us error(?:: |\b)|Illegal instruction|EXC_(?:BAD_ACCESS|CRASH|BREAKPOINT)|Fatal signal [0-9]|(?:Address|Memory|Thread|UndefinedBehavior)Sanitizer: |\(core dumped\)|` + killed + `|` + translated
)

var (
	predictionHints = []string{"rediction", "redicting", "NN outputs", "appleneuralengine", "executePlan", "E5RT", "spresso", "Failed to "}
	loaderHints     = []string{"dyld", "shared libraries", "' not found", "lookup error", "CPU type", "binary file", "xec format", "kernel too old"}
	crashHints      = []string{"ASSERT", "ssertion", "fault", "libc++abi", "terminate called", "Terminating app", "***", "free", "corrupted", "malloc()", "munmap_chunk", "realloc()", "trap", "Aborted",
		"us error", "Illegal instruction", "EXC_", "Fatal signal", "Sanitizer", "core dumped", "illed", "Speicher", "segment", "core ", "Falha", "núcleo", "Naruszenie", "сегмент", "стек", "段", "核心", "セグ", "コア"}
)
