package evidence

import "strconv"

// Names of variables in the program's environment.
const (
	// HeapVariable makes glibc fill fresh memory with the complement of what it is told; other C libraries ignore it.
	HeapVariable      = "MALLOC_PERTURB_"
	EvaluatorVariable = "COREML_GATE_EVALUATOR"
	FaultVariable     = "COREML_GATE_DOUBLE_FAULT"
)

// StagedEvaluator is the evaluator's name in the staging directory.
const StagedEvaluator = "gate_evaluator"

// Environment is the whole environment that the runner gives the program; staged makes the path of a staged file.
// Variables that change a run (WHISPER_ARG_DEVICE, GGML_BACKEND_PATH, GGML_METAL_…, WHISPER_COMMON_…, DYLD_… and LD_…)
// are absent by construction. heapFill is the byte that fresh memory is filled with, 0 for none.
func Environment(staged func(name string) string, heapFill int, evaluator bool, fault string) map[string]string {
	env := map[string]string{
		"HOME":   staged("home"),
		"LC_ALL": "C",
		"PATH":   "/usr/bin:/bin",
		"TMPDIR": staged("tmp"),
		"TZ":     "UTC",
	}
	if heapFill != 0 {
		env[HeapVariable] = strconv.Itoa(255 - heapFill)
	}
	if evaluator {
		env[EvaluatorVariable] = staged(StagedEvaluator)
		env[FaultVariable] = fault
	}
	return env
}
