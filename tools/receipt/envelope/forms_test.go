//go:build unix

package envelope_test

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
)

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// must is the DER of a key.
func must(der []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return der
}

// TestKeyForms gives keys in other forms and of other algorithms than are taken: each is refused by name, with what to do.
func TestKeyForms(t *testing.T) {
	ed, p256 := envelopetest.Ed25519(t), envelopetest.ECDSA(t, elliptic.P256()).(*ecdsa.PrivateKey)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	agree, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spki, pkcs8 := must(x509.MarshalPKIXPublicKey(ed.Public())), must(x509.MarshalPKCS8PrivateKey(ed))
	good := block("PUBLIC KEY", spki)
	sec1 := must(x509.MarshalECPrivateKey(p256))
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate := must(x509.CreateCertificate(rand.Reader, template, template, p256.Public(), p256))
	p256SPKI := must(x509.MarshalPKIXPublicKey(p256.Public()))
	point, err := p256.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	compressed := append([]byte{2 + point[64]&1}, point[1:33]...)
	var info struct {
		Algorithm asn1.RawValue
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(p256SPKI, &info); err != nil {
		t.Fatal(err)
	}
	info.Key = asn1.BitString{Bytes: compressed, BitLength: 8 * len(compressed)}
	short := must(asn1.Marshal(info))
	long := append([]byte{0x30, 0x81, spki[1]}, spki[2:]...) // the length in a form that DER does not have
	for _, c := range []struct {
		name, text, says string
		private          bool
	}{
		{"as written", good, "", false},
		{"as written", block("PRIVATE KEY", pkcs8), "", true},
		{"private, with line ends of Windows", strings.ReplaceAll(block("PRIVATE KEY", pkcs8), "\n", "\r\n"), "", true},
		{"P-521", block("PUBLIC KEY", must(x509.MarshalPKIXPublicKey(envelopetest.ECDSA(t, elliptic.P521()).Public()))), "P-521", false},
		{"P-521", block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(envelopetest.ECDSA(t, elliptic.P521())))), "P-521", true},
		{"RSA 1024", block("PUBLIC KEY", must(x509.MarshalPKIXPublicKey(small.Public()))), "an RSA key of 1024 bits", false},
		{"RSA 1024", block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(small))), "an RSA key of 1024 bits", true},
		{"RSA, PKCS#1", block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(small)), "an RSA key", true},
		{"X25519", block("PUBLIC KEY", must(x509.MarshalPKIXPublicKey(agree.Public()))), "signs nothing", false},
		{"X25519", block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(agree))), "signs nothing", true},
		{"SEC 1", block("EC PRIVATE KEY", sec1), "openssl pkcs8 -topk8", true},
		{"SEC 1 behind its parameters", block("EC PARAMETERS", []byte{6, 1, 1}) + block("EC PRIVATE KEY", sec1), "-noout", true},
		{"encrypted", block("ENCRYPTED PRIVATE KEY", pkcs8), "encrypted", true},
		{"OpenSSH", block("OPENSSH PRIVATE KEY", pkcs8), "OpenSSH", true},
		{"OpenSSH", "ssh-ed25519 AAAA me@host\n", "OpenSSH", false},
		{"certificate", block("CERTIFICATE", certificate), "openssl x509", false},
		{"private for public", block("PRIVATE KEY", pkcs8), "-pubout", false},
		{"public for private", good, "signs nothing", true},
		{"both", block("PRIVATE KEY", pkcs8) + good, "2 blocks", true},
		{"DER", string(spki), "-inform DER", false},
		{"JWK", `{"kty":"OKP"}`, "JWK", false},
		{"UTF-16", "\xff\xfe-\x00-\x00", "UTF-16", false},
		{"nothing", " \n", "an empty file", false},
		{"other text", "hello", "no PEM", false},
		{"cut", good[:60], "damaged", false},
		{"one line", strings.ReplaceAll(good, "\n", ""), "damaged", false},
		{"indented", "  " + strings.ReplaceAll(good, "\n", "\n  "), "damaged", false},
		{"base64 that is none", strings.Replace(good, "MCow", "M*ow", 1), "damaged", false},
		{"more behind it in DER", block("PUBLIC KEY", append(bytes.Clone(spki), 0)), "trailing data", false},
		{"no DER", block("PUBLIC KEY", long), "non-minimal length", false},
		{"a compressed point", block("PUBLIC KEY", short), "SubjectPublicKeyInfo", false},
		{"no key", block("PUBLIC KEY", []byte{0, 0, 0}), "SubjectPublicKeyInfo", false},
		{"another algorithm", block("PUBLIC KEY", bytes.Replace(spki, []byte{0x2b, 0x65, 0x70}, []byte{0x2b, 0x65, 0x71}, 1)), "SubjectPublicKeyInfo", false}, // Ed448
	} {
		path := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		read := envelope.ReadPublicKey
		if c.private {
			read = envelope.ReadPrivateKey
		}
		_, err := read(path)
		if c.says == "" && err != nil || c.says != "" && (code(err) != "KEY_UNSUPPORTED" || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s (private: %v): %v, want KEY_UNSUPPORTED that says %q", c.name, c.private, err, c.says)
		}
	}
}

