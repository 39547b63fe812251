package judge

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
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
// returns what does not allow the pass. Package judgements lists the facts and the values of each.
func CheckFacts(j *verdict.Judgement, gate *policy.Policy) []reason.Reason {
	f := verdict.ReadFacts(j)
	limit := func(name string) int {
		v, err := gate.Threshold(name)
		if err != nil {
			f.Fail(name, "a threshold "+name+" in policy "+gate.Name, "none")
		}
		return int(v)
	}
	switch j.Name {
	case Canary:
		f.Text(factExit, fmt.Sprintf("exit %d", limit("canary_exit_code")))
		return f.Wrong
	case Markers:
		loads := limit("load_markers")
		f.Count(factLoadMarkers, loads, loads)
	}
	if _, counted := j.Facts[FactDoublePredictions]; counted {
		runs := f.Count(factEncoderRuns, 1, many)
		f.Count(FactDoublePredictions, runs, runs)
	}
	return f.Wrong
}
