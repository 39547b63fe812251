package envelope

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
)

// Key is a public key, with its private half when it can sign. It implements the signer and verifier
// of go-securesystemslib.
type Key struct {
	id      string
	public  crypto.PublicKey
	private crypto.Signer
}

// ReadPrivateKey reads a PKCS#8 private key from a PEM file.
func ReadPrivateKey(path string) (*Key, error) { return readKey(path, "PRIVATE KEY", parsePrivate) }

// ReadPublicKey reads a SubjectPublicKeyInfo public key from a PEM file.
func ReadPublicKey(path string) (*Key, error) { return readKey(path, "PUBLIC KEY", parsePublic) }

func readKey(path, kind string, parse func([]byte) (*Key, error)) (*Key, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	defer f.Close()
	// No such key has more than a few hundred bytes.
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	der, found := onePEM(data, kind)
	if found != "" {
		return nil, reason.Errorf(reason.KeyUnsupported, path, "one PEM block "+kind+" and nothing else", "%s", found)
	}
	key, err := parse(der)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	return key, nil
}

// onePEM returns the bytes of the one PEM block that a file is, or what else it holds. encoding/pem skips text and broken
// blocks before a good one, so what it read is written again: the file must be that text.
func onePEM(data []byte, kind string) (der []byte, found string) {
	block, _ := pem.Decode(data)
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")), block == nil:
		return nil, noPEM(data)
	case block.Type != kind:
		return nil, otherPEM(block.Type)
	case len(block.Headers) > 0:
		return nil, "PEM with headers"
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	if again := strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block.Bytes}))); text != again {
		if n := strings.Count(text, "-----BEGIN "); n > 1 {
			return nil, fmt.Sprintf("%d blocks: write the one key to a file of its own", n)
		}
		return nil, "more than the block, or a block that is written otherwise"
	}
	return block.Bytes, ""
}

func parsePrivate(der []byte) (*Key, error) {
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, reason.Errorf(reason.KeyUnsupported, "private key", "PKCS#8", "%v", err)
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, reason.Errorf(reason.KeyUnsupported, "private key", "Ed25519 or ECDSA P-256", "%s", called(private))
	}
	key, err := NewKey(signer.Public())
	if err != nil {
		return nil, err
	}
	key.private = signer
	return key, nil
}

func parsePublic(der []byte) (*Key, error) {
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, reason.Errorf(reason.KeyUnsupported, "public key", "SubjectPublicKeyInfo", "%v", err)
	}
	return NewKey(public)
}

// NewKey makes a verifying key.
func NewKey(public crypto.PublicKey) (*Key, error) {
	switch k := public.(type) {
	case ed25519.PublicKey:
		if smallOrder(k) {
			return nil, reason.Errorf(reason.KeyUnsupported, "key", "a point of large order", "one of small order, under which anyone can sign")
		}
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return nil, reason.Errorf(reason.KeyUnsupported, "key", "the curve P-256", "%s", k.Curve.Params().Name)
		}
	default:
		return nil, reason.Errorf(reason.KeyUnsupported, "key", "Ed25519 or ECDSA P-256", "%s", called(public))
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(der)
	return &Key{id: hex.EncodeToString(sum[:]), public: public}, nil
}

// ID is the key's id.
func (k *Key) ID() string { return k.id }

// KeyID is [Key.ID] for go-securesystemslib.
func (k *Key) KeyID() (string, error) { return k.id, nil }

// Public returns the public key.
func (k *Key) Public() crypto.PublicKey { return k.public }

// Sign signs what an envelope's PAE gave.
func (k *Key) Sign(_ context.Context, pae []byte) ([]byte, error) {
	if k.private == nil {
		return nil, fmt.Errorf("key %s has no private half", k.id)
	}
	if _, ok := k.public.(ed25519.PublicKey); ok {
		return k.private.Sign(rand.Reader, pae, crypto.Hash(0))
	}
	sum := sha256.Sum256(pae)
	signature, err := k.private.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return lowS(signature)
}

// Verify holds a signature against what an envelope's PAE gave.
func (k *Key) Verify(_ context.Context, pae, signature []byte) error {
	ok := false
	switch public := k.public.(type) {
	case ed25519.PublicKey:
		ok = ed25519.Verify(public, pae, signature)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(pae)
		ok = isLowS(signature) && ecdsa.VerifyASN1(public, sum[:], signature)
	}
	if !ok {
		return fmt.Errorf("the signature is not by key %s over these bytes", k.id)
	}
	return nil
}