// TestExposed tells of private keys that others may read.
func TestExposed(t *testing.T) {
	path, _ := envelopetest.Write(t, envelopetest.Ed25519(t))
	for mode, exposed := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o644: true, 0o602: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := envelope.Exposed(path); (got != "") != exposed {
			t.Errorf("mode %04o: %q", mode, got)
		}
	}
	if got := envelope.Exposed(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("a file that is not there: %q", got)
	}
}

// TestEncodings spells an envelope otherwise than it was signed. Spellings that every reader takes for the same bytes are
// read; what one reader may take for something else is refused by name.
func TestEncodings(t *testing.T) {
	signer, verifier := envelopetest.Pair(t, envelopetest.Ed25519(t))
	_, other := envelopetest.Pair(t, envelopetest.ECDSA(t, elliptic.P256()))
	signed := sign(t, signer, payload)
	var d map[string]any
	if err := json.Unmarshal([]byte(signed), &d); err != nil {
		t.Fatal(err)
	}
	text, first := d["payload"].(string), d["signatures"].([]any)[0].(map[string]any)
	sig := first["sig"].(string)
	with := func(key string, value any) string {
		e := map[string]any{"payload": d["payload"], "payloadType": d["payloadType"], "signatures": d["signatures"]}
		e[key] = value
		return string(must(json.Marshal(e)))
	}
	signatures := func(list ...any) string { return with("signatures", list) }
	one := func(keyid, sig string) map[string]any { return map[string]any{"keyid": keyid, "sig": sig} }
	bytesOf := func(text string) []byte { return must(base64.StdEncoding.DecodeString(text)) }
	ecdsaSig := base64.StdEncoding.EncodeToString(must(envelopeSignature(t)))
	for _, c := range []struct{ name, text, code string }{
		{"as signed", signed, ""},
		{"white space around it", " \r\n\t" + signed + "\n", ""},
		{"escapes in a key", strings.Replace(signed, `"payload"`, `"p\u0061yload"`, 1), ""},
		{"members in another order", with("payload", d["payload"]), ""},
		{"the URL alphabet", func() string {
			e := map[string]any{"payload": base64.URLEncoding.EncodeToString(bytesOf(text)), "payloadType": d["payloadType"], "signatures": []any{one(first["keyid"].(string), base64.URLEncoding.EncodeToString(bytesOf(sig)))}}
			return string(must(json.Marshal(e)))
		}(), ""},
		{"no key id", signatures(map[string]any{"sig": sig}), ""},
		{"another signer before it", signatures(one(other.ID(), ecdsaSig), first), ""},
		{"a byte-order mark", "\ufeff" + signed, "ENVELOPE_MALFORMED"},
		{"UTF-16", "\xff\xfe{\x00", "ENVELOPE_MALFORMED"},
		{"NUL behind it", signed + "\x00", "ENVELOPE_MALFORMED"},
		{"a second document", signed + signed, "ENVELOPE_MALFORMED"},
		{"within a list", "[" + signed + "]", "ENVELOPE_MALFORMED"},
		{"a key twice", signed[:len(signed)-1] + `,"payload":"` + text + `"}`, "ENVELOPE_MALFORMED"},
		{"a key in two cases", signed[:len(signed)-1] + `,"Payload":"` + text + `"}`, "ENVELOPE_MALFORMED"},
		{"a key with the sign for kelvins", strings.Replace(signed, `"keyid"`, "\"\u212aeyid\"", 1), "ENVELOPE_MALFORMED"},
		{"half a surrogate pair", strings.Replace(signed, `"keyid":"`, `"keyid":"\ud800`, 1), "ENVELOPE_MALFORMED"},
		{"bytes that are no UTF-8", strings.Replace(signed, `"keyid":"`, "\"keyid\":\"\xff", 1), "ENVELOPE_MALFORMED"},
		{"a number that no float64 holds", signed[:len(signed)-1] + `,"x":1e400}`, "ENVELOPE_MALFORMED"},
		{"deep nesting", signed[:len(signed)-1] + `,"x":` + strings.Repeat("[", 100000), "ENVELOPE_MALFORMED"},
		{"payload null", with("payload", nil), "ENVELOPE_MALFORMED"},
		{"payload without padding", with("payload", strings.TrimRight(base64.StdEncoding.EncodeToString([]byte("{}")), "=")), "ENVELOPE_MALFORMED"},
		{"signature without padding", signatures(one(first["keyid"].(string), strings.TrimRight(sig, "="))), "ENVELOPE_MALFORMED"},
		{"too much padding", with("payload", text+"===="), "ENVELOPE_MALFORMED"},
		{"line ends in base64", with("payload", text[:4]+"\n"+text[4:]), "ENVELOPE_MALFORMED"},
		{"a blank in base64", with("payload", text[:4]+" "+text[4:]), "ENVELOPE_MALFORMED"},
		{"hexadecimal digits", signatures(one(first["keyid"].(string), "00ff")), "SIGNATURE_INVALID"},
		{"no signature", with("signatures", []any{}), "UNSIGNED_ENVELOPE"},
		{"an empty signature", signatures(one(first["keyid"].(string), "")), "SIGNATURE_INVALID"},
		{"the signature twice", signatures(first, first), "ENVELOPE_MALFORMED"},
		{"the signature twice, once without a key id", signatures(first, map[string]any{"sig": sig}), "ENVELOPE_MALFORMED"},
		{"another key's signature under this id", signatures(one(first["keyid"].(string), ecdsaSig)), "SIGNATURE_INVALID"},
		{"another key's signature without an id, beside the good one", signatures(first, map[string]any{"sig": ecdsaSig}), "SIGNATURE_INVALID"},
		{"the id in capitals", signatures(one(strings.ToUpper(first["keyid"].(string)), sig)), "KEY_ID_MISMATCH"},
		{"the id with a blank", signatures(one(first["keyid"].(string)+" ", sig)), "KEY_ID_MISMATCH"},
		{"the id of another key", signatures(one(other.ID(), sig)), "KEY_ID_MISMATCH"},
		{"a media type with parameters", with("payloadType", "application/vnd.in-toto+json; charset=utf-8"), "PAYLOAD_TYPE"},
		{"a media type in capitals", with("payloadType", "Application/vnd.in-toto+json"), "PAYLOAD_TYPE"},
	} {
		got, err := open(t, c.text, verifier)
		if code(err) != c.code || c.code == "" && got != payload {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.code)
		}
	}
}

// envelopeSignature is a signature of an ECDSA key over something else.
func envelopeSignature(t *testing.T) ([]byte, error) {
	return envelopetest.ECDSA(t, elliptic.P256()).Sign(rand.Reader, make([]byte, 32), crypto.SHA256)
}
