package fit

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// printedSizes are what the runtime prints of tiny.en beside the compute buffers of [evidencetest.Sample]; cut, they are what older samples lack.
var printedSizes = []string{
	"whisper_model_load:          CPU total size =    77.11 MB",
	"whisper_init_state: kv self size  =    3.15 MB",
	"whisper_init_state: kv cross size =    9.44 MB",
	"whisper_init_state: kv pad  size  =    2.36 MB",
}

// TestFromRuntime holds that the runtime's own sizes are summed, of the same model, lane and encoder alone, and bound the need from below.
func TestFromRuntime(t *testing.T) {
	withSizes := func(kind evidence.Kind) *evidence.Evidence {
		e := evidencetest.Sample(kind)
		e.Stderr.Lines = append(printedSizes[:len(printedSizes):len(printedSizes)], e.Stderr.Lines...)
		return e
	}
	e := withSizes(evidence.KindCoreML)
	asked := Asked{ModelSHA256: e.Digests.Model, EncoderDigest: *e.Digests.Encoder, Lane: "emulated", Stage: Run}
	n, err := FromRuntime(e, asked)
	if err != nil {
		t.Fatal(err)
	}
	// 77.11 + 3.15 + 9.44 + 2.36 + 4.85 + 3.89 + 95.91
	if n.FootprintBytes != 196710000 || n.ResidentBytes != n.FootprintBytes || n.LargestBytes != 95910000 || n.Measured || n.From == "" {
		t.Errorf("%+v", n)
	}
	h, err := ReadHeader(writeHeader(t, tinyHeader()))
	if err != nil {
		t.Fatal(err)
	}
	if bound := LowerBound(h, Run); bound.FootprintBytes >= n.FootprintBytes {
		t.Errorf("computed from the header %d, by the runtime %d: want the second to be nearer", bound.FootprintBytes, n.FootprintBytes)
	}
	if a := Assess(n, Budget{AvailableBytes: p(1 << 40), LimitBytes: p(1 << 40), Measured: true}, DefaultReserve); a.Status != CannotTell {
		t.Errorf("%s, want that a lower bound never fits", a.Status)
	}
	contrast := withSizes(evidence.KindContrast)
	own := Asked{ModelSHA256: contrast.Digests.Model, Lane: "emulated", Stage: Run}
	if n, err := FromRuntime(contrast, own); err != nil || n.FootprintBytes != 196710000+17720000 {
		t.Errorf("with ggml's own encoder: %+v, %v", n, err)
	}
	for name, c := range map[string]struct {
		e      *evidence.Evidence
		change func(*Asked)
		want   string
	}{
		"another model":       {e, func(a *Asked) { a.ModelSHA256 = strings.Repeat("9", 64) }, "expected evidence of the model 999999999999"},
		"another lane":        {e, func(a *Asked) { a.Lane = "physical" }, "expected evidence of the physical lane"},
		"a compile":           {e, func(a *Asked) { a.Stage = Compile }, "expected stage run"},
		"ggml's encoder":      {e, func(a *Asked) { a.EncoderDigest = "" }, "own encoder true, found false"},
		"an encoder of ggml":  {contrast, func(a *Asked) { a.EncoderDigest = "x" }, "own encoder false, found true"},
		"a canary":            {evidencetest.Sample(evidence.KindCanary), func(*Asked) {}, "size of weights"},
		"a log without sizes": {evidencetest.Sample(evidence.KindCoreML), func(*Asked) {}, "size of weights"},
	} {
		other := asked
		other.ModelSHA256 = c.e.Digests.Model
		c.change(&other)
		if _, err := FromRuntime(c.e, other); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
