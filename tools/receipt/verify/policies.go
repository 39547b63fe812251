package verify

import (
	"maps"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// demandPolicies holds the receipt's policies against those that are demanded and those that this
// program knows as frozen. A receipt's own word that a policy is frozen is not taken.
func (r *Result) demandPolicies(p *statement.Predicate, d Demands) {
	for _, name := range slices.Sorted(maps.Keys(d.Policies)) {
		want := d.Policies[name]
		i := slices.IndexFunc(p.Policies, func(ref statement.PolicyRef) bool { return ref.Name == name })
		switch {
		case i < 0:
			r.Add(reason.PolicyDemanded, "predicate.policies", "policy "+name, "none of that name")
		case p.Policies[i].SHA256 != want:
			r.Addf(reason.PolicyDemanded, "predicate.policies", name+" "+want, "%s", p.Policies[i].SHA256)
		}
	}
	for _, ref := range p.Policies {
		known, err := policy.Frozen(ref.Name)
		if err == nil && known.SHA256 == ref.SHA256 {
			r.demandRequired(p, ref, known)
			continue
		}
		want, named := d.Policies[ref.Name]
		switch {
		case named && want == ref.SHA256:
			// The one who verifies names the very bytes; that is stronger than a list in a program. What they demand is not known here.
			r.Unchecked = append(r.Unchecked, "the thresholds of policy "+ref.Name+", which this program does not know")
		case err != nil:
			r.Addf(reason.PolicyDemanded, "predicate.policies", "a policy that this program knows as frozen, or --policy "+ref.Name+"=SHA256", "%s %s", ref.Name, ref.SHA256)
		default:
			r.Addf(reason.PolicyDemanded, "predicate.policies", ref.Name+" "+known.SHA256, "%s: it was changed under its name", ref.SHA256)
		}
	}
	if len(p.Policies) == 0 {
		r.Add(reason.PolicyDemanded, "predicate.policies", "the policy of the gate", "none")
	}
}

// demandRequired holds what the receipt says of a policy that this program knows against the policy itself.
func (r *Result) demandRequired(p *statement.Predicate, ref statement.PolicyRef, known *policy.Policy) {
	if ref.Kind != known.Kind {
		r.Addf(reason.PolicyDemanded, "predicate.policies", ref.Name+" of kind "+known.Kind, "kind %s", ref.Kind)
	}
	for _, name := range known.Required {
		if !has(p.Judgements, name) {
			r.Add(reason.JudgementMissing, "predicate.judgements", name+", which policy "+ref.Name+" requires", "none")
		}
	}
}
