// Package envelopetest makes keys for tests.
package envelopetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
)

// Ed25519 makes a key.
func Ed25519(t testing.TB) crypto.Signer {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ECDSA makes a key on a curve.
func ECDSA(t testing.TB, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Write writes both halves of a key as PEM and returns their paths.
func Write(t testing.TB, key crypto.Signer) (private, public string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	private = write("k.pem", "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	return private, write("p.pem", "PUBLIC KEY", der, err)
}

// Pair makes a key and reads both halves back.
func Pair(t testing.TB, key crypto.Signer) (signer, verifier *envelope.Key) {
	t.Helper()
	private, public := Write(t, key)
	signer, err := envelope.ReadPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	if verifier, err = envelope.ReadPublicKey(public); err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}
