package statement

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

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
	if err := CheckSubjects(s.Subject); err != nil {
		return err
	}
	for _, check := range []func() error{
		p.checkSizes, p.checkNames, s.checkLane, s.checkPin, s.checkEncoderFiles, s.checkMaterials, p.checkEvidence, p.checkRequired, p.checkJudgements, p.checkPlacement,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := CheckVisible(s); err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	if p.Signing != nil {
		if err := s.checkSigning(); err != nil {
			return err
		}
	}
	if want := conclude(p); p.Verdict != want {
		return fmt.Errorf("receipt: verdict is %q, but its judgements give %q", p.Verdict, want)
	}
	last := s.checkFacts
	if p.Verdict == reason.Pass {
		last = s.checkPass
	}
	if err := last(); err != nil {
		return err
	}
	if want := provisional(p); !slices.Equal(p.Provisional, want) {
		return fmt.Errorf("receipt: provisional is %q, but its members give %q", p.Provisional, want)
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
	if err := checkIdentity(p.Lane, p.LaneIdentity); err != nil {
		return err
	}
	if p.Lane != evidence.LanePhysical {
		return nil
	}
	if p.LaneIdentity["os_build"] == "" {
		return fmt.Errorf("receipt: lane is physical, but its identity names no os_build")
	}
	if s.Digest(MaterialEvaluator) != "" {
		return fmt.Errorf("receipt: lane is physical, but the emulated lane's evaluator is among its materials")
	}
	return nil
}

func (s *Statement) checkPin() error {
	p := &s.Predicate.Pin
	if want := pinStatus(p.Identity); p.Status != want {
		return fmt.Errorf("receipt: pin status is %q, expected %q", p.Status, want)
	}
	for _, id := range []string{p.Commit, p.Tree} {
		if !commitID.MatchString(id) {
			return fmt.Errorf("receipt: the pin's commit and tree are %q and %q, expected 40 hexadecimal digits each", p.Commit, p.Tree)
		}
	}
	return nil
}

// emptyFile is the SHA-256 of no bytes.
const emptyFile = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func (s *Statement) checkEncoderFiles() error {
	files := s.Predicate.EncoderFiles
	lines := make([]tree.File, len(files))
	for i, f := range files {
		lines[i] = tree.File{Path: f.Path, SHA256: f.SHA256, Size: f.Size}
	}
	if err := tree.CheckFiles(lines); err != nil {
		return fmt.Errorf("receipt: encoder_files: %w", err)
	}
	for _, f := range files {
		if (f.Size == 0) != (f.SHA256 == emptyFile) {
			return fmt.Errorf("receipt: encoder_files: %s has %d bytes and SHA-256 %s, which do not belong together", f.Path, f.Size, f.SHA256)
		}
	}
	if sum := tree.DigestFiles(lines); sum != s.Digest(SubjectEncoder) {
		return fmt.Errorf("receipt: encoder_files hash to %s, but the subject is %s", sum, s.Digest(SubjectEncoder))
	}
	return nil
}

// checkMaterials demands the materials of every receipt, each once and no other, and those that the pin names as the pin
// names them. What a receipt names, a release may ship: so the names are a closed list.
func (s *Statement) checkMaterials() error {
	p := &s.Predicate
	names := map[string]bool{p.Pin.PatchedFile.Path: true}
	for i := range bounds {
		if b := &bounds[i]; b.Material != "" && b.on(p.Lane) {
			names[b.Material] = true
		}
	}
	seen := map[string]bool{}
	for _, m := range p.Materials {
		if err := m.check(); err != nil {
			return err
		}
		if !names[m.Name] || seen[m.Name] || len(m.Annotations) > 0 {
			return fmt.Errorf("receipt: material %q, expected each of %q once, without annotations", m.Name, slices.Sorted(maps.Keys(names)))
		}
		seen[m.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		// A run that failed may have had no evaluator; a pass needs one.
		if !seen[name] && name != MaterialEvaluator {
			return fmt.Errorf("receipt: material %q is missing", name)
		}
	}
	for name, want := range map[string]string{
		MaterialManifest: p.Pin.ManifestSHA256, MaterialPatch: p.Pin.Patch.SHA256, p.Pin.PatchedFile.Path: p.Pin.PatchedFile.SHA256,
	} {
		if found := s.Digest(name); found != want {
			return fmt.Errorf("receipt: material %q is %q, but the pin names %q", name, found, want)
		}
	}
	return nil
}

// shared lists pairs of things that the receipt tells apart and that have one digest.
func (s *Statement) shared() [][2]string {
	var out [][2]string
	names := map[string]string{}
	add := func(name, sum string) {
		if other, ok := names[sum]; ok {
			out = append(out, [2]string{other, name})
		}
		names[sum] = name
	}
	for _, r := range slices.Concat(s.Subject, s.Predicate.Materials) {
		add(r.Name, r.Digest["sha256"])
	}
	for _, e := range s.Predicate.Evidence {
		add("evidence of the "+string(e.Kind)+" run", e.SHA256)
	}
	return out
}

func (p *Predicate) checkEvidence() error { return CheckEvidence(p.Evidence) }

// CheckEvidence demands the evidence of the three runs, in their order.
func CheckEvidence(list []EvidenceRef) error {
	if len(list) != len(everyRun) {
		return fmt.Errorf("receipt: evidence of %d runs, expected %v", len(list), everyRun)
	}
	for i, e := range list {
		if e.Kind != everyRun[i] {
			return fmt.Errorf("receipt: evidence %d is of kind %q, expected %q", i, e.Kind, everyRun[i])
		}
		if !hexDigest.MatchString(e.SHA256) {
			return fmt.Errorf("receipt: evidence digest is %q, expected 64 hexadecimal digits in lower case", e.SHA256)
		}
	}
	return nil
}

func (p *Predicate) checkRequired() error {
	want := append(always(), p.Required...)
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
		if judged(j.Name) == nil {
			return fmt.Errorf("receipt: judgement %q is none that a gate makes", j.Name)
		}
		if slices.ContainsFunc(p.Judgements[:i], func(o *verdict.Judgement) bool { return o.Name == j.Name }) {
			return fmt.Errorf("receipt: judgement %q stands there twice", j.Name)
		}
		if err := checkVerdict(j); err != nil {
			return err
		}
	}
	return nil
}

// checkVerdict demands the verdict that follows from a judgement's reasons, and notes that change none.
func checkVerdict(j *verdict.Judgement) error {
	for _, n := range j.Notes {
		if !reason.IsNote(n.Code) {
			return fmt.Errorf("receipt: judgement %q has the note %s, which is not a code of notes", j.Name, n.Code)
		}
	}
	for _, r := range j.Reasons {
		if reason.IsNote(r.Code) {
			return fmt.Errorf("receipt: judgement %q has the reason %s, which is a code of notes", j.Name, r.Code)
		}
	}
	want := reason.VerdictOf(j.Reasons)
	if len(j.Reasons) == 1 && j.Reasons[0].Code == reason.CanaryNotPassed {
		want = reason.Inadmissible
	}
	if j.Verdict != want {
		return fmt.Errorf("receipt: judgement %q says %s with %d reasons, which give %s: a pass has none, and nothing else is without", j.Name, j.Verdict, len(j.Reasons), want)
	}
	return nil
}

// checkPass refuses a pass that building could not have given: the conditions of the judgement "binding".
func (s *Statement) checkPass() error {
	p := &s.Predicate
	if p.Flavour != whispercpp.FlavourCoreML {
		return fmt.Errorf("receipt: a pass of flavour %q, expected %s", p.Flavour, whispercpp.FlavourCoreML)
	}
	if len(p.EncoderFiles) == 0 {
		return fmt.Errorf("receipt: a pass of an encoder without files")
	}
	if p.Lane == evidence.LaneEmulated && s.Digest(MaterialEvaluator) == "" {
		return fmt.Errorf("receipt: a pass on the emulated lane without the evaluator among the materials")
	}
	for _, same := range s.shared() {
		return fmt.Errorf("receipt: %s and %s have one digest: whatever ran, it was not both", same[0], same[1])
	}
	if err := p.checkMembers(); err != nil {
		return err
	}
	for _, j := range p.Judgements {
		if expected, found := checkSource(j, p.Lane, p.LaneIdentity); found != "" {
			return fmt.Errorf("receipt: judgement %q has %s, but on lane %s it must have %s", j.Name, found, p.Lane, expected)
		}
	}
	if err := s.checkFacts(); err != nil {
		return err
	}
	if err := p.checkEncoder(); err != nil {
		return err
	}
	return p.checkPolicies()
}

// checkPolicies demands one policy for the gate and one for each judgement that has thresholds of its own, frozen, and
// no other: a policy that nothing went by would answer a demand that nothing meets.
func (p *Predicate) checkPolicies() error {
	used := map[PolicyRef]bool{}
	for _, j := range p.Judgements {
		if ref, ok := p.policyOf(judged(j.Name), j); ok {
			used[ref] = true
		}
	}
	gates := 0
	for i, ref := range p.Policies {
		switch {
		case !ref.Frozen:
			return fmt.Errorf("receipt: a pass by policy %q, which is not frozen", ref.Name)
		case slices.ContainsFunc(p.Policies[:i], func(o PolicyRef) bool { return o.Name == ref.Name }):
			return fmt.Errorf("receipt: policy %q stands there twice", ref.Name)
		case ref.Kind == judge.PolicyKind:
			gates++
		case !used[ref]:
			return fmt.Errorf("receipt: policy %q of kind %q, by which no judgement goes", ref.Name, ref.Kind)
		}
	}
	if gates != 1 {
		return fmt.Errorf("receipt: a pass with %d policies of kind gate, expected 1", gates)
	}
	return nil
}

// CheckSubjects demands the three subjects of every receipt, in their order.
func CheckSubjects(subjects []Resource) error {
	names := SubjectNames
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
	if !ok || len(r.Digest) != 1 {
		return fmt.Errorf("receipt: %s has digests %v, expected one sha256", r.Name, slices.Sorted(maps.Keys(r.Digest)))
	}
	if !hexDigest.MatchString(sum) {
		return fmt.Errorf("receipt: %s has sha256 %q, expected 64 hexadecimal digits in lower case", r.Name, sum)
	}
	return nil
}

// conclude is what follows from the judgements: one that is required and missing fails.
func conclude(p *Predicate) reason.Verdict {
	for _, name := range append(always(), p.Required...) {
		if !p.has(name) {
			return reason.Failed
		}
	}
	return verdict.Overall(p.Judgements)
}

// Judgement is the judgement of that name, or nil.
func (p *Predicate) Judgement(name string) *verdict.Judgement {
	i := slices.IndexFunc(p.Judgements, func(j *verdict.Judgement) bool { return j.Name == name })
	if i < 0 {
		return nil
	}
	return p.Judgements[i]
}

// has says whether there is a judgement of that name.
func (p *Predicate) has(name string) bool {
	return p.Judgement(name) != nil
}

func pinStatus(id pin.Identity) string {
	switch {
	case id.Name == pin.None:
		return "none"
	case id.Supported:
		return "supported"
	}
	return "unsupported"
}
