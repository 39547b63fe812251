package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// release checks a release: its form, its verdict, and that one entry of each gate answers the demands. What is at hand
// to ship must be of one and the same entry that answers: a model of one gate with the encoder of another was never
// gated together, and neither was a program of the lane that is not demanded.
//
// Receipts at hand are Files.Others. What is demanded of receipts one by one (policies, judgements, age, OS build) is
// checked on them, so those of the entries that answer must be at hand.
func (r *Result) release(ctx context.Context, payload []byte, d Demands, f Files) error {
	s, err := release.Decode(payload)
	if err != nil {
		r.Addf(reason.ReceiptMalformed, "payload", "a release in canonical form", "%v", err)
		return nil
	}
	if len(f.Evidence) > 0 || f.Reference != "" || f.Words != "" || f.Mel != "" {
		return fmt.Errorf("evidence, reference words, recordings and mel are of one gate, and this is a release of %d: verify that gate's own receipt with them", len(s.Predicate.Receipts))
	}
	r.Facts["release"], r.Facts["receipts"], r.Facts["release_verdict"] = s.Predicate.Name, len(s.Predicate.Receipts), string(s.Predicate.Verdict)
	switch s.Predicate.Verdict {
	case reason.Pass:
	case reason.Unknown:
		r.Add(reason.VerdictInconclusive, "predicate.verdict", "pass", string(s.Predicate.Verdict))
	default:
		r.Add(reason.VerdictNotPass, "predicate.verdict", "pass", string(s.Predicate.Verdict))
	}
	receipts, err := r.atHand(ctx, s.Predicate.Receipts, d, f)
	if err != nil {
		return err
	}
	answers, err := r.answers(s.Predicate.Receipts, receipts, d)
	if err != nil {
		return err
	}
	return r.ship(answers, f)
}

// answers returns the entries on the lane that is demanded, and adds what they do not meet. Each gate must have one.
func (r *Result) answers(entries []release.Entry, receipts map[string]*statement.Statement, d Demands) ([]release.Entry, error) {
	var out []release.Entry
	found := map[string]bool{}
	for _, e := range entries {
		s := receipts[e.SHA256]
		if s == nil {
			r.Unchecked = append(r.Unchecked, fmt.Sprintf("the receipt of %s (%s), which was not given", e.Name, e.Lane))
		}
		answers := d.Lane == "" || e.Lane == d.Lane
		found[e.Name] = found[e.Name] || answers
		if !answers {
			continue
		}
		out = append(out, e)
		for _, name := range e.Missing {
			if !slices.Contains(d.Profile.Lacks(e.Missing), name) {
				r.Unchecked = append(r.Unchecked, fmt.Sprintf("%s of %s (%s), which the release gate demands and profile %s does not", name, e.Name, e.Lane, d.Profile))
			}
		}
		if s != nil {
			if err := r.demand(s, d); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.demandCommit(e.Name, pin.Identity{Name: e.PinName, Commit: e.PinCommit, Supported: e.PinStatus == "supported"}, d); err != nil {
			return nil, err
		}
		if e.Verdict == reason.Pass {
			r.lacks(e.Name, e.Missing, d)
		}
		if len(d.Policies) > 0 || len(d.Judgements) > 0 || d.OSBuild != "" || d.MaxAge != 0 {
			r.Add(reason.ReceiptNeeded, e.Name, "the receipt, to compare it with what is demanded", "none at hand")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !found[name] {
			r.Add(reason.ReleaseIncomplete, name, "a receipt on lane "+string(d.Lane), "none")
		}
	}
	return out, nil
}

// ship compares what is at hand with the entries that answer: all of it must be of one.
func (r *Result) ship(answers []release.Entry, f Files) error {
	at, err := r.hand(f)
	if err != nil || at.empty() {
		return err
	}
	if len(answers) == 0 {
		r.Add(reason.FileMismatch, "files at hand", "an entry that answers the demands", "none")
	}
	var least []reason.Reason
	for i, e := range answers {
		differ := at.differ(e.Subjects)
		if len(differ) == 0 {
			r.Facts["ships"] = fmt.Sprintf("%s (%s)", e.Name, e.Lane)
			return nil
		}
		if i == 0 || len(differ) < len(least) {
			least = differ
		}
	}
	r.AddAll(least)
	return nil
}

// unseal reads a receipt as the build wrote it, or one that this key signed, with the times that its signer
// vouches for; and returns the digest by which a release names it. Nobody vouches for the times of a sealed
// receipt without a signature, so that one has the digest of its own bytes.
func unseal(ctx context.Context, data []byte, key *envelope.Key) (*statement.Statement, string, error) {
	sum := evidence.SHA256(data)
	e, err := envelope.Parse(data)
	if err != nil {
		s, err := statement.Decode(data)
		return s, sum, err
	}
	payload, _, err := e.Open(ctx, key)
	if err != nil {
		return nil, sum, err
	}
	s, err := statement.Decode(payload)
	if err != nil {
		return nil, evidence.SHA256(payload), err
	}
	built, err := statement.Encode(s.Unsealed())
	return s, evidence.SHA256(built), err
}

// atHand reads the receipts at hand and returns them by the digest that the release has of them. What the release says
// of a receipt at hand must be what that receipt says.
func (r *Result) atHand(ctx context.Context, entries []release.Entry, d Demands, f Files) (map[string]*statement.Statement, error) {
	at := map[string]*statement.Statement{}
	for _, path := range f.Others {
		data, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("read receipt: %w", err)
		}
		s, sum, err := unseal(ctx, data, d.Key)
		var refused *reason.Error
		if errors.As(err, &refused) {
			r.AddReason(refused.Reason)
			continue
		}
		i := slices.IndexFunc(entries, func(e release.Entry) bool { return e.SHA256 == sum })
		if i < 0 {
			r.Add(reason.ReceiptUnlisted, path, "a receipt of the release", sum)
			continue
		}
		if err != nil {
			r.malformed(err, path)
			continue
		}
		at[sum] = s
		if want := release.NewEntry(s, sum); !reflect.DeepEqual(want, entries[i]) {
			r.Addf(reason.ReleaseDiffers, entries[i].Name, fmt.Sprint(want), "%v", entries[i])
		}
	}
	return at, nil
}
