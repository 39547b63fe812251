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

// release checks a release: its form, its verdict, the lane and pin of its receipts, the receipts
// at hand (Files.Others) and the files. What is demanded of receipts one by one (policies, judgements, age,
// OS build) is checked on the receipts, so all of them must be at hand.
func (r *Result) release(ctx context.Context, payload []byte, d Demands, f Files) error {
	s, err := release.Decode(payload)
	if err != nil {
		r.Addf(reason.ReceiptMalformed, "payload", "a release in canonical form", "%v", err)
		return nil
	}
	r.Facts["release"], r.Facts["receipts"], r.Facts["release_verdict"] = s.Predicate.Name, len(s.Predicate.Receipts), string(s.Predicate.Verdict)
	switch s.Predicate.Verdict {
	case reason.Pass:
	case reason.Unknown:
		r.Addf(reason.VerdictInconclusive, "predicate.verdict", "pass", "%s", s.Predicate.Verdict)
	default:
		r.Addf(reason.VerdictNotPass, "predicate.verdict", "pass", "%s", s.Predicate.Verdict)
	}
	if err := r.lanes(s.Predicate.Receipts, d); err != nil {
		return err
	}
	at, err := r.atHand(ctx, s.Predicate.Receipts, d, f)
	if err != nil {
		return err
	}
	for _, e := range s.Predicate.Receipts {
		if at[e.SHA256] {
			continue
		}
		r.Unchecked = append(r.Unchecked, fmt.Sprintf("the receipt of %s (%s), which was not given", e.Name, e.Lane))
		if len(d.Policies) > 0 || len(d.Judgements) > 0 || d.OSBuild != "" || d.MaxAge != 0 {
			r.Add(reason.ReceiptNeeded, e.Name, "the receipt, to hold it against what is demanded", "none at hand")
		}
	}
	return r.releaseFiles(s.Predicate.Receipts, f)
}

// releaseFiles holds what ships against the subjects of all receipts.
func (r *Result) releaseFiles(entries []release.Entry, f Files) error {
	if len(f.Evidence) > 0 || f.Reference != "" {
		return fmt.Errorf("evidence and reference words are of one gate, and this is a release of %d: verify that gate's own receipt with them", len(entries))
	}
	known := map[string]bool{}
	for i, path := range f.subjects() {
		var want []string
		name := ""
		for _, e := range entries {
			name = e.Subjects[i].Name
			want = append(want, e.Subjects[i].Digest["sha256"])
			known[e.Subjects[i].Digest["sha256"]], known[e.SHA256] = true, true
		}
		slices.Sort(want)
		if _, err := r.subject(path, name, slices.Compact(want)...); err != nil {
			return err
		}
	}
	if f.Release == "" {
		return nil
	}
	sums, err := r.shipped(f.Release)
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		r.list(known, map[string]bool{}, path, sums[path])
	}
	return err
}

// lanes demands, of each gate, a receipt on the lane that is demanded, and of each receipt its pin.
func (r *Result) lanes(entries []release.Entry, d Demands) error {
	found := map[string]bool{}
	var names []string
	for _, e := range entries {
		if _, ok := found[e.Name]; !ok {
			names = append(names, e.Name)
			found[e.Name] = false
		}
		found[e.Name] = found[e.Name] || d.Lane == "" || e.Lane == d.Lane
		if err := r.demandCommit(e.Name, pin.Identity{Name: e.PinName, Commit: e.PinCommit, Supported: e.PinStatus == "supported"}, d); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !found[name] {
			r.Add(reason.ReleaseIncomplete, name, "a receipt on lane "+string(d.Lane), "none")
		}
	}
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

// atHand checks the receipts at hand against the release and the demands, and returns their digests. What
// the release says of a receipt at hand must be what that receipt says.
func (r *Result) atHand(ctx context.Context, entries []release.Entry, d Demands, f Files) (map[string]bool, error) {
	at := map[string]bool{}
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
			r.Addf(reason.ReceiptUnlisted, path, "a receipt of the release", "%s", sum)
			continue
		}
		at[sum] = true
		if err != nil {
			r.fault(err, reason.ReceiptMalformed, path)
			continue
		}
		if want := release.NewEntry(s, sum); !reflect.DeepEqual(want, entries[i]) {
			r.Addf(reason.ReleaseDiffers, entries[i].Name, fmt.Sprint(want), "%v", entries[i])
		}
		// The release's own lane check stands for all gates; each receipt is held against the rest.
		one := d
		one.Lane, one.AllowUnsupportedPin = "", true
		if err := r.demand(s, one); err != nil {
			return nil, err
		}
	}
	return at, nil
}
