// Package envelope signs and opens DSSE envelopes (github.com/secure-systems-lab/dsse, protocol and
// envelope v1), and the Sigstore bundles that wrap them.
//
// What is signed is PAE("application/vnd.in-toto+json", payload): the payload's own bytes, never a
// re-encoding of them. Keys are Ed25519 or ECDSA P-256 (over SHA-256, signatures in ASN.1 DER),
// private ones in PKCS#8 and public ones in SubjectPublicKeyInfo, both in PEM. A key's id is the
// SHA-256 of its SubjectPublicKeyInfo in lower-case hexadecimal.
//
// Opening is stricter than the protocol: besides one valid signature by the given key there must be
// no unknown, repeated or differently spelled member, no key id that is not the key's own on a
// signature that the key made, no second signature that claims the key and does not verify, and
// base64 without white space or stray bits, in one alphabet (the standard one or the one for URLs)
// throughout.
package envelope
