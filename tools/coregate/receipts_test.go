package main

import (
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// desk is a receipt, its files and a key, as a user has them.
type desk struct {
	world            *gatefixture.World
	receipt          string
	private, public  string
	signed, envelope string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	w := gatefixture.New(t)
	d := &desk{world: w, receipt: w.File(t, "receipt.json", string(w.Receipt(t)))}
	d.private, d.public = envelopetest.Write(t, envelopetest.ECDSA(t, elliptic.P256()))
	code, out, errs := call(t, "", "sign", "--key", d.private, d.receipt)
	if code != 0 {
		t.Fatalf("sign: exit %d\n%s", code, errs)
	}
	d.envelope = out
	d.signed = w.File(t, "signed.json", out)
	return d
}

// TestSignVerify holds the spellings that users know, and their exit codes.
func TestSignVerify(t *testing.T) {
	d := newDesk(t)
	w := d.world
	unsigned := w.File(t, "unsigned.json", `{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[]}`)
	zeros := strings.Repeat("0", 64)
	bound, err := release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: []string{d.receipt}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := release.Encode(bound)
	if err != nil {
		t.Fatal(err)
	}
	releaseFile := w.File(t, "release.json", string(text))
	lying := w.File(t, "lying.json", strings.Replace(string(text), `"verdict":"pass"`, `"verdict":"fail"`, 1))
	_, stranger := envelopetest.Write(t, envelopetest.Ed25519(t))
	for _, c := range []struct {
		name string
		args []string
		want int
		says string
	}{
		{"verify", []string{"verify", "--key", d.public, d.signed}, 0, "not checked: the bytes of whisper-cli"},
		{"verify with files", []string{"verify", "--key", d.public, d.signed, "--cli", w.Spec.CLI, "--model", w.Spec.Model, "--encoder", w.Spec.Encoder}, 0, "verify: pass"},
		{"verify with evidence", []string{"verify", "--key", d.public, d.signed, "--evidence", w.Spec.CoreML, "--evidence", w.Spec.Canary, "--evidence", w.Spec.Contrast, "--reference", w.Spec.Reference}, 0, "as signed: sources, contract, parity"},
		{"another file", []string{"verify", "--key", d.public, d.signed, "--model", w.Spec.Audio}, 1, "FILE_MISMATCH"},
		{"another key", []string{"verify", "--key", stranger, d.signed}, 1, "KEY_ID_MISMATCH"},
		{"no signature", []string{"verify", "--key", d.public, unsigned}, 1, "UNSIGNED_ENVELOPE"},
		{"a bare receipt", []string{"verify", "--key", d.public, d.receipt}, 1, "UNSIGNED_ENVELOPE"},
		{"physical demanded", []string{"verify", "--key", d.public, "--lane", "physical", d.signed}, 1, "LANE_DEMANDED"},
		{"an age that nobody vouches for", []string{"verify", "--key", d.public, "--max-age", "1h", d.signed}, 3, "AGE_UNKNOWN"},
		{"no key", []string{"verify", d.signed}, 2, ""},
		{"a private key to verify with", []string{"verify", "--key", d.private, d.signed}, 2, "KEY_UNSUPPORTED"},
		{"no such receipt", []string{"verify", "--key", d.public, "nowhere"}, 2, ""},
		{"no such lane", []string{"verify", "--key", d.public, "--lane", "real", d.signed}, 2, "--lane real"},
		{"no such policy", []string{"verify", "--key", d.public, "--policy", "gate_v2", d.signed}, 2, "NAME=SHA256"},
		{"no such time", []string{"verify", "--key", d.public, "--at", "noon", d.signed}, 2, "RFC 3339"},
		{"no lane, as by an unset variable", []string{"verify", "--key", d.public, "--lane", "", d.signed}, 2, "--lane is empty"},
		{"no OS build", []string{"verify", "--key", d.public, "--os-build=", d.signed}, 2, "--os-build is empty"},
		{"no release", []string{"verify", "--key", d.public, "--release", "", d.signed}, 2, "--release is empty"},
		{"no age", []string{"verify", "--key", d.public, "--max-age", "0", d.signed}, 2, "--max-age 0s"},
		{"a negative age", []string{"verify", "--key", d.public, "--max-age", "-1h", d.signed}, 2, "--max-age -1h"},
		{"one policy by two digests", []string{"verify", "--key", d.public, "--policy", "p=" + zeros, "--policy", "p=" + strings.ReplaceAll(zeros, "0", "1"), d.signed}, 2, "demanded with"},
		{"a key that says why, in an object", []string{"verify", "--json", "--key", d.private, d.signed}, 2, `"code": "KEY_UNSUPPORTED"`},
		{"sign at an empty time", []string{"sign", "--key", d.private, "--time", "", d.receipt}, 2, "--time is empty"},
		{"report with no key", []string{"report", "--key", "", d.receipt}, 2, "--key is empty"},
		{"report with other words", []string{"report", "--reference", w.Spec.Audio, d.receipt}, 2, "the receipt names"},
		{"report with no parity", []string{"report", "--parity", w.Spec.Audio, d.receipt}, 2, "parity"},
		{"diff of standard input twice", []string{"diff", "-", "-"}, 2, "standard input can be read once"},
		{"audit of two", []string{"audit", d.receipt, d.receipt}, 2, "one receipt"},
		{"audit of nothing", []string{"audit", "--target", "", d.receipt}, 2, "--target is empty"},
		{"audit of a flag", []string{"audit", "--target=--script_path=x", d.receipt}, 2, "label of one receipt"},
		{"sign something else", []string{"sign", "--key", d.private, unsigned}, 2, "only a receipt"},
		{"sign with a public key", []string{"sign", "--key", d.public, d.receipt}, 2, "KEY_UNSUPPORTED"},
		{"sign at no time", []string{"sign", "--key", d.private, "--time", "noon", d.receipt}, 2, "RFC 3339"},
		{"diff of one", []string{"diff", d.receipt, d.signed}, 0, "no change"},
		{"diff of nothing", []string{"diff", d.receipt, unsigned}, 2, ""},
		{"report", []string{"report", "--format", "text", d.receipt}, 0, "//gate:receipt: pass"},
		{"report of a signed one", []string{"report", "--key", d.public, d.signed}, 0, "valid, by key"},
		{"report with a wrong key", []string{"report", "--key", stranger, d.signed}, 2, "KEY_ID_MISMATCH"},
		{"report with a foreign file", []string{"report", d.receipt, "--file", w.Spec.Audio}, 2, "neither evidence nor observations"},
		{"report of a release", []string{"report", "--format", "text", releaseFile}, 0, "//gate:receipt (emulated), pin"},
		{"report of a release with a file of one gate", []string{"report", releaseFile, "--file", w.Spec.CoreML}, 2, "report that gate's own receipt"},
		{"report of a release that nobody signed", []string{"report", "--key", d.public, releaseFile}, 2, "UNSIGNED_ENVELOPE"},
		{"report of a release that says pass and lists a failure", []string{"report", lying}, 2, "its receipts give"},
		{"diff of a release with itself", []string{"diff", releaseFile, releaseFile}, 0, "no change"},
		{"diff of a release and a receipt", []string{"diff", releaseFile, d.receipt}, 2, "is a release of 1 receipts and"},
		{"audit of a release", []string{"audit", releaseFile}, 2, "a release of 1 receipts: give one of those"},
		{"report in no form", []string{"report", "--format", "pdf", d.receipt}, 2, "html, junit or text"},
	} {
		code, out, errs := call(t, "", c.args...)
		if code != c.want || !strings.Contains(out+errs, c.says) {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", c.name, code, c.want, c.says, out, errs)
		}
	}
}

// TestSignedBytes holds that what is signed is the receipt's own bytes, and that they come back.
func TestSignedBytes(t *testing.T) {
	d := newDesk(t)
	var e struct{ Payload []byte }
	if err := json.Unmarshal([]byte(d.envelope), &e); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(d.receipt)
	if err != nil {
		t.Fatal(err)
	}
	if string(e.Payload) != string(want) {
		t.Error("the payload is not the receipt, byte for byte")
	}
}

// TestVouched holds that times which the signer vouches for reach the one who verifies.
func TestVouched(t *testing.T) {
	d := newDesk(t)
	args := []string{"sign", "--key", d.private, "--time", "2026-08-01T12:00:00Z", d.receipt}
	for _, path := range []string{d.world.Spec.CoreML, d.world.Spec.Canary, d.world.Spec.Contrast} {
		_, sum, err := evidence.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o := &evidence.Observations{Schema: 1, EvidenceSHA256: sum, StartedAt: "2026-08-01T11:00:00Z", Host: map[string]string{"os": "linux"}, WarmUpSeconds: []float64{}, Timings: map[string]float64{}}
		data, err := evidence.EncodeObservations(o)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--observations", d.world.File(t, filepath.Base(path)+".observations.json", string(data)))
	}
	code, out, errs := call(t, "", args...)
	if code != 0 {
		t.Fatalf("sign: exit %d\n%s", code, errs)
	}
	signed := d.world.File(t, "sealed.json", out)
	for at, want := range map[string]int{"2026-08-01T12:30:00Z": 0, "2026-08-01T13:30:00Z": 3} {
		if code, out, _ := call(t, "", "verify", "--key", d.public, "--max-age", "2h", "--at", at, signed); code != want {
			t.Errorf("at %s: exit %d, want %d\n%s", at, code, want, out)
		}
	}
	if code, out, _ := call(t, "", "diff", d.receipt, signed); code != 1 || !strings.Contains(out, "signing") {
		t.Errorf("diff: exit %d\n%s", code, out)
	}
}

// TestBundle holds that a bundle verifies as an envelope does.
func TestBundle(t *testing.T) {
	d := newDesk(t)
	code, out, errs := call(t, "", "sign", "--bundle", "--key", d.private, d.receipt)
	if code != 0 || !strings.Contains(out, "sigstore.bundle") {
		t.Fatalf("sign: exit %d\n%s", code, errs)
	}
	if code, out, _ := call(t, "", "verify", "--key", d.public, d.world.File(t, "bundle.json", out)); code != 0 {
		t.Errorf("verify: exit %d\n%s", code, out)
	}
}

// TestReportFile holds that a report goes where it is sent, with the runs that were given.
func TestReportFile(t *testing.T) {
	d := newDesk(t)
	out := filepath.Join(t.TempDir(), "report.html")
	s := d.world.Spec
	code, _, errs := call(t, "", "report", d.receipt, "--out", out, "--file", s.CoreML, "--file", s.Canary, "--file", s.Contrast, "--reference", s.Reference)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// What goes wrong later leaves the report that is there.
	for _, args := range [][]string{{"--format", "pdf"}, {"--parity", s.Audio}, {"--key", "nowhere"}} {
		if code, _, _ := call(t, "", append([]string{"report", d.receipt, "--out", out}, args...)...); code != 2 {
			t.Errorf("%v: exit %d, want 2", args, code)
		}
	}
	if again, err := os.ReadFile(out); err != nil || string(again) != string(page) {
		t.Errorf("a report that failed changed the one before (%v)", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 1 {
		t.Errorf("beside the report: %v (%v)", entries, err)
	}
	if !strings.Contains(string(page), "whisper_init_state: Core ML model loaded") || !strings.Contains(string(page), "fellow") {
		t.Error("the page lacks the runs that were given")
	}
}

// TestNewerReceipt holds that a receipt of a newer version is told as such by each command that reads one, and is no
// mistake of the command's.
func TestNewerReceipt(t *testing.T) {
	d := newDesk(t)
	data, err := os.ReadFile(d.receipt)
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"predicate": {"/coreml-run/v1", "/coreml-run/v2"},
		"release":   {"/coreml-run/v1", "/coreml-release/v3"},
		"schema":    {`"schema":1,`, `"newer":true,"schema":2,`},
	} {
		path := filepath.Join(t.TempDir(), "newer.json")
		text := strings.Replace(string(data), edit[0], edit[1], 1)
		if text == string(data) {
			t.Fatalf("%s: nothing replaced", name)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"diff", path, d.receipt}, {"diff", d.receipt, path}, {"report", path}} {
			code, out, errs := call(t, "", args...)
			if code != 3 || !strings.Contains(out, "RECEIPT_NEWER") || !strings.Contains(out, "made by a newer version") {
				t.Errorf("%s, %v: exit %d\n%s%s", name, args[0], code, out, errs)
			}
		}
	}
}

// TestHostileTexts holds that what a signed file brings along cannot steer a terminal or make lines of its own.
func TestHostileTexts(t *testing.T) {
	d := newDesk(t)
	bad := `x\n\u001b[32mverify: pass\u202e`
	for name, text := range map[string]string{
		"key id": `{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"keyid":"` + bad + `","sig":"AAAA"}]}`,
		"member": `{"` + bad + `":1}`,
		"type":   `{"payload":"e30=","payloadType":"` + bad + `","signatures":[{"sig":"AAAA"}]}`,
	} {
		code, out, errs := call(t, "", "verify", "--key", d.public, d.world.File(t, "hostile.json", text))
		if code != 1 || strings.ContainsAny(out+errs, "\x1b\u202e") || strings.Contains(out, "\nverify: pass") {
			t.Errorf("%s: exit %d\n%q", name, code, out+errs)
		}
	}
}

// full is an output that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestFullOutput holds that a pass which could not be printed is none, and that a failure stays one.
func TestFullOutput(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"verify", "--key", d.public, d.signed}, 2},
		{[]string{"verify", "--json", "--key", d.public, d.signed}, 2},
		{[]string{"verify", "--lane", "physical", "--key", d.public, d.signed}, 1},
		{[]string{"sign", "--key", d.private, d.receipt}, 2},
		{[]string{"diff", d.receipt, d.receipt}, 2},
		{[]string{"report", d.receipt}, 2},
	} {
		if code := run(t.Context(), c.args, strings.NewReader(""), full{}, io.Discard); code != c.want {
			t.Errorf("%v: exit %d, want %d", c.args, code, c.want)
		}
	}
}
