package envelope

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rsa"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// forms are what a file of another form than a key's PEM begins with, and how to make that PEM.
var forms = []struct{ begins, found string }{
	{"\xef\xbb\xbf", "a byte-order mark before it, as editors on Windows write it: save it without one"},
	{"\xff\xfe", "UTF-16 text: save it as UTF-8"},
	{"\xfe\xff", "UTF-16 text: save it as UTF-8"},
	{"\x30", "DER: write PEM (openssl pkey -inform DER, with -pubin for a public key)"},
	{"ssh-", "OpenSSH's form: make a key with openssl genpkey -algorithm ed25519"},
	{"ecdsa-sha2-", "OpenSSH's form: make a key with openssl genpkey -algorithm ed25519"},
	{"{", "JSON, such as a JWK: write the key as PEM"},
	{"untrusted comment:", "a minisign or signify key: make a key with openssl genpkey -algorithm ed25519"},
}

// noPEM says what a file is that has no PEM block.
func noPEM(data []byte) string {
	if len(bytes.TrimSpace(data)) == 0 {
		return "an empty file"
	}
	for _, f := range forms {
		if bytes.HasPrefix(data, []byte(f.begins)) {
			return f.found
		}
	}
	if bytes.Contains(data, []byte("-----BEGIN ")) {
		return "PEM that is damaged: cut short, indented, in one line, or with other characters in its base64"
	}
	return "no PEM"
}

// others are blocks of another type, and how to make the right one.
var others = map[string]string{
	"PUBLIC KEY":            "a public key, which signs nothing: give the private key",
	"PRIVATE KEY":           "a private key, which verifying does not need: openssl pkey -in K.pem -pubout -out P.pem",
	"ENCRYPTED PRIVATE KEY": "an encrypted key: openssl pkey -in K.pem -out plain.pem, in a place that only the signer reads",
	"EC PRIVATE KEY":        "a key in SEC 1 form: openssl pkcs8 -topk8 -nocrypt -in K.pem -out pkcs8.pem",
	"EC PARAMETERS":         "a curve's name before the key: openssl ecparam -noout -genkey leaves it out, and openssl pkcs8 -topk8 -nocrypt writes PKCS#8",
	"RSA PRIVATE KEY":       "an RSA key: make one with openssl genpkey -algorithm ed25519",
	"RSA PUBLIC KEY":        "an RSA key: make one with openssl genpkey -algorithm ed25519",
	"OPENSSH PRIVATE KEY":   "OpenSSH's form: make a key with openssl genpkey -algorithm ed25519",
	"CERTIFICATE":           "a certificate: openssl x509 -in cert.pem -noout -pubkey prints its key; issuer and dates are not looked at",
}

func otherPEM(kind string) string {
	if found, ok := others[kind]; ok {
		return found
	}
	return "PEM of " + strconv.Quote(kind)
}

// called names a key of an algorithm that is not taken.
func called(key any) string {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("an RSA key of %d bits", k.N.BitLen())
	case *rsa.PrivateKey:
		return fmt.Sprintf("an RSA key of %d bits", k.N.BitLen())
	case *ecdh.PublicKey, *ecdh.PrivateKey:
		return "a key for key agreement (X25519), which signs nothing"
	}
	return fmt.Sprintf("a key of type %T", key)
}

// Exposed says that others than its owner may read a private key's file: "" where nobody else may, or where permissions
// say nothing.
func Exposed(path string) string {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("others may read the private key %s (mode %04o): chmod 600 it, and make a new key if anybody did", path, info.Mode().Perm())
}
