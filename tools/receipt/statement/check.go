package statement

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// placementUnknown stands where no instrument saw the placement; what did is a judgement.
const (
	placementUnknown   = "not observed"
	placementJudgement = "placement"
)

// bound are the facts by which a judgement that another action wrote says what it is about, as the receipt has them.
func (s *Statement) bound() map[string]string {
	return map[string]string{
		"cli_sha256": s.Subject[0].Digest["sha256"], "model_sha256": s.Subject[1].Digest["sha256"], "encoder_digest": s.Subject[2].Digest["sha256"],
		"ggml_cli_sha256": s.Material(MaterialContrastCLI), "lane": string(s.Predicate.Lane),
	}
}

var commitID = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Check says whether the receipt is well formed and agrees with itself: its verdict is the one that
// follows from its judgements, and what it says twice is the same. It does not look outside.
func (s *Statement) Check() error {
	if s.Type != StatementType {
		return fmt.Errorf("receipt: _type is %q, expected %q", s.Type, StatementType)
	}
	if s.PredicateType != PredicateType {
		return fmt.Errorf("receipt: predicateType is %q, expected %q", s.PredicateType, PredicateType)
	}
	p := &s.Predicate
	if p.Schema != 1 {
		return fmt.Errorf("receipt: predicate schema is %d, expected 1", p.Schema)
	}
	if p.Name == "" || strings.ContainsFunc(p.Name, unicode.IsControl) {
		return fmt.Errorf("receipt: name is %q, expected the label of a gate", p.Name)
	}
	if err := CheckSubjects(s.Subject); err != nil {
		return err
	}
	if err := p.checkSizes(); err != nil {
		return err
	}
	for _, check := range []func() error{
		s.checkLane, s.checkPin, s.checkEncoderFiles, s.checkMaterials, p.checkEvidence, p.checkRequired, p.checkJudgements,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if want := provisional(p); !slices.Equal(p.Provisional, want) {
		return fmt.Errorf("receipt: provisional is %q, but its members give %q", p.Provisional, want)
	}
	if p.Signing != nil {
		if err := s.checkSigning(); err != nil {
			return err
		}
	}
	if want := conclude(p); p.Verdict != want {
		return fmt.Errorf("receipt: verdict is %q, but its judgements give %q", p.Verdict, want)
	}
	if p.Verdict == reason.Pass {
		return s.checkPass()
	}
	return nil
}

// maxMembers bounds the lists whose members are compared with each other, here and by readers. A gate has
// about a dozen judgements and two policies.
const maxMembers = 256

func (p *Predicate) checkSizes() error {
	for _, list := range []struct {
		name string
		size int
	}{{"judgements", len(p.Judgements)}, {"required", len(p.Required)}, {"policies", len(p.Policies)}} {
		if list.size > maxMembers {
			return fmt.Errorf("receipt: %s has %d members, expected at most %d", list.name, list.size, maxMembers)
		}
	}
	return nil
}

// checkLane holds the lane against what the toolchain says of itself. Only a Mac is physical, and it knows
// the build of its system; our evaluator never ran there.
func (s *Statement) checkLane() error {
	p := &s.Predicate
	if p.Lane != evidence.LanePhysical && p.Lane != evidence.LaneEmulated {
		return fmt.Errorf("receipt: lane is %q, expected physical or emulated", p.Lane)
	}
	if own := p.LaneIdentity["lane"]; own != string(p.Lane) {
		return fmt.Errorf("receipt: lane is %q, but its identity is of lane %q", p.Lane, own)
	}
	if p.Lane != evidence.LanePhysical {
		return nil
	}
	if p.LaneIdentity["os_build"] == "" {
		return fmt.Errorf("receipt: lane is physical, but its identity names no os_build")
	}
	if s.Material(MaterialEvaluator) != "" {
		return fmt.Errorf("receipt: lane is physical, but the emulated lane's evaluator is among its materials")
	}
	return nil
}

func (s *Statement) checkPin() error {
	p := &s.Predicate.Pin
	if want := pinStatus(p.Supported); p.Status != want {
		return fmt.Errorf("receipt: pin status is %q, expected %q", p.Status, want)
	}
	for _, id := range []string{p.Commit, p.Tree} {
		if !commitID.MatchString(id) {
			return fmt.Errorf("receipt: the pin's commit and tree are %q and %q, expected 40 hexadecimal digits each", p.Commit, p.Tree)
		}
	}
	return nil
}

func (s *Statement) checkEncoderFiles() error {
	files := s.Predicate.EncoderFiles
	lines := make([]tree.File, len(files))
	for i, f := range files {
		lines[i] = tree.File{Path: f.Path, SHA256: f.SHA256, Size: f.Size}
	}
	if err := tree.CheckFiles(lines); err != nil {
		return fmt.Errorf("receipt: encoder_files: %w", err)
	}
	if sum := tree.DigestFiles(lines); sum != s.Subject[2].Digest["sha256"] {
		return fmt.Errorf("receipt: encoder_files hash to %s, but the subject is %s", sum, s.Subject[2].Digest["sha256"])
	}
	return nil
}

// checkMaterials demands the materials of every receipt, each once, and those that the pin names as the
// pin names them.
func (s *Statement) checkMaterials() error {
	p := &s.Predicate
	seen := map[string]bool{SubjectCLI: true, SubjectModel: true, SubjectEncoder: true}
	for _, m := range p.Materials {
		if err := m.check(); err != nil {
			return err
		}
		if m.Name == "" || seen[m.Name] || len(m.Annotations) > 0 {
			return fmt.Errorf("receipt: material %q has no name of its own, or annotations %v", m.Name, m.Annotations)
		}
		seen[m.Name] = true
	}
	for _, name := range []string{MaterialSources, MaterialContrastCLI, MaterialAudio, MaterialReference} {
		if !seen[name] {
			return fmt.Errorf("receipt: material %q is missing", name)
		}
	}
	for name, want := range map[string]string{
		MaterialManifest: p.Pin.ManifestSHA256, MaterialPatch: p.Pin.Patch.SHA256, p.Pin.PatchedFile.Path: p.Pin.PatchedFile.SHA256,
	} {
		if found := s.Material(name); found != want {
			return fmt.Errorf("receipt: material %q is %q, but the pin names %q", name, found, want)
		}
	}
	return nil
}

// checkEvidence demands the evidence of the three runs, in their order.
func (p *Predicate) checkEvidence() error {
	kinds := []evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast}
	if len(p.Evidence) != len(kinds) {
		return fmt.Errorf("receipt: evidence of %d runs, expected %v", len(p.Evidence), kinds)
	}
	for i, e := range p.Evidence {
		if e.Kind != kinds[i] {
			return fmt.Errorf("receipt: evidence %d is of kind %q, expected %q", i, e.Kind, kinds[i])
		}
		if !hexDigest.MatchString(e.SHA256) {
			return fmt.Errorf("receipt: evidence digest is %q, expected 64 hexadecimal digits", e.SHA256)
		}
	}
	return nil
}

