// Package judgements lists the judgements of a gate: what each is called, what makes it, whether a receipt can pass
// without it, and by which facts it says what it is about. It is the one registration: the Starlark table
// gate/private/judgements.bzl is written from it (go test ./tools/base/judgements -update), and macro, rules, tests,
// receipts and pages are made from the two tables.
package judgements

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// Source says what makes a judgement.
type Source string

// The sources.
const (
	// Runs: the action gate_judge, from the evidence of a gate's three runs (package judge).
	Runs Source = "runs"
	// Rule: the action of a rule of its own.
	Rule Source = "rule"
	// Receipt: the building of the receipt, about what is bound (package statement).
	Receipt Source = "receipt"
)

// Demand says whether a receipt can pass without a judgement.
type Demand string

// The demands.
const (
	// Always: no receipt passes without it.
	Always Demand = "always"
	// Gate: no receipt of a coreml_encoder_gate passes without it.
	Gate Demand = "gate"
	// Asked: only a gate that is given recordings has it, and its receipt does not pass without it.
	Asked Demand = "asked"
	// Extra: a receipt may have it, and no gate asks for it.
	Extra Demand = "extra"
)

// Names of the judgements.
const (
	Binding    = "binding"
	Sources    = "sources"
	Markers    = "markers"
	Canary     = "canary"
	Contrast   = "contrast"
	Transcript = "transcript"
	Contract   = "contract"
	Parity     = "parity"
	Words      = "words"
	Placement  = "placement"
)

// Kind is one judgement of a gate.
type Kind struct {
	Name   string
	Source Source
	Demand Demand
	// About are the facts by which a pass says what it is about; a receipt must be about the same.
	About []string
	// Facts are all that it can say, and what a pass says.
	Facts []Fact
	// Notes are the codes of the notes that it can have.
	Notes []string
	// Says is what a pass says, for readers.
	Says string
}

// All are the judgements of a gate, in the order in which receipts hold them.
var All = withFacts([]Kind{
	{Binding, Receipt, Always, nil, nil, nil, "what was judged is what is bound"},
	{Sources, Receipt, Always, nil, nil, nil, "the sources that were compiled are the pinned ones"},
	{Markers, Runs, Always, ofRuns(verdict.FactCLI, verdict.FactModel, verdict.FactEncoder), nil, nil, "the Core ML encoder executed, and no other"},
	{Canary, Runs, Always, ofRuns(verdict.FactCLI, verdict.FactModel), nil, nil, "the same program refuses cleanly without the encoder"},
	{Contrast, Runs, Always, ofRuns(verdict.FactContrastCLI, verdict.FactModel), nil, nil, "ggml's own encoder shows its own marker, so that markers discriminate"},
	{Transcript, Runs, Always, ofRuns(verdict.FactCLI, verdict.FactContrastCLI, verdict.FactModel, verdict.FactEncoder), nil, nil, "both encoders write the reference words"},
	{Contract, Rule, Gate, []string{verdict.FactModel, verdict.FactEncoder}, nil, nil, "model and encoder belong together and keep the runtime's contract"},
	{Parity, Rule, Gate, []string{verdict.FactModel, verdict.FactEncoder}, nil, nil, "the encoder computes what the model's own tensors say"},
	{Words, Rule, Asked, []string{verdict.FactCLI, verdict.FactContrastCLI, verdict.FactModel, verdict.FactEncoder, verdict.FactLane}, nil, nil, "both encoders write the source model's words in each recording"},
	{Placement, Rule, Extra, []string{verdict.FactEncoder, verdict.FactLane}, nil, nil, "an instrument saw where the encoder runs"},
})

// withFacts gives each judgement its lists of facts and notes.
func withFacts(kinds []Kind) []Kind {
	for i := range kinds {
		kinds[i].Facts, kinds[i].Notes = lists[kinds[i].Name], noted[kinds[i].Name]
	}
	return kinds
}

// ofRuns are the facts of a judgement of runs: what it is about, and the bytes that it was made from.
func ofRuns(about ...string) []string {
	return append(about, verdict.FactCoreMLEvidence, verdict.FactCanaryEvidence, verdict.FactContrastEvidence, verdict.FactReference)
}

// Lookup finds a judgement by its name.
func Lookup(name string) (Kind, bool) {
	i := slices.IndexFunc(All, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return All[i], true
}

// Of lists the names of the judgements that a source makes.
func Of(source Source) []string {
	return names(func(k Kind) bool { return k.Source == source })
}

// Demanded lists the names of the judgements under a demand.
func Demanded(demand Demand) []string {
	return names(func(k Kind) bool { return k.Demand == demand })
}

func names(keep func(Kind) bool) []string {
	var out []string
	for _, k := range All {
		if keep(k) {
			out = append(out, k.Name)
		}
	}
	return out
}
