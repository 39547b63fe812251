package judge

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// PolicyKind is the kind of the policies that hold the thresholds of this package.
const PolicyKind = "gate"

// Facts of this package's judgements.
const (
	factExit            = "exit"
	factCoreML          = "coreml_value"
	factLoadMarkers     = "load_markers"
	factLoadFailures    = "load_failures"
	factEncodeBuffers   = "ggml_encode_buffers"
	factContextErrors   = "context_errors"
	factSystemInfoLines = "system_info_lines"
	factEncoderRuns     = "encoder_runs"
	// FactDoublePredictions is the double's own count, of a double that counts.
	FactDoublePredictions = "double_predictions"
)

// many bounds counts of lines and words: no log or transcript that is kept has more.
const many = 1 << 24

// CheckFacts computes a judgement that passes again, from its own facts and the thresholds of the gate's policy, and
// returns what does not allow the pass.
func CheckFacts(j *verdict.Judgement, gate *policy.Policy) []reason.Reason {
	f := verdict.ReadFacts(j)
	limit := func(name string) int {
		v, err := gate.Threshold(name)
		if err != nil {
			f.Fail(name, "a threshold "+name+" in policy "+gate.Name, "none")
		}
		return int(v)
	}
	exit, coreml := "exit 0", whispercpp.SwitchOn
	// What each run must have shown: system_info lines, load markers, failures, encode buffers, context errors.
	shown := [5]int{1, limit("load_markers"), 0, 0, 0}
	switch j.Name {
	case Canary:
		exit, coreml = fmt.Sprintf("exit %d", limit("canary_exit_code")), whispercpp.SwitchAbsent
		shown = [5]int{0, 0, 1, 0, 1}
	case Contrast:
		coreml, shown = whispercpp.SwitchOff, [5]int{1, 0, 0, 1, 0}
	}
	f.Text(factExit, exit)
	f.Text(factCoreML, string(coreml))
	for i, key := range []string{factSystemInfoLines, factLoadMarkers, factLoadFailures, factEncodeBuffers, factContextErrors} {
		f.Count(key, shown[i], shown[i])
	}
	// A refusal runs no encoder, and a build of ggml's alone has no double.
	for _, key := range map[string][]string{Canary: {factEncoderRuns, FactDoublePredictions}, Contrast: {FactDoublePredictions}}[j.Name] {
		if found, ok := j.Facts[key]; ok {
			f.Fail(key, "no such fact", fmt.Sprint(found))
		}
	}
	if j.Name != Canary {
		runs := f.Count(factEncoderRuns, 1, many)
		if _, counted := j.Facts[FactDoublePredictions]; counted {
			f.Count(FactDoublePredictions, runs, runs)
		}
	}
	return f.Wrong
}
