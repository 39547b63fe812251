package verify_test

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestL01Physical lets the double's run say that it is a Mac's.
func TestL01Physical(t *testing.T) {
	for id, change := range map[string]func(*statement.Predicate){
		"":                              func(*statement.Predicate) {},
		"L01 the double as Core ML":     func(p *statement.Predicate) { p.LaneIdentity["core_ml"] = evidence.CoreMLDouble },
		"L01 the stand-in as Core ML":   func(p *statement.Predicate) { p.LaneIdentity["core_ml"] = evidence.CoreMLStandIn },
		"L01 numbers of no machine":     func(p *statement.Predicate) { p.Judgement("parity").Facts["core_ml_host"] = "(24G720)" },
		"L01 numbers of another system": func(p *statement.Predicate) { p.Judgement("parity").Facts["core_ml_host"] = "Linux, x86-64 (24G720)" },
		"L01 a build of blanks": func(p *statement.Predicate) {
			p.LaneIdentity["os_build"], p.Judgement("parity").Facts["core_ml_host"] = " ", "Mac16,10, Apple M4, macOS 15.6 ( )"
		},
		"R49 a name that climbs":        func(p *statement.Predicate) { p.Name = "//../..:receipt" },
		"L01 the double's protocol":     func(p *statement.Predicate) { p.LaneIdentity["protocol"] = "1" },
		"L01 predictions of the double": func(p *statement.Predicate) { p.Judgement("markers").Facts["double_predictions"] = 1 },
	} {
		s := newScene(t)
		decoded, err := statement.Decode(s.payload)
		if err != nil {
			t.Fatal(err)
		}
		gatefixture.Physical(decoded)
		change(&decoded.Predicate)
		if s.payload, err = strictjson.Canonical(decoded); err != nil {
			t.Fatal(err)
		}
		s.files = verify.Files{}
		if r := s.verify(t, s.signed(t)); (r.Verdict == reason.Pass) != (id == "") || id != "" && !r.Has("RECEIPT_MALFORMED") {
			t.Errorf("%s: %s %v", id, r.Verdict, r.Reasons)
		}
	}
}
