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

import "github.com/coreml-gate/rules_coreml_gate/tools/base/reason"

// Reasons are the codes of this package.
var Reasons = reason.Table{
	{Code: "ENVELOPE_MALFORMED", Class: reason.Fail, Means: "The signed file is no DSSE envelope and no Sigstore bundle in the one form that is accepted: unknown, missing or repeated members, keys that differ in case, bad base64, trailing data.", Do: "Get the file again from whoever signed it."},
	{Code: "UNSIGNED_ENVELOPE", Class: reason.Fail, Means: "There is no signature at all: the list is empty, or a bare statement was given.", Do: "Sign the receipt with coregate sign. A digest that matches is no signature."},
	{Code: "PAYLOAD_TYPE", Class: reason.Fail, Means: "The envelope holds something other than an in-toto statement.", Do: "Give the signed receipt."},
	{Code: "SIGNATURE_INVALID", Class: reason.Fail, Means: "The signature was not made by this key over these bytes.", Do: "Check which key signed; if it is the right one, the receipt was changed."},
	{Code: "KEY_ID_MISMATCH", Class: reason.Fail, Means: "The signature names another key than the one given.", Do: "Verify with the key that it names."},
	{Code: "KEY_UNSUPPORTED", Class: reason.Refuse, Means: "The key is neither Ed25519 nor ECDSA P-256, or not in PKCS#8 or SubjectPublicKeyInfo PEM.", Do: "Make one: openssl genpkey -algorithm ed25519 -out K.pem; openssl pkey -in K.pem -pubout -out P.pem."},
}
