// Package release binds the receipts of many gates into one statement: what a release of several
// models, or of one model on both lanes, is signed and verified as.
//
// A release is an in-toto Statement v1 in canonical bytes whose subjects are the receipts, each by the
// SHA-256 of its bytes, sorted by name. Its predicate repeats of each receipt only what a reader decides
// by: verdict, lane, pin and subjects. Its verdict is pass only if every receipt's is, and an empty
// release fails.
package release

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// PredicateType is the type of a release's predicate; docs/receipt.md describes it.
const PredicateType = "https://github.com/coreml-gate/rules_coreml_gate/coreml-release/v1"

// Entry is one receipt of a release.
type Entry struct {
	Name    string         `json:"name"`
	SHA256  string         `json:"sha256"`
	Verdict reason.Verdict `json:"verdict"`
	Lane    evidence.Lane  `json:"lane"`
	PinName string         `json:"pin"`
	// PinCommit is upstream's commit, by which a verifier knows the supported pin: PinStatus is the builder's word.
	PinCommit string               `json:"pin_commit"`
	PinStatus string               `json:"pin_status"`
	Subjects  []statement.Resource `json:"subjects"`
	// Evidence is that of the receipt's runs: one run stands for one gate.
	Evidence []statement.EvidenceRef `json:"evidence"`
	// Missing is what the release gate demands and the receipt does not have; empty where it satisfies the gate.
	Missing []string `json:"missing"`
}

// Predicate is the content of a release.
type Predicate struct {
	Schema   int            `json:"schema"`
	Name     string         `json:"name"`
	Verdict  reason.Verdict `json:"verdict"`
	Receipts []Entry        `json:"receipts"`
}

// Statement is a release.
type Statement struct {
	Type          string               `json:"_type"`
	Subject       []statement.Resource `json:"subject"`
	PredicateType string               `json:"predicateType"`
	Predicate     Predicate            `json:"predicate"`
}

// Spec is the input file of gate_release.
type Spec struct {
	// Schema is 1.
	Schema int `json:"schema"`
	// Name is the label of the release.
	Name string `json:"name"`
	// Receipts are the paths of receipts, as builds wrote them.
	Receipts []string `json:"receipts"`
	// Releases are the paths of smaller releases, whose entries become this one's: with one release a
	// package, the one of hundreds of gates reads a file a package. Optional.
	Releases []string `json:"releases,omitempty"`
}

// ReadSpec reads a spec file; unknown and missing members are refused.
func ReadSpec(path string) (*Spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read release spec: %w", err)
	}
	s := &Spec{}
	if err := strictjson.Decode(data, s); err != nil {
		return nil, fmt.Errorf("release spec %s: %w", path, err)
	}
	if s.Schema != 1 {
		return nil, fmt.Errorf("release spec %s: schema is %d, expected 1", path, s.Schema)
	}
	return s, nil
}

// Build makes a release of the receipts in these files.
func Build(s *Spec) (*Statement, error) {
	out := &Statement{Type: statement.StatementType, Subject: []statement.Resource{}, PredicateType: PredicateType, Predicate: Predicate{Schema: 1, Name: s.Name, Receipts: []Entry{}}}
	for _, path := range s.Receipts {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read receipt: %w", err)
		}
		r, err := statement.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out.Predicate.Receipts = append(out.Predicate.Receipts, NewEntry(r, evidence.SHA256(data)))
	}
	for _, path := range s.Releases {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read release: %w", err)
		}
		r, err := Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out.Predicate.Receipts = append(out.Predicate.Receipts, r.Predicate.Receipts...)
	}
	slices.SortFunc(out.Predicate.Receipts, compare)
	for _, e := range out.Predicate.Receipts {
		out.Subject = append(out.Subject, e.subject())
	}
	out.Predicate.Verdict = conclude(out.Predicate.Receipts)
	return out, nil
}

// NewEntry is what a release says about a receipt, whose bytes have the digest sum.
func NewEntry(s *statement.Statement, sum string) Entry {
	p := &s.Predicate
	return Entry{
		Name: p.Name, SHA256: sum, Verdict: p.Verdict, Lane: p.Lane,
		PinName: p.Pin.Name, PinCommit: p.Pin.Commit, PinStatus: p.Pin.Status, Subjects: s.Subject,
		Evidence: p.Evidence, Missing: p.Missing(),
	}
}

// compare orders entries by gate, then lane: a gate may stand there once on each lane.
func compare(a, b Entry) int {
	if n := strings.Compare(a.Name, b.Name); n != 0 {
		return n
	}
	return strings.Compare(string(a.Lane), string(b.Lane))
}

func (e Entry) subject() statement.Resource {
	return statement.Resource{Name: e.Name + " (" + string(e.Lane) + ")", Digest: map[string]string{"sha256": e.SHA256}}
}