func (p *Predicate) checkRequired() error {
	want := append(slices.Clone(required), p.Required...)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(p.Required, want) {
		return fmt.Errorf("receipt: required is %v, expected %v", p.Required, want)
	}
	return nil
}

func (p *Predicate) checkJudgements() error {
	for i, j := range p.Judgements {
		if j == nil {
			return fmt.Errorf("receipt: judgement %d is null", i)
		}
		if (j.Verdict == reason.Pass) != (len(j.Reasons) == 0) {
			return fmt.Errorf("receipt: judgement %q says %s with %d reasons: a pass has none, and nothing else is without", j.Name, j.Verdict, len(j.Reasons))
		}
		if slices.ContainsFunc(p.Judgements[:i], func(o *verdict.Judgement) bool { return o.Name == j.Name }) {
			return fmt.Errorf("receipt: judgement %q stands there twice", j.Name)
		}
	}
	if p.Placement != placementUnknown && !p.has(placementJudgement) {
		return fmt.Errorf("receipt: placement is %q, but no judgement of that name has seen it: expected %q", p.Placement, placementUnknown)
	}
	return nil
}

// checkPass holds a pass against what the judgement "binding" holds when the receipt is built.
func (s *Statement) checkPass() error {
	p := &s.Predicate
	if p.Flavour != "coreml" {
		return fmt.Errorf("receipt: a pass of flavour %q, expected coreml", p.Flavour)
	}
	if len(p.EncoderFiles) == 0 {
		return fmt.Errorf("receipt: a pass of an encoder without files")
	}
	gate := false
	for i, ref := range p.Policies {
		if !ref.Frozen {
			return fmt.Errorf("receipt: a pass by policy %q, which is not frozen", ref.Name)
		}
		if slices.ContainsFunc(p.Policies[:i], func(o PolicyRef) bool { return o.Name == ref.Name }) {
			return fmt.Errorf("receipt: policy %q stands there twice", ref.Name)
		}
		gate = gate || ref.Kind == "gate"
	}
	if !gate {
		return fmt.Errorf("receipt: a pass without a policy of kind gate")
	}
	kinds := map[string]string{}
	for _, ref := range p.Policies {
		kinds[ref.Name] = ref.Kind
	}
	for _, j := range p.Judgements {
		if j.Policy != nil && !slices.ContainsFunc(p.Policies, func(ref PolicyRef) bool { return ref.Name == j.Policy.Name && ref.SHA256 == j.Policy.SHA256 }) {
			return fmt.Errorf("receipt: judgement %q goes by policy %s %s, which is not among the receipt's", j.Name, j.Policy.Name, j.Policy.SHA256)
		}
		kind := ""
		if j.Policy != nil {
			kind = kinds[j.Policy.Name]
		} else if ofNumbers(j) {
			return fmt.Errorf("receipt: judgement %q is of numbers, and by no policy", j.Name)
		}
		if expected, found := checkSource(j, kind, p.Lane, p.LaneIdentity); found != "" {
			return fmt.Errorf("receipt: judgement %q has %s, but on lane %s it must have %s", j.Name, found, p.Lane, expected)
		}
		for fact, want := range s.bound() {
			if found, ok := j.Facts[fact]; ok && found != want {
				return fmt.Errorf("receipt: judgement %q is about %s %v, but the receipt is about %s", j.Name, fact, found, want)
			}
		}
	}
	return nil
}

