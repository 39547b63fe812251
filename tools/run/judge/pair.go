package judge

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Runs is the evidence of one gate: its positive run, its negative control, its contrast run.
type Runs struct {
	CoreML, Canary, Contrast *evidence.Evidence
}

// JudgeRuns judges the three runs together: each by itself, and that they belong together. Unless
// the canary passes, a positive judgement that would pass is inadmissible.
func JudgeRuns(runs Runs, reference string) []*Judgement {
	canary := judgeEvidence(Canary, evidence.KindCanary, runs.Canary)
	markers := judgeEvidence(Markers, evidence.KindCoreML, runs.CoreML)
	contrast := judgeEvidence(Contrast, evidence.KindContrast, runs.Contrast)
	if runs.CoreML != nil && runs.Canary != nil {
		same(canary, runs.CoreML, runs.Canary, true)
	}
	if runs.CoreML != nil && runs.Contrast != nil {
		same(contrast, runs.CoreML, runs.Contrast, false)
	}
	transcript := JudgeTranscript(runs.CoreML, runs.Contrast, reference)
	for _, j := range []*Judgement{markers, transcript} {
		Admit(j, canary)
	}
	return []*Judgement{markers, canary, contrast, transcript}
}

// Admit makes a passing positive judgement inadmissible when the canary did not pass.
func Admit(positive, canary *Judgement) {
	if canary != nil && canary.Verdict == reason.Pass {
		return
	}
	found := "no canary"
	if canary != nil {
		found = string(canary.Verdict)
	}
	positive.Reasons = append(positive.Reasons, reason.Reason{Code: "CANARY_NOT_PASSED", Expected: "a canary that passed", Found: found, Where: Canary})
	if positive.Verdict == reason.Pass {
		positive.Verdict = reason.Inadmissible
	}
}

func judgeEvidence(name string, kind evidence.Kind, e *evidence.Evidence) *Judgement {
	f := newFindings(name)
	switch {
	case e == nil:
		f.add("EVIDENCE_MISSING", "evidence of the "+string(kind)+" run", "none", string(kind))
	case e.Kind != kind:
		f.add("EVIDENCE_KIND", string(kind), string(e.Kind), "kind")
	default:
		return Judge(FromEvidence(e))
	}
	return f.judgement()
}

// same adds RUNS_DIFFER to j for what the positive run and another must have in common. The contrast
// run has another binary of the same pin.
func same(j *Judgement, a, b *evidence.Evidence, binary bool) {
	for _, c := range []struct {
		what       string
		a, b       string
		applicable bool
	}{
		{"whisper-cli", a.Digests.CLI, b.Digests.CLI, binary},
		{"flavour", a.Flavour, b.Flavour, binary},
		{"model", a.Digests.Model, b.Digests.Model, true},
		{"audio", a.Digests.Audio, b.Digests.Audio, true},
		{"lane", string(a.Lane), string(b.Lane), true},
		{"lane identity", fmt.Sprint(a.LaneIdentity), fmt.Sprint(b.LaneIdentity), true},
		{"pin", fmt.Sprint(a.Pin), fmt.Sprint(b.Pin), true},
		{"arguments", fmt.Sprint(a.Argv), fmt.Sprint(b.Argv), true},
	} {
		if c.applicable && c.a != c.b {
			j.Reasons = append(j.Reasons, reason.Reason{Code: "RUNS_DIFFER", Expected: c.what + " " + c.a, Found: c.b, Where: string(b.Kind) + " run against the coreml run"})
			j.Verdict = reason.Failed
		}
	}
}

// Overall is the verdict over several judgements: fail if any failed, else inconclusive if any is
// not a pass, else pass; no judgement at all is a failure.
func Overall(judgements []*Judgement) reason.Verdict {
	verdict := reason.Pass
	if len(judgements) == 0 {
		verdict = reason.Failed
	}
	for _, j := range judgements {
		switch j.Verdict {
		case reason.Pass:
		case reason.Unknown, reason.Inadmissible:
			if verdict == reason.Pass {
				verdict = reason.Unknown
			}
		default:
			verdict = reason.Failed
		}
	}
	return verdict
}
