package statement

import (
	"bytes"
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

const (
	// StatementType is in-toto's Statement v1.
	StatementType = "https://in-toto.io/Statement/v1"
	// PredicateType is the type of this project's predicate; docs/receipt.md describes it.
	PredicateType = "https://github.com/coreml-gate/rules_coreml_gate/coreml-run/v1"
	// PayloadType is in-toto's media type, for DSSE.
	PayloadType = "application/vnd.in-toto+json"
)

// Names of the subjects, in the order in which a receipt has them: [SubjectNames].
const (
	SubjectCLI     = "whisper-cli"
	SubjectModel   = "ggml-model.bin"
	SubjectEncoder = "ggml-model-encoder.mlmodelc"
)

// SubjectNames are the subjects of every receipt, in their order.
var SubjectNames = []string{SubjectCLI, SubjectModel, SubjectEncoder}

// Names of the materials that every receipt has; the patched file is there under its own path.
const (
	MaterialManifest    = "content-manifest"
	MaterialPatch       = "patch"
	MaterialSources     = "sources-check.json"
	MaterialContrastCLI = "whisper-cli (contrast)"
	MaterialAudio       = "audio"
	MaterialReference   = "reference.txt"
	// MaterialEvaluator is the emulated lane's evaluator, where one ran.
	MaterialEvaluator = "gate_evaluator"
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
	// Status is "supported", "unsupported", or "none" for a program whose sources no pin vouches for.
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
	Required   []string             `json:"required"`
	Judgements []*verdict.Judgement `json:"judgements"`
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

// Digest is the SHA-256 of the subject or material of that name, "" where there is none.
func (s *Statement) Digest(name string) string {
	for _, list := range [][]Resource{s.Subject, s.Predicate.Materials} {
		if sum := DigestOf(list, name); sum != "" {
			return sum
		}
	}
	return ""
}

// DigestOf is the SHA-256 of the resource of that name, "" where there is none.
func DigestOf(list []Resource, name string) string {
	for _, r := range list {
		if r.Name == name {
			return r.Digest["sha256"]
		}
	}
	return ""
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
	if err := Newer(data, PredicateType); err != nil {
		return nil, err
	}
	s := &Statement{}
	if err := strictjson.DecodeCanonical(data, s); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

func fileResource(name, sha256 string) Resource {
	return Resource{Name: name, Digest: map[string]string{"sha256": sha256}}
}

func treeResource(name, sha256 string) Resource {
	r := fileResource(name, sha256)
	r.Annotations = map[string]string{"form": TreeForm}
	return r
}

// Same compares two judgements in their canonical bytes, so that numbers read back compare as written.
func Same(a, b *verdict.Judgement) bool {
	left, err1 := strictjson.Canonical(a)
	right, err2 := strictjson.Canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(left, right)
}
