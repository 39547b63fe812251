package evaluation

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe/probetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

func TestMain(m *testing.M) { probetest.Main(m) }

// exact is the reference's output for the built-in sound, rounded to float32.
func exact(t *testing.T, model string) (values []float32, digest string) {
	t.Helper()
	m, err := ggml.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	mel, _, err := ReadMel(m, "", "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := reference.New(m)
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Encode(t.Context(), mel)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range out {
		values = append(values, float32(v))
	}
	return values, parity.MelDigest(mel)
}

func littleEndian(v []float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Core ML's own answer is judged with how it came about: perfect numbers of a model that loads only at fewer
// compute units are no parity.
func TestProbedEncoders(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float32)
	v, _ := exact(t, model)
	for name, c := range map[string]struct {
		change  func(r *probe.Report)
		verdict reason.Verdict
		codes   []string
	}{
		"all units":     {func(*probe.Report) {}, reason.Pass, nil},
		"fewer units":   {func(r *probe.Report) { probetest.Refused(r, 3) }, reason.Failed, []string{"LOAD_FALLBACK"}},
		"no units":      {func(r *probe.Report) { probetest.Refused(r, 4) }, reason.Failed, []string{"LOAD_FAILED"}},
		"no prediction": {func(r *probe.Report) { probetest.Unpredicted(r, probe.Failed, nil) }, reason.Failed, []string{"PREDICTION_FAILED"}},
		"shared memory": {func(r *probe.Report) { r.Outputs[0].SharesInput = true }, reason.Failed, []string{"PARITY_ALIAS"}},
	} {
		r := probetest.Report("output", 1, 40, 48)
		c.change(r)
		program := probetest.Program(t, r, map[string][]byte{"output": littleEndian(v)}, "")
		got, codes := run(t, Request{Model: model, Encoder: enc, Probe: program})
		if got.Verdict != c.verdict || !slices.Equal(codes, c.codes) {
			t.Errorf("%s: %s %v, want %s %v", name, got.Verdict, got.Reasons, c.verdict, c.codes)
		}
		if got.Facts["compute_units_asked"] != "all" || got.Facts["compute_units_loaded"] != r.LoadedAt() || got.Facts["load_attempts"] != parity.Attempts(r) {
			t.Errorf("%s: facts %v", name, got.Facts)
		}
		for _, n := range got.Notes {
			if n.Code == "EMULATED_UNITS" {
				t.Errorf("%s: Core ML's answer is called emulated", name)
			}
		}
	}
}

// What a sidecar carries is judged like what was just run.
func TestSidecarCarriesTheReport(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float32)
	v, digest := exact(t, model)
	here, _ := run(t, Request{Model: model, Encoder: enc})
	candidate := func(change func(s *parity.Sidecar)) string {
		return side(t, "cand.npy", []int{1, 40, 48}, v, func(s *parity.Sidecar) {
			s.Role, s.MelSHA256, s.Device, s.EncoderDigest = "candidate", digest, "Core ML", here.Facts["encoder_digest"].(string)
			s.Probe = probetest.Report("output", 1, 40, 48)
			change(s)
		})
	}
	for name, c := range map[string]struct {
		change func(s *parity.Sidecar)
		codes  []string
		note   string
	}{
		"all units":        {func(*parity.Sidecar) {}, nil, ""},
		"no encoder named": {func(s *parity.Sidecar) { s.EncoderDigest = "" }, []string{"CANDIDATE_ENCODER"}, ""},
		"fewer units":      {func(s *parity.Sidecar) { probetest.Refused(s.Probe, 1) }, []string{"LOAD_FALLBACK"}, ""},
		"another encoder":  {func(s *parity.Sidecar) { s.EncoderDigest = strings.Repeat("0", 64) }, []string{"CANDIDATE_ENCODER"}, ""},
		"a forged report":  {func(s *parity.Sidecar) { s.Probe.Outputs[0].Count++ }, []string{"REFERENCE_SIDECAR"}, ""},
		"without a report": {func(s *parity.Sidecar) { s.Probe = nil }, nil, "UNITS_UNOBSERVED"},
		"a padded original": {func(s *parity.Sidecar) {
			s.Probe.Outputs[0].Strides, s.Probe.Outputs[0].Contiguous = []int{4000, 100, 1}, false
		}, []string{"PARITY_STRIDES"}, ""},
	} {
		got, codes := run(t, Request{Model: model, Encoder: enc, Candidate: candidate(c.change)})
		if !slices.Equal(codes, c.codes) || (got.Verdict == reason.Pass) != (c.codes == nil) {
			t.Errorf("%s: %s %v, want %v", name, got.Verdict, got.Reasons, c.codes)
		}
		noted := slices.ContainsFunc(got.Notes, func(r reason.Reason) bool { return r.Code == "UNITS_UNOBSERVED" })
		if noted != (c.note != "") {
			t.Errorf("%s: notes %v", name, got.Notes)
		}
	}
}

// An encoder that is not there is the only reason: it has no precision to choose a policy by.
func TestAMissingEncoderIsTheOnlyReason(t *testing.T) {
	model := bin(t, small)
	empty := filepath.Join(t.TempDir(), "ggml-x-encoder.mlmodelc")
	r, codes := run(t, Request{Model: model, Encoder: empty})
	if r.Verdict != reason.Failed || !slices.Equal(codes, []string{"ENCODER_MISSING"}) {
		t.Errorf("%s %v", r.Verdict, r.Reasons)
	}
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	if r, codes := run(t, Request{Model: model, Encoder: empty}); r.Verdict != reason.Failed || slices.Contains(codes, "POLICY_PRECISION") {
		t.Errorf("an empty folder: %s %v", r.Verdict, r.Reasons)
	}
}

func TestSignalsEndACheck(t *testing.T) {
	model := bin(t, small)
	enc := encoded(t, model, encoder.Float32)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, Request{Model: model, Encoder: enc}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
	program := probetest.Program(t, probetest.Report("output", 1), nil, "")
	if r, err := Run(ctx, Request{Model: model, Encoder: enc, Probe: program}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a probe: %v, %v", r, err)
	}
}
