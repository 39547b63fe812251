package measure

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// Collection is several submissions that may be in one table.
type Collection struct {
	Schema      int           `json:"schema"`
	Protocol    ProtocolRef   `json:"protocol"`
	Submissions []*Submission `json:"submissions"`
}

// Merge puts submissions together, sorted by their start, or says why they cannot be compared.
func Merge(subs []*Submission) (*Collection, []reason.Reason) {
	if len(subs) == 0 {
		return nil, []reason.Reason{{Code: reason.NotMergeable, Where: "submissions", Expected: "at least one", Found: "none"}}
	}
	var out []reason.Reason
	first := subs[0]
	seen, artifacts := map[string]bool{}, map[string]*Arm{}
	for _, s := range subs {
		if seen[s.Session] {
			out = append(out, reason.Reason{Code: reason.NotMergeable, Where: s.Session, Expected: "each session once", Found: "it twice"})
		}
		seen[s.Session] = true
		out = append(out, unlike(first, s)...)
		for i := range s.Arms {
			a := &s.Arms[i]
			if other := artifacts[a.Name]; other == nil {
				artifacts[a.Name] = a
			} else if found := unlikeArms(other, a); found != "" {
				out = append(out, reason.Reason{Code: reason.NotMergeable, Where: s.Session + " " + a.Name, Expected: "one name for one artifact and program", Found: found})
			}
		}
	}
	if len(out) > 0 {
		return nil, out
	}
	sorted := slices.Clone(subs)
	slices.SortFunc(sorted, func(a, b *Submission) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.Session, b.Session))
	})
	return &Collection{Schema, first.Protocol, sorted}, nil
}

// unlike lists in what two submissions cannot be compared, whatever their machines.
func unlike(a, b *Submission) []reason.Reason {
	var out []reason.Reason
	for _, c := range []struct {
		what string
		a, b any
	}{
		{"protocol", a.Protocol, b.Protocol}, {"mode", a.Mode, b.Mode}, {"lane", a.Lane, b.Lane},
		{"audio", a.Work.AudioSHA256, b.Work.AudioSHA256}, {"language", a.Work.Language, b.Work.Language}, {"threads", a.Work.Threads, b.Work.Threads},
		{"arguments", a.Work.Arguments, b.Work.Arguments}, {"environment", a.Work.Environment, b.Work.Environment},
	} {
		if !reflect.DeepEqual(c.a, c.b) {
			out = append(out, reason.Reason{Code: reason.NotMergeable, Where: b.Session + " " + c.what, Expected: fmt.Sprint(c.a), Found: fmt.Sprint(c.b)})
		}
	}
	return out
}

// unlikeArms says in what two arms of one name are not one thing, or "".
func unlikeArms(a, b *Arm) string {
	switch x, y := &a.Artifact, &b.Artifact; {
	case x.ModelSHA256 != y.ModelSHA256:
		return "another model"
	case x.EncoderDigest != y.EncoderDigest:
		return "another encoder, by digest: an encoder that was converted again is another artifact"
	case x.Units != y.Units:
		return fmt.Sprintf("compute units %s and %s", x.Units, y.Units)
	case a.Program.Flavour != b.Program.Flavour:
		return fmt.Sprintf("flavours %s and %s", a.Program.Flavour, b.Program.Flavour)
	case a.Program.SHA256 != b.Program.SHA256:
		return fmt.Sprintf("another whisper-cli, by digest (%s and %s): a program that was built again is another program", short(a.Program.SHA256), short(b.Program.SHA256))
	case a.Program.Evaluator != b.Program.Evaluator:
		return fmt.Sprintf("another evaluator, by digest (%s and %s)", short(a.Program.Evaluator), short(b.Program.Evaluator))
	}
	return ""
}

// short is the part of a digest that tells two apart, or "none".
func short(digest string) string {
	if digest == "" {
		return "none"
	}
	return digest[:min(12, len(digest))]
}

// EncodeCollection returns a collection's canonical bytes.
func EncodeCollection(c *Collection) ([]byte, error) { return strictjson.Canonical(c) }

// DecodeAny reads a submission or a collection; every submission is checked, and a collection is merged again.
func DecodeAny(data []byte) ([]*Submission, error) {
	s, err := DecodeSubmission(data)
	if err == nil {
		return []*Submission{s}, nil
	}
	c := &Collection{}
	if strictjson.DecodeCanonical(data, c) != nil {
		return nil, err
	}
	for _, s := range c.Submissions {
		if err := Check(s); err != nil {
			return nil, err
		}
	}
	if _, reasons := Merge(c.Submissions); len(reasons) > 0 {
		return nil, &reason.Error{Reason: reasons[0]}
	}
	return c.Submissions, nil
}
