package verify_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestRelease changes one thing at a time about a release of two gates.
func TestRelease(t *testing.T) {
	signer, verifier := envelopetest.Pair(t, envelopetest.Ed25519(t))
	write := func(name string, change func(w *gatefixture.World)) string {
		w := gatefixture.New(t)
		w.Apart(t, name)
		change(w)
		w.Write(t)
		return w.File(t, "receipt.json", string(w.Receipt(t)))
	}
	none := func(*gatefixture.World) {}
	good, other := write("//a:receipt", none), write("//b:receipt", none)
	failed := write("//c:receipt", func(w *gatefixture.World) { w.Canary.Exit.Code = 0 })
	foreign := write("//d:receipt", func(w *gatefixture.World) {
		for _, e := range []*evidence.Evidence{w.CoreML, w.Canary, w.Contrast} {
			e.Pin.Supported = false
		}
	})
	// A pin that calls itself supported is known by its commit.
	posing := write("//e:receipt", func(w *gatefixture.World) {
		for _, e := range []*evidence.Evidence{w.CoreML, w.Canary, w.Contrast} {
			e.Pin.Commit = "f049fff95a089aa9969deb009cdd4892b3e74916"
		}
	})
	// seal signs a receipt with the times of its runs.
	seal := func(path string, key *envelope.Key) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := statement.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		var observations []*evidence.Observations
		for _, e := range s.Predicate.Evidence {
			observations = append(observations, &evidence.Observations{EvidenceSHA256: e.SHA256, StartedAt: "2026-08-01T11:30:00Z", Host: map[string]string{}})
		}
		if s, err = s.Sealed(noon.Add(-time.Minute), observations); err != nil {
			t.Fatal(err)
		}
		if data, err = statement.Encode(s); err != nil {
			t.Fatal(err)
		}
		if key != nil {
			if data, err = envelope.Sign(t.Context(), key, data); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(t.TempDir(), "sealed.json")
		if err := os.WriteFile(out, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return out
	}
	otherSigner, _ := envelopetest.Pair(t, envelopetest.Ed25519(t))
	age := func(d *verify.Demands) { d.MaxAge = time.Hour }
	lie := func(s *release.Statement) {
		s.Predicate.Receipts[0].Lane = "physical"
		s.Subject[0].Name = "//a:receipt (physical)"
	}
	gatePolicy, err := policy.Frozen("gate_v2")
	if err != nil {
		t.Fatal(err)
	}
	gate := gatePolicy.SHA256
	for _, c := range []struct {
		name     string
		receipts []string
		edit     func(s *release.Statement)
		demand   func(d *verify.Demands)
		files    []string
		verdict  reason.Verdict
		code     string
		rest     int
	}{
		{"alone", []string{good, other}, nil, nil, nil, reason.Pass, "", 2},
		{"with its receipts", []string{good, other}, nil, nil, []string{good, other}, reason.Pass, "", 0},
		{"with one", []string{good, other}, nil, nil, []string{other}, reason.Pass, "", 1},
		{"with a stranger's", []string{good}, nil, nil, []string{other}, reason.Failed, "RECEIPT_UNLISTED", 1},
		{"with a failed gate", []string{good, failed}, nil, nil, nil, reason.Failed, "VERDICT_NOT_PASS", 2},
		{"empty", nil, nil, nil, nil, reason.Failed, "VERDICT_NOT_PASS", 0},
		{"of another pin", []string{foreign}, nil, nil, nil, reason.Failed, "PIN_DEMANDED", 1},
		{"of another pin, allowed", []string{foreign}, nil, func(d *verify.Demands) { d.AllowUnsupportedPin = true }, nil, reason.Pass, "", 1},
		{"on another lane", []string{good}, nil, func(d *verify.Demands) { d.Lane = evidence.LanePhysical }, nil, reason.Failed, "RELEASE_INCOMPLETE", 1},
		{"of another commit", []string{posing}, nil, nil, nil, reason.Failed, "PIN_DEMANDED", 1},
		{"that lies about a receipt at hand", []string{good}, lie, nil, []string{good}, reason.Failed, "RELEASE_DIFFERS", 0},
		{"with receipts left out, and a policy demanded", []string{good, other}, nil, func(d *verify.Demands) { d.Policies = map[string]string{"gate_v2": gate} }, []string{good}, reason.Unknown, "RECEIPT_NEEDED", 1},
		{"with all receipts, and a policy demanded", []string{good, other}, nil, func(d *verify.Demands) { d.Policies = map[string]string{"gate_v2": gate} }, []string{good, other}, reason.Pass, "", 0},
		{"with receipts left out, and an age demanded", []string{good}, nil, func(d *verify.Demands) { d.MaxAge = time.Hour }, nil, reason.Unknown, "RECEIPT_NEEDED", 1},
		{"with receipts left out, and a judgement demanded", []string{good}, nil, func(d *verify.Demands) { d.Judgements = []string{"canary"} }, nil, reason.Unknown, "RECEIPT_NEEDED", 1},
		{"with receipts left out, and an OS build demanded", []string{good}, nil, func(d *verify.Demands) { d.OSBuild = "24G720" }, nil, reason.Unknown, "RECEIPT_NEEDED", 1},
		{"that calls another commit supported, though any pin is allowed", []string{posing}, nil, func(d *verify.Demands) { d.AllowUnsupportedPin = true }, nil, reason.Failed, "PIN_DEMANDED", 1},
		{"with its signed receipt, young enough", []string{good}, nil, age, []string{seal(good, signer)}, reason.Pass, "", 0},
		{"with its signed receipt, too old", []string{good}, nil, func(d *verify.Demands) { d.MaxAge = time.Minute }, []string{seal(good, signer)}, reason.Unknown, "AGE_STALE", 0},
		{"with its receipt signed by another", []string{good}, nil, age, []string{seal(good, otherSigner)}, reason.Failed, "KEY_ID_MISMATCH", 1},
		{"with times that nobody signed", []string{good}, nil, age, []string{seal(good, nil)}, reason.Failed, "RECEIPT_UNLISTED", 1},
		{"with a stranger's signed receipt", []string{good}, nil, nil, []string{seal(other, signer)}, reason.Failed, "RECEIPT_UNLISTED", 1},
		{"of no known age", []string{good}, nil, func(d *verify.Demands) { d.MaxAge = time.Hour }, []string{good}, reason.Unknown, "AGE_UNKNOWN", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: c.receipts})
			if err != nil {
				t.Fatal(err)
			}
			if c.edit != nil {
				c.edit(s)
			}
			data, err := release.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			signed, err := envelope.Sign(t.Context(), signer, data)
			if err != nil {
				t.Fatal(err)
			}
			d := verify.Demands{Key: verifier, Now: noon}
			if c.demand != nil {
				c.demand(&d)
			}
			r, err := verify.Verify(t.Context(), signed, d, verify.Files{Others: c.files})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(r.Reasons) > 0 {
				got = r.Reasons[0].Code
			}
			if r.Verdict != c.verdict || got != c.code || len(r.Unchecked) != c.rest {
				t.Errorf("verdict %s, first code %q, %d unchecked, want %s, %q, %d\n%v", r.Verdict, got, len(r.Unchecked), c.verdict, c.code, c.rest, r.Reasons)
			}
		})
	}
}

