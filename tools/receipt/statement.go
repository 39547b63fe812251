package receipt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/tree"
)

const (
	// StatementType is in-toto's Statement v1.
	StatementType = "https://in-toto.io/Statement/v1"
	// PredicateType is the type of this project's predicate; docs/receipt.md describes it.
	PredicateType = "https://github.com/coreml-gate/rules_coreml_gate/coreml-run/v1"
	// PayloadType is in-toto's media type, for DSSE.
	PayloadType = "application/vnd.in-toto+json"
)

// Names of the subjects.
const (
	SubjectCLI     = "whisper-cli"
	SubjectModel   = "ggml-model.bin"
	SubjectEncoder = "ggml-model-encoder.mlmodelc"
)

// TreeForm is the annotation of a digest that is the tree digest of package tree.
const TreeForm = "tree-manifest-v1"

// Resource is in-toto's ResourceDescriptor, as far as receipts use it.
type Resource struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
	// Annotations has "form": TreeForm for a directory.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Pin is the pin of the source, with the status that a receipt gives it.
type Pin struct {
	pin.Identity
	// Status is "supported" or "unsupported".
	Status string `json:"status"`
}

// PolicyRef is a policy that a judgement went by.
type PolicyRef struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"`
	// Frozen says that it is one of this project's frozen policies, byte for byte.
	Frozen bool `json:"frozen"`
}

// EvidenceRef is the evidence of one run.
type EvidenceRef struct {
	Kind   evidence.Kind `json:"kind"`
	SHA256 string        `json:"sha256"`
}

// EncoderFile is one file of the encoder tree. It proves nothing by itself: the subject is the tree.
type EncoderFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Predicate is the content of a receipt.
type Predicate struct {
	Schema int `json:"schema"`
	// Name is the gate's label.
	Name    string         `json:"name"`
	Verdict reason.Verdict `json:"verdict"`
	// Lane is the subject of proof: an emulated receipt says nothing about Apple's Core ML.
	Lane         evidence.Lane     `json:"lane"`
	LaneIdentity map[string]string `json:"lane_identity"`
	Flavour      string            `json:"flavour"`
	Pin          Pin               `json:"pin"`
	// EncoderFiles are the files of the encoder tree; their lines hash to the subject's digest.
	EncoderFiles []EncoderFile `json:"encoder_files"`
	// Materials are everything else that was read: sources, audio, reference, other binaries.
	Materials []Resource        `json:"materials"`
	Toolchain map[string]string `json:"toolchain"`
	Policies  []PolicyRef       `json:"policies"`
	Evidence  []EvidenceRef     `json:"evidence"`
	// Required names the judgements without which the verdict cannot be pass.
	Required   []string           `json:"required"`
	Judgements []*judge.Judgement `json:"judgements"`
	// Placement says what is known about where the encoder ran, and by which instrument.
	Placement string `json:"placement"`
	// Provisional lists what keeps this receipt from being final proof, in plain words.
	Provisional []string `json:"provisional"`
	// Signing is what a signer adds: the one part that is not deterministic. A receipt that a build
	// wrote has none.
	Signing *Signing `json:"signing,omitempty"`
}

// Signing is what the signer of a receipt vouches for beside the receipt.
type Signing struct {
	// ReceiptSHA256 is the digest of the receipt as the build wrote it, without this member.
	ReceiptSHA256 string `json:"receipt_sha256"`
	// At is when it was signed, RFC 3339 in UTC.
	At string `json:"at"`
	// Runs are when and on what the evidence was made, from its observations.
	Runs []ObservedRun `json:"runs"`
}

// ObservedRun says when and on what one run happened.
type ObservedRun struct {
	EvidenceSHA256 string            `json:"evidence_sha256"`
	StartedAt      string            `json:"started_at"`
	Host           map[string]string `json:"host"`
}

// Statement is a receipt.
type Statement struct {
	Type          string     `json:"_type"`
	Subject       []Resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     Predicate  `json:"predicate"`
}

