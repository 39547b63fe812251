// Package mutants is the catalogue of ways in which a run looks right and is wrong, and of good runs that look unusual.
//
// A [Mutant] says what it fakes, how it is made, and which reason code has to answer. A [Variant] is a good run that must
// not be refused. The package's test tries all of them, prints how many were refused, for the right reason, and how many good
// ones were refused by mistake, and checks that docs/mutants.md lists them.
package mutants

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/mutants/real"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

// Gate is the evidence of one gate, for a mutant to bend, and the reference words of its recording.
type Gate struct {
	CoreML, Canary, Contrast *evidence.Evidence
	Reference                string
	// Policy is the name of the frozen policy that the words are judged by.
	Policy string
}

// Mutant is one way in which a gate looks right and is wrong.
type Mutant struct {
	// ID is stable: letters and digits with hyphens.
	ID string
	// Class groups mutants by what is faked.
	Class string
	// Fakes says what the mutant pretends; Made says how it is made.
	Fakes, Made string
	// Code is the reason code that has to be among the answers.
	Code string
	// Bend changes a good gate. Answer makes and judges what is not a gate's evidence. A mutant has one of the two.
	Bend   func(*Gate)
	Answer func() (*verdict.Findings, error)
}

// Try makes the mutant and judges it. An error means that a reader refused it.
func (m *Mutant) Try() (*verdict.Findings, error) {
	if m.Answer != nil {
		return m.Answer()
	}
	g := Good()
	m.Bend(g)
	return g.Judge()
}

// Variant is a good gate that looks unusual.
type Variant struct {
	ID, Is string
	Bend   func(*Gate)
}

// Good is the evidence of a gate that passes.
func Good() *Gate {
	return &Gate{
		CoreML: evidencetest.Sample(evidence.KindCoreML), Canary: evidencetest.Sample(evidence.KindCanary), Contrast: evidencetest.Sample(evidence.KindContrast),
		Reference: evidencetest.Reference, Policy: "gate_v2",
	}
}

// Judge judges a gate as the build does: the evidence is encoded and read back, then every judgement of the runs is made.
// An error means that the evidence cannot be read at all.
func (g *Gate) Judge() (*verdict.Findings, error) {
	for _, side := range []**evidence.Evidence{&g.CoreML, &g.Canary, &g.Contrast} {
		if *side == nil {
			continue
		}
		data, err := evidence.Encode(*side)
		if err != nil {
			return nil, err
		}
		if *side, err = evidence.Decode(data); err != nil {
			return nil, err
		}
	}
	p, err := policy.Frozen(g.Policy)
	if err != nil {
		return nil, err
	}
	all, err := agreement.JudgeRuns(judge.Runs{CoreML: g.CoreML, Canary: g.Canary, Contrast: g.Contrast}, g.Reference, p)
	if err != nil {
		return nil, err
	}
	found := verdict.New()
	for _, j := range all {
		kind, _ := judgements.Lookup(j.Name)
		j.AddAll(kind.CheckFacts(j, string(evidence.LaneEmulated))) // as a receipt adds them
		for _, r := range j.Reasons {
			r.Where = j.Name + ": " + r.Where
			found.Reasons = append(found.Reasons, r)
		}
	}
	found.Verdict = verdict.Overall(all)
	return &found, nil
}

// sides are the runs of a gate, with the names that they have in the catalogue.
func (g *Gate) sides() map[string]*evidence.Evidence {
	return map[string]*evidence.Evidence{"coreml": g.CoreML, "canary": g.Canary, "contrast": g.Contrast}
}

// stderr replaces text in one run's log. It panics if the text is not there, because such a mutant changes nothing.
func stderr(side, from, to string) func(*Gate) {
	return func(g *Gate) {
		e := g.sides()[side]
		if from != "" && !strings.Contains(strings.Join(e.Stderr.Lines, "\n")+"\n", from) {
			panic(fmt.Sprintf("the log of the %s run does not have %q", side, from))
		}
		evidencetest.Edit(e, from, to)
	}
}

// stdout replaces the words of runs.
func stdout(text string, sides ...string) func(*Gate) {
	return func(g *Gate) {
		for _, side := range sides {
			e := g.sides()[side]
			e.Stdout = evidence.Normaliser{}.Stream([]byte(text), false, e.Public, func(string) bool { return false })
		}
	}
}

// exit makes a run end with a code.
func exit(side string, code int) func(*Gate) {
	return func(g *Gate) { g.sides()[side].Exit = evidence.Exit{Kind: evidence.ExitCode, Code: code} }
}

// signal makes a signal end a run.
func signal(side string, number int) func(*Gate) {
	return func(g *Gate) { g.sides()[side].Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: number} }
}

// all joins bends.
func all(bends ...func(*Gate)) func(*Gate) {
	return func(g *Gate) {
		for _, b := range bends {
			b(g)
		}
	}
}

// row is a mutant of either catalogue.
type row struct{ id, class, fakes, made, code string }

// Markdown is both catalogues as docs/mutants.md has them.
func Markdown() string {
	var b strings.Builder
	var rows []row
	for _, m := range Catalogue() {
		rows = append(rows, row{m.ID, m.Class, m.Fakes, m.Made, m.Code})
	}
	made := len(rows)
	for _, m := range real.Catalogue() {
		rows = append(rows, row{m.ID, m.Class, m.Fakes, m.Made, m.Code})
	}
	fmt.Fprintf(&b, "# Mutants\n\nGenerated by `go test ./tools/dev/mutants -update`; a test checks that this file is current.\n\n"+
		"Each row is a way in which a gate looks right and is wrong. `bazel test //tools/dev/mutants/...` makes every one of them and demands\n"+
		"that the gate refuses it with the named reason code. %d bend made evidence, logs, words and tensors; %d, whose names begin with\n"+
		"`real-`, are specs and files that are given to the runner with the real whisper-cli. %d good gates, which look unusual, must pass.\n",
		made, len(rows)-made, len(Variants())+len(real.Variants()))
	class := ""
	for _, r := range rows {
		if r.class != class {
			class = r.class
			fmt.Fprintf(&b, "\n## %s\n\n| mutant | fakes | made by | answered by |\n|---|---|---|---|\n", class)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", r.id, r.fakes, r.made, r.code)
	}
	b.WriteString("\n## Good gates that must pass\n\n| variant | is |\n|---|---|\n")
	for _, v := range Variants() {
		fmt.Fprintf(&b, "| %s | %s |\n", v.ID, v.Is)
	}
	for _, v := range real.Variants() {
		fmt.Fprintf(&b, "| %s | %s |\n", v.ID, v.Is)
	}
	return b.String()
}