// CheckSubjects demands the three subjects of every receipt, in their order.
func CheckSubjects(subjects []Resource) error {
	names := []string{SubjectCLI, SubjectModel, SubjectEncoder}
	if len(subjects) != len(names) {
		return fmt.Errorf("receipt: %d subjects, expected %v", len(subjects), names)
	}
	for i, r := range subjects {
		if r.Name != names[i] {
			return fmt.Errorf("receipt: subject %d is %q, expected %q", i, r.Name, names[i])
		}
		if err := r.check(); err != nil {
			return err
		}
	}
	for i, want := range []map[string]string{nil, nil, {"form": TreeForm}} {
		if got := subjects[i].Annotations; !maps.Equal(got, want) {
			return fmt.Errorf("receipt: subject %s has annotations %v, expected %v", names[i], got, want)
		}
	}
	return nil
}

func (r Resource) check() error {
	sum, ok := r.Digest["sha256"]
	if !ok || len(r.Digest) != 1 || !hexDigest.MatchString(sum) {
		return fmt.Errorf("receipt: %s has digests %v, expected one sha256", r.Name, slices.Sorted(maps.Keys(r.Digest)))
	}
	return nil
}

// required are the judgements that every receipt needs, whatever its policy says.
var required = []string{"binding", "sources", judge.Markers, judge.Canary, judge.Contrast, judge.Transcript}

// conclude is what follows from the judgements: one that is required and missing fails.
func conclude(p *Predicate) reason.Verdict {
	for _, name := range append(slices.Clone(required), p.Required...) {
		if !p.has(name) {
			return reason.Failed
		}
	}
	return verdict.Overall(p.Judgements)
}

// has says whether there is a judgement of that name.
func (p *Predicate) has(name string) bool {
	return slices.ContainsFunc(p.Judgements, func(j *verdict.Judgement) bool { return j.Name == name })
}

func pinStatus(supported bool) string {
	if supported {
		return "supported"
	}
	return "unsupported"
}
