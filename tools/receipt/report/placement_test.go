package report_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
)

// placedData is a report on a receipt of the given lane whose placement was judged from a plan, and the record of that plan.
func placedData(t *testing.T, lane evidence.Lane, plan *computeplan.Plan) (*report.Data, []byte) {
	t.Helper()
	s, err := statement.Decode(gatefixture.New(t).Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	if lane == evidence.LanePhysical {
		gatefixture.Physical(s)
		plan.Host.OSBuild = s.Predicate.LaneIdentity["os_build"]
	}
	p, err := policy.Frozen("placement_plan_v1")
	if err != nil {
		t.Fatal(err)
	}
	record := placementtest.Record(s.Digest(statement.SubjectEncoder), plan)
	j := placement.Judge(&placement.Given{Lane: lane, Encoder: "ggml-model-encoder.mlmodelc", EncoderDigest: record.EncoderDigest, Plan: record}, p)
	j.Facts["model_sha256"] = s.Digest(statement.SubjectModel)
	s.Predicate.Judgements = append(s.Predicate.Judgements, j)
	s.Predicate.Policies = append(s.Predicate.Policies, statement.PolicyRef{Name: p.Name, Kind: p.Kind, SHA256: p.SHA256, Frozen: true})
	if j.Verdict == reason.Pass {
		s.Predicate.Placement = j.Facts["placement"].(string)
		s.Predicate.Provisional = []string{}
	} else {
		s.Predicate.Verdict = j.Verdict
	}
	d, err := report.New(s)
	if err != nil {
		t.Fatal(err)
	}
	d.Explain = reason.Lookup
	data, err := record.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return d, data
}

func TestPlacementPage(t *testing.T) {
	d, data := placedData(t, evidence.LanePhysical, placementtest.Encoder())
	wants(t, html(t, d), []string{"Neural Engine 98.0 %, CPU 2.0 % of the estimated cost, planned (MLComputePlan)", `<svg class="bars"`, "98.0 %</text>", "The plan itself was not given"}, `<svg class="operations"`)
	if err := d.AddPlacement(append(data, '\n')); err != nil {
		t.Fatal(err)
	}
	wants(t, html(t, d), []string{`<svg class="operations"`, `<rect class="device ne"`, "<title>layer_0_softmax_cast_fp16: ios16.softmax on Neural Engine, 8.00 % of the estimated cost</title>", "The chain is not broken"},
		`class="break"`, "x_weight_0", "was not given</p>", "<script", "src=", "href=")

	d, data = placedData(t, evidence.LanePhysical, placementtest.Broken("ios16.softmax", computeplan.GPU))
	if err := d.AddPlacement(data); err != nil {
		t.Fatal(err)
	}
	page := html(t, d)
	wants(t, page, []string{"PLACEMENT_SHARE", "PLACEMENT_CHAIN_BROKEN", "Placement: not observed", `<rect class="break"`,
		"<tr><td>layer_0_matmul_cast_fp16</td><td>layer_0_softmax_cast_fp16 (ios16.softmax) on GPU</td><td>layer_0_add_cast_fp16</td></tr>"}, "The chain is not broken")
	if n := strings.Count(page, `<rect class="break"`); n != 2 {
		t.Errorf("%d marks of breaks, want 2", n)
	}
}

// TestPlacementOfTheStandIn holds that a page says whose plan it draws.
func TestPlacementOfTheStandIn(t *testing.T) {
	plan := placementtest.Encoder()
	plan.Framework = computeplan.FrameworkStandIn
	d, data := placedData(t, evidence.LaneEmulated, plan)
	if err := d.AddPlacement(data); err != nil {
		t.Fatal(err)
	}
	wants(t, html(t, d), []string{"This plan is of the stand-in, not of Core ML", "PLACEMENT_STAND_IN", "Placement: not observed", `<svg class="operations"`})
}

func TestAddPlacementRefuses(t *testing.T) {
	d, data := placedData(t, evidence.LanePhysical, placementtest.Encoder())
	other := strings.Replace(string(data), `"weight":0.08`, `"weight":0.07`, 1)
	for name, c := range map[string]struct{ data, why string }{
		"another plan":    {other, "judgement names"},
		"another encoder": {strings.Replace(string(data), d.Receipt.Digest(statement.SubjectEncoder), strings.Repeat("0", 64), 1), "the receipt is about"},
		"no plan":         {"{}", "record of a compute plan"},
	} {
		if err := d.AddPlacement([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
	bare, err := report.New(d.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	bare.Receipt.Predicate.Judgements = bare.Receipt.Predicate.Judgements[:len(bare.Receipt.Predicate.Judgements)-1]
	if err := bare.AddPlacement(data); err == nil || !strings.Contains(err.Error(), "no judgement of that name") {
		t.Errorf("a receipt without a placement: %v", err)
	}
}

// TestHostileLayers holds that a layer's name is text on the page.
func TestHostileLayers(t *testing.T) {
	plan := placementtest.Broken("ios16.softmax", computeplan.CPU)
	for i := range plan.Operations {
		plan.Operations[i].Outputs = []string{plan.Operations[i].Outputs[0] + `</title></svg><script>x</script>"'&` + "\x1b[31m\u202e"}
		plan.Operations[i].Operator += "<img src=x>"
	}
	d, data := placedData(t, evidence.LanePhysical, plan)
	if err := d.AddPlacement(data); err != nil {
		t.Fatal(err)
	}
	wants(t, html(t, d), []string{"&lt;script&gt;"}, "<script", "<img", "\x1b", "\u202e")
}