// Encode returns the canonical bytes of s, which must pass [Statement.Check].
func Encode(s *Statement) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return strictjson.Canonical(s)
}

// Decode reads the canonical bytes of a receipt and checks its form.
func Decode(data []byte) (*Statement, error) {
	s := &Statement{}
	if err := strictjson.DecodeCanonical(data, s); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Check says whether the receipt is well formed and agrees with itself: its verdict is the one that
// follows from its judgements. It does not look outside.
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
	if p.Lane != evidence.LanePhysical && p.Lane != evidence.LaneEmulated {
		return fmt.Errorf("receipt: lane is %q, expected physical or emulated", p.Lane)
	}
	if own, ok := p.LaneIdentity["lane"]; ok && own != string(p.Lane) {
		return fmt.Errorf("receipt: lane is %q, but its identity is of lane %q", p.Lane, own)
	}
	if want := pinStatus(p.Pin.Supported); p.Pin.Status != want {
		return fmt.Errorf("receipt: pin status is %q, expected %q", p.Pin.Status, want)
	}
	if err := checkSubjects(s.Subject); err != nil {
		return err
	}
	if sum := encoderDigest(p.EncoderFiles); sum != s.Subject[2].Digest["sha256"] {
		return fmt.Errorf("receipt: encoder_files hash to %s, but the subject is %s", sum, s.Subject[2].Digest["sha256"])
	}
	for _, m := range p.Materials {
		if err := m.check(); err != nil {
			return err
		}
	}
	for _, e := range p.Evidence {
		if !hexDigest.MatchString(e.SHA256) {
			return fmt.Errorf("receipt: evidence digest is %q, expected 64 hexadecimal digits", e.SHA256)
		}
	}
	for i, j := range p.Judgements {
		if j == nil {
			return fmt.Errorf("receipt: judgement %d is null", i)
		}
		if (j.Verdict == reason.Pass) != (len(j.Reasons) == 0) {
			return fmt.Errorf("receipt: judgement %q says %s with %d reasons: a pass has none, and nothing else is without", j.Name, j.Verdict, len(j.Reasons))
		}
		if slices.ContainsFunc(p.Judgements[:i], func(o *judge.Judgement) bool { return o.Name == j.Name }) {
			return fmt.Errorf("receipt: judgement %q stands there twice", j.Name)
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
	if want := verdict(p); p.Verdict != want {
		return fmt.Errorf("receipt: verdict is %q, but its judgements give %q", p.Verdict, want)
	}
	return nil
}

// checkSubjects demands the three subjects of every receipt, in their order.
func checkSubjects(subjects []Resource) error {
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
	if subjects[2].Annotations["form"] != TreeForm {
		return fmt.Errorf("receipt: the encoder's digest has form %q, expected %q", subjects[2].Annotations["form"], TreeForm)
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

// verdict is what follows from the judgements: one that is required and missing fails.
func verdict(p *Predicate) reason.Verdict {
	for _, name := range append(slices.Clone(required), p.Required...) {
		if !slices.ContainsFunc(p.Judgements, func(j *judge.Judgement) bool { return j.Name == name }) {
			return reason.Failed
		}
	}
	return judge.Overall(p.Judgements)
}

func pinStatus(supported bool) string {
	if supported {
		return "supported"
	}
	return "unsupported"
}

func encoderDigest(files []EncoderFile) string {
	lines := make([]tree.File, len(files))
	for i, f := range files {
		lines[i] = tree.File{Path: f.Path, SHA256: f.SHA256}
	}
	return tree.DigestFiles(lines)
}

func fileResource(name, sha256 string) Resource {
	return Resource{Name: name, Digest: map[string]string{"sha256": sha256}}
}

func treeResource(name, sha256 string) Resource {
	r := fileResource(name, sha256)
	r.Annotations = map[string]string{"form": TreeForm}
	return r
}

// JudgementBytes are the canonical bytes of one judgement, as they stand in a receipt.
func JudgementBytes(j *judge.Judgement) ([]byte, error) { return strictjson.Canonical(j) }
