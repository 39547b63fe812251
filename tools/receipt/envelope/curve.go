package envelope

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"
)

// field is the prime 2^255 - 19 of Curve25519.
var field = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))

// smallOrder says whether a public key is a point of small order, or is not written in its one form. Under such a key
// anyone can make signatures that crypto/ed25519 takes.
//
// crypto/ecdh refuses points of small order by its own rule (RFC 7748: the shared secret would be zero). So the point goes
// there, by the map u = (1+y)/(1-y) between the two curves' forms.
func smallOrder(key ed25519.PublicKey) bool {
	if len(key) != ed25519.PublicKeySize {
		return true
	}
	bytes := slices.Clone(key)
	bytes[31] &= 0x7f // the sign of x
	slices.Reverse(bytes)
	y := new(big.Int).SetBytes(bytes)
	below := new(big.Int).Sub(big.NewInt(1), y)
	below.Mod(below, field)
	if y.Cmp(field) >= 0 || below.Sign() == 0 {
		return true // y is not reduced, or the point is the neutral one
	}
	u := new(big.Int).Add(big.NewInt(1), y)
	u.Mul(u, below.ModInverse(below, field)).Mod(u, field)
	out := u.FillBytes(make([]byte, 32))
	slices.Reverse(out)
	point, err := ecdh.X25519().NewPublicKey(out)
	if err != nil {
		return true
	}
	// Any scalar will do: X25519 makes each a multiple of the cofactor.
	scalar, err := ecdh.X25519().NewPrivateKey(append(make([]byte, 31), 0x40))
	if err != nil {
		return true
	}
	_, err = scalar.ECDH(point)
	return err != nil
}

// ecdsaSignature is an ECDSA signature as ASN.1 has it.
type ecdsaSignature struct{ R, S *big.Int }

func halfOrder() *big.Int { return new(big.Int).Rsh(elliptic.P256().Params().N, 1) }

// isLowS says whether a signature has the smaller of the two values of s that verify. With the other, anyone could make a
// second envelope of one that was signed.
func isLowS(signature []byte) bool {
	var s ecdsaSignature
	rest, err := asn1.Unmarshal(signature, &s)
	return err == nil && len(rest) == 0 && s.S.Cmp(halfOrder()) <= 0
}

// lowS returns the signature with the smaller value of s.
func lowS(signature []byte) ([]byte, error) {
	var s ecdsaSignature
	if _, err := asn1.Unmarshal(signature, &s); err != nil {
		return nil, fmt.Errorf("read own signature: %w", err)
	}
	if s.S.Cmp(halfOrder()) > 0 {
		s.S.Sub(elliptic.P256().Params().N, s.S)
	}
	return asn1.Marshal(s)
}
