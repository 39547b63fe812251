package reason

// Memory checkers: codes.
const (
	SanitizerPatched     = "SANITIZER_PATCHED"
	SanitizerNothingSeen = "SANITIZER_NOTHING_SEEN"
	SanitizerUnnamed     = "SANITIZER_UNNAMED"
	SanitizerBlind       = "SANITIZER_BLIND"
	SanitizerElsewhere   = "SANITIZER_ELSEWHERE"
)

var sanitizers = Table{
	{Code: SanitizerPatched, Class: Fail, Means: "A memory checker reports the patched whisper-cli's refusal, or it does not refuse cleanly under the checker.",
		Do: "Look at the report's stack; the patch does not cover this source."},
	{Code: SanitizerNothingSeen, Class: Inconclusive, Means: "No memory checker saw the fault of the unpatched whisper-cli, so its silence about the patched one says nothing.",
		Do: "Build with a checker that follows unwritten memory (MemorySanitizer, valgrind)."},
	{Code: SanitizerUnnamed, Class: Inconclusive, Means: "A memory checker's stacks have no names, so nothing says whether a report is about the batch.",
		Do: "Give the checker its symbolizer (llvm-symbolizer for Clang's), or a program that was not stripped."},
	{Code: SanitizerBlind, Class: Note, Means: "This memory checker under this setting does not see the fault in the unpatched whisper-cli.",
		Do: "Nothing: it is listed so that its silence is not taken for evidence."},
	{Code: SanitizerElsewhere, Class: Note, Means: "A memory checker reports something that is not the free of the batch.",
		Do: "Read the stack. Reports in libraries that are not instrumented are expected of MemorySanitizer."},
}
