package verify

import (
	"fmt"
	"os"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
)

// placementAgain judges the placement again, from the record of the plan and the recording that the judgement names by digest. It
// lists what it would take, where one of them was not given.
func (r *Result) placementAgain(s *statement.Statement, f Files, redone map[string]bool) error {
	j := s.Predicate.Judgement(placement.Name)
	g := &placement.Given{Lane: s.Predicate.Lane, EncoderDigest: s.Digest(statement.SubjectEncoder), OSBuild: s.Predicate.LaneIdentity["os_build"]}
	missing := false
	for _, part := range []struct {
		fact, path, flag string
		read             func(path string) error
	}{
		{placement.FactPlan, f.Plan, "the compute plan (--plan)", func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			g.Plan, err = placement.ParseRecord(data)
			return err
		}},
		{placement.FactTrace, f.Recording, "the recording (--recording)", func(path string) (err error) {
			g.Trace, err = placement.ReadRecording(path)
			return err
		}},
	} {
		var named any
		if j != nil {
			named = j.Facts[part.fact]
		}
		switch {
		case part.path == "" && named != nil:
			missing = true
			r.Unchecked = append(r.Unchecked, fmt.Sprintf("the placement again, which needs %s of digest %v", part.flag, named))
		case part.path != "" && named == nil:
			r.Add(reason.FileUnlisted, part.flag, "a file that the receipt's placement was judged from", part.path)
			missing = true
		case part.path != "":
			if err := part.read(part.path); err != nil {
				return err
			}
		}
	}
	if j == nil || missing || j.Policy == nil || g.Plan == nil && g.Trace == nil {
		return nil
	}
	p, known := policy.Known(j.Policy.Name, j.Policy.SHA256)
	if !known {
		return nil
	}
	g.Encoder, _ = j.Facts[placement.FactEncoderName].(string)
	// What powermetrics showed is no part of what decides, and its output is not kept.
	signed := *j
	signed.Notes = slices.DeleteFunc(slices.Clone(j.Notes), func(n reason.Reason) bool { return n.Where == placement.ByPower })
	r.agree(&signed, placement.Judge(g, p), redone, verdict.FactModel, placement.FactPower, placement.FactPowerControl)
	return nil
}
