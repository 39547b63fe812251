package release

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Diff lists what changed from a to b, in the order of importance; nothing when they say the same. Receipts are
// compared by gate and lane, as far as a release repeats them: of one that changed otherwise it says only that.
func Diff(a, b *Statement) statement.Changes {
	var c statement.Changes
	p, q := &a.Predicate, &b.Predicate
	c.Add(statement.RankVerdict, "verdict", string(p.Verdict), string(q.Verdict))
	from, to := entries(p), entries(q)
	verdicts := func(of map[string]Entry) map[string]string {
		out := map[string]string{}
		for name, e := range of {
			out[name] = string(e.Verdict)
		}
		return out
	}
	c.Words(statement.RankVerdict, "receipt", verdicts(from), verdicts(to))
	for _, s := range a.Subject {
		e, f := from[s.Name], to[s.Name]
		if f.Name == "" {
			continue
		}
		before := len(c)
		for i, r := range e.Subjects {
			c.Add(statement.RankSubject, "subject "+r.Name+" of "+s.Name, r.Digest["sha256"], f.Subjects[i].Digest["sha256"])
		}
		pin := func(e Entry) string { return e.PinName + " " + e.PinCommit + " " + e.PinStatus }
		c.Add(statement.RankPin, "pin of "+s.Name, pin(e), pin(f))
		if len(c) == before && e.Verdict == f.Verdict {
			// It may be anything that stands in a receipt: a judgement, a policy, a material.
			c.Add(statement.RankJudgement, "other members of "+s.Name, "sha256 "+e.SHA256, "sha256 "+f.SHA256)
		}
	}
	c.Add(statement.RankFact, "release", p.Name, q.Name)
	if len(c) == 0 {
		c.Add(statement.RankOther, "other members", sum(a), sum(b))
	}
	c.Sort()
	return c
}

// entries are the receipts of a release by the names of their subjects: gate and lane.
func entries(p *Predicate) map[string]Entry {
	out := map[string]Entry{}
	for _, e := range p.Receipts {
		out[e.subject().Name] = e
	}
	return out
}

// sum is the digest of a release's canonical bytes.
func sum(s *Statement) string {
	data, err := strictjson.Canonical(s)
	if err != nil {
		return err.Error()
	}
	return "sha256 " + evidence.SHA256(data)
}