// TestReleaseFiles holds what ships against the subjects of a release's receipts.
func TestReleaseFiles(t *testing.T) {
	signer, verifier := envelopetest.Pair(t, envelopetest.Ed25519(t))
	w := gatefixture.New(t)
	path := w.File(t, "receipt.json", string(w.Receipt(t)))
	s, err := release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := release.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := envelope.Sign(t.Context(), signer, data)
	if err != nil {
		t.Fatal(err)
	}
	w.File(t, "good/whisper-cli", "program")
	w.File(t, "good/ggml-model.bin", "model")
	w.File(t, "papers/receipt.json", string(w.Receipt(t)))
	w.File(t, "bad/.hidden", "x")
	empty := t.TempDir()
	for _, c := range []struct {
		name  string
		files verify.Files
		code  string
	}{
		{"its program, model and encoder", verify.Files{CLI: w.Spec.CLI, Model: w.Spec.Model, Encoder: w.Spec.Encoder}, ""},
		{"another program", verify.Files{CLI: w.Spec.ContrastCLI}, "FILE_MISMATCH"},
		{"another model", verify.Files{Model: w.Spec.Audio}, "FILE_MISMATCH"},
		{"another encoder", verify.Files{Encoder: filepath.Join(w.Dir, "bad")}, "FILE_MISMATCH"},
		{"what ships", verify.Files{Release: filepath.Join(w.Dir, "good")}, ""},
		{"what ships, with its receipt", verify.Files{Release: filepath.Join(w.Dir, "papers")}, "FILE_UNLISTED"},
		{"an empty folder", verify.Files{Release: empty}, "NOTHING_SHIPS"},
		{"what ships, with a hidden file", verify.Files{Release: filepath.Join(w.Dir, "bad")}, "FILE_UNLISTED"},
	} {
		r, err := verify.Verify(t.Context(), signed, verify.Demands{Key: verifier, Now: noon}, c.files)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(r.Reasons) > 0 {
			got = r.Reasons[0].Code
		}
		if got != c.code {
			t.Errorf("%s: %q, want %q\n%v", c.name, got, c.code, r.Reasons)
		}
	}
	// Evidence is of one gate; taken along in silence, it would seem to have been checked.
	if _, err := verify.Verify(t.Context(), signed, verify.Demands{Key: verifier, Now: noon}, verify.Files{Evidence: []string{w.Spec.CoreML}}); err == nil {
		t.Error("evidence given with a release is passed over")
	}
}
