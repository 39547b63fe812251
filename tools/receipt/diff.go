package receipt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/strictjson"
)

// Change is one difference between two receipts.
type Change struct {
	// Rank orders changes by importance, the most important first: what is claimed, what it is claimed
	// about, why, by which rules, from what.
	Rank int `json:"rank"`
	// What names the member, From and To its values; "" stands for none.
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Ranks of changes.
const (
	rankVerdict = iota
	rankLane
	rankSubject
	rankJudgement
	rankPolicy
	rankPin
	rankMaterial
	rankEvidence
	rankFact
	rankSigning
	rankOther
)

// changes collects differences.
type changes []Change

func (c *changes) add(rank int, what, from, to string) {
	if from != to {
		*c = append(*c, Change{rank, what, from, to})
	}
}

// words compares two maps of strings key by key.
func (c *changes) words(rank int, what string, from, to map[string]string) {
	keys := maps.Clone(from)
	if keys == nil {
		keys = map[string]string{}
	}
	maps.Copy(keys, to)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c.add(rank, what+" "+key, from[key], to[key])
	}
}

// Diff lists what changed from a to b, in the order of importance; nothing when they say the same.
func Diff(a, b *Statement) []Change {
	var c changes
	p, q := &a.Predicate, &b.Predicate
	c.add(rankVerdict, "verdict", string(p.Verdict), string(q.Verdict))
	c.add(rankLane, "lane", string(p.Lane), string(q.Lane))
	c.words(rankLane, "lane identity", p.LaneIdentity, q.LaneIdentity)
	c.words(rankSubject, "subject", digests(a.Subject), digests(b.Subject))
	c.words(rankSubject, "encoder file", encoderFiles(p), encoderFiles(q))
	c.judgements(p, q)
	c.words(rankPolicy, "policy", policies(p), policies(q))
	c.add(rankPolicy, "required judgements", strings.Join(p.Required, ", "), strings.Join(q.Required, ", "))
	c.add(rankPin, "flavour", p.Flavour, q.Flavour)
	c.add(rankPin, "pin", p.Pin.Name+" "+p.Pin.Commit+" "+p.Pin.Status, q.Pin.Name+" "+q.Pin.Commit+" "+q.Pin.Status)
	c.add(rankPin, "pin tree", p.Pin.Tree, q.Pin.Tree)
	c.add(rankPin, "patch", p.Pin.Patch.SHA256, q.Pin.Patch.SHA256)
	c.words(rankMaterial, "material", digests(p.Materials), digests(q.Materials))
	c.words(rankMaterial, "toolchain", p.Toolchain, q.Toolchain)
	c.words(rankEvidence, "evidence", evidenceSums(p), evidenceSums(q))
	c.add(rankFact, "gate", p.Name, q.Name)
	c.add(rankFact, "placement", p.Placement, q.Placement)
	c.add(rankFact, "provisional", strings.Join(p.Provisional, "; "), strings.Join(q.Provisional, "; "))
	c.add(rankSigning, "signing", signing(p), signing(q))
	if len(c) == 0 {
		// Sizes, orders, spellings of numbers, times of runs: nobody decides by them, but they are no "no change".
		c.add(rankOther, "other members", sum(a), sum(b))
	}
	slices.SortStableFunc(c, func(x, y Change) int { return x.Rank - y.Rank })
	return c
}

// sum is the digest of a receipt's canonical bytes.
func sum(s *Statement) string {
	data, err := strictjson.Canonical(s)
	if err != nil {
		return err.Error()
	}
	return "sha256 " + evidence.SHA256(data)
}

// judgements compares verdicts and reasons first; grounds where those are the same, facts and notes by themselves.
func (c *changes) judgements(p, q *Predicate) {
	from, to := map[string]string{}, map[string]string{}
	facts, factsTo := map[string]string{}, map[string]string{}
	grounds, groundsTo := map[string]string{}, map[string]string{}
	fill := func(list []*judge.Judgement, verdicts, grounds, facts map[string]string) {
		for _, j := range list {
			verdicts[j.Name] = string(j.Verdict) + codes(j.Reasons)
			grounds[j.Name] = texts(j.Reasons)
			facts["notes of "+j.Name] = texts(j.Notes)
			if j.Policy != nil {
				facts["policy of "+j.Name] = j.Policy.Name + " " + j.Policy.SHA256
			}
			for key, value := range j.Facts {
				facts[j.Name+"."+key] = fmt.Sprint(value)
			}
		}
	}
	fill(p.Judgements, from, grounds, facts)
	fill(q.Judgements, to, groundsTo, factsTo)
	c.words(rankJudgement, "judgement", from, to)
	for _, c := range *c {
		if name, ok := strings.CutPrefix(c.What, "judgement "); ok {
			delete(grounds, name)
			delete(groundsTo, name)
		}
	}
	c.words(rankJudgement, "judgement grounds", grounds, groundsTo)
	c.words(rankFact, "fact", facts, factsTo)
}

func texts(reasons []reason.Reason) string {
	list := make([]string, len(reasons))
	for i, r := range reasons {
		list[i] = r.String()
	}
	return strings.Join(list, "; ")
}

func codes(reasons []reason.Reason) string {
	if len(reasons) == 0 {
		return ""
	}
	list := make([]string, len(reasons))
	for i, r := range reasons {
		list[i] = r.Code
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func digests(resources []Resource) map[string]string {
	out := map[string]string{}
	for _, r := range resources {
		out[r.Name] = r.Digest["sha256"]
	}
	return out
}

func encoderFiles(p *Predicate) map[string]string {
	out := map[string]string{}
	for _, f := range p.EncoderFiles {
		out[f.Path] = f.SHA256
	}
	return out
}

func policies(p *Predicate) map[string]string {
	out := map[string]string{}
	for _, ref := range p.Policies {
		out[ref.Name] = ref.SHA256
	}
	return out
}

func evidenceSums(p *Predicate) map[string]string {
	out := map[string]string{}
	for _, e := range p.Evidence {
		out[string(e.Kind)] = e.SHA256
	}
	return out
}

func signing(p *Predicate) string {
	if p.Signing == nil {
		return ""
	}
	return fmt.Sprintf("at %s, %d runs told of", p.Signing.At, len(p.Signing.Runs))
}
