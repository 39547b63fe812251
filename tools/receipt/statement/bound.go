package statement

import (
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Role names one thing that a receipt binds.
type Role string

// The roles. A reason about one names it so.
const (
	RoleCLI          Role = "whisper-cli"
	RoleContrastCLI  Role = "whisper-cli of ggml"
	RoleModel        Role = "model"
	RoleEncoder      Role = "encoder"
	RoleAudio        Role = "audio"
	RoleEvaluator    Role = "evaluator"
	RoleReference    Role = "reference words"
	RoleSources      Role = "sources check"
	RoleManifest     Role = "content manifest"
	RolePatch        Role = "patch"
	RoleLane         Role = "lane"
	RoleLaneIdentity Role = "lane identity"
	RolePin          Role = "pin"
	RoleFlavour      Role = "flavour"

	RoleCoreMLEvidence   Role = "evidence of the coreml run"
	RoleCanaryEvidence   Role = "evidence of the canary run"
	RoleContrastEvidence Role = "evidence of the contrast run"
)

// Bound is one row of the table of what a receipt binds: where its value stands in a receipt, in the evidence of each
// run, and in judgements. Building, checking and verifying read this table; nothing else says what belongs together.
type Bound struct {
	Role Role
	// Subject or Material is the name of the resource that holds the digest; other rows have Value.
	Subject, Material string
	// Input is the member of the spec that names the file, "" for what is not a file of its own.
	Input string
	// Lane is the only lane that has it, "" for both.
	Lane evidence.Lane
	// Value is what the receipt says, for rows that are no resource.
	Value func(p *Predicate) string
	// Runs are the kinds of run whose evidence has it, and Evidence its value there, "" where it is missing.
	Runs     []evidence.Kind
	Evidence func(e *evidence.Evidence) string
	// Fact is the key under which a judgement says it, "" for what no judgement says.
	Fact string
}

var (
	everyRun = []evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast}
	ownRuns  = []evidence.Kind{evidence.KindCoreML, evidence.KindCanary}
)

// bounds is the table.
var bounds = []Bound{
	{Role: RoleCLI, Subject: SubjectCLI, Input: "cli", Fact: verdict.FactCLI,
		Runs: ownRuns, Evidence: func(e *evidence.Evidence) string { return e.Digests.CLI }},
	{Role: RoleContrastCLI, Material: MaterialContrastCLI, Input: "contrast_cli", Fact: verdict.FactContrastCLI,
		Runs: []evidence.Kind{evidence.KindContrast}, Evidence: func(e *evidence.Evidence) string { return e.Digests.CLI }},
	{Role: RoleModel, Subject: SubjectModel, Input: "model", Fact: verdict.FactModel,
		Runs: everyRun, Evidence: func(e *evidence.Evidence) string { return e.Digests.Model }},
	{Role: RoleEncoder, Subject: SubjectEncoder, Input: "encoder", Fact: verdict.FactEncoder,
		Runs: []evidence.Kind{evidence.KindCoreML}, Evidence: func(e *evidence.Evidence) string { return orNone(e.Digests.Encoder) }},
	{Role: RoleAudio, Material: MaterialAudio, Input: "audio",
		Runs: everyRun, Evidence: func(e *evidence.Evidence) string { return e.Digests.Audio }},
	{Role: RoleEvaluator, Material: MaterialEvaluator, Lane: evidence.LaneEmulated,
		Runs: ownRuns, Evidence: func(e *evidence.Evidence) string { return orNone(e.Digests.Evaluator) }},
	{Role: RoleReference, Material: MaterialReference, Input: "reference", Fact: verdict.FactReference},
	{Role: RoleCoreMLEvidence, Fact: verdict.FactCoreMLEvidence, Value: evidenceOf(evidence.KindCoreML)},
	{Role: RoleCanaryEvidence, Fact: verdict.FactCanaryEvidence, Value: evidenceOf(evidence.KindCanary)},
	{Role: RoleContrastEvidence, Fact: verdict.FactContrastEvidence, Value: evidenceOf(evidence.KindContrast)},
	{Role: RoleSources, Material: MaterialSources, Input: "sources"},
	{Role: RoleManifest, Material: MaterialManifest, Input: "manifest", Value: func(p *Predicate) string { return p.Pin.ManifestSHA256 }},
	{Role: RolePatch, Material: MaterialPatch, Input: "patch", Value: func(p *Predicate) string { return p.Pin.Patch.SHA256 }},
	{Role: RoleLane, Fact: verdict.FactLane, Value: func(p *Predicate) string { return string(p.Lane) },
		Runs: everyRun, Evidence: func(e *evidence.Evidence) string { return string(e.Lane) }},
	{Role: RoleLaneIdentity, Value: func(p *Predicate) string { return fmt.Sprint(p.LaneIdentity) },
		Runs: everyRun, Evidence: func(e *evidence.Evidence) string { return fmt.Sprint(e.LaneIdentity) }},
	{Role: RolePin, Value: func(p *Predicate) string { return fmt.Sprint(p.Pin.Identity) },
		Runs: everyRun, Evidence: func(e *evidence.Evidence) string { return fmt.Sprint(e.Pin) }},
	{Role: RoleFlavour, Value: func(p *Predicate) string { return p.Flavour },
		Runs: ownRuns, Evidence: func(e *evidence.Evidence) string { return e.Flavour }},
}

// evidenceOf is the digest of a run's evidence, as a receipt names it.
func evidenceOf(kind evidence.Kind) func(*Predicate) string {
	return func(p *Predicate) string {
		i := slices.IndexFunc(p.Evidence, func(ref EvidenceRef) bool { return ref.Kind == kind })
		if i < 0 {
			return ""
		}
		return p.Evidence[i].SHA256
	}
}

func orNone(digest *string) string {
	if digest == nil {
		return ""
	}
	return *digest
}

// on says whether a lane has the row.
func (b *Bound) on(lane evidence.Lane) bool { return b.Lane == "" || b.Lane == lane }

// In is what a receipt says in this row, "" where it says nothing.
func (b *Bound) In(s *Statement) string {
	switch {
	case b.Subject != "":
		return s.Digest(b.Subject)
	case b.Material != "":
		return s.Digest(b.Material)
	}
	return b.Value(&s.Predicate)
}

// Difference is a row in which evidence does not say what a receipt says. What is missing on either side differs: two
// absent digests are no agreement.
type Difference struct {
	Where, Receipt, Evidence string
}

// Differences compares the evidence of a run with the receipt, row by row.
func (s *Statement) Differences(e *evidence.Evidence) []Difference {
	var out []Difference
	for i := range bounds {
		b := &bounds[i]
		if !b.on(s.Predicate.Lane) || !slices.Contains(b.Runs, e.Kind) {
			continue
		}
		want, found := b.In(s), b.Evidence(e)
		if want == "" || want != found {
			out = append(out, Difference{string(b.Role) + " of the " + string(e.Kind) + " run", orAbsent(want), orAbsent(found)})
		}
	}
	return out
}

func orAbsent(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// saysAbout says whether a fact names what a judgement is about.
func saysAbout(fact string) bool {
	return slices.ContainsFunc(bounds, func(b Bound) bool { return b.Fact == fact })
}

// row finds the row of a fact.
func row(fact string) *Bound {
	i := slices.IndexFunc(bounds, func(b Bound) bool { return b.Fact == fact })
	return &bounds[i]
}
