package envelope

import (
	"fmt"

	"github.com/gowebpki/jcs"
	bundlepb "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonpb "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	dssepb "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// BundleMediaType is that of the Sigstore bundles that are written and read.
const BundleMediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// Bundle wraps an envelope made by [Sign] into a Sigstore bundle whose verification material is a
// hint at the key: its id. Such a bundle holds no certificate, no log entry and no timestamp. The
// signature itself names no key there: Sigstore's readers compare such a name with one of their own
// making.
func Bundle(envelope []byte, key *Key) ([]byte, error) {
	e, err := Parse(envelope)
	if err != nil {
		return nil, err
	}
	inner := &dssepb.Envelope{PayloadType: e.PayloadType, Payload: e.Payload}
	for _, s := range e.Signatures {
		inner.Signatures = append(inner.Signatures, &dssepb.Signature{Sig: s.Sig})
	}
	data, err := protojson.Marshal(&bundlepb.Bundle{
		MediaType:            BundleMediaType,
		VerificationMaterial: &bundlepb.VerificationMaterial{Content: &bundlepb.VerificationMaterial_PublicKey{PublicKey: &commonpb.PublicKeyIdentifier{Hint: key.ID()}}},
		Content:              &bundlepb.Bundle_DsseEnvelope{DsseEnvelope: inner},
	})
	if err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	// protojson varies its white space on purpose.
	return jcs.Transform(data)
}

// parseBundle reads a bundle's envelope. protojson takes several spellings of one member and bytes in
// several forms of base64, so the strict reader looks first.
func parseBundle(data []byte) (*Envelope, error) {
	malformed := func(format string, args ...any) error {
		return reason.Errorf(reason.EnvelopeMalformed, "signed file", "a Sigstore bundle "+BundleMediaType+" around a DSSE envelope", format, args...)
	}
	// What is not a key's hint (certificates, log entries, timestamps) could not be checked offline
	// with a key, so a bundle that has it is left to Sigstore's own tools.
	strict := struct {
		MediaType string `json:"mediaType"`
		Material  struct {
			PublicKey struct {
				Hint string `json:"hint"`
			} `json:"publicKey"`
		} `json:"verificationMaterial"`
		Envelope document `json:"dsseEnvelope"`
	}{}
	if err := strictjson.Decode(data, &strict); err != nil {
		return nil, malformed("%v", err)
	}
	if strict.MediaType != BundleMediaType {
		return nil, malformed("media type %q", strict.MediaType)
	}
	bundle := &bundlepb.Bundle{}
	if err := protojson.Unmarshal(data, bundle); err != nil {
		return nil, malformed("%v", err)
	}
	e, err := decode(strict.Envelope)
	if err != nil {
		return nil, err
	}
	e.Hint = &strict.Material.PublicKey.Hint
	return e, nil
}
