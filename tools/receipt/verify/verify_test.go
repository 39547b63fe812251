package verify_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// scene is a gate that passes, its signed receipt, and what the one who verifies has and asks for.
type scene struct {
	world   *gatefixture.World
	signer  *envelope.Key
	payload []byte
	demands verify.Demands
	files   verify.Files
}

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// TestMain lets the heap grow further between collections: each case leaves much behind at once and keeps little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

func newScene(t testing.TB) *scene {
	t.Helper()
	w := gatefixture.New(t)
	signer, verifier := envelopetest.Pair(t, envelopetest.Ed25519(t))
	return &scene{world: w, signer: signer, payload: w.Receipt(t), demands: verify.Demands{Key: verifier, Now: noon},
		files: verify.Files{
			CLI: w.Spec.CLI, Model: w.Spec.Model, Encoder: w.Spec.Encoder, Reference: w.Spec.Reference,
			Evidence: []string{w.Spec.CoreML, w.Spec.Canary, w.Spec.Contrast},
			// The fixture's model and encoder are texts.
			AsSigned: true,
		}}
}

func (s *scene) signed(t testing.TB) []byte {
	t.Helper()
	data, err := envelope.Sign(t.Context(), s.signer, s.payload)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (s *scene) verify(t testing.TB, signed []byte) *verify.Result {
	t.Helper()
	r, err := verify.Verify(t.Context(), signed, s.demands, s.files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// edit replaces text in the receipt before it is signed.
func (s *scene) edit(t *testing.T, from, to string) {
	t.Helper()
	out := strings.Replace(string(s.payload), from, to, 1)
	if out == string(s.payload) {
		t.Fatalf("%q does not stand in the receipt", from)
	}
	s.payload = []byte(out)
}

// rebuild makes the receipt anew after a change of its world.
func (s *scene) rebuild(t *testing.T) {
	t.Helper()
	s.world.Write(t)
	s.payload = s.world.Receipt(t)
}

// bend changes the receipt before it is signed, as whoever has the key can: nothing checks what comes out.
func (s *scene) bend(t testing.TB, change func(*statement.Predicate)) {
	t.Helper()
	decoded, err := statement.Decode(s.payload)
	if err != nil {
		t.Fatal(err)
	}
	change(&decoded.Predicate)
	if s.payload, err = strictjson.Canonical(decoded); err != nil {
		t.Fatal(err)
	}
}

// seal lets the signer vouch for a time and for the first runs.
func (s *scene) seal(t *testing.T, at time.Time, started ...string) {
	t.Helper()
	decoded, err := statement.Decode(s.payload)
	if err != nil {
		t.Fatal(err)
	}
	var observations []*evidence.Observations
	for i, text := range started {
		observations = append(observations, &evidence.Observations{EvidenceSHA256: decoded.Predicate.Evidence[i].SHA256, StartedAt: text, Host: map[string]string{"os": "linux"}})
	}
	if decoded, err = decoded.Sealed(at, observations); err != nil {
		t.Fatal(err)
	}
	if s.payload, err = statement.Encode(decoded); err != nil {
		t.Fatal(err)
	}
}

// TestVerify changes one thing at a time about what is verified, demanded or at hand.
func TestVerify(t *testing.T) {
	zero, half := strings.Repeat("0", 64), "2026-08-01T11:30:00Z"
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, s *scene)
		verdict reason.Verdict
		code    string
	}{
		{"good", func(*testing.T, *scene) {}, reason.Pass, ""},
		{"alone", func(_ *testing.T, s *scene) { s.files = verify.Files{} }, reason.Pass, ""},
		{"demands that are met", func(_ *testing.T, s *scene) {
			s.demands.Lane, s.demands.Judgements = evidence.LaneEmulated, []string{judge.Canary}
		}, reason.Pass, ""},

		{"another predicate, truly signed (D05)", func(t *testing.T, s *scene) { s.edit(t, statement.PredicateType, "https://example.invalid/other/v1") }, reason.Failed, "PREDICATE_TYPE"},
		{"another statement", func(t *testing.T, s *scene) { s.edit(t, statement.StatementType, "https://in-toto.io/Statement/v0.1") }, reason.Failed, "PREDICATE_TYPE"},
		{"a newer predicate", func(t *testing.T, s *scene) {
			s.edit(t, statement.PredicateType, strings.Replace(statement.PredicateType, "/v1", "/v2", 1))
		}, reason.Unknown, "RECEIPT_NEWER"},
		{"a much newer release", func(t *testing.T, s *scene) {
			s.edit(t, statement.PredicateType, strings.Replace(release.PredicateType, "/v1", "/v12", 1))
		}, reason.Unknown, "RECEIPT_NEWER"},
		{"a newer schema with members that nobody knows", func(t *testing.T, s *scene) { s.edit(t, `"schema":1,`, `"member":[],"schema":2,`) }, reason.Unknown, "RECEIPT_NEWER"},
		{"a version of nought", func(t *testing.T, s *scene) {
			s.edit(t, statement.PredicateType, strings.Replace(statement.PredicateType, "/v1", "/v0", 1))
		}, reason.Failed, "PREDICATE_TYPE"},
		{"a version that is no number", func(t *testing.T, s *scene) {
			s.edit(t, statement.PredicateType, strings.Replace(statement.PredicateType, "/v1", "/v2beta", 1))
		}, reason.Failed, "PREDICATE_TYPE"},
		{"a schema below the first", func(t *testing.T, s *scene) { s.edit(t, `"schema":1,`, `"schema":0,`) }, reason.Failed, "RECEIPT_MALFORMED"},
		{"a newer schema of another kind", func(t *testing.T, s *scene) {
			s.edit(t, statement.PredicateType, "https://example.invalid/coreml-run/v2")
		}, reason.Failed, "PREDICATE_TYPE"},
		{"no JSON", func(_ *testing.T, s *scene) { s.payload = []byte("hello") }, reason.Failed, "RECEIPT_MALFORMED"},
		{"duplicate key", func(t *testing.T, s *scene) { s.edit(t, `"flavour":`, `"flavour":"ggml","flavour":`) }, reason.Failed, "RECEIPT_MALFORMED"},
		{"key in another case", func(t *testing.T, s *scene) { s.edit(t, `"flavour":`, `"Flavour":`) }, reason.Failed, "RECEIPT_MALFORMED"},
		{"unknown field", func(t *testing.T, s *scene) { s.edit(t, `"flavour":`, `"waiver":"yes","flavour":`) }, reason.Failed, "RECEIPT_MALFORMED"},
		{"big number", func(t *testing.T, s *scene) { s.edit(t, `"files":93`, `"files":9007199254740993`) }, reason.Failed, "RECEIPT_MALFORMED"},
		{"another spelling", func(t *testing.T, s *scene) { s.edit(t, `"files":93`, `"files":1.2e2`) }, reason.Failed, "RECEIPT_MALFORMED"},
		{"verdict that its judgements do not give", func(t *testing.T, s *scene) {
			s.world.Canary.Exit.Code = 0
			s.rebuild(t)
			s.edit(t, `"target":"x86_64-linux-gnu"},"verdict":"fail"}`, `"target":"x86_64-linux-gnu"},"verdict":"pass"}`)
		}, reason.Failed, "RECEIPT_MALFORMED"},
		{"subject left out (D02, D13)", func(t *testing.T, s *scene) {
			i := strings.Index(string(s.payload), `"subject":[{`)
			s.payload = []byte(string(s.payload[:i]) + `"subject":[]}`)
		}, reason.Failed, "RECEIPT_MALFORMED"},

		{"gate that failed", func(t *testing.T, s *scene) {
			s.world.Canary.Exit.Code = 139
			s.rebuild(t)
		}, reason.Failed, "VERDICT_NOT_PASS"},
		{"gate that proved nothing", func(t *testing.T, s *scene) {
			s.world.CoreML.Exit = evidence.Exit{Kind: evidence.ExitTimeout}
			s.rebuild(t)
		}, reason.Unknown, "VERDICT_INCONCLUSIVE"},
		{"another lane", func(_ *testing.T, s *scene) { s.demands.Lane = evidence.LanePhysical }, reason.Failed, "LANE_DEMANDED"},
		{"another pin", func(t *testing.T, s *scene) { unsupported(t, s) }, reason.Failed, "PIN_DEMANDED"},
		{"another commit that calls itself supported", func(t *testing.T, s *scene) {
			s.files = verify.Files{}
			s.edit(t, `"commit":"97c56f1d`, `"commit":"f049fff9`)
		}, reason.Failed, "PIN_DEMANDED"},
		{"another pin, allowed", func(t *testing.T, s *scene) {
			unsupported(t, s)
			s.demands.AllowUnsupportedPin = true
		}, reason.Pass, ""},
		{"another commit that calls itself supported, though any pin is allowed", func(t *testing.T, s *scene) {
			s.files = verify.Files{}
			s.demands.AllowUnsupportedPin = true
			s.edit(t, `"commit":"97c56f1d`, `"commit":"f049fff9`)
		}, reason.Failed, "PIN_DEMANDED"},
		{"manifest that was edited under the supported commit", func(t *testing.T, s *scene) {
			s.world.File(t, "manifest", "other\n")
			for _, e := range []*evidence.Evidence{s.world.CoreML, s.world.Canary, s.world.Contrast} {
				e.Pin.ManifestSHA256 = gatefixture.Sum(t, s.world.Spec.Manifest)
			}
			s.world.Sources.ManifestSHA256, s.world.Sources.Files = s.world.CoreML.Pin.ManifestSHA256, 1
			s.rebuild(t)
		}, reason.Failed, "PIN_DEMANDED"},
		{"policy under another kind", func(t *testing.T, s *scene) {
			s.edit(t, `"policies":[`, `"policies":[{"frozen":true,"kind":"gate","name":"fp32_v2","sha256":"5ec270934136ec06cbc9174d52a3b48cbbe026f47277c2c06d90781feca34a3c"},`)
		}, reason.Failed, "JUDGEMENT_DIFFERS"},
		{"policy by other bytes", func(_ *testing.T, s *scene) { s.demands.Policies = map[string]string{"gate_v2": zero} }, reason.Failed, "POLICY_DEMANDED"},
		{"policy that is not there", func(_ *testing.T, s *scene) { s.demands.Policies = map[string]string{"fp32_v2": zero} }, reason.Failed, "POLICY_DEMANDED"},
		{"policy edited under its name", func(t *testing.T, s *scene) {
			sum := gatefixture.Sum(t, s.world.Spec.Policies[0])
			s.edit(t, sum, zero)
		}, reason.Failed, "POLICY_DEMANDED"},
		{"judgement that is not there", func(_ *testing.T, s *scene) { s.demands.Judgements = []string{"words"} }, reason.Failed, "JUDGEMENT_DEMANDED"},
		{"another OS build (B07)", func(_ *testing.T, s *scene) { s.demands.OSBuild = "24G720" }, reason.Unknown, "OS_BUILD_STALE"},
		{"age that nobody vouches for", func(_ *testing.T, s *scene) { s.demands.MaxAge = time.Hour }, reason.Unknown, "AGE_UNKNOWN"},
		{"young enough", func(t *testing.T, s *scene) {
			s.seal(t, noon.Add(-time.Minute), half, half, half)
			s.demands.MaxAge = time.Hour
		}, reason.Pass, ""},
		{"signed today, run last year", func(t *testing.T, s *scene) {
			s.seal(t, noon.Add(-time.Minute), half, "2025-08-01T11:30:00Z", half)
			s.demands.MaxAge = time.Hour
		}, reason.Unknown, "AGE_STALE"},
		{"signed today, runs of any age", func(t *testing.T, s *scene) {
			s.seal(t, noon.Add(-time.Minute))
			s.demands.MaxAge = time.Hour
		}, reason.Unknown, "AGE_UNKNOWN"},
		{"signed today, one run of any age", func(t *testing.T, s *scene) {
			s.seal(t, noon.Add(-time.Minute), half, half)
			s.demands.MaxAge = time.Hour
		}, reason.Unknown, "AGE_UNKNOWN"},
		{"signed tomorrow", func(t *testing.T, s *scene) {
			s.seal(t, noon.Add(time.Hour), half, half, half)
			s.demands.MaxAge = 2 * time.Hour
		}, reason.Unknown, "AGE_STALE"},
		{"signer's part for another receipt", func(t *testing.T, s *scene) {
			s.seal(t, noon, half)
			s.edit(t, `"files":93`, `"files":121`)
		}, reason.Failed, "RECEIPT_MALFORMED"},

		{"another program at hand", func(t *testing.T, s *scene) { s.files.CLI = s.world.Spec.ContrastCLI }, reason.Failed, "FILE_MISMATCH"},
		{"another model at hand", func(t *testing.T, s *scene) { s.world.File(t, "ggml-model.bin", "x") }, reason.Failed, "FILE_MISMATCH"},
		{"changed weights", func(t *testing.T, s *scene) {
			s.world.File(t, "ggml-model-encoder.mlmodelc/weights/weight.bin", "x")
		}, reason.Failed, "FILE_MISMATCH"},
		{"extra file in the encoder", func(t *testing.T, s *scene) {
			s.world.File(t, "ggml-model-encoder.mlmodelc/weights/weight2.bin", "x")
		}, reason.Failed, "FILE_MISMATCH"},
		{"named file", func(_ *testing.T, s *scene) { s.files.Others = []string{s.world.Spec.Audio, s.world.Spec.Encoder} }, reason.Pass, ""},
		{"unnamed file (D18, D20)", func(t *testing.T, s *scene) { s.files.Others = []string{s.world.File(t, "notes.mcpb", "x")} }, reason.Failed, "FILE_UNLISTED"},
		{"release with an unnamed file", func(t *testing.T, s *scene) {
			s.world.File(t, "release/ggml-model.bin", "model")
			s.world.File(t, "release/extra.sha256", "x")
			s.files.Release = filepath.Join(s.world.Dir, "release")
		}, reason.Failed, "FILE_UNLISTED"},
		{"release with the program of the contrast run", func(t *testing.T, s *scene) {
			s.world.File(t, "release/whisper-cli", "another program")
			s.files.Release = filepath.Join(s.world.Dir, "release")
		}, reason.Failed, "FILE_UNLISTED"},
		{"release with a pipe", func(t *testing.T, s *scene) {
			s.files.Release = filepath.Dir(s.world.File(t, "release/whisper-cli", "program"))
			special(t, s.files.Release, "pipe")
		}, reason.Failed, "FILE_UNLISTED"},
		{"release with a link inside the encoder", func(t *testing.T, s *scene) {
			s.files.Release = filepath.Dir(s.world.File(t, "release/whisper-cli", "program"))
			dir := filepath.Dir(s.world.File(t, "release/e.mlmodelc/model.mil", "program(1.0)"))
			if err := os.Symlink("model.mil", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
		}, reason.Failed, "FILE_UNLISTED"},
		{"folder with a pipe", func(t *testing.T, s *scene) {
			dir := filepath.Dir(s.world.File(t, "folder/file", "x"))
			special(t, dir, "pipe")
			s.files.Others = []string{dir}
		}, reason.Failed, "FILE_UNLISTED"},
		{"pipe in the encoder at hand", func(t *testing.T, s *scene) { special(t, s.files.Encoder, "pipe") }, reason.Failed, "FILE_MISMATCH"},
		{"another reference", func(t *testing.T, s *scene) {
			s.files.Reference = s.world.File(t, "other.txt", "other words")
		}, reason.Failed, "FILE_UNLISTED"},
		{"evidence of another run", func(t *testing.T, s *scene) {
			s.world.Canary.Attempts = 2
			s.world.Write(t)
		}, reason.Failed, "EVIDENCE_UNLISTED"},
		{"evidence that is none", func(t *testing.T, s *scene) {
			s.files.Evidence = []string{s.world.File(t, "e.json", "{}")}
		}, reason.Failed, "EVIDENCE_UNLISTED"},
		{"judgement that the evidence does not give", func(t *testing.T, s *scene) {
			s.edit(t, `"load_markers":1`, `"load_markers":2`)
		}, reason.Failed, "JUDGEMENT_DIFFERS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			c.change(t, s)
			r := s.verify(t, s.signed(t))
			got := ""
			if len(r.Reasons) > 0 {
				got = r.Reasons[0].Code
			}
			if r.Verdict != c.verdict || got != c.code {
				t.Errorf("verdict %s, first code %q, want %s, %q\n%v", r.Verdict, got, c.verdict, c.code, r.Reasons)
			}
		})
	}
}

// special makes a named pipe, which nobody writes to.
func special(t *testing.T, dir, name string) {
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSignedFileTampered flips bits, cuts, drops, doubles and swaps in a signed receipt: nothing verifies. Its parts
// run side by side.
func TestSignedFileTampered(t *testing.T) {
	s := newScene(t)
	s.files = verify.Files{}
	good := s.signed(t)
	if r := s.verify(t, good); r.Verdict != reason.Pass {
		t.Fatalf("the good one does not verify: %v", r.Reasons)
	}
	const parts = 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for i := part; i < len(good); i += parts {
				s.tamper(t, good, i)
			}
		})
	}
}

