package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestEvidenceOfAnotherRun binds evidence that tells of something else than the receipt does, as whoever
// has the key can: the evidence at hand shows it.
func TestEvidenceOfAnotherRun(t *testing.T) {
	zero := strings.Repeat("0", 64)
	for _, c := range []struct {
		name   string
		change func(e *evidence.Evidence)
		where  string
	}{
		{"program", func(e *evidence.Evidence) { e.Digests.CLI = zero }, "whisper-cli of the coreml run"},
		{"model", func(e *evidence.Evidence) { e.Digests.Model = zero }, "model of the coreml run"},
		{"audio", func(e *evidence.Evidence) { e.Digests.Audio = zero }, "audio of the coreml run"},
		{"encoder", func(e *evidence.Evidence) {
			if e.Digests.Encoder != nil {
				e.Digests.Encoder = &zero
			}
		}, "encoder of the coreml run"},
		{"evaluator", func(e *evidence.Evidence) { e.Digests.Evaluator = &zero }, "evaluator of the coreml run"},
		{"lane", func(e *evidence.Evidence) { e.Lane = evidence.LanePhysical }, "lane of the coreml run"},
		{"lane identity", func(e *evidence.Evidence) { e.LaneIdentity["version"] = "3" }, "lane identity of the coreml run"},
		{"pin", func(e *evidence.Evidence) { e.Pin.Tree = strings.Repeat("0", 40) }, "pin of the coreml run"},
		{"flavour", func(e *evidence.Evidence) { e.Flavour = "coreml_unpatched" }, "flavour of the coreml run"},
	} {
		s := newScene(t)
		decoded, err := statement.Decode(s.payload)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range []*evidence.Evidence{s.world.CoreML, s.world.Canary, s.world.Contrast} {
			c.change(e)
			data, err := evidence.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			decoded.Predicate.Evidence[i].SHA256 = evidence.SHA256(data)
			fact := []string{verdict.FactCoreMLEvidence, verdict.FactCanaryEvidence, verdict.FactContrastEvidence}[i]
			for _, j := range decoded.Predicate.Judgements {
				if _, has := j.Facts[fact]; has {
					j.Facts[fact] = evidence.SHA256(data)
				}
			}
		}
		s.world.Write(t)
		if s.payload, err = statement.Encode(decoded); err != nil {
			t.Fatal(err)
		}
		r := s.verify(t, s.signed(t))
		if r.Verdict != reason.Failed || r.Reasons[0].Code != "EVIDENCE_DIFFERS" || r.Reasons[0].Where != c.where {
			t.Errorf("%s: %s %v, want EVIDENCE_DIFFERS at %s", c.name, r.Verdict, r.Reasons, c.where)
		}
	}
}

func unsupported(t *testing.T, s *scene) {
	for _, e := range []*evidence.Evidence{s.world.CoreML, s.world.Canary, s.world.Contrast} {
		e.Pin.Supported = false
	}
	s.rebuild(t)
}

// TestUnchecked holds that what was not checked is said.
func TestUnchecked(t *testing.T) {
	s := newScene(t)
	s.files = verify.Files{}
	words := "words beyond the gate's own audio: it has no recordings"
	want := []string{
		words, "the bytes of whisper-cli, which were not given", "the bytes of ggml-model.bin, which were not given",
		"the bytes of ggml-model-encoder.mlmodelc, which were not given", "the judgements of the runs, which need the evidence of all three",
		"judgements taken from the receipt as signed: binding, sources, markers, canary, contrast, transcript, contract, parity",
	}
	if diff := cmp.Diff(want, s.verify(t, s.signed(t)).Unchecked); diff != "" {
		t.Errorf("unchecked differs (-want +got):\n%s", diff)
	}
	s = newScene(t)
	want = []string{words, "judgements taken from the receipt as signed: sources, contract, parity"}
	if diff := cmp.Diff(want, s.verify(t, s.signed(t)).Unchecked); diff != "" {
		t.Errorf("with all files, unchecked differs (-want +got):\n%s", diff)
	}
}
