package statement

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// inputs are a spec's files, read and hashed.
type inputs struct {
	identity  *pin.Identity
	sources   *pin.Check
	runs      judge.Runs
	evidence  []EvidenceRef
	reference string
	policies  []*policy.Policy
	others    []*verdict.Judgement
	encoder   []EncoderFile
	// files is the number of files in the content manifest.
	files int
	// sums are SHA-256 values by the spec's member, for those members that name a file.
	sums map[string]string
}

// Build reads what the spec names, judges it and returns the receipt. Broken input is an error; a
// failing judgement is a receipt that says fail.
func Build(s *Spec) (*Statement, error) {
	for _, k := range judgements.All {
		if judged(k.Name) == nil || (k.Source == judgements.Receipt) != (own[k.Name] != nil) {
			return nil, fmt.Errorf("receipt: the judgement %q is registered, but package statement does not know how to check it (checks), or to make it (own): add it there", k.Name)
		}
	}
	in, err := read(s)
	if err != nil {
		return nil, err
	}
	coreml := in.runs.CoreML
	out := &Statement{
		Type: StatementType, PredicateType: PredicateType,
		Subject: []Resource{
			fileResource(SubjectCLI, in.sums["cli"]),
			fileResource(SubjectModel, in.sums["model"]),
			treeResource(SubjectEncoder, in.sums["encoder"]),
		},
		Predicate: Predicate{
			Schema: 1, Name: s.Name, Lane: coreml.Lane, LaneIdentity: coreml.LaneIdentity, Flavour: coreml.Flavour,
			Pin:          Pin{Identity: *in.identity, Status: pinStatus(*in.identity)},
			EncoderFiles: in.encoder, Materials: in.materials(), Toolchain: s.toolchain(), Policies: []PolicyRef{}, Evidence: in.evidence,
			Required: s.required(in.policies), Placement: placementUnknown,
		},
	}
	p := &out.Predicate
	for _, pol := range in.policies {
		p.Policies = append(p.Policies, PolicyRef{Name: pol.Name, Kind: pol.Kind, SHA256: pol.SHA256, Frozen: pol.IsFrozen()})
	}
	p.Judgements = in.judgements(out)
	for _, j := range p.Judgements {
		switch {
		case j.Verdict == reason.Pass:
			j.AddAll(out.hold(j))
		default:
			j.AddAll(judged(j.Name).CheckFacts(j, string(p.Lane)))
		}
	}
	if j := p.Judgement(Placement); j != nil && j.Verdict == reason.Pass {
		p.Placement = j.Facts[verdict.FactPlacement].(string)
	}
	p.Provisional = provisional(p)
	p.Verdict = conclude(p)
	return out, nil
}

// own makes the judgements of source [judgements.Receipt]; [Build] refuses to work without one that is registered.
var own = map[string]func(*inputs, *Statement) *verdict.Judgement{
	Binding: (*inputs).binding,
	Sources: (*inputs).judgeSources,
}

// judgements are the receipt's own and those that actions wrote, in the order of their registration.
func (in *inputs) judgements(s *Statement) []*verdict.Judgement {
	var out []*verdict.Judgement
	for _, k := range judgements.All {
		if make := own[k.Name]; make != nil {
			out = append(out, make(in, s))
		}
		for _, j := range in.others {
			if j.Name == k.Name {
				out = append(out, j)
			}
		}
	}
	return out
}

// toolchain is what built the binaries, its programs by digest. One that is not where the toolchain says
// is told of as such: a receipt names no digest that was not computed. The toolchain's own words become one word each.
func (s *Spec) toolchain() map[string]string {
	out := map[string]string{}
	for name, value := range s.Toolchain {
		out[name] = judgements.Word(value)
	}
	for name, path := range s.ToolchainPrograms {
		sum, _, err := tree.HashFile(path)
		if err != nil {
			sum = "not found"
		}
		out[name+"_sha256"] = sum
	}
	return out
}

