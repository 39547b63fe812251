package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Runs is the evidence of one gate: its positive run, its negative control, its contrast run.
type Runs struct {
	CoreML, Canary, Contrast *evidence.Evidence
}

// JudgeRuns judges the three runs together: each by itself, and that they belong together. Unless
// the canary passes, a positive judgement that would pass is inadmissible. transcript is the judgement over the words of the
// runs (package agreement, whose JudgeRuns is what programs call), reference the text that it compared them with.
func JudgeRuns(runs Runs, transcript *verdict.Judgement, reference string) []*verdict.Judgement {
	canary := judgeEvidence(Canary, evidence.KindCanary, runs.Canary)
	markers := judgeEvidence(Markers, evidence.KindCoreML, runs.CoreML)
	contrast := judgeEvidence(Contrast, evidence.KindContrast, runs.Contrast)
	if runs.CoreML != nil && runs.Canary != nil {
		same(canary, runs.CoreML, runs.Canary, true)
	}
	if runs.CoreML != nil && runs.Contrast != nil {
		same(contrast, runs.CoreML, runs.Contrast, false)
	}
	for _, j := range []*verdict.Judgement{markers, transcript} {
		Admit(j, canary)
	}
	all := []*verdict.Judgement{markers, canary, contrast, transcript}
	for _, j := range all {
		about(j, runs, reference)
	}
	return all
}

// about adds the facts that say what a judgement is about, so that a receipt of something else cannot hold it: the
// digests that its kind demands, and the digests of evidence and reference words.
func about(j *verdict.Judgement, runs Runs, reference string) {
	j.Facts[verdict.FactReference] = evidence.SHA256([]byte(reference))
	for _, side := range []struct {
		fact string
		e    *evidence.Evidence
	}{{verdict.FactCoreMLEvidence, runs.CoreML}, {verdict.FactCanaryEvidence, runs.Canary}, {verdict.FactContrastEvidence, runs.Contrast}} {
		if side.e == nil {
			continue
		}
		if data, err := strictjson.Canonical(side.e); err == nil {
			j.Facts[side.fact] = evidence.SHA256(data)
		}
	}
	known := map[string]string{}
	for _, e := range []*evidence.Evidence{runs.Contrast, runs.Canary, runs.CoreML} {
		if e == nil {
			continue
		}
		known[verdict.FactModel] = e.Digests.Model
		if e.Kind == evidence.KindContrast {
			known[verdict.FactContrastCLI] = e.Digests.CLI
			continue
		}
		known[verdict.FactCLI] = e.Digests.CLI
		if e.Digests.Encoder != nil {
			known[verdict.FactEncoder] = *e.Digests.Encoder
		}
	}
	kind, _ := judgements.Lookup(j.Name)
	for _, fact := range kind.About {
		if value, ok := known[fact]; ok {
			j.Facts[fact] = value
		}
	}
}

// Admit makes a passing positive judgement inadmissible when the canary did not pass.
func Admit(positive, canary *verdict.Judgement) {
	if canary != nil && canary.Verdict == reason.Pass {
		return
	}
	found := "no canary"
	if canary != nil {
		found = string(canary.Verdict)
	}
	would := positive.Verdict
	positive.Add(reason.CanaryNotPassed, Canary, "a canary that passed", found)
	if would == reason.Pass {
		positive.Verdict = reason.Inadmissible
	}
}

func judgeEvidence(name string, kind evidence.Kind, e *evidence.Evidence) *verdict.Judgement {
	f := verdict.NewJudgement(name)
	switch {
	case e == nil:
		f.Add(reason.EvidenceMissing, string(kind), "evidence of the "+string(kind)+" run", "none")
	case e.Kind != kind:
		f.Add(reason.EvidenceKind, "kind", string(kind), string(e.Kind))
	default:
		j := Judge(FromEvidence(e))
		if e.Defines == nil {
			// A single run may lack them (coregate run knows no compile action); a gate's may not.
			j.Add(reason.EvidenceContradicts, "defines", "the -D arguments of the actions that compiled whisper.cpp", "none")
		}
		return j
	}
	return f
}

// same adds RUNS_DIFFER to j for what the positive run and another must have in common. The contrast
// run has another binary of the same pin.
func same(j *verdict.Judgement, a, b *evidence.Evidence, binary bool) {
	// A log that ends otherwise than a run's or a refusal's is judged for that alone.
	whole := j.Verdict == reason.Pass && begins(a) && begins(b)
	for _, c := range []struct {
		what       string
		a, b       string
		applicable bool
	}{
		{"whisper-cli", a.Digests.CLI, b.Digests.CLI, binary},
		{"flavour", a.Flavour, b.Flavour, binary},
		{"evaluator", digest(a.Digests.Evaluator), digest(b.Digests.Evaluator), binary || b.Digests.Evaluator != nil},
		{"defines", fmt.Sprint(a.Defines), fmt.Sprint(b.Defines), binary},
		{"model", a.Digests.Model, b.Digests.Model, true},
		{"audio", a.Digests.Audio, b.Digests.Audio, true},
		{"lane", string(a.Lane), string(b.Lane), true},
		{"lane identity", fmt.Sprint(a.LaneIdentity), fmt.Sprint(b.LaneIdentity), true},
		{"pin", fmt.Sprint(a.Pin), fmt.Sprint(b.Pin), true},
		{"arguments", fmt.Sprint(a.Argv), fmt.Sprint(b.Argv), true},
		{"the model's header, as the program read it,", strings.Join(whispercpp.Header(a.Stderr.Lines), "; "), strings.Join(whispercpp.Header(b.Stderr.Lines), "; "), whole},
		{"samples", samples(a), samples(b), whole && samples(a) != "" && samples(b) != ""},
	} {
		if c.applicable && c.a != c.b {
			j.Add(reason.RunsDiffer, string(b.Kind)+" run against the coreml run", c.what+" "+c.a, c.b)
		}
	}
}

// samples is the length of the recording that a run heard, by its log, "" where it says none.
func samples(e *evidence.Evidence) string {
	for _, line := range e.Stderr.Lines {
		if p, ok := whispercpp.ReadProcessing(line); ok {
			return p.Samples
		}
	}
	return ""
}

// begins says that a run's log begins as every whole one does, and that the run ended by itself.
func begins(e *evidence.Evidence) bool {
	x := effective(e.Exit)
	ended := x.Kind == evidence.ExitCode && (x.Code == 0 || x.Code == whispercpp.ExitNoContext)
	return ended && slices.ContainsFunc(e.Stderr.Lines, func(line string) bool {
		l, _ := whispercpp.ReadLine(line)
		return l.Kind == whispercpp.LineModelFile
	})
}

// digest spells a digest that may be absent.
func digest(sum *string) string {
	if sum == nil {
		return "none"
	}
	return *sum
}
