package agreement

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// DefaultPolicy is the frozen policy that a gate goes by unless it names another.
const DefaultPolicy = "gate_v2"

// JudgeRuns makes every judgement over a gate's three runs: those of package judge, and the one over their words.
func JudgeRuns(runs judge.Runs, reference string, p *policy.Policy) ([]*verdict.Judgement, error) {
	transcript, err := Judge(runs.CoreML, runs.Contrast, reference, p)
	if err != nil {
		return nil, err
	}
	return judge.JudgeRuns(runs, transcript, reference), nil
}
