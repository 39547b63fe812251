package reason

// Signatures: codes.
const (
	EnvelopeMalformed = "ENVELOPE_MALFORMED"
	UnsignedEnvelope  = "UNSIGNED_ENVELOPE"
	PayloadType       = "PAYLOAD_TYPE"
	SignatureInvalid  = "SIGNATURE_INVALID"
	KeyIDMismatch     = "KEY_ID_MISMATCH"
	KeyUnsupported    = "KEY_UNSUPPORTED"
)

var signatures = Table{
	{Code: EnvelopeMalformed, Class: Fail, Means: "The signed file is neither a DSSE envelope nor a Sigstore bundle in the accepted form: unknown, missing or repeated members, keys that differ in case, bad base64, trailing data.", Do: "Get the file again from whoever signed it."},
	{Code: UnsignedEnvelope, Class: Fail, Means: "There is no signature: the list is empty, or the file is a bare statement.", Do: "Sign the receipt with coregate sign. A matching digest is not a signature."},
	{Code: PayloadType, Class: Fail, Means: "The envelope holds something other than an in-toto statement.", Do: "Give the signed receipt."},
	{Code: SignatureInvalid, Class: Fail, Means: "The signature was not made by this key over these bytes.", Do: "Check which key signed; if it is the right one, the receipt was changed."},
	{Code: KeyIDMismatch, Class: Fail, Means: "The signature names another key than the one given, though that one may have made it.", Do: "Verify with the key that it names. If the given key made it, sign again: a key's name is the digest of its public half."},
	{Code: KeyUnsupported, Class: Refuse, Means: "The key is neither Ed25519 nor ECDSA P-256, or is weak (a point of small order), or its file is not one PEM block of PKCS#8 or SubjectPublicKeyInfo and nothing else.", Do: "Make one: openssl genpkey -algorithm ed25519 -out K.pem; openssl pkey -in K.pem -pubout -out P.pem."},
}
