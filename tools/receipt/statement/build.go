package statement

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
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
	// sums are SHA-256 values by the spec's member, for those members that name a file.
	sums map[string]string
}

// Build reads what the spec names, judges it and returns the receipt. Broken input is an error; a
// failing judgement is a receipt that says fail.
func Build(s *Spec) (*Statement, error) {
	in, err := read(s)
	if err != nil {
		return nil, err
	}
	coreml := in.runs.CoreML
	p := Predicate{
		Schema: 1, Name: s.Name, Lane: coreml.Lane, LaneIdentity: coreml.LaneIdentity, Flavour: coreml.Flavour,
		Pin:          Pin{Identity: *in.identity, Status: pinStatus(in.identity.Supported)},
		EncoderFiles: in.encoder, Materials: in.materials(), Toolchain: s.toolchain(), Policies: []PolicyRef{}, Evidence: in.evidence,
		Required: s.required(in.policies), Placement: placementUnknown,
	}
	for _, pol := range in.policies {
		p.Policies = append(p.Policies, PolicyRef{Name: pol.Name, Kind: pol.Kind, SHA256: pol.SHA256, Frozen: pol.IsFrozen()})
	}
	p.Judgements = slices.Concat([]*verdict.Judgement{in.binding(), in.judgeSources()}, judge.JudgeRuns(in.runs, in.reference), in.others)
	p.Provisional = provisional(&p)
	p.Verdict = conclude(&p)
	return &Statement{
		Type: StatementType, PredicateType: PredicateType, Predicate: p,
		Subject: []Resource{
			fileResource(SubjectCLI, in.sums["cli"]),
			fileResource(SubjectModel, in.sums["model"]),
			treeResource(SubjectEncoder, in.sums["encoder"]),
		},
	}, nil
}

// toolchain is what built the binaries, its programs by digest. One that is not where the toolchain says
// is told of as such: a receipt names no digest that was not computed.
func (s *Spec) toolchain() map[string]string {
	out := map[string]string{}
	maps.Copy(out, s.Toolchain)
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
	names := append(slices.Clone(required), s.Required...)
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
		out = append(out, "pin: unsupported")
	}
	if p.Placement == placementUnknown {
		out = append(out, "placement: not observed")
	}
	if len(p.Toolchain) == 0 {
		out = append(out, "toolchain: not recorded")
	}
	for _, j := range p.Judgements {
		if satisfies, ok := j.Facts["satisfies_gate"].(bool); ok && !satisfies && j.Policy != nil {
			out = append(out, j.Name+": judged by "+j.Policy.Name+", which does not satisfy the release gate")
		}
		if thin, ok := j.Facts["provisional"].(bool); ok && thin {
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
func (in *inputs) judgeSources() *verdict.Judgement {
	j := verdict.NewJudgement("sources")
	c := in.sources
	if c.ManifestSHA256 != in.identity.ManifestSHA256 {
		j.Add(reason.SourcesChanged, "sources", "manifest "+in.identity.ManifestSHA256, c.ManifestSHA256)
	}
	for _, d := range c.Mismatches {
		j.Add(reason.SourcesChanged, d.Path, d.Expected, d.Found)
	}
	j.Facts["files"] = c.Files
	return j
}

// binding holds what was judged against what is bound.
func (in *inputs) binding() *verdict.Judgement {
	j := verdict.NewJudgement("binding")
	equal := func(where, expected, found string) {
		if expected != found {
			j.Add(reason.DigestMismatch, where, expected, found)
		}
	}
	coreml, contrast := in.runs.CoreML, in.runs.Contrast
	equal("whisper-cli", coreml.Digests.CLI, in.sums["cli"])
	equal("model", coreml.Digests.Model, in.sums["model"])
	equal("audio", coreml.Digests.Audio, in.sums["audio"])
	equal("whisper-cli of the contrast run", contrast.Digests.CLI, in.sums["contrast_cli"])
	if coreml.Digests.Encoder != nil {
		equal("encoder", *coreml.Digests.Encoder, in.sums["encoder"])
	}
	for _, e := range []*evidence.Evidence{coreml, in.runs.Canary, contrast} {
		equal("pin of the "+string(e.Kind)+" run", fmt.Sprint(*in.identity), fmt.Sprint(e.Pin))
	}
	equal("content manifest", in.identity.ManifestSHA256, in.sums["manifest"])
	equal("patch", in.identity.Patch.SHA256, in.sums["patch"])
	if coreml.Flavour != "coreml" {
		j.Add(reason.FlavourExperimental, "flavour", "coreml", coreml.Flavour)
	}
	if !slices.ContainsFunc(in.policies, func(p *policy.Policy) bool { return p.Kind == "gate" }) {
		j.Add(reason.PolicyMissing, "policies", "a policy of kind gate", "none")
	}
	for _, p := range in.policies {
		if !p.IsFrozen() {
			j.Add(reason.PolicyNotFrozen, "policy", "a frozen policy", p.Name+" "+p.SHA256)
		}
	}
	j.AddAll(in.bindJudgements())
	return j
}

// bindJudgements holds judgements that other actions wrote against what is bound: they must be about
// these programs, this model and this encoder, and go by frozen policies.
func (in *inputs) bindJudgements() []reason.Reason {
	reasons := []reason.Reason{}
	bound := map[string]string{
		"cli_sha256": in.sums["cli"], "model_sha256": in.sums["model"], "encoder_digest": in.sums["encoder"],
		"ggml_cli_sha256": in.sums["contrast_cli"], "lane": string(in.runs.CoreML.Lane),
	}
	for _, j := range in.others {
		for fact, want := range bound {
			if found, ok := j.Facts[fact]; ok && found != want {
				reasons = append(reasons, reason.Errorf(reason.DigestMismatch, j.Name+"."+fact, want, "%v", found).Reason)
			}
		}
		kind := ""
		if i := slices.IndexFunc(in.policies, func(p *policy.Policy) bool { return j.Policy != nil && p.Name == j.Policy.Name }); i >= 0 {
			kind = in.policies[i].Kind
		}
		if expected, found := checkSource(j, kind, in.runs.CoreML.Lane, in.runs.CoreML.LaneIdentity); found != "" {
			reasons = append(reasons, reason.Errorf(reason.JudgementLane, j.Name, expected, "%s", found).Reason)
		}
		if j.Policy == nil {
			if ofNumbers(j) {
				reasons = append(reasons, reason.Errorf(reason.PolicyNotFrozen, j.Name, "a frozen policy", "none").Reason)
			}
			continue
		}
		p, err := policy.Frozen(j.Policy.Name)
		if err != nil || p.SHA256 != j.Policy.SHA256 {
			reasons = append(reasons, reason.Errorf(reason.PolicyNotFrozen, j.Name, "a frozen policy", "%s %s", j.Policy.Name, j.Policy.SHA256).Reason)
		}
	}
	slices.SortFunc(reasons, func(a, b reason.Reason) int { return strings.Compare(a.Where, b.Where) })
	return reasons
}