// tamper changes a signed file at a byte in every way.
func (s *scene) tamper(t *testing.T, good []byte, i int) {
	t.Helper()
	flipped := bytes.Clone(good)
	flipped[i] ^= 1 << (i % 8)
	bad := map[string][]byte{
		"flipped": flipped, "cut": good[:i],
		"dropped": slices.Delete(bytes.Clone(good), i, i+1), "doubled": slices.Insert(bytes.Clone(good), i, good[i]),
	}
	if i > 0 && good[i-1] != good[i] {
		swapped := bytes.Clone(good)
		swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
		bad["swapped with the one before"] = swapped
	}
	for what, b := range bad {
		if r := s.verify(t, b); r.Verdict != reason.Failed {
			t.Fatalf("byte %d %s: verdict %s", i, what, r.Verdict)
		}
	}
}

// TestPayloadTampered changes the receipt itself and keeps the signature.
func TestPayloadTampered(t *testing.T) {
	s := newScene(t)
	good := string(s.signed(t))
	b64 := base64.StdEncoding.EncodeToString(s.payload)
	for i := range s.payload {
		bad := append([]byte{}, s.payload...)
		bad[i] ^= 1
		text := strings.Replace(good, b64, base64.StdEncoding.EncodeToString(bad), 1)
		if r := s.verify(t, []byte(text)); r.Verdict != reason.Failed || r.Reasons[0].Code != "SIGNATURE_INVALID" {
			t.Fatalf("byte %d of the receipt: %s %v", i, r.Verdict, r.Reasons)
		}
	}
}

// TestAnotherReceiptsSignature holds that a valid signature stands for its own receipt only.
func TestAnotherReceiptsSignature(t *testing.T) {
	a, b := newScene(t), newScene(t)
	b.signer, b.demands.Key = a.signer, a.demands.Key
	b.world.Spec.Name = "//other:receipt"
	b.payload = b.world.Receipt(t)
	from := base64.StdEncoding.EncodeToString(a.payload)
	mixed := strings.Replace(string(a.signed(t)), from, base64.StdEncoding.EncodeToString(b.payload), 1)
	if r := a.verify(t, []byte(mixed)); r.Verdict != reason.Failed || r.Reasons[0].Code != "SIGNATURE_INVALID" {
		t.Errorf("verdict %s %v, want SIGNATURE_INVALID", r.Verdict, r.Reasons)
	}
}
