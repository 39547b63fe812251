// Command sigstore opens a bundle of coregate sign --bundle with sigstore-go, which no one here wrote.
//
//	sigstore P.pem BUNDLE.json
//
// It prints the statement's predicate type and its subjects' digests, and exits 0 only if sigstore-go
// verified the signature with the key. It stands in a module of its own: what sigstore-go needs must not
// reach those who use the rules.
package main

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintln(stderr, "usage: sigstore P.pem BUNDLE.json")
		return 2
	}
	if err := open(args[0], args[1], stdout); err != nil {
		fmt.Fprintf(stderr, "sigstore: %v\n", err)
		return 1
	}
	return 0
}

func open(keyFile, bundleFile string, stdout io.Writer) error {
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	b, err := bundle.LoadJSONFromPath(bundleFile)
	if err != nil {
		return fmt.Errorf("read bundle: %w", err)
	}
	loaded, err := signature.LoadVerifier(key, crypto.SHA256)
	if err != nil {
		return err
	}
	trusted := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
		return root.NewExpiringKey(loaded, time.Time{}, time.Time{}), nil
	})
	verifier, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps())
	if err != nil {
		return err
	}
	result, err := verifier.Verify(b, verify.NewPolicy(verify.WithoutArtifactUnsafe(), verify.WithKey()))
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	fmt.Fprintln(stdout, result.Statement.GetPredicateType())
	for _, s := range result.Statement.GetSubject() {
		fmt.Fprintln(stdout, s.GetName(), s.GetDigest()["sha256"])
	}
	return nil
}

func readKey(path string) (crypto.PublicKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("no PEM in " + path)
	}
	return x509.ParsePKIXPublicKey(block.Bytes)
}
