package statement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
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

// Ranks of changes, of receipts and of releases.
const (
	RankVerdict = iota
	RankLane
	RankSubject
	RankJudgement
	RankPolicy
	RankPin
	RankMaterial
	RankEvidence
	RankFact
	RankSigning
	RankOther
)

// Changes collects differences.
type Changes []Change

// Add notes a difference, if there is one.
func (c *Changes) Add(rank int, what, from, to string) {
	if from != to {
		*c = append(*c, Change{rank, what, from, to})
	}
}

// Words compares two maps of strings key by key.
func (c *Changes) Words(rank int, what string, from, to map[string]string) {
	keys := maps.Clone(from)
	if keys == nil {
		keys = map[string]string{}
	}
	maps.Copy(keys, to)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c.Add(rank, what+" "+key, from[key], to[key])
	}
}

// Sort brings them into the order of importance.
func (c Changes) Sort() { slices.SortStableFunc(c, func(x, y Change) int { return x.Rank - y.Rank }) }

// Diff lists what changed from a to b, in the order of importance; nothing when they say the same.
func Diff(a, b *Statement) Changes {
	var c Changes
	p, q := &a.Predicate, &b.Predicate
	c.Add(RankVerdict, "verdict", string(p.Verdict), string(q.Verdict))
	c.Add(RankLane, "lane", string(p.Lane), string(q.Lane))
	c.Words(RankLane, "lane identity", p.LaneIdentity, q.LaneIdentity)
	c.Words(RankSubject, "subject", digests(a.Subject), digests(b.Subject))
	c.Words(RankSubject, "encoder file", encoderFiles(p), encoderFiles(q))
	c.judgements(p, q)
	c.Words(RankPolicy, "policy", policies(p), policies(q))
	c.Add(RankPolicy, "required judgements", strings.Join(p.Required, ", "), strings.Join(q.Required, ", "))
	c.Add(RankPin, "flavour", p.Flavour, q.Flavour)
	c.Add(RankPin, "pin", p.Pin.Name+" "+p.Pin.Commit+" "+p.Pin.Status, q.Pin.Name+" "+q.Pin.Commit+" "+q.Pin.Status)
	c.Add(RankPin, "pin tree", p.Pin.Tree, q.Pin.Tree)
	c.Add(RankPin, "patch", p.Pin.Patch.SHA256, q.Pin.Patch.SHA256)
	c.Words(RankMaterial, "material", digests(p.Materials), digests(q.Materials))
	c.Words(RankMaterial, "toolchain", p.Toolchain, q.Toolchain)
	c.Words(RankEvidence, "evidence", evidenceSums(p), evidenceSums(q))
	c.Add(RankFact, "gate", p.Name, q.Name)
	c.Add(RankFact, "placement", p.Placement, q.Placement)
	c.Add(RankFact, "provisional", strings.Join(p.Provisional, "; "), strings.Join(q.Provisional, "; "))
	c.Add(RankSigning, "signing", signing(p), signing(q))
	if len(c) == 0 {
		// Sizes, orders, spellings of numbers, times of runs: nobody decides by them, but they are no "no change".
		c.Add(RankOther, "other members", sum(a), sum(b))
	}
	c.Sort()
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
func (c *Changes) judgements(p, q *Predicate) {
	from, to := map[string]string{}, map[string]string{}
	facts, factsTo := map[string]string{}, map[string]string{}
	grounds, groundsTo := map[string]string{}, map[string]string{}
	fill := func(list []*verdict.Judgement, verdicts, grounds, facts map[string]string) {
		for _, j := range list {
			verdicts[j.Name] = string(j.Verdict) + codes(j.Reasons)
			grounds[j.Name] = texts(j.Reasons)
			facts["notes of "+j.Name] = texts(j.Notes)
			if j.Policy != nil {
				facts["policy of "+j.Name] = j.Policy.Name + " " + j.Policy.SHA256
			}
			for key, value := range j.Facts {
				if saysAbout(key) {
					continue // what is bound is compared where it is bound
				}
				facts[j.Name+"."+key] = fmt.Sprint(value)
			}
		}
	}
	fill(p.Judgements, from, grounds, facts)
	fill(q.Judgements, to, groundsTo, factsTo)
	c.Words(RankJudgement, "judgement", from, to)
	for _, c := range *c {
		if name, ok := strings.CutPrefix(c.What, "judgement "); ok {
			delete(grounds, name)
			delete(groundsTo, name)
		}
	}
	c.Words(RankJudgement, "judgement grounds", grounds, groundsTo)
	c.Words(RankFact, "fact", facts, factsTo)
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
