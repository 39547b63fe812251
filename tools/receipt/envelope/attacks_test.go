//go:build unix

package envelope_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"encoding/asn1"
	"encoding/hex"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
)

// smallOrder are the encodings of points of small order, by the id of the attack or what they vary; the last ones are not
// reduced, or have a sign that their x does not.
var smallOrder = map[string]string{
	"K_identity":              "0100000000000000000000000000000000000000000000000000000000000000",
	"K_order2":                "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"order 4":                 "0000000000000000000000000000000000000000000000000000000000000000",
	"order 4, negative":       "0000000000000000000000000000000000000000000000000000000000000080",
	"order 8":                 "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"order 8, negative":       "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
	"order 8, the other":      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"order 8, both":           "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	"identity, signed":        "0100000000000000000000000000000000000000000000000000000000000080",
	"identity, not reduced":   "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"order 4, not reduced":    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"identity, neither":       "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"order 4, neither":        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"order 2, signed":         "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"y = 2^255 - 1, all ones": "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// TestSmallOrder refuses keys under which anyone can sign, and no other.
func TestSmallOrder(t *testing.T) {
	for id, text := range smallOrder {
		key, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := envelope.NewKey(ed25519.PublicKey(key)); err == nil {
			t.Errorf("%s is taken for a key", id)
		}
	}
	for range 200 {
		key, _, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := envelope.NewKey(key); err != nil {
			t.Fatalf("%x: %v", key, err)
		}
	}
	// What the refusal is for: under the neutral point, crypto/ed25519 takes a signature that no private key made.
	forged := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	message := []byte("a receipt")
	identity, _ := hex.DecodeString(smallOrder["K_identity"])
	signature := signUnderIdentity(forged, message)
	if !ed25519.Verify(identity, message, signature) {
		t.Error("crypto/ed25519 refuses it itself now: this refusal may go")
	}
}

// signUnderIdentity makes R = r·B and s = r, which the equation s·B = R + k·A meets for the neutral A, whatever k is.
func signUnderIdentity(key ed25519.PrivateKey, _ []byte) []byte {
	digest := sha512.Sum512(key.Seed())
	scalar := digest[:32]
	scalar[0] &= 248
	scalar[31] &= 63
	scalar[31] |= 64
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	reversed := bytes.Clone(scalar)
	for i, j := 0, 31; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	s := new(big.Int).Mod(new(big.Int).SetBytes(reversed), order).FillBytes(make([]byte, 32))
	for i, j := 0, 31; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
	return append(bytes.Clone(key[32:]), s...)
}

// TestKeyFiles refuses files that hold more than one key, or wait for ever.
func TestKeyFiles(t *testing.T) {
	_, public := envelopetest.Write(t, envelopetest.Ed25519(t))
	good, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(good), "MCow", "M*ow", 1)
	for _, c := range []struct{ id, text string }{
		{"as written", string(good)},
		{"with line ends of Windows", strings.ReplaceAll(string(good), "\n", "\r\n")},
		{"K13 a broken block before the key", broken + string(good)},
		{"K13 a block without an end before the key", "-----BEGIN PUBLIC KEY-----\nMCow\n" + string(good)},
		{"K14 text before the key", "the key of the release:\n" + string(good)},
		{"a byte-order mark before the key", "\ufeff" + string(good)},
		{"K14 text behind the key", string(good) + "the key of the release\n"},
		{"K14 a key that is commented out before the key", "# " + string(good) + string(good)},
		{"two keys", string(good) + string(good)},
		{"headers in the block", strings.Replace(string(good), "-----\n", "-----\nProc-Type: 4,ENCRYPTED\n\n", 1)},
		{"lines of another length", strings.Replace(string(good), "MCow", "MC\now", 1)},
	} {
		path := filepath.Join(t.TempDir(), "p.pem")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := envelope.ReadPublicKey(path)
		if wanted := strings.HasPrefix(c.id, "as written") || strings.HasPrefix(c.id, "with line ends"); wanted != (err == nil) {
			t.Errorf("%s: %v", c.id, err)
		}
	}
	fifo := filepath.Join(t.TempDir(), "K40")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := envelope.ReadPublicKey(fifo); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("K40 a key that is a FIFO: %v", err)
	}
}

// TestK20 holds that a signature has one form: the same with n - s verifies elsewhere, and would be a second envelope.
func TestK20(t *testing.T) {
	private := envelopetest.ECDSA(t, elliptic.P256())
	signer, verifier := envelopetest.Pair(t, private)
	for range 50 {
		pae := []byte("a receipt")
		signature, err := signer.Sign(t.Context(), pae)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(t.Context(), pae, signature); err != nil {
			t.Fatalf("our own signature: %v", err)
		}
		var s struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(signature, &s); err != nil {
			t.Fatal(err)
		}
		s.S.Sub(private.Public().(*ecdsa.PublicKey).Params().N, s.S)
		other, err := asn1.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(t.Context(), pae, other); err == nil {
			t.Fatal("K20 the signature with n - s verifies")
		}
	}
}