// required are the judgements that the spec and its policies ask for, sorted, each once.
func (s *Spec) required(policies []*policy.Policy) []string {
	names := append(always(), s.Required...)
	for _, p := range policies {
		names = append(names, p.Required...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// provisional lists what a reader must not take this receipt for.
func provisional(p *Predicate) []string {
	out := []string{}
	if p.Lane == evidence.LaneEmulated {
		out = append(out, "lane: emulated; nothing is said about Apple's Core ML")
	}
	if !p.Pin.Supported {
		out = append(out, "pin: "+p.Pin.Status)
	}
	if p.Placement == placementUnknown {
		out = append(out, "placement: not observed")
	}
	if len(p.Toolchain) == 0 {
		out = append(out, "toolchain: not recorded")
	}
	for _, j := range p.Judgements {
		if satisfies, ok := j.Facts[verdict.FactSatisfiesGate].(bool); ok && !satisfies && j.Policy != nil {
			out = append(out, j.Name+": judged by "+j.Policy.Name+", which does not satisfy the release gate")
		}
		if thin, ok := j.Facts[verdict.FactProvisional].(bool); ok && thin {
			out = append(out, j.Name+": provisional; its notes say what is missing")
		}
	}
	return out
}

// read reads and hashes every file that the spec names.
func read(s *Spec) (*inputs, error) {
	in := &inputs{sums: map[string]string{}}
	var err error
	if in.identity, err = pin.ReadIdentity(s.Pin); err != nil {
		return nil, err
	}
	if in.sources, err = pin.ReadCheck(s.Sources); err != nil {
		return nil, err
	}
	for name, path := range map[string]string{
		"cli": s.CLI, "contrast_cli": s.ContrastCLI, "model": s.Model, "audio": s.Audio, "reference": s.Reference,
		"sources": s.Sources, "manifest": s.Manifest, "patch": s.Patch,
	} {
		sum, _, err := tree.HashFile(path)
		if err != nil {
			return nil, fmt.Errorf("receipt: %s: %w", name, err)
		}
		in.sums[name] = sum
	}
	if in.files, err = countLines(s.Manifest); err != nil {
		return nil, err
	}
	files, err := tree.Files(s.Encoder, tree.FollowLinks)
	if err != nil {
		return nil, fmt.Errorf("receipt: encoder: %w", err)
	}
	in.sums["encoder"] = tree.DigestFiles(files)
	for _, f := range files {
		in.encoder = append(in.encoder, EncoderFile{Path: f.Path, SHA256: f.SHA256, Size: f.Size})
	}
	if err := in.readRuns(s); err != nil {
		return nil, err
	}
	reference, err := os.ReadFile(s.Reference)
	if err != nil {
		return nil, err
	}
	in.reference = string(reference)
	return in, in.readJudgements(s)
}

func (in *inputs) readRuns(s *Spec) error {
	for _, side := range []struct {
		kind evidence.Kind
		path string
		to   **evidence.Evidence
	}{
		{evidence.KindCoreML, s.CoreML, &in.runs.CoreML},
		{evidence.KindCanary, s.Canary, &in.runs.Canary},
		{evidence.KindContrast, s.Contrast, &in.runs.Contrast},
	} {
		e, sum, err := evidence.ReadFile(side.path)
		if err != nil {
			return err
		}
		*side.to = e
		in.evidence = append(in.evidence, EvidenceRef{Kind: side.kind, SHA256: sum})
	}
	return nil
}

func (in *inputs) readJudgements(s *Spec) error {
	for _, path := range s.Policies {
		p, err := policy.Load(path)
		if err != nil {
			return err
		}
		in.policies = append(in.policies, p)
	}
	for _, path := range s.Judgements {
		j := &verdict.Judgement{}
		if err := readJSON(path, j); err != nil {
			return err
		}
		j.Visible()
		if k := judged(j.Name); k == nil || k.Source == judgements.Receipt {
			return fmt.Errorf("receipt: %s: judgement %q, expected one that a gate's actions write", path, j.Name)
		}
		if slices.ContainsFunc(in.others, func(o *verdict.Judgement) bool { return o.Name == j.Name }) {
			return fmt.Errorf("receipt: %s: judgement %q was given before", path, j.Name)
		}
		in.others = append(in.others, j)
	}
	in.addPolicies()
	return nil
}

// addPolicies adds the frozen policies that judgements went by to those that the spec names.
func (in *inputs) addPolicies() {
	for _, j := range in.others {
		if j.Policy == nil || slices.ContainsFunc(in.policies, func(p *policy.Policy) bool { return p.Name == j.Policy.Name }) {
			continue
		}
		if p, err := policy.Frozen(j.Policy.Name); err == nil {
			in.policies = append(in.policies, p)
		}
	}
}

// countLines is the number of files in a content manifest, which has a line for each.
func countLines(path string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("receipt: manifest: %w", err)
	}
	return bytes.Count(data, []byte{'\n'}), nil
}

// readJSON reads a file strictly into a struct or a map of strings.
func readJSON(path string, out any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	if err := strictjson.Decode(data, out); err != nil {
		return fmt.Errorf("receipt: %s: %w", path, err)
	}
	return nil
}

// materials are what was read beside the subjects.
func (in *inputs) materials() []Resource {
	out := []Resource{
		fileResource(MaterialManifest, in.identity.ManifestSHA256),
		fileResource(MaterialPatch, in.identity.Patch.SHA256),
		fileResource(in.identity.PatchedFile.Path, in.identity.PatchedFile.SHA256),
		fileResource(MaterialSources, in.sums["sources"]),
		fileResource(MaterialContrastCLI, in.sums["contrast_cli"]),
		fileResource(MaterialAudio, in.sums["audio"]),
		fileResource(MaterialReference, in.sums["reference"]),
	}
	if e := in.runs.CoreML.Digests.Evaluator; e != nil {
		out = append(out, fileResource(MaterialEvaluator, *e))
	}
	return out
}

// judgeSources judges the fresh hash of the sources.
func (in *inputs) judgeSources(*Statement) *verdict.Judgement {
	j := verdict.NewJudgement("sources")
	c := in.sources
	if c.ManifestSHA256 != in.identity.ManifestSHA256 {
		j.Add(reason.SourcesChanged, "sources", "manifest "+in.identity.ManifestSHA256, c.ManifestSHA256)
	}
	if c.Pin != in.identity.Name {
		j.Add(reason.SourcesChanged, "sources", "pin "+in.identity.Name, c.Pin)
	}
	// The patched file may be hashed twice: as patched, and as upstream has it.
	if c.Files != in.files && c.Files != in.files+1 {
		j.Add(reason.SourcesChanged, "sources", fmt.Sprintf("the %d files of the manifest", in.files), fmt.Sprint(c.Files))
	}
	for _, d := range c.Mismatches {
		j.Add(reason.SourcesChanged, d.Path, d.Expected, d.Found)
	}
	j.Facts[verdict.FactSourceFiles] = c.Files
	return j
}

// binding compares what was judged with what is bound.
func (in *inputs) binding(s *Statement) *verdict.Judgement {
	j := verdict.NewJudgement(Binding)
	for _, e := range []*evidence.Evidence{in.runs.CoreML, in.runs.Canary, in.runs.Contrast} {
		for _, d := range s.Differences(e) {
			j.Add(reason.DigestMismatch, d.Where, d.Receipt, d.Evidence)
		}
	}
	for i := range bounds {
		// What the pin names and what lies there are two things.
		if b := &bounds[i]; b.Value != nil && b.Input != "" && b.Value(&s.Predicate) != in.sums[b.Input] {
			j.Add(reason.DigestMismatch, string(b.Role), b.Value(&s.Predicate), in.sums[b.Input])
		}
	}
	for _, same := range s.shared() {
		j.Add(reason.DigestMismatch, same[1], "another file than "+same[0], "the same bytes")
	}
	if flavour := s.Predicate.Flavour; flavour != whispercpp.FlavourCoreML {
		j.Add(reason.FlavourExperimental, "flavour", whispercpp.FlavourCoreML, flavour)
	}
	in.bindPolicies(j)
	in.bindLane(s, j)
	return j
}

// bindPolicies demands one gate policy, and frozen ones only.
func (in *inputs) bindPolicies(j *verdict.Judgement) {
	gates := 0
	for _, p := range in.policies {
		if p.Kind == judge.PolicyKind {
			gates++
		}
		if !p.IsFrozen() {
			j.Add(reason.PolicyNotFrozen, "policy", "a frozen policy", p.Name+" "+p.SHA256)
		}
	}
	if gates != 1 {
		j.Add(reason.PolicyMissing, "policies", "one policy of kind gate", fmt.Sprint(gates))
	}
	for _, o := range in.others {
		if k := judged(o.Name); o.Policy == nil {
			if k.ownPolicy() {
				j.Add(reason.PolicyNotFrozen, o.Name, "a frozen policy", "none")
			}
		} else if _, ok := policy.Known(o.Policy.Name, o.Policy.SHA256); !ok {
			j.Add(reason.PolicyNotFrozen, o.Name, "a frozen policy", o.Policy.Name+" "+o.Policy.SHA256)
		}
	}
}

// bindLane demands of judgements that other actions wrote that they are about what is bound, and that their numbers
// were computed by what this lane has.
func (in *inputs) bindLane(s *Statement, j *verdict.Judgement) {
	p := &s.Predicate
	for _, o := range in.others {
		for i := range bounds {
			b := &bounds[i]
			if found, ok := o.Facts[b.Fact]; b.Fact != "" && ok && found != b.In(s) {
				j.Addf(reason.DigestMismatch, o.Name+"."+b.Fact, b.In(s), "%v", found)
			}
		}
		if expected, found := checkSource(o, p.Lane, p.LaneIdentity); found != "" {
			j.Add(reason.JudgementLane, o.Name, expected, found)
		}
	}
}
