package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// lanes is a gate on both lanes: files and receipt of the emulated one, the receipt of the physical one, and the program of
// that, which is linked with Core ML itself.
type lanes struct {
	world              *gatefixture.World
	emulated, physical string
	program            string
}

// onBoth makes the receipts of a gate on both lanes. change bends the world before.
func onBoth(t *testing.T, name, model string, change func(*gatefixture.World)) *lanes {
	t.Helper()
	w := gatefixture.New(t)
	w.File(t, "ggml-model.bin", model)
	w.File(t, "ggml-model-encoder.mlmodelc/weights/weight.bin", "weights of "+model)
	if change != nil {
		change(w)
	}
	w.Rehash(t)
	w.Apart(t, name)
	l := &lanes{world: w, program: w.File(t, "physical/whisper-cli", "program of a Mac for "+model)}
	l.emulated = w.File(t, "emulated.json", string(w.Receipt(t)))
	s, err := statement.Decode(w.Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	gatefixture.Physical(s)
	s.Subject[0].Digest["sha256"] = gatefixture.Sum(t, l.program)
	about := map[string]string{verdict.FactCLI: s.Subject[0].Digest["sha256"]}
	for i, fact := range []string{verdict.FactCoreMLEvidence, verdict.FactCanaryEvidence, verdict.FactContrastEvidence} {
		about[fact] = evidence.SHA256([]byte(name + string(rune('0'+i))))
		s.Predicate.Evidence[i].SHA256 = about[fact]
	}
	for _, j := range s.Predicate.Judgements {
		for fact, digest := range about {
			if _, ok := j.Facts[fact]; ok {
				j.Facts[fact] = digest
			}
		}
	}
	data, err := statement.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	l.physical = w.File(t, "physical.json", string(data))
	return l
}

// TestReleaseAttacks demands things of signed releases that no one entry answers. Each row bears the id of its attack.
func TestReleaseAttacks(t *testing.T) {
	signer, verifier := envelopetest.Pair(t, envelopetest.Ed25519(t))
	small, large := onBoth(t, "//small:receipt", "small", nil), onBoth(t, "//large:receipt", "large", nil)
	coarse := onBoth(t, "//coarse:receipt", "coarse", func(w *gatefixture.World) {
		for key, value := range map[string]any{"snr_db": 6, "cosine": 0.9} {
			w.Parity.Facts[key] = value
		}
		gatefixture.Precise(t, w.Contract, w.Parity, "compressed4", "int4_v1")
	})
	bare := onBoth(t, "//bare:receipt", "bare", func(w *gatefixture.World) {
		w.Contract, w.Parity, w.Spec.Judgements, w.Spec.Required = nil, nil, nil, nil
	})
	ships := func(l *lanes, files map[string]string) string {
		dir := t.TempDir()
		for name, from := range files {
			data, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	both := []string{small.emulated, small.physical}
	four := []string{small.emulated, small.physical, large.emulated, large.physical}
	physical := verify.Demands{Lane: evidence.LanePhysical}
	build := verify.Demands{Lane: evidence.LanePhysical, OSBuild: "24G720"}
	old := verify.Demands{Lane: evidence.LanePhysical, OSBuild: "24G84"}
	for _, c := range []struct {
		id       string
		receipts []string
		edit     func(*release.Statement)
		demands  verify.Demands
		files    verify.Files
		code     string
	}{
		{"honest: the program of the Mac", both, nil, physical, verify.Files{CLI: small.program, Model: small.world.Spec.Model, Encoder: small.world.Spec.Encoder}, ""},
		{"honest: a folder of the Mac's", both, nil, physical, verify.Files{Release: ships(small, map[string]string{"whisper-cli": small.program, "ggml-small.bin": small.world.Spec.Model})}, ""},
		{"honest: of two gates, one", four, nil, physical, verify.Files{Model: large.world.Spec.Model, Encoder: large.world.Spec.Encoder}, ""},
		{"L01 the emulated program for the Mac's", both, nil, physical, verify.Files{CLI: small.world.Spec.CLI}, "FILE_MISMATCH"},
		{"L02 a folder with the emulated program", both, nil, physical, verify.Files{Release: ships(small, map[string]string{"whisper-cli": small.world.Spec.CLI})}, "FILE_UNLISTED"},
		{"L02b the same with both receipts at hand", both, nil, physical, verify.Files{Release: ships(small, map[string]string{"whisper-cli": small.world.Spec.CLI}), Others: both}, "FILE_UNLISTED"},
		{"L03 the model of one gate with the encoder of another", four, nil, verify.Demands{}, verify.Files{Model: small.world.Spec.Model, Encoder: large.world.Spec.Encoder}, "FILE_MISMATCH"},
		{"L03 the model of one gate with the program of another", four, nil, physical, verify.Files{Model: small.world.Spec.Model, CLI: large.program}, "FILE_MISMATCH"},
		{"L03 a folder of two gates", four, nil, physical, verify.Files{Release: ships(small, map[string]string{"whisper-cli": small.program, "ggml-large.bin": large.world.Spec.Model})}, "FILE_UNLISTED"},
		{"L03 one by flag, one in the folder", four, nil, physical, verify.Files{Model: small.world.Spec.Model, Release: ships(small, map[string]string{"whisper-cli": large.program})}, "FILE"},
		{"L05 a gate of coarse numbers", []string{coarse.emulated}, nil, verify.Demands{}, verify.Files{Others: []string{coarse.emulated}}, "JUDGEMENT_DEMANDED"},
		{"L05 a gate of coarse numbers, its receipt not at hand", []string{coarse.emulated}, nil, verify.Demands{}, verify.Files{}, "JUDGEMENT_DEMANDED"},
		{"L05 a gate of coarse numbers, on purpose", []string{coarse.emulated}, nil, verify.Demands{Profile: statement.ProfileNumbers}, verify.Files{}, ""},
		{"L06 a gate of runs alone", []string{bare.emulated}, nil, verify.Demands{}, verify.Files{Others: []string{bare.emulated}}, "JUDGEMENT_DEMANDED"},
		{"L06b the same, its receipt not at hand", []string{bare.emulated}, nil, verify.Demands{}, verify.Files{Release: ships(bare, map[string]string{"whisper-cli": bare.world.Spec.CLI})}, "JUDGEMENT_DEMANDED"},
		{"L06 the same, and the release denies it", []string{bare.emulated}, func(s *release.Statement) { s.Predicate.Receipts[0].Missing = []string{} }, verify.Demands{}, verify.Files{Others: []string{bare.emulated}}, "RELEASE_DIFFERS"},
		{"L21 a pin of another name", []string{small.emulated}, func(s *release.Statement) { s.Predicate.Receipts[0].PinName = "my-fork" }, verify.Demands{}, verify.Files{}, "PIN_DEMANDED"},
		{"L21 a pin of another name, with any pin allowed", []string{small.emulated}, func(s *release.Statement) { s.Predicate.Receipts[0].PinName = "my-fork" }, verify.Demands{AllowUnsupportedPin: true}, verify.Files{}, "PIN_DEMANDED"},
		{"L30 an OS build of the Mac's, both receipts at hand", both, nil, build, verify.Files{Others: both}, ""},
		{"L30 another OS build", both, nil, old, verify.Files{Others: both}, "OS_BUILD_STALE"},
		{"L30 an OS build, and the receipt of the other lane alone", both, nil, build, verify.Files{Others: both[:1]}, "RECEIPT_NEEDED"},
		{"K52 an empty folder", both, nil, physical, verify.Files{Release: t.TempDir()}, "NOTHING_SHIPS"},
		{"no gate on the lane, files at hand", []string{small.emulated}, nil, physical, verify.Files{CLI: small.world.Spec.CLI}, "RELEASE_INCOMPLETE"},
	} {
		s, err := release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: c.receipts})
		if err != nil {
			t.Fatal(err)
		}
		if c.edit != nil {
			c.edit(s)
		}
		data, err := release.Encode(s)
		if err != nil {
			t.Fatalf("%s: %v", c.id, err)
		}
		signed, err := envelope.Sign(t.Context(), signer, data)
		if err != nil {
			t.Fatal(err)
		}
		c.demands.Key, c.demands.Now = verifier, noon
		r, err := verify.Verify(t.Context(), signed, c.demands, c.files)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(codesOf(r), " "); !strings.HasPrefix(got, c.code) || c.code == "" && got != "" {
			t.Errorf("%s: %v, want %q", c.id, r.Reasons, c.code)
		}
	}
}

// TestReleaseRefused makes releases whose entries contradict each other: none can be written or read.
func TestReleaseRefused(t *testing.T) {
	small, large := onBoth(t, "//small:receipt", "small", nil), onBoth(t, "//large:receipt", "large", nil)
	rename := func(path, name string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := statement.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		s.Predicate.Name = name
		if data, err = statement.Encode(s); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "receipt.json")
		if err := os.WriteFile(out, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range []struct {
		id       string
		receipts []string
		says     string
	}{
		{"L04 the receipt of a small model under the name of a large one", []string{large.emulated, rename(small.physical, "//large:receipt")}, "expected one model"},
		{"L10 one run under two names", []string{small.emulated, rename(small.emulated, "//other:receipt")}, "one run counts once"},
	} {
		s, err := release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: c.receipts})
		if err == nil {
			_, err = release.Encode(s)
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.id, err, c.says)
		}
	}
}
