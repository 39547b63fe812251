package envelope_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
)

func sign(t testing.TB, key *envelope.Key, payload string) string {
	t.Helper()
	data, err := envelope.Sign(t.Context(), key, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// open parses and verifies in one go.
func open(t testing.TB, text string, key *envelope.Key) (string, error) {
	t.Helper()
	e, err := envelope.Parse([]byte(text))
	if err != nil {
		return "", err
	}
	payload, _, err := e.Open(t.Context(), key)
	return string(payload), err
}

func code(err error) string {
	var r *reason.Error
	if errors.As(err, &r) {
		return r.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

const payload = `{"n":0.1,"text":"+/?>~ÿ"}`

func TestRoundTrip(t *testing.T) {
	for name, private := range map[string]crypto.Signer{"ed25519": envelopetest.Ed25519(t), "p256": envelopetest.ECDSA(t, elliptic.P256())} {
		signer, verifier := envelopetest.Pair(t, private)
		signed := sign(t, signer, payload)
		got, err := open(t, signed, verifier)
		if err != nil || got != payload {
			t.Errorf("%s: payload %q, error %v", name, got, err)
		}
		bundle, err := envelope.Bundle([]byte(signed), signer)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = open(t, string(bundle), verifier); err != nil || got != payload {
			t.Errorf("%s bundle: payload %q, error %v", name, got, err)
		}
		again, err := envelope.Bundle([]byte(signed), signer)
		if err != nil || !bytes.Equal(bundle, again) {
			t.Errorf("%s: one envelope gives two bundles (%v)", name, err)
		}
		_, stranger := envelopetest.Pair(t, envelopetest.Ed25519(t))
		if _, err := open(t, signed, stranger); code(err) != "KEY_ID_MISMATCH" {
			t.Errorf("%s: another key: %v, want KEY_ID_MISMATCH", name, err)
		}
	}
}

// TestRefused holds each way in which an envelope can be other than what it seems.
func TestRefused(t *testing.T) {
	signer, verifier := envelopetest.Pair(t, envelopetest.Ed25519(t))
	other, _ := envelopetest.Pair(t, envelopetest.Ed25519(t))
	good := sign(t, signer, payload)
	field := func(text, from, to string) string {
		out := strings.Replace(text, from, to, 1)
		if out == text {
			t.Fatalf("%q does not stand in %s", from, text)
		}
		return out
	}
	b64 := base64.StdEncoding.EncodeToString([]byte(payload))
	sigOf := func(text string) string {
		_, rest, _ := strings.Cut(text, `"sig":"`)
		sig, _, _ := strings.Cut(rest, `"`)
		return sig
	}
	entry := func(keyid, sig string) string { return fmt.Sprintf(`{"keyid":%q,"sig":%q}`, keyid, sig) }
	list := func(entries ...string) string {
		return fmt.Sprintf(`{"payload":%q,"payloadType":%q,"signatures":[%s]}`, b64, envelope.PayloadType, strings.Join(entries, ","))
	}
	mine := entry(signer.ID(), sigOf(good))
	forOther := sign(t, other, payload)
	bundle, err := envelope.Bundle([]byte(good), signer)
	if err != nil {
		t.Fatal(err)
	}
	stray := strings.TrimRight(b64, "=")
	for _, c := range []struct{ name, text, want string }{
		{"good", good, ""},
		{"as written by hand", list(mine), ""},
		{"no key id", list(fmt.Sprintf(`{"sig":%q}`, sigOf(good))), ""},
		{"and a stranger's", list(mine, entry(other.ID(), sigOf(forOther))), ""},

		{"no signatures (D03)", list(), "UNSIGNED_ENVELOPE"},
		{"null signatures", field(good, `[`+good[strings.Index(good, `[`)+1:strings.Index(good, `]`)]+`]`, "null"), "ENVELOPE_MALFORMED"},
		{"bare statement", `{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://example.invalid/other/v1"}`, "UNSIGNED_ENVELOPE"},
		{"other payload type", field(good, envelope.PayloadType, "text/plain"), "PAYLOAD_TYPE"},
		{"a stranger's only", list(entry(other.ID(), sigOf(forOther))), "KEY_ID_MISMATCH"},
		{"a stranger's under my name", list(entry(signer.ID(), sigOf(forOther))), "SIGNATURE_INVALID"},
		{"mine under a stranger's name", list(entry(other.ID(), sigOf(good))), "KEY_ID_MISMATCH"},
		{"mine and a bad one in my name", list(mine, entry(signer.ID(), sigOf(forOther))), "SIGNATURE_INVALID"},
		{"mine and a nameless bad one", list(mine, fmt.Sprintf(`{"sig":%q}`, sigOf(forOther))), "SIGNATURE_INVALID"},
		{"mine twice", list(mine, mine), "ENVELOPE_MALFORMED"},
		{"mine among too many", list(append(slices.Repeat([]string{entry(other.ID(), sigOf(forOther))}, 100), mine)...), "ENVELOPE_MALFORMED"},
		{"another payload (D10)", field(good, b64, base64.StdEncoding.EncodeToString([]byte(`{"n":0.10000000149011612}`))), "SIGNATURE_INVALID"},
		{"unknown member", field(good, `"payloadType"`, `"extra":1,"payloadType"`), "ENVELOPE_MALFORMED"},
		{"unknown member of a signature", field(good, `"sig"`, `"cert":"x","sig"`), "ENVELOPE_MALFORMED"},
		{"duplicate key", field(good, `"payload":`, `"payload":"","payload":`), "ENVELOPE_MALFORMED"},
		{"key in another case", field(good, `"payload":`, `"Payload":`), "ENVELOPE_MALFORMED"},
		{"missing payload", field(good, `"payload":"`+b64+`",`, ``), "ENVELOPE_MALFORMED"},
		{"trailing data", good + "{}", "ENVELOPE_MALFORMED"},
		{"truncated", good[:len(good)-2], "ENVELOPE_MALFORMED"},
		{"empty", "", "ENVELOPE_MALFORMED"},
		{"no padding", field(good, b64, stray), "ENVELOPE_MALFORMED"},
		{"white space in base64", field(good, b64, b64[:8]+`\n`+b64[8:]), "ENVELOPE_MALFORMED"},
		{"both alphabets", field(good, b64, "-/"+b64[2:]), "ENVELOPE_MALFORMED"},
		{"bundle", string(bundle), ""},
		{"bundle with another hint", field(string(bundle), `"hint":"`+signer.ID(), `"hint":"`+other.ID()), "KEY_ID_MISMATCH"},
		{"bundle of another version", field(string(bundle), "v0.3+json", "v0.9+json"), "ENVELOPE_MALFORMED"},
		{"bundle with what is not checked", field(string(bundle), `"verificationMaterial":{`, `"verificationMaterial":{"tlogEntries":[{}],`), "ENVELOPE_MALFORMED"},
		{"bundle in snake case", field(string(bundle), `"dsseEnvelope"`, `"dsse_envelope"`), "ENVELOPE_MALFORMED"},
	} {
		if _, err := open(t, c.text, verifier); code(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestBase64 holds both alphabets, each strictly (D08).
func TestBase64(t *testing.T) {
	signer, verifier := envelopetest.Pair(t, envelopetest.Ed25519(t))
	for _, payload := range []string{"\xfb\xff", "\xfb\xff\xbf", "a", ""} {
		good := sign(t, signer, payload)
		url := strings.NewReplacer("+", "-", "/", "_").Replace
		// The payload type has a slash of its own, which is not base64.
		swapped := strings.Replace(url(good), url(envelope.PayloadType), envelope.PayloadType, 1)
		for name, text := range map[string]string{"standard": good, "URL": swapped} {
			if got, err := open(t, text, verifier); err != nil || got != payload {
				t.Errorf("%s alphabet of %q: %q, %v", name, payload, got, err)
			}
		}
	}
	// "YQ==" is "a"; "YR==" holds the same byte and stray bits.
	good := sign(t, signer, "a")
	if _, err := open(t, strings.Replace(good, "YQ==", "YR==", 1), verifier); code(err) != "ENVELOPE_MALFORMED" {
		t.Errorf("stray bits: %v, want ENVELOPE_MALFORMED", err)
	}
}

// TestEveryByteCounts flips each bit, drops, doubles and swaps bytes of a signed file: nothing verifies.
func TestEveryByteCounts(t *testing.T) {
	signer, verifier := envelopetest.Pair(t, envelopetest.ECDSA(t, elliptic.P256()))
	signed := sign(t, signer, payload)
	bundle, err := envelope.Bundle([]byte(signed), signer)
	if err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{signed, string(bundle)} {
		tries := map[string]string{}
		for i := range len(good) {
			for bit := range 8 {
				b := []byte(good)
				b[i] ^= 1 << bit
				tries[fmt.Sprintf("bit %d of byte %d flipped", bit, i)] = string(b)
			}
			tries[fmt.Sprintf("cut at %d", i)] = good[:i]
			tries[fmt.Sprintf("byte %d dropped", i)] = good[:i] + good[i+1:]
			tries[fmt.Sprintf("byte %d doubled", i)] = good[:i+1] + good[i:]
			if i > 0 && good[i-1] != good[i] {
				tries[fmt.Sprintf("bytes %d and %d swapped", i-1, i)] = good[:i-1] + good[i:i+1] + good[i-1:i] + good[i+1:]
			}
		}
		for what, text := range tries {
			if _, err := open(t, text, verifier); err == nil {
				t.Errorf("%s: verifies\n%s", what, text)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, private := range map[string]crypto.Signer{"rsa": rsaKey, "p384": envelopetest.ECDSA(t, elliptic.P384())} {
		k, p := envelopetest.Write(t, private)
		if _, err := envelope.ReadPrivateKey(k); code(err) == "" || !strings.Contains(err.Error(), "KEY_UNSUPPORTED") {
			t.Errorf("%s private: %v, want KEY_UNSUPPORTED", name, err)
		}
		if _, err := envelope.ReadPublicKey(p); err == nil || !strings.Contains(err.Error(), "KEY_UNSUPPORTED") {
			t.Errorf("%s public: %v, want KEY_UNSUPPORTED", name, err)
		}
	}
	k, p := envelopetest.Write(t, envelopetest.Ed25519(t))
	if _, err := envelope.ReadPublicKey(k); err == nil {
		t.Error("a private key is taken for a public one")
	}
	if _, err := envelope.ReadPrivateKey(p); err == nil {
		t.Error("a public key is taken for a private one")
	}
	verifier, err := envelope.ReadPublicKey(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := envelope.Sign(t.Context(), verifier, []byte("x")); err == nil {
		t.Error("a public key signs")
	}
}

func FuzzParse(f *testing.F) {
	signer, verifier := envelopetest.Pair(f, envelopetest.Ed25519(f))
	signed := sign(f, signer, payload)
	bundle, err := envelope.Bundle([]byte(signed), signer)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(signed))
	f.Add(bundle)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := envelope.Parse(data)
		if err != nil {
			return
		}
		if got, _, err := e.Open(t.Context(), verifier); err == nil && string(got) != payload {
			t.Fatalf("a forged payload verifies: %q", got)
		}
	})
}