// check says whether the entry is one that [NewEntry] could have made.
func (e Entry) check() error {
	if err := statement.CheckLabel(e.Name); err != nil {
		return fmt.Errorf("release: receipt: %w", err)
	}
	if !hexDigest.MatchString(e.SHA256) {
		return fmt.Errorf("release: digest of receipt %s is %q, expected 64 hexadecimal digits in lower case", e.Name, e.SHA256)
	}
	if e.Lane != evidence.LanePhysical && e.Lane != evidence.LaneEmulated {
		return fmt.Errorf("release: lane of receipt %s is %q, expected physical or emulated", e.Name, e.Lane)
	}
	if !slices.Contains([]string{"supported", "unsupported", "none"}, e.PinStatus) || !commitID.MatchString(e.PinCommit) {
		return fmt.Errorf("release: pin of receipt %s is %q at %q, expected supported, unsupported or none, at 40 hexadecimal digits", e.Name, e.PinStatus, e.PinCommit)
	}
	if err := statement.CheckSubjects(e.Subjects); err != nil {
		return fmt.Errorf("release: receipt %s: %w", e.Name, err)
	}
	if err := statement.CheckEvidence(e.Evidence); err != nil {
		return fmt.Errorf("release: receipt %s: %w", e.Name, err)
	}
	if err := statement.CheckMissing(e.Missing); err != nil {
		return fmt.Errorf("release: receipt %s: %w", e.Name, err)
	}
	return nil
}

// checkTogether refuses entries that contradict each other: a gate whose lanes are about two models, and one run that
// stands for two gates.
func checkTogether(entries []Entry) error {
	runs := map[string]Entry{}
	for i, e := range entries {
		if i > 0 && entries[i-1].Name == e.Name {
			a, b := statement.DigestOf(entries[i-1].Subjects, statement.SubjectModel), statement.DigestOf(e.Subjects, statement.SubjectModel)
			if a != b {
				return fmt.Errorf("release: gate %s is about model %s on lane %s and about %s on lane %s: expected one model", e.Name, a, entries[i-1].Lane, b, e.Lane)
			}
		}
		for _, ref := range e.Evidence {
			if other, ok := runs[ref.SHA256]; ok {
				return fmt.Errorf("release: the %s run of %s (%s) is that of %s (%s): one run counts once", ref.Kind, e.Name, e.Lane, other.Name, other.Lane)
			}
			runs[ref.SHA256] = e
		}
	}
	return nil
}

var (
	hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)
	commitID  = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// conclude is the verdict over the entries; a release of nothing fails.
func conclude(entries []Entry) reason.Verdict {
	verdicts := make([]reason.Verdict, len(entries))
	for i, e := range entries {
		verdicts[i] = e.Verdict
	}
	return verdict.Worst(verdicts...)
}

// Encode returns the canonical bytes of s, which must pass [Statement.Check].
func Encode(s *Statement) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return strictjson.Canonical(s)
}

// Decode reads the canonical bytes of a release and checks its form.
func Decode(data []byte) (*Statement, error) {
	if err := statement.Newer(data, PredicateType); err != nil {
		return nil, err
	}
	s := &Statement{}
	if err := strictjson.DecodeCanonical(data, s); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// Check says whether the release is well formed and agrees with itself.
func (s *Statement) Check() error {
	if s.Type != statement.StatementType || s.PredicateType != PredicateType || s.Predicate.Schema != 1 {
		return fmt.Errorf("release: type %q, predicate type %q, schema %d: expected %q, %q, 1", s.Type, s.PredicateType, s.Predicate.Schema, statement.StatementType, PredicateType)
	}
	entries := s.Predicate.Receipts
	if len(s.Subject) != len(entries) {
		return fmt.Errorf("release: %d subjects for %d receipts", len(s.Subject), len(entries))
	}
	if err := statement.CheckLabel(s.Predicate.Name); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	if err := statement.CheckVisible(s); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	sums := map[string]bool{}
	for i, e := range entries {
		if err := e.check(); err != nil {
			return err
		}
		if sums[e.SHA256] {
			return fmt.Errorf("release: receipt %s stands there under two names", e.SHA256)
		}
		sums[e.SHA256] = true
		if i > 0 && compare(entries[i-1], e) >= 0 {
			return fmt.Errorf("release: receipt %s (%s) is out of order or stands there twice", e.Name, e.Lane)
		}
		want := e.subject()
		if got := s.Subject[i]; got.Name != want.Name || len(got.Digest) != 1 || got.Digest["sha256"] != e.SHA256 || len(got.Annotations) > 0 {
			return fmt.Errorf("release: subject %d is %v, expected %v", i, got, want)
		}
	}
	if err := checkTogether(entries); err != nil {
		return err
	}
	if want := conclude(entries); s.Predicate.Verdict != want {
		return fmt.Errorf("release: verdict is %q, but its receipts give %q", s.Predicate.Verdict, want)
	}
	return nil
}
