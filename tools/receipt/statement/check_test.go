package statement_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// TestContradictions makes one member at a time of a receipt that passes contradict the rest, as someone
// with the right key could: none can be read.
func TestContradictions(t *testing.T) {
	good := gatefixture.New(t).Receipt(t)
	zero := strings.Repeat("0", 64)
	// files gives the receipt other encoder files, and what follows from them.
	files := func(s *statement.Statement, files ...statement.EncoderFile) {
		lines := make([]tree.File, len(files))
		for i, f := range files {
			lines[i] = tree.File{Path: f.Path, SHA256: f.SHA256}
		}
		s.Predicate.EncoderFiles = append([]statement.EncoderFile{}, files...)
		s.Subject[2].Digest["sha256"] = tree.DigestFiles(lines)
	}
	physical := gatefixture.Physical
	for _, c := range []struct {
		name   string
		change func(s *statement.Statement, p *statement.Predicate)
		says   string
	}{
		{"as built", func(*statement.Statement, *statement.Predicate) {}, ""},
		{"on a Mac", func(s *statement.Statement, _ *statement.Predicate) { physical(s) }, ""},
		{"no name", func(_ *statement.Statement, p *statement.Predicate) { p.Name = "" }, "name is"},
		{"name of two lines", func(_ *statement.Statement, p *statement.Predicate) { p.Name = "//a:b\nverify: pass" }, "name is"},
		{"identity without a lane", func(_ *statement.Statement, p *statement.Predicate) { delete(p.LaneIdentity, "lane") }, "identity is of lane"},
		{"physical without a system", func(s *statement.Statement, p *statement.Predicate) {
			physical(s)
			delete(p.LaneIdentity, "os_build")
		}, "os_build"},
		{"physical with the evaluator", func(s *statement.Statement, p *statement.Predicate) {
			physical(s)
			p.Materials = append(p.Materials, statement.Resource{Name: statement.MaterialEvaluator, Digest: map[string]string{"sha256": zero}})
		}, "evaluator"},
		{"flavour without the patch", func(_ *statement.Statement, p *statement.Predicate) { p.Flavour = "coreml_unpatched" }, "flavour"},
		{"commit by name", func(_ *statement.Statement, p *statement.Predicate) { p.Pin.Commit = "HEAD" }, "40 hexadecimal"},
		{"manifest that is not the pin's", func(_ *statement.Statement, p *statement.Predicate) { p.Pin.ManifestSHA256 = zero }, "the pin names"},
		{"patch that is not the pin's", func(_ *statement.Statement, p *statement.Predicate) { p.Pin.Patch.SHA256 = zero }, "the pin names"},
		{"source that is not the pin's", func(_ *statement.Statement, p *statement.Predicate) { p.Pin.PatchedFile.SHA256 = zero }, "the pin names"},
		{"no materials", func(_ *statement.Statement, p *statement.Predicate) { p.Materials = []statement.Resource{} }, "is missing"},
		{"no evaluator", func(_ *statement.Statement, p *statement.Predicate) {
			p.Materials = slices.DeleteFunc(p.Materials, func(r statement.Resource) bool { return r.Name == statement.MaterialEvaluator })
		}, "without the evaluator"},
		{"material twice", func(_ *statement.Statement, p *statement.Predicate) {
			p.Materials = append(p.Materials, p.Materials[0])
		}, "once"},
		{"material under a subject's name", func(_ *statement.Statement, p *statement.Predicate) { p.Materials[0].Name = statement.SubjectCLI }, "once"},
		{"note on a subject", func(s *statement.Statement, _ *statement.Predicate) {
			s.Subject[0].Annotations = map[string]string{"a": "b"}
		}, "annotations"},
		{"no evidence", func(_ *statement.Statement, p *statement.Predicate) { p.Evidence = []statement.EvidenceRef{} }, "evidence of 0 runs"},
		{"no canary", func(_ *statement.Statement, p *statement.Predicate) { p.Evidence[1] = p.Evidence[0] }, "of kind"},
		{"nothing required", func(_ *statement.Statement, p *statement.Predicate) { p.Required = []string{} }, "required is"},
		{"no gate policy", func(_ *statement.Statement, p *statement.Predicate) { p.Policies[0].Kind = "parity" }, "markers.policy"},
		{"unfrozen policy", func(_ *statement.Statement, p *statement.Predicate) { p.Policies[0].Frozen = false }, "not frozen"},
		{"policy twice", func(_ *statement.Statement, p *statement.Predicate) { p.Policies = append(p.Policies, p.Policies[0]) }, "twice"},
		{"judgement by a policy of its own", func(_ *statement.Statement, p *statement.Predicate) {
			p.Judgements[0].Policy = &verdict.PolicyRef{Name: "loose", SHA256: zero}
		}, "binding.policy"},
		{"judgement of numbers by no policy", func(_ *statement.Statement, p *statement.Predicate) {
			p.Judgements[len(p.Judgements)-1].Policy = nil
		}, "parity.policy"},
		{"judgement of another encoder", func(_ *statement.Statement, p *statement.Predicate) {
			p.Judgements[0].Facts["encoder_digest"] = zero
		}, "binding.encoder_digest"},
		{"placement that nobody saw", func(_ *statement.Statement, p *statement.Predicate) {
			p.Placement, p.Provisional = "Neural Engine", p.Provisional[:1]
		}, "placement is"},
		{"judgements without end", func(_ *statement.Statement, p *statement.Predicate) {
			p.Judgements = slices.Repeat(p.Judgements, 50)
		}, "judgements has"},
		{"requirements without end", func(_ *statement.Statement, p *statement.Predicate) { p.Required = slices.Repeat(p.Required, 50) }, "required has"},
		{"policies without end", func(_ *statement.Statement, p *statement.Predicate) { p.Policies = slices.Repeat(p.Policies, 300) }, "policies has"},
		{"no encoder files", func(s *statement.Statement, _ *statement.Predicate) { files(s) }, "without files"},
		{"path out of the encoder", func(s *statement.Statement, _ *statement.Predicate) {
			files(s, statement.EncoderFile{Path: "../model.mil", SHA256: zero})
		}, "stay in the tree"},
		{"two lines in one path", func(_ *statement.Statement, p *statement.Predicate) {
			a, b := p.EncoderFiles[0], p.EncoderFiles[1]
			a.Path += "\n" + b.SHA256 + "  " + b.Path
			p.EncoderFiles = []statement.EncoderFile{a}
		}, "expected ASCII"},
		{"files in another order", func(s *statement.Statement, p *statement.Predicate) {
			files(s, p.EncoderFiles[1], p.EncoderFiles[0])
		}, "out of order"},
		{"negative size", func(_ *statement.Statement, p *statement.Predicate) { p.EncoderFiles[0].Size = -1 }, "-1 bytes"},
	} {
		s, err := statement.Decode(good)
		if err != nil {
			t.Fatal(err)
		}
		c.change(s, &s.Predicate)
		data, err := strictjson.Canonical(s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = statement.Decode(data)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// TestJudgementLane holds that numbers which pass were computed by what the receipt's lane has: our evaluator on the emulated
// one, Core ML of the very system on the physical one. What a probe and the evaluator leave is what their own tests make of it.
func TestJudgementLane(t *testing.T) {
	if parity.Kind != "parity" {
		t.Errorf("policies of numbers are of kind %q", parity.Kind)
	}
	good := gatefixture.New(t).Receipt(t)
	const host = gatefixture.MacHost
	for _, c := range []struct {
		name     string
		physical bool
		change   func(j *verdict.Judgement)
		says     string
	}{
		{"emulated, by the evaluator", false, func(*verdict.Judgement) {}, ""},
		{"emulated, by Core ML", false, func(j *verdict.Judgement) {
			delete(j.Facts, "kernel_path")
			j.Facts["core_ml_host"] = host
		}, "has core_ml_host " + host + ", but on lane emulated"},
		{"emulated, by both", false, func(j *verdict.Judgement) { j.Facts["core_ml_host"] = host }, "has core_ml_host"},
		{"emulated, on a device", false, func(j *verdict.Judgement) { j.Facts["compute_units_loaded"] = "all" }, "has compute_units_loaded all"},
		{"emulated, by nobody knows what", false, func(j *verdict.Judgement) { delete(j.Facts, "kernel_path") }, "nothing that says what computed them"},
		{"emulated, under another name", false, func(j *verdict.Judgement) {
			j.Name = "numbers"
			delete(j.Facts, "kernel_path")
		}, "none that a gate makes"},
		{"physical, by Core ML", true, func(j *verdict.Judgement) {
			delete(j.Facts, "kernel_path")
			j.Facts["core_ml_host"], j.Facts["compute_units_loaded"] = host, "all"
		}, ""},
		{"physical, by the evaluator", true, func(*verdict.Judgement) {}, "has kernel_path portable, but on lane physical"},
		{"physical, by both", true, func(j *verdict.Judgement) { j.Facts["core_ml_host"] = host }, "has kernel_path"},
		{"physical, with the evaluator's note", true, func(j *verdict.Judgement) {
			delete(j.Facts, "kernel_path")
			j.Facts["core_ml_host"], j.Notes = host, []reason.Reason{{Code: "EMULATED_UNITS"}}
		}, "has note EMULATED_UNITS"},
		{"physical, by another system", true, func(j *verdict.Judgement) {
			delete(j.Facts, "kernel_path")
			j.Facts["core_ml_host"] = strings.Replace(host, "24G720", "24G84", 1)
		}, "macOS 15.6 (24G84), but on lane physical it must have numbers of Core ML on build 24G720"},
		{"physical, by nobody knows what", true, func(j *verdict.Judgement) { delete(j.Facts, "kernel_path") }, "nothing that says what computed them"},
		{"by no policy", false, func(j *verdict.Judgement) { j.Policy = nil }, "parity.policy"},
	} {
		s, err := statement.Decode(good)
		if err != nil {
			t.Fatal(err)
		}
		p := &s.Predicate
		parity := p.Judgements[len(p.Judgements)-1]
		if c.physical {
			gatefixture.Physical(s)
			delete(parity.Facts, "core_ml_host")
			parity.Facts["kernel_path"] = "portable"
		}
		c.change(parity)
		_, err = statement.Encode(s)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
